/** Statements of users about themselves in addition to their work, and messages that only look like such statements. */
import type { Part } from "./sentences.ts"
import chosen from "./talk-chosen.json" with { type: "json" }
import heldOut from "./talk-held-out.json" with { type: "json" }

export const SPOKEN = ["en", "de", "fr", "es", "ru", "zh"] as const
export type Spoken = (typeof SPOKEN)[number]

/** Messages. The part to store is between a tilde and a bar; without these characters it is the entire message. */
type Messages = Readonly<Record<Spoken, readonly string[]>>

export interface RuleTalk {
  readonly preferences: Messages
  /** Statements about who the user is. */
  readonly facts: Messages
  /** Statements about the moment or the current task. */
  readonly passing: Messages
  /** Statements about where things are. */
  readonly places: readonly string[]
  /** Code, logs and questions about addresses. */
  readonly pasted: readonly string[]
}

/**
 * The rules for preferences and facts were developed on the first set, so their results come from the held-out one. It was written before
 * those rules, no rule was derived from it, and it is only measured.
 */
export const TALKS: Readonly<Record<Part, RuleTalk>> = { chosen, "held-out": heldOut }

export interface SpokenLine {
  readonly text: string
  readonly kept: string
}

export function spokenLine(line: string): SpokenLine {
  const [, kept = line] = /^(?:[^~]*~)?([^|]*)/.exec(line) ?? []
  return { text: line.replace(/[~|]/g, ""), kept }
}
