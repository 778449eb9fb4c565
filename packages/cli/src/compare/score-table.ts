/** The scorecard for the terminal, split into as many tables as the width requires. */

import { SCORE_COLUMNS, type ScoreColumn } from "@strata/page"
import type { Scorecard } from "@strata/transcripts/replay"
import { type Column, table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { wrapText } from "../display/text.ts"

const NOTHING_TO_COUNT = "-: there was nothing to count."
const GAP = 2

export interface ScoreTableOptions {
  readonly style: Style
  readonly width: number
}

export function scoreTable(card: Scorecard, { style, width }: ScoreTableOptions): string[] {
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
    ...wrapText(columns.map(({ title, description }) => `${title}: ${description}.`).join(" "), width).map(style.dim),
    ...(i === blocks.length - 1 ? [style.dim(NOTHING_TO_COUNT)] : []),
  ])
}

/** Groups columns that fit next to each other. */
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
