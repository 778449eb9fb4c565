/** Cache statistics of a conversation: reads, writes, misses with causes, and decisions of the planner. */
import {
  formatCompact,
  formatDollars,
  formatDollarsOrUnknown,
  formatNumber,
  formatPercent,
  pluralize,
} from "@strata/core/base"
import { ledgerReport, totalBreaks } from "@strata/core/views"
import { CAUSE_LABELS, describeCause } from "../../labels/cache-breaks.ts"
import { listLayerDecisions } from "../../labels/decisions.ts"
import type { LiveConversation } from "../../live/live-conversation.ts"
import { html, type Markup } from "../markup.ts"
import { cards, emptyState, tableMarkup } from "./shell.ts"

const MAX_PLANNED_ROWS = 40

export function cacheView(conversation: LiveConversation): Markup {
  const { views } = conversation.timeline
  const { tokens, cacheHitRatio, byPurpose, requests } = ledgerReport(views)
  if (requests === 0) return emptyState("No request yet.", "Figures come with the first answer.")
  const { breaks, totals } = views.cacheHistory
  const all = totalBreaks(views.cacheHistory)
  const warm = byPurpose.find(({ purpose }) => purpose === "keep-warm")
  const paid = (one: { breaks: number; dollars: number; unpriced: number }) =>
    one.unpriced === one.breaks ? "unknown" : `${formatDollars(one.dollars)}${one.unpriced > 0 ? "+" : ""}`
  return html`
${cards([
  {
    title: "read from cache",
    value: formatCompact(tokens.cacheRead),
    note: `${formatPercent(cacheHitRatio, 1)} of all input`,
  },
  { title: "written to cache", value: formatCompact(tokens.cacheWrite), note: "tokens" },
  { title: "uncached", value: formatCompact(tokens.input), note: "tokens" },
  {
    title: "lost",
    value: all.breaks === 0 ? "never" : pluralize(all.breaks, "time"),
    ...(all.breaks === 0 ? {} : { note: `${formatCompact(all.rewrittenTokens)} tokens paid again, ${paid(all)}` }),
  },
  ...(warm
    ? [{ title: "kept warm", value: pluralize(warm.requests, "time"), note: formatWarmCost(warm.dollars) }]
    : []),
])}
${
  totals.size === 0
    ? emptyState("The cache was never lost.")
    : html`<h2>Why it was lost</h2>${tableMarkup(
        [...totals].toSorted(([, a], [, b]) => b.rewrittenTokens - a.rewrittenTokens),
        [
          { title: "because", cell: ([cause]) => CAUSE_LABELS[cause], isText: true },
          { title: "times", cell: ([, total]) => formatNumber(total.breaks) },
          { title: "tokens paid again", cell: ([, total]) => formatCompact(total.rewrittenTokens) },
          { title: "cost", cell: ([, total]) => paid(total) },
        ],
        {
          caption: "Lost caches by cause",
          total: ["all", formatNumber(all.breaks), formatCompact(all.rewrittenTokens), paid(all)],
        },
      )}<h2>The largest losses</h2>${tableMarkup(
        breaks.toSorted((a, b) => b.rewrittenTokens - a.rewrittenTokens),
        [
          { title: "turn", cell: ({ turn }) => formatNumber(turn) },
          { title: "because", cell: describeCause, isText: true },
          { title: "tokens paid again", cell: ({ rewrittenTokens }) => formatCompact(rewrittenTokens) },
          { title: "cost", cell: ({ dollars: cost }) => formatDollarsOrUnknown(cost) },
        ],
        { caption: "Largest first" },
      )}`
}
${plannerSection(conversation)}`
}

const formatWarmCost = (paid: number | undefined) => (paid === undefined ? "price unknown" : formatDollars(paid))

/** Decisions of the planner, each with its reason. */
function plannerSection({ rows }: LiveConversation): Markup | undefined {
  const entries = rows.map((row) => (row.kind === "decision" ? row.decision : row.message))
  const planned = listLayerDecisions(entries).filter((one) => one.planned !== undefined)
  if (planned.length === 0) return undefined
  return html`<h2>What the planner decided</h2>${tableMarkup(
    planned.slice(-MAX_PLANNED_ROWS),
    [
      { title: "turn", cell: ({ turn }) => formatNumber(turn) },
      { title: "what", cell: ({ what, about }) => `${what}: ${about}`, isText: true },
      { title: "why", cell: ({ planned: why = "" }) => why, isText: true },
    ],
    { caption: "Decisions of the planner" },
  )}`
}
