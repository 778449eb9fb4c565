/** The compactions view: how often the conversation was compacted, the size after the last time, its newest summaries, and the failures since. */

import { isBoundaryEntry, isDecision } from "../../journal/entries.ts"
import { contentOf, isSyntheticError, type Uuid } from "../../messages/messages.ts"
import { type Measure, measureBlocks } from "../../tokens/measure.ts"
import type { Projection } from "../projection.ts"

export interface Compactions {
  count: number
  /** Failures since the last success. Several in a row stop automatic compaction. */
  failures: number
  /** Responses since the last compaction, or since the beginning. A copy begins where it was made. */
  responses: number
  /** In a copy of another conversation: its last message. What comes before was paid for there. */
  copiedThrough?: Uuid
  lastResponse?: string
  /** `tokensAfter` is absent where another program compacted. */
  last?: { readonly boundary: Uuid; readonly tokensAfter?: number }
  /** The newest summaries, oldest first, with the text around them. `route` is how Strata came by one. */
  summaries: readonly { readonly route: string; readonly measure: Measure }[]
  /** The summary of a compaction that is not complete yet. */
  summary?: Measure
  /** There was one that only saved money. */
  planned?: true
  /** The size of the context when a compaction was undone, until the next one. */
  undoneAt?: number
  /** The last compaction kept what came before the summarised messages. */
  keepsOlder?: boolean
  /** How many of the messages that the last one kept come before its summary. */
  head?: number
  /** By the last message that a compaction kept: the last message that it wrote. Going back to the one is going back to the other. */
  readonly ends: Map<Uuid, Uuid>
}

const SUMMARIES = 4 // enough to see how long they are

export const compactions: Projection<Compactions> = {
  name: "compactions",
  scope: "path",
  start: () => ({ count: 0, failures: 0, responses: 0, summaries: [], ends: new Map() }),
  apply(state, entry) {
    if (isDecision(entry)) {
      if (entry.subtype === "compaction-failed") state.failures++
      if (entry.subtype === "branched") {
        state.responses = 0
        state.copiedThrough = entry.from.uuid
      }
      if (entry.subtype === "undone" && entry.tokens !== undefined) state.undoneAt = entry.tokens
      if (entry.subtype === "compacted") {
        if (entry.planned !== undefined) state.planned = true
        state.last = { boundary: entry.boundary, tokensAfter: entry.tokensAfter }
        const written = state.summary ? [{ route: entry.route, measure: state.summary }] : []
        state.summaries = [...state.summaries, ...written].slice(-SUMMARIES)
        delete state.summary
        const kept = state.keepsOlder ? undefined : entry.kept.slice(state.head ?? 0).at(-1)
        if (kept !== undefined && entry.parentUuid !== null) state.ends.set(kept, entry.parentUuid)
      }
    } else if (isBoundaryEntry(entry)) {
      state.count++
      state.failures = 0
      state.responses = 0
      state.last = { boundary: entry.uuid }
      state.head = entry.compactMetadata?.headMessages?.length ?? 0
      state.keepsOlder = entry.compactMetadata?.preservedMessages?.anchorUuid === entry.uuid
      delete state.undoneAt
      delete state.summary
    } else if (entry.type === "user" && entry.isCompactSummary) {
      state.summary = measureBlocks(contentOf(entry))
    } else if (entry.type === "assistant" && !entry.isSidechain && !isSyntheticError(entry)) {
      const id = entry.message.id ?? entry.uuid
      if (id !== state.lastResponse) state.responses++
      state.lastResponse = id
    }
    return state
  },
}
