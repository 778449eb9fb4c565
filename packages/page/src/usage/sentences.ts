/** The main sentences of a report: one for the terminal, two for the page. All numbers in them are from the report. */

import { escapeToLine, formatDollars, formatPercent, pluralize } from "@strata/core/base"
import type { BreakCause } from "@strata/core/views"
import { formatCautiousPercent } from "../render/format.ts"
import type { UsageReport, UsageSavings } from "./report-data.ts"

type ReportMetrics = Omit<UsageReport, "sentence" | "sentences">

const CAUSE_PHRASES: Readonly<Record<BreakCause, string>> = {
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
const MAX_CAUSES = 3
const MAX_REASONS = 3

/** A cost, with `+` if it is the known part of a larger one; `atLeastNote` gives the reason. */
export const formatAtLeast = (dollars: number, isPart: boolean): string =>
  `${formatDollars(dollars)}${isPart ? "+" : ""}`

/** Why costs of a report are only a part, without the names of models. */
export const reasonsForParts = ({ total, cache }: ReportMetrics): readonly string[] => [
  ...(total.unpriced > 0 || cache.lost.unpriced > 0 ? ["a part has no known price"] : []),
  ...(total.isLowerBound ? ["some transcripts record too few output tokens"] : []),
]

/** Explains `+`. */
export const atLeastNote = (reasons: readonly string[]): string | undefined =>
  reasons.length === 0 ? undefined : `+ at least: ${reasons.join(", and ")}.`

/** One sentence: the total cost, the cost of cache misses and their main cause, and Strata's savings. */
export function firstSentence(report: ReportMetrics): string {
  const real = report.conversations - report.simulated
  if (report.conversations === 0) return "No conversations were found."
  if (real === 0) return "Nothing was spent: the simulator answered in all conversations that were found."
  const { lost } = report.cache
  const parts = [`${describeCost(report)} on ${pluralize(real, "conversation")}`]
  if (lost.count === 0) parts.push("no cache was lost")
  else parts.push(`${describeMisses(report)}${describeMainCause(report)}`)
  parts.push(describeSaving(report.saved))
  return `${parts.join("; ")}.`
}

/** Two sentences: cache misses with their causes; names lost in compactions, and how many Strata would have preserved at what cost. */
export const twoSentences = (report: ReportMetrics): readonly [string, string] => [
  cacheSentence(report),
  namesSentence(report),
]

function describeCost({ total }: ReportMetrics): string {
  if (total.requests === 0) return "The transcripts do not record what was billed"
  if (total.unpriced === total.requests) return "The price of every model is unknown"
  return `You spent ${formatAtLeast(total.dollars, total.isLowerBound || total.unpriced > 0)}`
}

/** The most expensive cause, with a phrase that says whether it is the majority. */
function describeMainCause({ cache: { lost, byCause } }: ReportMetrics): string {
  const [first] = byCause
  if (!first) return ""
  const part = lost.dollars > 0 ? first.dollars / lost.dollars : first.count / lost.count
  const howMuch = byCause.length === 1 ? "" : part > 0.5 ? "most " : "the largest part "
  return `, ${howMuch}${CAUSE_PHRASES[first.cause]}`
}

function describeMisses({ cache: { lost } }: ReportMetrics): string {
  const losses = pluralize(lost.count, "lost cache")
  if (lost.unpriced === lost.count) return `${losses} cost an unknown amount`
  return `${formatAtLeast(lost.dollars, lost.unpriced > 0)} of it (${formatPercent(lost.dollars, lost.dollars / (lost.share || 1))}) went to ${losses}`
}

function describeSaving(saved: UsageSavings): string {
  const { replayed, of, figure } = saved
  if (figure.kind === "nothing") return "there is nothing that Strata's saving can be computed for"
  if (figure.kind === "unknown")
    return replayed === 0
      ? `what Strata would have saved is not computed yet for any of ${pluralize(of, "conversation")}`
      : `what Strata would have saved is not known yet: ${replayed} of ${pluralize(of, "conversation")} replayed`
  if (figure.kind === "sampled") return `Strata would have ${describeSampledSaving(saved)}`
  const { recorded, strata, share } = figure
  const how = `${formatDollars(Math.abs(recorded - strata))} (${formatPercent(Math.abs(share), 1)})`
  return `Strata would have ${recorded >= strata ? `saved ${how}` : `cost ${how} more`} on ${pluralize(of, "conversation")}, ${describeCoverage(saved)}`
}

/** `saved 19% (9% to 29%) on 98% of this money, as a sample of 12 of 43 conversations says` */
function describeSampledSaving(saved: UsageSavings): string {
  if (saved.figure.kind !== "sampled") return ""
  const { share, sample } = saved.figure
  const how = share >= 0 ? `saved ${formatPercent(share, 1)}` : `cost ${formatPercent(-share, 1)} more`
  return `${how} (${formatInterval(saved.figure)}) on ${describeCoverage(saved)}, as a sample of ${sample} of ${saved.of} conversations says`
}

/** `9% to 29%`, or `-4% to 12%`: below 0 it would have cost more. */
export const formatInterval = ({ from, to }: { readonly from: number; readonly to: number }): string =>
  `${formatSignedPercent(from)} to ${formatSignedPercent(to)}`

const formatSignedPercent = (share: number): string => `${share < 0 ? "-" : ""}${formatPercent(Math.abs(share), 1)}`

/** The share of the cost that the estimate covers. Rounded down, so that "all" means all. */
export const describeCoverage = ({ covers }: Pick<UsageSavings, "covers">): string =>
  covers > 0.9999 ? "all of this money" : `${Math.min(99, Math.floor(covers * 100))}% of this money`

function cacheSentence(report: ReportMetrics): string {
  const { lost, byCause, byReason } = report.cache
  if (lost.count === 0) return "No cache was lost."
  const causes = byCause
    .slice(0, MAX_CAUSES)
    .map(
      ({ cause, dollars: cost, count, unpriced }) =>
        `${unpriced === count ? `${count} times` : formatDollars(cost)} ${CAUSE_PHRASES[cause]}`,
    )
  const named = byReason.reduce((all, { count }) => all + count, 0)
  const reasons = byReason.slice(0, MAX_REASONS).map(({ reason, count }) => `${escapeToLine(reason)} (${count})`)
  const api = named === 0 ? "" : `. The API itself gives a reason for ${named} of them: ${reasons.join(", ")}`
  return `${capitalize(describeMisses(report).replace(" of it (", " (").replace(") went", " of the bill) went"))}: ${causes.join(", ")}${api}.`
}

/** Compares names in view as recorded and with Strata, if compactions were replayed; otherwise describes only the recorded ones. */
function namesSentence(report: ReportMetrics): string {
  const { compactions, saved } = report
  const compared = compareNames(saved)
  if (compared !== undefined) return `${compared} ${compareCost(saved)}`
  const { count, names, unrecorded } = compactions
  if (count === 0) return `Nothing was compacted. ${compareCost(saved)}`
  const all = pluralize(count, "compaction")
  const lost =
    unrecorded === count
      ? `What ${all} lost is unknown, because the files begin with them.`
      : names.needed === 0
        ? `After ${all} no answer needed a name from before.`
        : `${capitalize(all)} lost ${names.lost} of ${pluralize(names.needed, "name")} that answers needed later (${formatPercent(names.lost, names.needed)}).`
  return `${lost} ${compareCost(saved)}`
}

/** `After 12 replayed compactions, answers used 700 names from before: 38% of them were still in view, and 97% would have been with Strata.` */
export function compareNames({ names: { compactions, names, recorded, strata } }: UsageSavings): string | undefined {
  if (names === 0) return undefined
  return `After ${pluralize(compactions, "replayed compaction")}, answers used ${pluralize(names, "name")} from before: ${formatCautiousPercent(recorded / names)} of them were still in view, and ${formatCautiousPercent(strata / names)} would have been with Strata.`
}

function compareCost(saved: UsageSavings): string {
  const { figure, of } = saved
  switch (figure.kind) {
    case "nothing":
      return "Strata's replay has no priced conversation to compare."
    case "unknown":
      return "Too few conversations were replayed to estimate the cost with Strata."
    case "sampled":
      return `With Strata it would have ${describeSampledSaving(saved)}. Both costs are modelled.`
    case "exact":
      return `Strata would have cost ${formatDollars(figure.strata)} instead of ${formatDollars(figure.recorded)}, both modelled, on ${pluralize(of, "conversation")}.`
  }
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
