/** Small entries for the contract, and texts that stores have lost in the past. */
import type { Ids } from "@strata/core"
import { seededIds } from "@strata/core/base"
import { contentOf, exactInputOf, isToolUse, withExactInput } from "@strata/core/messages"
import type { Entry, SessionFacts } from "@strata/core/store"

/** Texts that a store must return unchanged. */
export const DIFFICULT_TEXTS: readonly string[] = [
  "",
  "Ümlaut 四 👩‍👩‍👧 \u2028\u2029",
  "a\u0000b",
  "half a character: \ud83d",
  "\uFEFFwith a mark in front\r\n\ttabs and \\ and \"quotes\" and '$&' and %s and ; --",
  '{"uuid":"x","sum":"00000000"}\n{"uuid":"y"}',
  "x".repeat(1024 * 1024),
]

export interface Entries {
  user(text: string): Entry
  /** A tool call with the text of its input. */
  call(id: string, input: string): Entry
  boundary(): Entry
  session(facts: SessionFacts): Entry
}

/** Builders of entries that are the same for the same seed. */
export function entriesOf(seed: string): Entries {
  const ids: Ids = seededIds(`store-contract ${seed}`)
  const front = () => ({ uuid: ids.uuid(), parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z" })
  return {
    user: (content) => ({ type: "user", ...front(), message: { role: "user", content } }),
    call: (id, text) => {
      const content = [withExactInput({ type: "tool_use" as const, id, name: "Read", input: {} }, text)]
      return { type: "assistant", ...front(), message: { role: "assistant", model: "m", content } }
    },
    boundary: () => ({
      ...{ type: "system", subtype: "compact_boundary", ...front() },
      compactMetadata: { trigger: "auto", preTokens: 1 },
    }),
    session: (facts) => ({ type: "strata", subtype: "session", ...front(), ...facts }),
  }
}

/** Entries from a sketch, in which "|" is a boundary. */
export const sketched = (entries: Entries, sketch: string): readonly Entry[] =>
  sketch.split(" ").map((text) => (text === "|" ? entries.boundary() : entries.user(text)))

/** The input text of a tool call. */
export function inputTextOf(entry: Entry): string | undefined {
  const [call] = entry.type === "assistant" ? contentOf(entry) : []
  return call && isToolUse(call) ? (exactInputOf(call) ?? JSON.stringify(call.input)) : undefined
}

/** The text of an entry; "|" for a boundary. */
export const textOf = (entry: Entry): string => {
  if (entry.type === "user") return String(entry.message.content)
  return entry.type === "system" ? "|" : entry.type
}

export const textsOf = (all: readonly Entry[] = []): string => all.map(textOf).join(" ")
