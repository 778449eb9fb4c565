/** Whether a replay of the soak's journal costs what the soak was billed. The same planner decides in both. */
import type { Conversation, Entry } from "@strata/core"
import { replay } from "@strata/transcripts/replay"
import { summarise } from "../../../core/src/views/ledger/ledger.ts"
import { layered } from "../../../transcripts/src/replay/policies/layered.ts"
import { strata } from "../../../transcripts/src/replay/policies/strata.ts"

export interface ReplayedBill {
  /** Dollars for the conversation and its summaries. What notes and memories say is not replayed, so they are left out. */
  readonly billed: BillParts
  readonly replayed: BillParts & {
    /** For what the replay had lost from the view, where it compacted elsewhere. */
    readonly recalls: number
  }
}

interface BillParts {
  readonly dollars: number
  readonly conversation: number
  readonly summaries: number
  readonly compactions: number
}

const CLOSE = 0.03

export async function replayedBill(conversation: Conversation, window: number): Promise<ReplayedBill> {
  const { views } = conversation
  const model = views.context.lastResponse?.message.model ?? "unknown"
  const entries: Entry[] = []
  for await (const entry of conversation.entries()) entries.push(entry)
  const { switches } = conversation.settings.values
  const asInTheSoak = layered({ ...strata, keepsWarm: false, settings: { switches } }) // nothing keeps its cache warm
  const { reports } = await replay({ entries, model }, { window, policies: [asInTheSoak] })
  const { byPurpose, compactions } = reports[0]!.totals
  const { conversation: replayed, summary: summaries, recall: recalls } = byPurpose
  const dollars = replayed + summaries + recalls
  return {
    billed: billedFor(conversation),
    replayed: { dollars, conversation: replayed, summaries, recalls, compactions },
  }
}

function billedFor({ views }: Conversation): BillParts {
  const { byPurpose } = summarise(views.ledger)
  const spentFor = (wanted: string) => byPurpose.find(({ purpose }) => purpose === wanted)?.dollars ?? 0
  const [main, summaries] = [spentFor("main"), spentFor("compaction")]
  return { dollars: main + summaries, conversation: main, summaries, compactions: views.compactions.count }
}

/** Empty where the replay says what was billed. */
export function replayProblems({ billed, replayed }: ReplayedBill): readonly string[] {
  const off = replayed.dollars / billed.dollars - 1
  if (Math.abs(off) <= CLOSE) return []
  return [`the replay costs ${(100 * Math.abs(off)).toFixed(1)}% ${off > 0 ? "more" : "less"} than was billed`]
}
