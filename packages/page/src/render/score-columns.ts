/** Columns of a scorecard, for screens and pages. */
import { formatCompact, formatNumber } from "@strata/core/base"
import type { CostUnit, Score } from "@strata/transcripts/replay"
import { formatAmount, formatCautiousPercent, formatDuration, formatShare } from "./format.ts"

export interface ScoreColumn {
  readonly title: string
  /** Used in the explanation below a table and as a tooltip. */
  readonly description: string
  readonly cell: (score: Score, unit: CostUnit) => string
}

const ratio = (value: number | undefined) => (value === undefined ? "-" : value.toFixed(2))

export const SCORE_COLUMNS: readonly ScoreColumn[] = [
  {
    title: "cost",
    description: "in dollars, or in tokens of plain input where a price is unknown",
    cell: ({ cost }, unit) => formatAmount(cost, unit),
  },
  {
    title: "/none",
    description: "cost divided by that of sending everything",
    cell: ({ relative }) => ratio(relative.none),
  },
  { title: "/claude", description: "by that of claude-style", cell: ({ relative }) => ratio(relative["claude-style"]) },
  {
    title: "/best",
    description: "by that of optimum, which knows the future",
    cell: ({ relative }) => ratio(relative.optimum),
  },
  {
    title: "cached",
    description: "share of the input read from cache",
    cell: ({ hitRatio }) => formatCautiousPercent(hitRatio),
  },
  { title: "peak", description: "largest context, in tokens", cell: ({ peak }) => formatCompact(peak) },
  {
    title: "invalid",
    description: "requests that do not fit the window",
    cell: ({ invalid }) => formatNumber(invalid),
  },
  { title: "compacted", description: "number of compactions", cell: ({ compactions }) => formatNumber(compactions) },
  {
    title: "in view",
    description: "of the names that answers used again, those in view",
    cell: ({ namesInView }) => formatShare(namesInView),
  },
  {
    title: "found",
    description: "the same with those that one search of the journal finds",
    cell: ({ namesWithinSearch }) => (namesWithinSearch ? formatShare(namesWithinSearch) : "-"),
  },
  {
    title: "paths",
    description: "of the paths named after a compaction, those that tools had touched",
    cell: ({ trailPrecision }) => formatShare(trailPrecision),
  },
  {
    title: "files",
    description: "of the files changed so far, those named after a compaction",
    cell: ({ trailRecall }) => formatShare(trailRecall),
  },
  {
    title: "rules",
    description: "of the user's rules, those still present verbatim",
    cell: ({ rulesVerbatim }) => formatShare(rulesVerbatim),
  },
  {
    title: "blocked",
    description: "time the user waited for summaries",
    cell: ({ blockedMs }) => formatDuration(blockedMs),
  },
  {
    title: "time",
    description: "time the replay of this policy took",
    cell: ({ processingMs }) => (processingMs === undefined ? "-" : formatDuration(processingMs)),
  },
]
