/** What fills the window, over the turns and now, with the thresholds. */

import { findModel, type LedgerReport } from "@strata/core"
import { counted, grouped, percent, short } from "@strata/core/base"
import { DEFAULT_SETTINGS } from "@strata/core/settings"
import { thresholdsFor } from "@strata/core/tokens"
import { ledgerReport } from "@strata/core/views"
import type { FollowedConversation } from "../../live/followed-conversation.ts"
import type { Row } from "../../live/rows.ts"
import type { Point } from "../content.ts"
import { classLegend, contextChart, lossLegend, MARK_SHAPES, partsIn } from "../context-chart.ts"
import { courseOf } from "../live-course.ts"
import { html, type Markup } from "../markup.ts"
import { turnsIn } from "../scale.ts"
import { moneyWords, withoutStrata } from "./money.ts"
import { cards, empty, tableOf } from "./shell.ts"

const HEIGHT = 320 // pixels
const POINTS = 500
const SLICES = 160

export function contextView(conversation: FollowedConversation): Markup {
  const course = courseOf(conversation)
  const last = course.points.at(-1)
  if (!last) return empty("No answer yet.", "The picture begins with the first answer of the model.")
  const limits = limitsOf(conversation)
  const report = ledgerReport(conversation.fold.views)
  const max = Math.max(...course.points.map(({ context }) => context), 1)
  const levels = limits.levels.filter(({ value }) => value <= max * 1.6)
  const top = Math.max(max, ...levels.map(({ value }) => value))
  const compactions = course.boundaries.length
  return html`${MARK_SHAPES}
${cards([
  {
    title: "in the window",
    value: `${short(last.context)}`,
    about: `${percent(last.context, limits.max)} of ${limits.words}, ${short(limits.max)}`,
  },
  { title: "spent", value: moneyWords(report), about: besideNothing(report) },
  { title: "read from cache", value: percent(report.cacheHitRatio, 1), about: "of all input" },
  { title: "compacted", value: grouped(compactions), about: `in ${counted(course.points.length, "turn")}` },
])}
<figure><figcaption>Context over turns, by class (tokens)</figcaption>
${classLegend([course])}${lossLegend([course])}
<div class="single" data-chart tabindex="0" role="group" aria-label="Context over turns; arrow keys choose a turn">${contextChart({ course, height: HEIGHT, turns: turnsIn(course.points), max: top, points: POINTS, slices: SLICES, levels })}</div>
<p class="readout soft" data-readout role="status">Point at a turn, or use the arrow keys, to see its parts.</p></figure>
${nowTable(last)}`
}

/** Where the layers have cost more so far, the view about money says why. */
const besideNothing = (report: LedgerReport): string =>
  (report.saved.dollars ?? 0) > 0 ? withoutStrata(report) : `for ${counted(report.requests, "request")}`

interface Limits {
  /** The size that the window is compared with, and what happens there. */
  readonly max: number
  readonly words: string
  readonly levels: readonly { readonly value: number; readonly words: string }[]
}

/** By the newest compaction, which says what was in force; otherwise the model's own. */
function limitsOf({ about: { model = "unknown" }, rows }: FollowedConversation): Limits {
  const threshold = rows.map(thresholdIn).findLast((each) => each !== undefined)
  if (threshold !== undefined)
    return { max: threshold, words: "where it compacts", levels: [{ value: threshold, words: "compacts here" }] }
  const { autoCompact, limit } = thresholdsFor({ name: model, values: DEFAULT_SETTINGS, betas: [] }, findModel(model))
  const levels = [
    ...(autoCompact === undefined || autoCompact === limit ? [] : [{ value: autoCompact, words: "compacts here" }]),
    { value: limit, words: "the window's limit" },
  ]
  return { max: limit, words: "the window", levels }
}

const thresholdIn = (row: Row): number | undefined =>
  row.kind === "decision" && row.decision.subtype === "compacted" ? row.decision.threshold : undefined

const nowTable = (point: Point): Markup | undefined =>
  point.classes &&
  tableOf(
    partsIn(point).toSorted((a, b) => b.tokens - a.tokens),
    [
      { title: "in the window now", cell: ({ words }) => words, isText: true },
      { title: "tokens", cell: ({ tokens }) => grouped(Math.round(tokens)) },
      { title: "share", cell: ({ tokens }) => percent(tokens, point.context) },
    ],
    { caption: "What fills the window now", total: ["all", grouped(point.context), "100%"] },
  )
