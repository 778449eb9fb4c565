/** Cost by purpose, model and agent, compared with the cost without the layers. */
import type { LedgerReport } from "@strata/core"
import { formatCompact, formatDollars, formatDollarsOrUnknown, formatNumber, formatPercent } from "@strata/core/base"
import { ledgerReport, PURPOSE_LABELS } from "@strata/core/views"
import { recordedCost } from "@strata/transcripts/inspect"
import { LAYER_LABELS } from "../../labels/layers.ts"
import type { LiveConversation } from "../../live/live-conversation.ts"
import { formatAtLeast } from "../../usage/sentences.ts"
import { fullText, html, type Markup } from "../markup.ts"
import { cards, emptyState, tableMarkup } from "./shell.ts"

/** Formats the known cost, with `+` if it is a part. If no price is known, it is never `$0`. */
export function formatSpent({ dollars: paid, unpriced, requests }: LedgerReport, isPart = unpriced.length > 0): string {
  if (requests === 0) return "nothing yet"
  return paid === 0 && unpriced.length > 0 ? "unknown" : formatAtLeast(paid, isPart)
}

/** Compares the cost with that of the same conversation without the layers. */
export function compareWithoutStrata({ saved, dollars: paid }: LedgerReport): string {
  if (saved.layers.length === 0) return "no layer acted yet"
  if (saved.dollars === undefined) return "savings unknown: no price"
  return saved.dollars < 0
    ? `${formatDollars(-saved.dollars)} more than without the layers, so far`
    : `${formatDollars(paid + saved.dollars)} without Strata`
}

export function moneyView({ timeline, entries }: Pick<LiveConversation, "timeline" | "entries">): Markup {
  const { views } = timeline
  const report = ledgerReport(views)
  if (report.requests === 0) return emptyState("Nothing was billed yet.", "Figures come with the first answer.")
  const share = (paid: number | undefined) => (paid === undefined ? "-" : formatPercent(paid, report.dollars))
  const { remarks, stubs } = recordedCost({ views, entries })
  const spent = formatSpent(report, report.unpriced.length > 0 || stubs !== undefined)
  const unpriced = report.unpriced.length === 0 ? [] : [`No price is known for ${report.unpriced.join(", ")}.`]
  return html`
${cards([
  { title: "spent", value: spent, note: compareWithoutStrata(report) },
  { title: "requests", value: formatNumber(report.requests) },
  { title: "read from cache", value: formatPercent(report.cacheHitRatio, 1), note: "of all input" },
  ...(report.estimated
    ? [{ title: "of this estimated", value: formatDollarsOrUnknown(report.estimated.dollars) }]
    : []),
])}${[...unpriced, ...remarks].map((remark) => html`<p class="soft">${fullText(remark)}</p>`)}
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
      spent,
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
