/** What people say to an assistant about themselves, beside their work, and what only looks like it. */
import type { Part } from "./sentences.ts"
import chosen from "./talk-chosen.json" with { type: "json" }
import heldOut from "./talk-held-out.json" with { type: "json" }

export const SPOKEN = ["en", "de", "fr", "es", "ru", "zh"] as const
export type Spoken = (typeof SPOKEN)[number]

/** What is to be kept of a message is between a tilde and a bar; without them, all of it. */
type Messages = Readonly<Record<Spoken, readonly string[]>>

export interface RuleTalk {
  readonly preferences: Messages
  /** Who the person is. */
  readonly facts: Messages
  /** About the moment or the task at hand. */
  readonly passing: Messages
  /** Where things are. */
  readonly places: readonly string[]
  /** Code, logs and questions about addresses. */
  readonly pasted: readonly string[]
}

/**
 * The rules for preferences and facts were chosen on the first set, so their figures come from the other one: it was written before those
 * rules, none was written from it, and it is only measured.
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
