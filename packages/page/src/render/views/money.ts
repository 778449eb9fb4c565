/** Cost by purpose, model and agent, compared with the cost without the layers. */
import type { LedgerReport } from "@strata/core"
import { formatCompact, formatDollars, formatDollarsOrUnknown, formatNumber, formatPercent } from "@strata/core/base"
import { ledgerReport, PURPOSE_LABELS } from "@strata/core/views"
import { LAYER_LABELS } from "../../labels/layers.ts"
import type { LiveConversation } from "../../live/live-conversation.ts"
import { html, type Markup } from "../markup.ts"
import { cards, emptyState, tableMarkup } from "./shell.ts"

/** Formats the known cost. A model without a price makes it a lower bound, and never `$0`. */
export function formatSpent({ dollars: paid, unpriced, requests }: LedgerReport): string {
  if (requests === 0) return "nothing yet"
  if (unpriced.length === 0) return formatDollars(paid)
  return paid === 0 ? "unknown" : `more than ${formatDollars(paid)}`
}

/** Compares the cost with that of the same conversation without the layers. */
export function compareWithoutStrata({ saved, dollars: paid }: LedgerReport): string {
  if (saved.layers.length === 0) return "no layer acted yet"
  if (saved.dollars === undefined) return "savings unknown: no price"
  return saved.dollars < 0
    ? `${formatDollars(-saved.dollars)} more than without the layers, so far`
    : `${formatDollars(paid + saved.dollars)} without Strata`
}

export function moneyView({ timeline }: LiveConversation): Markup {
  const report = ledgerReport(timeline.views)
  if (report.requests === 0) return emptyState("Nothing was billed yet.", "Figures come with the first answer.")
  const share = (paid: number | undefined) => (paid === undefined ? "-" : formatPercent(paid, report.dollars))
  return html`
${cards([
  { title: "spent", value: formatSpent(report), note: compareWithoutStrata(report) },
  { title: "requests", value: formatNumber(report.requests) },
  { title: "read from cache", value: formatPercent(report.cacheHitRatio, 1), note: "of all input" },
  ...(report.estimated
    ? [{ title: "of this estimated", value: formatDollarsOrUnknown(report.estimated.dollars) }]
    : []),
])}
<h2>By purpose</h2>
${tableMarkup(
  report.byPurpose,
  [
    { title: "for", cell: ({ purpose }) => PURPOSE_LABELS[purpose], isText: true },
    { title: "requests", cell: ({ requests }) => formatNumber(requests) },
    { title: "read from cache", cell: ({ tokens }) => formatCompact(tokens.cacheRead) },
    { title: "written to cache", cell: ({ tokens }) => formatCompact(tokens.cacheWrite) },
    { title: "uncached", cell: ({ tokens }) => formatCompact(tokens.input) },
    { title: "output", cell: ({ tokens }) => formatCompact(tokens.output) },
    { title: "cost", cell: ({ dollars: paid }) => formatDollarsOrUnknown(paid) },
    { title: "share", cell: ({ dollars: paid }) => share(paid) },
  ],
  {
    caption: "Cost by purpose",
    total: [
      "all",
      formatNumber(report.requests),
      formatCompact(report.tokens.cacheRead),
      formatCompact(report.tokens.cacheWrite),
      formatCompact(report.tokens.input),
      formatCompact(report.tokens.output),
      formatSpent(report),
      "",
    ],
  },
)}
<h2>By model</h2>
${tableMarkup(
  report.byModel,
  [
    { title: "model", cell: ({ model }) => model, isText: true },
    { title: "requests", cell: ({ requests }) => formatNumber(requests) },
    { title: "cost", cell: ({ dollars: paid }) => formatDollarsOrUnknown(paid) },
  ],
  { caption: "Cost by model" },
)}
${
  report.agents.length === 0
    ? undefined
    : html`<h2>By agent</h2>${tableMarkup(
        report.agents,
        [
          { title: "agent", cell: ({ name }) => name, isText: true },
          { title: "what for", cell: ({ description = "" }) => description, isText: true },
          { title: "turns", cell: ({ requests }) => formatNumber(requests) },
          { title: "cost", cell: ({ dollars: paid }) => formatDollarsOrUnknown(paid) },
        ],
        { caption: "Cost by agent" },
      )}`
}
${
  report.saved.layers.length === 0
    ? undefined
    : html`<h2>What the layers saved</h2>${tableMarkup(
        report.saved.layers,
        [
          { title: "layer", cell: ({ layer }) => LAYER_LABELS[layer], isText: true },
          { title: "times", cell: ({ actions }) => formatNumber(actions) },
          { title: "tokens not sent", cell: ({ tokensNotSent }) => formatCompact(tokensNotSent) },
          { title: "saved", cell: ({ dollars: saved }) => formatDollarsOrUnknown(saved) },
        ],
        { caption: "What the layers saved" },
      )}<p class="soft">Each row compares with a conversation in which only this layer had not acted.</p>`
}`
}
