/** One replayed conversation as a page for the terminal, and a table of several. */

import { basename } from "node:path"
import { formatAmount, formatAmountWithUnit, formatCautiousPercent } from "@strata/page"
import { requestCost } from "@strata/transcripts/replay"
import { formatCompact, formatNumber, pluralize } from "../display/numbers.ts"
import { fileLine, more, titled, withGap } from "../display/section.ts"
import { table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { wrapped } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import { actionWords } from "./action-table.ts"
import { LOSS_WORDS, PURPOSE_LABELS, type ReplayPage, remarksOn, turnsOf } from "./page.ts"
import { actions, billed, cache, context, cost, evidence, failures } from "./sections.ts"

const WIDEST = 110
const OVERVIEW_COLUMNS =
  "peak: largest context, in tokens. compacted: number of compactions. cached: share of the input read from cache. saved: compared with sending everything; below 0 it cost more."

export interface ReportOptions {
  readonly style: Style
  readonly columns: number
  /** How many requests to list. Without it, none are. */
  readonly turns?: number
}

export type Replayed = Pick<ReplayPage, "recording" | "replay" | "report" | "calibration">

export function replayReport(replayed: Replayed, { style, columns, turns: max }: ReportOptions): readonly string[] {
  const page: ReplayPage = { ...replayed, style, width: Math.min(columns, WIDEST) }
  if (page.report.requests.length === 0) return heading(page)
  const sections = [context, cost, cache, actions, evidence, billed, failures]
  return [
    ...heading(page),
    ...sections.flatMap((section) => withGap(section(page))),
    ...(max === undefined ? [] : withGap(turns(page, max))),
  ]
}

function heading({ recording, replay, report, style, width }: ReplayPage): string[] {
  const facts = [recording.format, escapeToLine(replay.model), pluralize(turnsOf(replay), "turn")]
  return [
    fileLine(recording.file, { style, width }),
    ...wrapped(facts.join(" · "), width),
    ...wrapped(`Policy ${report.policy}: ${report.about}`, width),
    ...wrapped(remarksOn({ recording, replay }).join(" "), width).map(style.dim),
  ]
}

export function replayOverview(all: readonly Replayed[], { style, columns }: ReportOptions): readonly string[] {
  return [
    style.bold(`${all.length} conversations`),
    ...table({
      width: Math.min(columns, WIDEST),
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
        formatNumber(turnsOf(replay)),
        formatCompact(totals.peak),
        formatNumber(totals.compactions),
        formatCautiousPercent(totals.hitRatio),
        formatAmountWithUnit(totals.dollars ?? totals.weighed, totals.saved.unit),
        `${totals.saved.amount < 0 ? "-" : ""}${formatCautiousPercent(Math.abs(totals.saved.share))}`,
      ]),
    }),
    ...wrapped(OVERVIEW_COLUMNS, Math.min(columns, WIDEST)).map(style.dim),
  ]
}

/** A replay turn by turn: every request, what it read and wrote, what it cost, and what was done for it. */
const COLUMNS =
  "context: tokens of the request, of which cached were read from the cache and new were not. A line without a purpose is the conversation itself."

function turns(page: ReplayPage, max: number): string[] {
  const { report, style, width } = page
  const { unit } = report.totals.saved
  const shown = report.requests.slice(0, max)
  const acts = Map.groupBy(report.actions, ({ turn }) => turn)
  const losses = new Map(report.losses.map((loss) => [loss.turn, loss]))
  return [
    ...titled(page, { title: "Turn by turn" }),
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
          ...(isMain ? (acts.get(turn) ?? []).map(actionWords) : []),
          ...(loss ? [loss.why === "compaction" ? "cache lost" : `cache lost: ${LOSS_WORDS[loss.why]}`] : []),
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
    ...wrapped(COLUMNS, width - 2).map((line) => style.dim(`  ${line}`)),
    ...more(report.requests.length - shown.length, "request"),
    ...(report.requests.length > shown.length ? ["  --json has all of them."] : []),
  ]
}
