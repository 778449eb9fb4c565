/**
 * How far the notes about a conversation go: the last message they cover, and the size of the context when they were written. If the
 * context has shrunk since, its smallest size counts, so that growth is measured from there.
 * All branches share one file. The position is that of the newest notes on this branch, and `inFile` names later notes of another one.
 */

import { type Entry, isDecision } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import { usageTotal } from "../../tokens/context-size.ts"
import type { Projection } from "../projection.ts"

/** Empty until there are notes. */
export interface NotesTaken {
  throughUuid?: Uuid
  path?: string
  /** Size of the notes. */
  tokens?: number
  contextTokens?: number
  /** When they were recorded. */
  at?: string
  /** The name under which the store keeps this version. */
  kept?: string
  /** Later notes from an abandoned branch are in the file. The store keeps them under this name, if it is known. */
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
        ? { throughUuid, ...(path === undefined ? {} : { path }), tokens, contextTokens, at: timestamp, ...name }
        : Object.assign(state, { inFile: name })
    }
    const size = onPath ? contextSizeAt(entry) : undefined
    if (state.contextTokens !== undefined && size !== undefined && size < state.contextTokens)
      state.contextTokens = size
    return state
  },
}

/** Where the entry records it. */
function contextSizeAt(entry: Entry): number | undefined {
  if (isDecision(entry)) return entry.subtype === "compacted" ? entry.tokensAfter : undefined
  if (entry.type !== "assistant" || entry.isSidechain || !entry.message.usage) return undefined
  return usageTotal(entry.message.usage) || undefined
}
