/**
 * How far the notes about a conversation go: up to which message they tell it, and how large the context was when they were written.
 * When the context has shrunk since, its smallest size counts instead, so that growth is measured from there. There is one file for all
 * branches: the position is that of the newest notes on this one, and where others were taken after them, it is known what the file holds.
 */

import { type Entry, isDecision } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import { usageTotal } from "../../tokens/context-size.ts"
import type { Projection } from "../projection.ts"

/** Empty until notes have been taken. */
export interface NotesTaken {
  throughUuid?: Uuid
  path?: string
  /** Size of the notes. */
  tokens?: number
  contextTokens?: number
  /** When it was recorded. */
  at?: string
  /** The name under which the store keeps them as they were then. */
  kept?: string
  /** Notes were taken later, on a branch that was left: what the file holds is kept under this name, where it is known. */
  inFile?: { readonly kept?: string }
}

export const notes: Projection<NotesTaken> = {
  name: "notes",
  scope: "journal",
  start: () => ({}),
  apply(state, entry, onPath = true) {
    if (isDecision(entry) && entry.subtype === "notes-updated") {
      const { throughUuid, path, tokens, contextTokens, timestamp, kept } = entry
      const name = kept === undefined ? {} : { kept }
      return onPath
        ? { throughUuid, path, tokens, contextTokens, at: timestamp, ...name }
        : Object.assign(state, { inFile: name })
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
