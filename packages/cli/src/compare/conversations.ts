/** The table of all compared conversations, and the cost of a conversation. */

import { basename } from "node:path"
import { formatAmount } from "@strata/page"
import type { Replay, ReplayReport, ScoredReplay } from "@strata/transcripts/replay"
import { formatNumber } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import { escapeToLine } from "../display/visible.ts"
import { formatTurns } from "../replay/page.ts"
import type { LoadedRecording } from "../replay/recordings.ts"
import type { ScoreTableOptions } from "./score-table.ts"

export interface ComparedConversation extends ScoredReplay {
  readonly recording: LoadedRecording
}

/** The cost of a report, in dollars if known, else in tokens. */
export const reportCost = ({ totals }: ReplayReport): number =>
  totals.saved.unit === "dollars" ? totals.dollars! : totals.weighed

/** The cheapest policy that can run live, which excludes the oracle. */
const cheapestOf = ({ reports }: Replay): ReplayReport =>
  reports
    .filter(({ policy }) => policy !== "optimum")
    .reduce((best, report) => (reportCost(report) < reportCost(best) ? report : best))

/** A line for each conversation: the cost of sending everything, of Strata, of the cheapest policy, and the lower bound. */
export function conversationTable(all: readonly ComparedConversation[], { style, width }: ScoreTableOptions): string[] {
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
      const cell = (report: ReplayReport | undefined) => (report ? formatAmount(reportCost(report), unit) : "-")
      const best = cheapestOf(found)
      return [
        escapeToLine(basename(recording.file)),
        formatNumber(formatTurns(found)),
        cell(named("none")),
        cell(named("strata")),
        cell(best),
        best.policy,
        cell(named("optimum")),
      ]
    }),
  })
}
