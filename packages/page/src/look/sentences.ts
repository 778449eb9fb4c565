/** What a report says first: one sentence for the terminal, two for the page. Every figure in them is in the report. */
import type { BreakCause } from "@strata/core"
import { counted, dollars, percent, printable } from "@strata/core/base"
import type { LookReport, LookSavings } from "./report-data.ts"

type Figures = Omit<LookReport, "sentence" | "sentences">

const AFTER: Readonly<Record<BreakCause, string>> = {
  compaction: "after a compaction",
  clearing: "after old results were cleared",
  undone: "after a decision was undone",
  rewound: "after going back to an earlier message",
  "other-model": "when another model answered",
  "prompt-changed": "after the system prompt or tools changed",
  "hour-over": "after more than an hour idle",
  "five-minutes-over": "after more than 5 minutes idle",
  "all-gone": "after the system prompt or tools changed, or the server dropped them",
  "prompt-left": "after an early message changed, or the server dropped it",
  "history-changed": "after an earlier message changed",
}
const MOST_CAUSES = 3
const MOST_REASONS = 3
export const FEWEST_REPLAYED = 5 // fewer say little about the others

/** What was spent, what was lost to broken caches and after what, what Strata would have saved. */
export function firstSentence(report: Figures): string {
  if (report.conversations === 0) return "No conversations were found."
  const { lost } = report.cache
  const parts = [`${spentWords(report)} on ${counted(report.conversations, "conversation")}`]
  if (lost.count === 0) parts.push("no cache was lost")
  else parts.push(`${lossWords(report)}${mainCause(report)}`)
  parts.push(savedWords(report.saved))
  return `${parts.join("; ")}.`
}

/** What was lost to broken caches and why; what compactions lost that was needed later, and what Strata would have kept and cost. */
export const twoSentences = (report: Figures): readonly [string, string] => [
  cacheSentence(report),
  namesSentence(report),
]

function spentWords({ total }: Figures): string {
  if (total.requests === 0) return "The transcripts do not record what was billed"
  if (total.unpriced === total.requests) return "The price of every model is unknown"
  const isMore = total.isLowerBound || total.unpriced > 0
  return `You spent ${isMore ? "more than " : ""}${dollars(total.dollars)}`
}

/** The first cause has the most dollars, which need not be most of them. */
function mainCause({ cache: { lost, byCause } }: Figures): string {
  const [first] = byCause
  if (!first) return ""
  const part = lost.dollars > 0 ? first.dollars / lost.dollars : first.count / lost.count
  const howMuch = byCause.length === 1 ? "" : part > 0.5 ? "most " : "the largest part "
  return `, ${howMuch}${AFTER[first.cause]}`
}

function lossWords({ cache: { lost } }: Figures): string {
  const losses = counted(lost.count, "lost cache")
  if (lost.unpriced === lost.count) return `${losses} cost an unknown amount`
  return `${lost.unpriced > 0 ? "more than " : ""}${dollars(lost.dollars)} of it (${percent(lost.dollars, lost.dollars / (lost.share || 1))}) went to ${losses}`
}

function savedWords({ replayed, of, dollars: saved, share }: LookSavings): string {
  if (of === 0) return "there is nothing that Strata's saving can be computed for"
  if (replayed === 0)
    return `what Strata would have saved is not computed yet for any of ${counted(of, "conversation")}`
  if (replayed < Math.min(of, FEWEST_REPLAYED))
    return `what Strata would have saved is not known yet: ${replayed} of ${counted(of, "conversation")} replayed`
  const where = replayed === of ? `on ${counted(of, "conversation")}` : `on ${replayed} of ${of} replayed so far`
  const how = `${dollars(Math.abs(saved))} (${percent(Math.abs(share), 1)})`
  return `Strata would have ${saved >= 0 ? `saved ${how}` : `cost ${how} more`} ${where}`
}

function cacheSentence(report: Figures): string {
  const { lost, byCause, byReason } = report.cache
  if (lost.count === 0) return "No cache was lost."
  const causes = byCause
    .slice(0, MOST_CAUSES)
    .map(
      ({ cause, dollars: cost, count, unpriced }) =>
        `${unpriced === count ? `${count} times` : dollars(cost)} ${AFTER[cause]}`,
    )
  const named = byReason.reduce((all, { count }) => all + count, 0)
  const reasons = byReason.slice(0, MOST_REASONS).map(({ reason, count }) => `${printable(reason)} (${count})`)
  const api = named === 0 ? "" : `. The API itself gives a reason for ${named} of them: ${reasons.join(", ")}`
  return `${upper(lossWords(report).replace(" of it (", " (").replace(") went", " of the bill) went"))}: ${causes.join(", ")}${api}.`
}

function namesSentence({ compactions: { count, names }, saved }: Figures): string {
  if (count === 0) return `Nothing was compacted. ${strataWords(saved)}`
  const compactions = counted(count, "compaction")
  const lost =
    names.needed === 0
      ? `After ${compactions} no answer needed a name from before.`
      : `${upper(compactions)} lost ${names.lost} of ${counted(names.needed, "name")} that answers needed later (${percent(names.lost, names.needed)}).`
  return `${lost} ${strataWords(saved)}`
}

function strataWords({ replayed, of, recorded, strata, names }: LookSavings): string {
  if (replayed === 0)
    return of === 0 ? "Strata's replay has no priced conversation to compare." : "Strata's replay has not run yet."
  const kept =
    names.needed === 0
      ? ""
      : `would have had ${percent(names.inView, names.needed)} of the names in view and ${percent(names.withinSearch, names.needed)} within one search, and `
  return `Strata ${kept}would have cost ${dollars(strata)} instead of ${dollars(recorded)}, both modelled, on ${replayed === of ? counted(of, "conversation") : `${replayed} of ${of} conversations`}.`
}

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
