/** The columns of a scorecard, on screens and pages. */
import { grouped, short } from "@strata/core/base"
import type { CostUnit, Score } from "@strata/transcripts/replay"
import { costIn, shareOf, timeWords, wholePercent } from "./cost-words.ts"

export interface ScoreColumn {
  readonly title: string
  /** For the explanation below a table, and for a tooltip. */
  readonly about: string
  readonly cell: (score: Score, unit: CostUnit) => string
}

const ratio = (value: number | undefined) => (value === undefined ? "-" : value.toFixed(2))

export const SCORE_COLUMNS: readonly ScoreColumn[] = [
  {
    title: "cost",
    about: "in dollars, or in tokens of plain input where a price is unknown",
    cell: ({ cost }, unit) => costIn(cost, unit),
  },
  { title: "/none", about: "cost divided by that of sending everything", cell: ({ relative }) => ratio(relative.none) },
  { title: "/claude", about: "by that of claude-style", cell: ({ relative }) => ratio(relative["claude-style"]) },
  {
    title: "/best",
    about: "by that of optimum, which knows the future",
    cell: ({ relative }) => ratio(relative.optimum),
  },
  { title: "cached", about: "share of the input read from cache", cell: ({ hitRatio }) => wholePercent(hitRatio) },
  { title: "peak", about: "largest context, in tokens", cell: ({ peak }) => short(peak) },
  { title: "invalid", about: "requests that do not fit the window", cell: ({ invalid }) => grouped(invalid) },
  { title: "compacted", about: "number of compactions", cell: ({ compactions }) => grouped(compactions) },
  {
    title: "in view",
    about: "of the names that answers used again, those in view",
    cell: ({ namesInView }) => shareOf(namesInView),
  },
  {
    title: "found",
    about: "the same with those that one search of the journal finds",
    cell: ({ namesWithinSearch }) => (namesWithinSearch ? shareOf(namesWithinSearch) : "-"),
  },
  {
    title: "paths",
    about: "of the paths named after a compaction, those that tools had touched",
    cell: ({ trailPrecision }) => shareOf(trailPrecision),
  },
  {
    title: "files",
    about: "of the files changed so far, those named after a compaction",
    cell: ({ trailRecall }) => shareOf(trailRecall),
  },
  {
    title: "rules",
    about: "of the person's rules, those still there word for word",
    cell: ({ rulesVerbatim }) => shareOf(rulesVerbatim),
  },
  { title: "blocked", about: "time the person waited for summaries", cell: ({ blockedMs }) => timeWords(blockedMs) },
  {
    title: "time",
    about: "time the replay of this policy took",
    cell: ({ processingMs }) => (processingMs === undefined ? "-" : timeWords(processingMs)),
  },
]
