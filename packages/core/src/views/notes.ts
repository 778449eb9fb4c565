/**
 * How far the notes about a conversation go: up to which message they tell it, and how large the context was when they were written.
 * When the context has shrunk since, its smallest size counts instead, so that growth is measured from there. There is one file for all
 * branches: notes that were taken on one that was left tell of it, and their position is not among the messages any more (L4-5).
 */
import type { Uuid } from "../conversation/messages.ts"
import { type Entry, isDecision } from "../journal/entries.ts"
import { usageTotal } from "../tokens/context-size.ts"
import type { Projection } from "./projection.ts"

/** Empty until notes have been taken. */
export interface NotesTaken {
  throughUuid?: Uuid
  path?: string
  /** Size of the notes. */
  tokens?: number
  contextTokens?: number
  /** When it was recorded. */
  at?: string
}

export const notes: Projection<NotesTaken> = {
  name: "notes",
  scope: "journal",
  start: () => ({}),
  apply(state, entry, onPath = true) {
    if (isDecision(entry) && entry.subtype === "notes-updated") {
      const { throughUuid, path, tokens, contextTokens, timestamp } = entry
      return { throughUuid, path, tokens, contextTokens, at: timestamp }
    }
    const size = onPath ? contextSizeAt(entry) : undefined
    if (state.contextTokens !== undefined && size !== undefined && size < state.contextTokens)
      state.contextTokens = size
    return state
  },
}

/** As far as an entry tells. */
function contextSizeAt(entry: Entry): number | undefined {
  if (isDecision(entry)) return entry.subtype === "compacted" ? entry.tokensAfter : undefined
  if (entry.type !== "assistant" || entry.isSidechain || !entry.message.usage) return undefined
  return usageTotal(entry.message.usage) || undefined
}
