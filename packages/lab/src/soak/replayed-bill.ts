/** Whether a replay of the soak's journal costs what the soak was billed. The same planner decides in both. */
import { type Conversation, type Entry, layered, replay, summarise } from "@strata/core/internal"
import { strata } from "@strata/core/internal/replay/policies/strata"

export interface ReplayedBill {
  /** Dollars for the conversation and its summaries. Notes and memories are not replayed. */
  readonly billed: number
  readonly replayed: number
}

/** Nothing keeps the cache warm in a soak, and its summaries have their usual size. */
const AS_IN_THE_SOAK = layered({ ...strata, keepsWarm: false, figures: {} })

export async function replayedBill(conversation: Conversation, window: number): Promise<ReplayedBill> {
  const model = conversation.views.context.lastResponse?.message.model ?? "unknown"
  const entries: Entry[] = []
  for await (const entry of conversation.entries()) entries.push(entry)
  const { reports } = await replay({ entries, model }, { window, policies: [AS_IN_THE_SOAK] })
  const { byPurpose } = summarise(conversation.views.ledger)
  const billed = byPurpose
    .filter(({ purpose }) => purpose === "main" || purpose === "compaction")
    .reduce((sum, { dollars = 0 }) => sum + dollars, 0)
  return { billed, replayed: reports[0]!.totals.dollars ?? 0 }
}
