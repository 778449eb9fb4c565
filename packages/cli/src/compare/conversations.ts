/** The table of all compared conversations, and what a conversation costs. */

import { basename } from "node:path"
import { formatAmount } from "@strata/page"
import type { Replay, ReplayReport, ScoredReplay } from "@strata/transcripts/replay"
import { formatNumber } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import { escapeToLine } from "../display/visible.ts"
import { turnsOf } from "../replay/page.ts"
import type { Recording } from "../replay/recordings.ts"
import type { ScoreLook } from "./score-table.ts"

export interface Compared extends ScoredReplay {
  readonly recording: Recording
}

/** The cost of a report in its own unit. */
export const costOf = ({ totals }: ReplayReport): number =>
  totals.saved.unit === "dollars" ? totals.dollars! : totals.weighed

/** Among those that can run live. */
const cheapestOf = ({ reports }: Replay): ReplayReport =>
  reports
    .filter(({ policy }) => policy !== "optimum")
    .reduce((best, report) => (costOf(report) < costOf(best) ? report : best))

/** A line for each conversation: what sending everything costs, and what ours and the cheapest do, and the bound. */
export function conversationTable(all: readonly Compared[], { style, width }: ScoreLook): string[] {
  return table({
    width,
    indent: 0,
    titles: style.dim,
    columns: [
      { title: "conversation", gives: "beginning" },
      { title: "turns", align: "right" },
      { title: "none", align: "right" },
      { title: "strata", align: "right" },
      { title: "cheapest", align: "right" },
      { title: "" },
      { title: "optimum", align: "right" },
    ],
    rows: all.map(({ recording, replay: found }) => {
      const named = (name: string) => found.reports.find(({ policy }) => policy === name)
      const { unit } = found.reports[0]!.totals.saved
      const cell = (report: ReplayReport | undefined) => (report ? formatAmount(costOf(report), unit) : "-")
      const best = cheapestOf(found)
      return [
        escapeToLine(basename(recording.file)),
        formatNumber(turnsOf(found)),
        cell(named("none")),
        cell(named("strata")),
        cell(best),
        best.policy,
        cell(named("optimum")),
      ]
    }),
  })
}
