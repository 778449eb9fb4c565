/** Renders one replayed conversation for the terminal, and a table of several. */

import { basename } from "node:path"
import { formatAmount, formatAmountWithUnit, formatCautiousPercent } from "@strata/page"
import { requestCost } from "@strata/transcripts/replay"
import { formatCompact, formatNumber, pluralize } from "../display/numbers.ts"
import { fileLine, moreLine, sectionTitle, withGap } from "../display/section.ts"
import { table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import { describeAction } from "./action-table.ts"
import { formatTurns, LOSS_LABELS, PURPOSE_LABELS, type ReplayPage, replayRemarks } from "./page.ts"
import { actions, billedSection, cache, context, cost, evidence, failures } from "./sections.ts"

const MAX_WIDTH = 110
const OVERVIEW_COLUMNS =
  "peak: largest context, in tokens. compacted: number of compactions. cached: share of the input read from cache. saved: compared with sending everything; below 0 it cost more."

export interface ReportOptions {
  readonly style: Style
  readonly columns: number
  /** Maximum number of listed requests. If absent, requests are not listed. */
  readonly turns?: number
}

export type ReplayResult = Pick<ReplayPage, "recording" | "replay" | "report" | "calibration">

export function replayReport(replayed: ReplayResult, { style, columns, turns: max }: ReportOptions): readonly string[] {
  const page: ReplayPage = { ...replayed, style, width: Math.min(columns, MAX_WIDTH) }
  if (page.report.requests.length === 0) return heading(page)
  const sections = [context, cost, cache, actions, evidence, billedSection, failures]
  return [
    ...heading(page),
    ...sections.flatMap((section) => withGap(section(page))),
    ...(max === undefined ? [] : withGap(turns(page, max))),
  ]
}

function heading({ recording, replay, report, style, width }: ReplayPage): string[] {
  const facts = [recording.format, escapeToLine(replay.model), pluralize(formatTurns(replay), "turn")]
  return [
    fileLine(recording.file, { style, width }),
    ...wrapText(facts.join(" · "), width),
    ...wrapText(`Policy ${report.policy}: ${report.about}`, width),
    ...wrapText(replayRemarks({ recording, replay }).join(" "), width).map(style.dim),
  ]
}

export function replayOverview(all: readonly ReplayResult[], { style, columns }: ReportOptions): readonly string[] {
  return [
    style.bold(`${all.length} conversations`),
    ...table({
      width: Math.min(columns, MAX_WIDTH),
      indent: 0,
      titles: style.dim,
      columns: [
        { title: "file", gives: "end" },
        { title: "turns", align: "right" },
        { title: "peak", align: "right" },
        { title: "compacted", align: "right" },
        { title: "cached", align: "right" },
        { title: "cost", align: "right" },
        { title: "saved", align: "right" },
      ],
      rows: all.map(({ recording, replay, report: { totals } }) => [
        escapeToLine(basename(recording.file)),
        formatNumber(formatTurns(replay)),
        formatCompact(totals.peak),
        formatNumber(totals.compactions),
        formatCautiousPercent(totals.hitRatio),
        formatAmountWithUnit(totals.dollars ?? totals.weighed, totals.saved.unit),
        `${totals.saved.amount < 0 ? "-" : ""}${formatCautiousPercent(Math.abs(totals.saved.share))}`,
      ]),
    }),
    ...wrapText(OVERVIEW_COLUMNS, Math.min(columns, MAX_WIDTH)).map(style.dim),
  ]
}

/** Columns of the list of requests: cache reads and writes, cost, and actions. */
const COLUMNS =
  "context: tokens of the request, of which cached were read from the cache and new were not. A line without a purpose is the conversation itself."

function turns(page: ReplayPage, max: number): string[] {
  const { report, style, width } = page
  const { unit } = report.totals.saved
  const shown = report.requests.slice(0, max)
  const acts = Map.groupBy(report.actions, ({ turn }) => turn)
  const losses = new Map(report.losses.map((loss) => [loss.turn, loss]))
  return [
    ...sectionTitle(page, { title: "Turn by turn" }),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "turn", align: "right" },
        { title: "for" },
        { title: "context", align: "right" },
        { title: "cached", align: "right" },
        { title: "new", align: "right" },
        { title: "output", align: "right" },
        { title: unit === "dollars" ? "cost" : "cost tokens", align: "right" },
        { title: "what happened", gives: "wrap" },
      ],
      rows: shown.map((request) => {
        const { turn, purpose, context, counts } = request
        const isMain = purpose === "conversation"
        const loss = isMain ? losses.get(turn) : undefined
        const what = [
          ...(isMain ? (acts.get(turn) ?? []).map(describeAction) : []),
          ...(loss ? [loss.why === "compaction" ? "cache lost" : `cache lost: ${LOSS_LABELS[loss.why]}`] : []),
        ]
        return [
          formatNumber(turn),
          isMain ? "" : PURPOSE_LABELS[purpose],
          formatCompact(context),
          formatCompact(counts.cacheRead),
          formatCompact(counts.cacheWrite5m + counts.cacheWrite1h + counts.input),
          formatCompact(counts.output),
          formatAmount(requestCost(request, unit), unit),
          what.join("; "),
        ]
      }),
    }),
    ...wrapText(COLUMNS, width - 2).map((line) => style.dim(`  ${line}`)),
    ...moreLine(report.requests.length - shown.length, "request"),
    ...(report.requests.length > shown.length ? ["  --json has all of them."] : []),
  ]
}
