/** A table of several conversations with one row each and a total. Content that a fork shares with its parent counts once. */
import { basename } from "node:path"
import { findModel } from "@strata/core"
import { describeEstimates } from "@strata/core/views"
import { formatCost, formatMissCost, formatRecordedCost } from "@strata/page"
import type { InspectionTotal } from "@strata/transcripts"
import { formatCompact, formatNumber, formatPercent, pluralize } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import { wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import type { Analysis } from "./analysis.ts"
import type { ReportOptions } from "./report.ts"

const MAX_WIDTH = 120
const LEGEND =
  "cached: share of the input read from cache. lost: how often the cache was lost. loss: what that cost beyond reading it. reread: tokens of files read again."
const MAX_SHARED = 8

export interface ComparedAnalyses {
  readonly analyses: readonly Analysis[]
  readonly total: InspectionTotal
}

/** Renders the table of conversations. */
export function comparison(
  { analyses, total }: ComparedAnalyses,
  { style, columns }: ReportOptions,
): readonly string[] {
  const rows = analyses.map((one) => [
    shortName(one),
    modelName(one.model),
    formatNumber(one.growth.sizes.length),
    formatCompact(Math.max(0, ...one.growth.sizes)),
    formatNumber(one.growth.boundaries.length),
    one.cache.counts.cacheRead === 0 ? "-" : formatPercent(one.cache.hitRatio, 1),
    formatNumber(one.cache.broken.breaks),
    one.cache.broken.breaks === 0 ? "-" : shortenCost(formatMissCost(one.cache.broken)),
    formatCompact(rereadIn(one)),
    shortenCost(formatRecordedCost(one.money)),
  ])
  const totals = [
    "all",
    "",
    formatNumber(total.turns),
    "",
    formatNumber(total.boundaries),
    formatPercent(total.hitRatio, 1),
    formatNumber(total.broken.breaks),
    total.broken.breaks === 0 ? "-" : shortenCost(formatMissCost(total.broken)),
    formatCompact(sumOf(analyses.map(rereadIn))),
    shortenCost(formatCost(total.money)),
  ]
  return [
    style.bold(`${analyses.length} conversations`),
    ...table({
      width: Math.min(columns, MAX_WIDTH),
      indent: 0,
      titles: style.dim,
      columns: [
        { title: "file", gives: "end" },
        { title: "model", gives: "beginning" },
        { title: "turns", align: "right" },
        { title: "peak", align: "right" },
        { title: "compacted", align: "right" },
        { title: "cached", align: "right" },
        { title: "lost", align: "right" },
        { title: "loss", align: "right" },
        { title: "reread", align: "right", isMinor: true },
        { title: "cost", align: "right" },
      ],
      rows: [...rows, totals],
    }),
    ...describeTotal(total).flatMap((sentence) => wrapText(sentence, columns)),
    ...wrapText(`${LEGEND} >: more than. ?: unknown.`, columns).map(style.dim),
  ]
}

/** Describes which costs in the total are estimates, and which responses are counted in another file. */
export function describeTotal({ money, shared }: InspectionTotal): readonly string[] {
  return [
    ...(money.unpriced.length > 0 ? [`No price is known for ${money.unpriced.map(escapeToLine).join(", ")}.`] : []),
    ...(money.isLowerBound ? ["Some output was not recorded in full, so the cost is higher than shown."] : []),
    ...describeEstimates(money.estimated),
    ...shared
      .slice(0, MAX_SHARED)
      .map(
        ({ file, responses, countedIn }) =>
          `${escapeToLine(basename(file))}: ${pluralize(responses, "response is", "responses are")} also in ${escapeToLine(basename(countedIn))} and counted there.`,
      ),
    ...(shared.length > MAX_SHARED
      ? [`and ${formatNumber(shared.length - MAX_SHARED)} more files with shared responses`]
      : []),
  ]
}

const shortName = ({ format, title, file }: Analysis): string =>
  escapeToLine(format === "openhands" && title ? title : basename(file))

/** Model name without the prefix "claude-" and the date. */
const modelName = (name: string | undefined) =>
  name === undefined ? "?" : escapeToLine(findModel(name).facts.id).replace(/^claude-/, "")

/** Shortens a cost for a narrow column. */
const shortenCost = (words: string): string => (words === "unknown" ? "?" : words.replace("more than ", ">"))

const rereadIn = ({ content }: Analysis): number => sumOf(content.duplicateReads.map(({ wasted }) => wasted))
const sumOf = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
