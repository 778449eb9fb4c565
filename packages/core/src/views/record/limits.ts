/** The limits that refusals have shown, by model and address. They are facts about a server, so a rewind does not take them back. */
import { isDecision } from "../../journal/entries.ts"
import { type LearntLimit, limitKey } from "../../tokens/learnt-limit.ts"
import type { Projection } from "../projection.ts"

export interface KeptLimit extends LearntLimit {
  /** When, in ISO 8601. */
  readonly learnt: string
}

export type Limits = Map<string, KeptLimit>

export const limits: Projection<Limits> = {
  name: "limits",
  scope: "journal",
  start: () => new Map(),
  apply(state, entry) {
    if (!isDecision(entry)) return state
    if (entry.subtype === "limit-forgotten") state.delete(limitKey(entry))
    if (entry.subtype === "limit-learnt") {
      const { model, address, tokens, countsOutput = false, isAssumed = false, timestamp: learnt } = entry
      state.set(limitKey(entry), { model, address, tokens, countsOutput, isAssumed, learnt })
    }
    return state
  },
}
