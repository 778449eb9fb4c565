/** The scorecard for the terminal: all columns, in as many tables as the width needs. */

import type { CostUnit, Score, Scorecard } from "@strata/replay"
import { grouped, short } from "../display/numbers.ts"
import { type Column, table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { wrapped } from "../display/text.ts"
import { costIn, shareOf, timeWords, wholePercent } from "../replay/page.ts"

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

export const NOTHING_TO_COUNT = "-: there was nothing to count."
const GAP = 2

export interface ScoreLook {
  readonly style: Style
  readonly width: number
}

export function scoreTable(card: Scorecard, { style, width }: ScoreLook): string[] {
  const { scores, unit } = card
  const names = scores.map(({ policy }) => policy)
  const first = Math.max("policy".length, ...names.map((name) => name.length))
  const blocks = inBlocks(card, width - first)
  return blocks.flatMap((columns, i) => [
    ...(i === 0 ? [] : [""]),
    ...table({
      width,
      indent: 0,
      titles: style.dim,
      columns: [{ title: "policy" }, ...columns.map(({ title }): Column => ({ title, align: "right" }))],
      rows: scores.map((score) => {
        const cells = [score.policy, ...columns.map(({ cell }) => cell(score, unit))]
        return score.policy === "strata" ? cells.map(style.bold) : cells
      }),
    }),
    ...wrapped(columns.map(({ title, about }) => `${title}: ${about}.`).join(" "), width).map(style.dim),
    ...(i === blocks.length - 1 ? [style.dim(NOTHING_TO_COUNT)] : []),
  ])
}

/** Columns side by side as long as they fit. */
function inBlocks({ scores, unit }: Scorecard, width: number): readonly (readonly ScoreColumn[])[] {
  const blocks: ScoreColumn[][] = [[]]
  let used = 0
  for (const column of SCORE_COLUMNS) {
    const needed = GAP + Math.max(column.title.length, ...scores.map((score) => column.cell(score, unit).length))
    if (used + needed > width && used > 0) {
      blocks.push([])
      used = 0
    }
    blocks.at(-1)!.push(column)
    used += needed
  }
  return blocks
}
