/** The contents of the window over time and now, with the thresholds. */

import { findModel, type LedgerReport } from "@strata/core"
import { formatCompact, formatNumber, formatPercent, pluralize } from "@strata/core/base"
import { DEFAULT_SETTINGS } from "@strata/core/settings"
import { thresholdsFor } from "@strata/core/tokens"
import { ledgerReport } from "@strata/core/views"
import type { LiveConversation } from "../../live/live-conversation.ts"
import type { Row } from "../../live/rows.ts"
import type { TimelinePoint } from "../content.ts"
import { classLegend, contextChart, listParts, MISS_SYMBOLS, missLegend } from "../context-chart.ts"
import { liveTimeline } from "../live-timeline.ts"
import { html, type Markup } from "../markup.ts"
import { turnRange } from "../scale.ts"
import { compareWithoutStrata, formatSpent } from "./money.ts"
import { cards, emptyState, tableMarkup } from "./shell.ts"

const HEIGHT = 320 // pixels
const POINTS = 500
const SLICES = 160

export function contextView(conversation: LiveConversation): Markup {
  const timeline = liveTimeline(conversation)
  const last = timeline.points.at(-1)
  if (!last) return emptyState("No answer yet.", "The picture begins with the first answer of the model.")
  const limits = windowLimits(conversation)
  const report = ledgerReport(conversation.timeline.views)
  const max = Math.max(...timeline.points.map(({ context }) => context), 1)
  const levels = limits.levels.filter(({ value }) => value <= max * 1.6)
  const top = Math.max(max, ...levels.map(({ value }) => value))
  const compactions = timeline.boundaries.length
  return html`${MISS_SYMBOLS}
${cards([
  {
    title: "in the window",
    value: `${formatCompact(last.context)}`,
    note: `${formatPercent(last.context, limits.max)} of ${limits.words}, ${formatCompact(limits.max)}`,
  },
  { title: "spent", value: formatSpent(report), note: compareCost(report) },
  { title: "read from cache", value: formatPercent(report.cacheHitRatio, 1), note: "of all input" },
  { title: "compacted", value: formatNumber(compactions), note: `in ${pluralize(timeline.points.length, "turn")}` },
])}
<figure><figcaption>Context over turns, by class (tokens)</figcaption>
${classLegend([timeline])}${missLegend([timeline])}
<div class="single" data-chart tabindex="0" role="group" aria-label="Context over turns; arrow keys choose a turn">${contextChart({ timeline, height: HEIGHT, turns: turnRange(timeline.points), max: top, points: POINTS, slices: SLICES, levels })}</div>
<p class="readout soft" data-readout role="status">Point at a turn, or use the arrow keys, to see its parts.</p></figure>
${nowTable(last)}`
}

/** Explains a cost that is only a part, or compares it if the layers saved money. Otherwise the money view explains the difference. */
function compareCost(report: LedgerReport): string {
  const { unpriced, dollars } = report
  if (unpriced.length > 0 && dollars > 0) return `+ at least: no price is known for ${unpriced.join(", ")}`
  return (report.saved.dollars ?? 0) > 0 ? compareWithoutStrata(report) : `for ${pluralize(report.requests, "request")}`
}

interface WindowLimits {
  /** Size that counts as full, and the thresholds. */
  readonly max: number
  readonly words: string
  readonly levels: readonly { readonly value: number; readonly words: string }[]
}

/** Limits of the newest compaction, which records its threshold; otherwise those of the model. */
function windowLimits({ metadata: { model = "unknown" }, rows }: LiveConversation): WindowLimits {
  const threshold = rows.map(recordedThreshold).findLast((each) => each !== undefined)
  if (threshold !== undefined)
    return { max: threshold, words: "where it compacts", levels: [{ value: threshold, words: "compacts here" }] }
  const { autoCompact, limit } = thresholdsFor({ name: model, values: DEFAULT_SETTINGS, betas: [] }, findModel(model))
  const levels = [
    ...(autoCompact === undefined || autoCompact === limit ? [] : [{ value: autoCompact, words: "compacts here" }]),
    { value: limit, words: "the window's limit" },
  ]
  return { max: limit, words: "the window", levels }
}

const recordedThreshold = (row: Row): number | undefined =>
  row.kind === "decision" && row.decision.subtype === "compacted" ? row.decision.threshold : undefined

const nowTable = (point: TimelinePoint): Markup | undefined =>
  point.classes &&
  tableMarkup(
    listParts(point).toSorted((a, b) => b.tokens - a.tokens),
    [
      { title: "in the window now", cell: ({ words }) => words, isText: true },
      { title: "tokens", cell: ({ tokens }) => formatNumber(Math.round(tokens)) },
      { title: "share", cell: ({ tokens }) => formatPercent(tokens, point.context) },
    ],
    { caption: "What fills the window now", total: ["all", formatNumber(point.context), "100%"] },
  )
