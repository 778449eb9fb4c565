/** What was paid, for what and for whom, beside what it would have been without the layers. */
import type { LedgerReport } from "@strata/core"
import { dollars, dollarsOrUnknown, grouped, percent, short } from "@strata/core/base"
import { ledgerReport, PURPOSE_LABELS } from "@strata/core/views"
import { LAYER_WORDS } from "../../labels/layers.ts"
import type { FollowedConversation } from "../../live/followed-conversation.ts"
import { html, type Markup } from "../markup.ts"
import { cards, empty, tableOf } from "./shell.ts"

/** Known costs only: a model without a price makes it a lower bound, and never `$0`. */
export function moneyWords({ dollars: paid, unpriced, requests }: LedgerReport): string {
  if (requests === 0) return "nothing yet"
  if (unpriced.length === 0) return dollars(paid)
  return paid === 0 ? "unknown" : `more than ${dollars(paid)}`
}

/** Beside what the same conversation would have cost without the layers. */
export function withoutStrata({ saved, dollars: paid }: LedgerReport): string {
  if (saved.layers.length === 0) return "no layer acted yet"
  if (saved.dollars === undefined) return "savings unknown: no price"
  return saved.dollars < 0
    ? `${dollars(-saved.dollars)} more than without the layers, so far`
    : `${dollars(paid + saved.dollars)} without Strata`
}

export function moneyView({ fold }: FollowedConversation): Markup {
  const report = ledgerReport(fold.views)
  if (report.requests === 0) return empty("Nothing was billed yet.", "Figures come with the first answer.")
  const share = (paid: number | undefined) => (paid === undefined ? "-" : percent(paid, report.dollars))
  return html`
${cards([
  { title: "spent", value: moneyWords(report), about: withoutStrata(report) },
  { title: "requests", value: grouped(report.requests) },
  { title: "read from cache", value: percent(report.cacheHitRatio, 1), about: "of all input" },
  ...(report.estimated ? [{ title: "of this estimated", value: dollarsOrUnknown(report.estimated.dollars) }] : []),
])}
<h2>By purpose</h2>
${tableOf(
  report.byPurpose,
  [
    { title: "for", cell: ({ purpose }) => PURPOSE_LABELS[purpose], isText: true },
    { title: "requests", cell: ({ requests }) => grouped(requests) },
    { title: "read from cache", cell: ({ tokens }) => short(tokens.cacheRead) },
    { title: "written to cache", cell: ({ tokens }) => short(tokens.cacheWrite) },
    { title: "uncached", cell: ({ tokens }) => short(tokens.input) },
    { title: "output", cell: ({ tokens }) => short(tokens.output) },
    { title: "cost", cell: ({ dollars: paid }) => dollarsOrUnknown(paid) },
    { title: "share", cell: ({ dollars: paid }) => share(paid) },
  ],
  {
    caption: "Cost by purpose",
    total: [
      "all",
      grouped(report.requests),
      short(report.tokens.cacheRead),
      short(report.tokens.cacheWrite),
      short(report.tokens.input),
      short(report.tokens.output),
      moneyWords(report),
      "",
    ],
  },
)}
<h2>By model</h2>
${tableOf(
  report.byModel,
  [
    { title: "model", cell: ({ model }) => model, isText: true },
    { title: "requests", cell: ({ requests }) => grouped(requests) },
    { title: "cost", cell: ({ dollars: paid }) => dollarsOrUnknown(paid) },
  ],
  { caption: "Cost by model" },
)}
${
  report.agents.length === 0
    ? undefined
    : html`<h2>By agent</h2>${tableOf(
        report.agents,
        [
          { title: "agent", cell: ({ name }) => name, isText: true },
          { title: "what for", cell: ({ description = "" }) => description, isText: true },
          { title: "turns", cell: ({ requests }) => grouped(requests) },
          { title: "cost", cell: ({ dollars: paid }) => dollarsOrUnknown(paid) },
        ],
        { caption: "Cost by agent" },
      )}`
}
${
  report.saved.layers.length === 0
    ? undefined
    : html`<h2>What the layers saved</h2>${tableOf(
        report.saved.layers,
        [
          { title: "layer", cell: ({ layer }) => LAYER_WORDS[layer], isText: true },
          { title: "times", cell: ({ actions }) => grouped(actions) },
          { title: "tokens not sent", cell: ({ tokensNotSent }) => short(tokensNotSent) },
          { title: "saved", cell: ({ dollars: saved }) => dollarsOrUnknown(saved) },
        ],
        { caption: "What the layers saved" },
      )}<p class="soft">Each row compares with a conversation in which only this layer had not acted.</p>`
}`
}
