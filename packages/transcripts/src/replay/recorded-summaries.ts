/**
 * How long the summaries of one of our own journals are, and what the model wrote for each. Its replay compacts with summaries of that
 * size, for every policy. Other recordings have the budget of all policies: what another program's summaries hold says nothing of ours.
 */
import type { Entry, TokenCounts } from "@strata/core"
import { addCounts, divideCounts, NO_TOKENS, roundCounts } from "@strata/core/base"
import { toBlocks } from "@strata/core/messages"
import { continuationText } from "@strata/core/policy"
import { isDecision } from "@strata/core/store"
import { tokenCounts } from "@strata/core/tokens"
import type { BlockSizes } from "./block-sizes.ts"
import type { Step } from "./recorded-steps.ts"

export interface RecordedSummaries {
  /** The budget with which the extractive summariser writes one as long as those that are shown, on average. */
  readonly budget: number
  /** Tokens that the model wrote for one, on average. A part of them may not be shown. */
  readonly output: number
  /** What further attempts took, on average for each compaction: a summary that says something else is asked for again. */
  readonly again: TokenCounts
}

/** `undefined`: it has none of ours that a model wrote. */
export function summariesIn(steps: readonly Step[], sizes: BlockSizes): RecordedSummaries | undefined {
  const entries = steps.flatMap((step) => (step.kind === "entry" ? step.entry : []))
  const shown = entries.flatMap((entry) => shownIn(entry, sizes))
  const attempts = attemptsIn(entries)
  const firsts = attempts.flatMap(([first]) => first ?? [])
  if (shown.length === 0 || firsts.length === 0) return undefined
  const again = attempts.flatMap(([, ...others]) => others).reduce(addCounts, NO_TOKENS)
  return {
    budget: Math.round(mean(shown) / FILLED),
    output: Math.round(mean(firsts.map(({ output }) => output))),
    again: roundCounts(divideCounts(again, attempts.length)),
  }
}

function shownIn(entry: Entry, sizes: BlockSizes): readonly number[] {
  if (entry.type !== "user" || !entry.isCompactSummary) return []
  const tokens = toBlocks(entry.message.content).reduce((sum, block) => sum + sizes.of(block), 0)
  return [Math.max(0, tokens - sizes.estimate({ type: "text", text: AROUND }))]
}

/** For each compaction, the requests that were paid for it. */
function attemptsIn(entries: readonly Entry[]): readonly (readonly TokenCounts[])[] {
  const attempts: TokenCounts[][] = []
  let paid: TokenCounts[] = []
  for (const entry of entries.filter(isDecision)) {
    if (entry.subtype === "spent" && entry.purpose === "compaction" && !entry.unrecorded)
      paid.push(tokenCounts(entry.usage))
    if (entry.subtype !== "compacted") continue
    attempts.push(paid)
    paid = []
  }
  return attempts
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const FILLED = 0.9 // of its budget: the summariser leaves out whole quotations
const AROUND = continuationText({ summary: "", mode: "automatic", keptMessages: true })
