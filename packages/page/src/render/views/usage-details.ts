/** Details of the usage report: lost caches, compactions, contents of the context, and costs by program, model and agent. */
import { formatCompact, formatDollars, formatNumber, formatPercent, pluralize } from "@strata/core/base"
import { PURPOSE_LABELS } from "@strata/core/views"
import { apiReasonLabel } from "../../labels/cache-breaks.ts"
import type { AgentTotal } from "../../usage/digest.ts"
import type { UsageReport, UsageRow } from "../../usage/report-data.ts"
import { formatCautiousPercent } from "../format.ts"
import { fullText, html, type Markup } from "../markup.ts"
import { cards, emptyState, tableMarkup } from "./shell.ts"
import {
  conversationLink,
  formatCost,
  formatMissCost,
  formatRowCost,
  formatRowMisses,
  plusNote,
  shareBar,
} from "./usage-format.ts"

export interface DetailsInput {
  readonly base: string
  readonly report: UsageReport
}

/** `rows` are the conversations that lost the most. */
export function usageCachesView({ base, report, rows }: DetailsInput & { readonly rows: readonly UsageRow[] }): Markup {
  const { cache } = report
  const { lost } = cache
  const losers = rows.filter((row) => row.lost.count > 0)
  return html`${cards([
    { title: "read from cache", value: formatPercent(cache.hitRatio, 1), note: "of all input" },
    { title: "lost", value: lost.count === 0 ? "never" : pluralize(lost.count, "time") },
    { title: "paid again", value: formatCompact(lost.tokens), note: "tokens" },
    { title: "cost", value: formatMissCost(lost), note: `${formatPercent(lost.share, 1)} of the bill` },
  ])}
${
  lost.count === 0
    ? emptyState("The cache was never lost.")
    : html`<div class="columns-two"><section><h2>Why</h2>${causeTable(report)}${reasonTable(report)}</section>
<section><h2>Where</h2>${tableMarkup(
        losers,
        [
          { title: "conversation", cell: (row) => conversationLink(row, base, "/cache"), isText: true },
          { title: "times", cell: (row) => formatNumber(row.lost.count) },
          { title: "lost", cell: formatRowMisses },
          { title: "cost", cell: formatRowCost },
        ],
        { caption: "Conversations that lost the most" },
      )}<p><a href="${base}/conversations?sort=lost&amp;order=descending">All conversations by loss</a></p></section></div>${plusNote(report)}`
}`
}

const causeTable = ({ cache }: UsageReport): Markup =>
  tableMarkup(
    cache.byCause,
    [
      { title: "because", cell: ({ words }) => words, isText: true },
      { title: "times", cell: ({ count }) => formatNumber(count) },
      { title: "tokens", cell: ({ tokens }) => formatCompact(tokens) },
      { title: "cost", cell: formatMissCost },
    ],
    {
      caption: "Lost caches by cause",
      total: ["all", formatNumber(cache.lost.count), formatCompact(cache.lost.tokens), formatMissCost(cache.lost)],
    },
  )

const reasonTable = ({ cache }: UsageReport): Markup | undefined =>
  cache.byReason.length === 0
    ? undefined
    : tableMarkup(
        cache.byReason,
        [
          { title: "the API's own reason", cell: ({ reason }) => apiReasonLabel(reason), isText: true },
          { title: "times", cell: ({ count }) => formatNumber(count) },
          { title: "cost", cell: formatMissCost },
        ],
        { caption: "Lost caches, as the API explains them" },
      )

export function usageCompactionsView({ base, report }: DetailsInput): Markup {
  const { compactions, saved, sentences } = report
  const { count, unrecorded, names, dollars, estimated } = compactions
  const { names: replayed } = saved
  return html`${cards([
    { title: "compacted", value: count === 0 ? "never" : pluralize(count, "time") },
    {
      title: "cost",
      value: formatCost(compactions),
      note: describeEstimated(dollars, estimated),
    },
    {
      title: "names lost",
      value:
        unrecorded === count && count > 0
          ? "unknown"
          : names.needed === 0
            ? "none"
            : formatPercent(names.lost, names.needed),
      note: `of ${formatNumber(names.needed)} used again${unrecorded === 0 ? "" : `; unknown for ${pluralize(unrecorded, "compaction")}`}`,
    },
    ...(replayed.names === 0
      ? []
      : [
          {
            title: "names kept with Strata",
            value: formatCautiousPercent(replayed.strata / replayed.names),
            note: `${formatCautiousPercent(replayed.recorded / replayed.names)} as recorded`,
          },
        ]),
  ])}
${
  compactions.worst.length === 0
    ? emptyState("No compaction lost a name that was used again.")
    : html`<section class="wide"><h2>Worst first</h2>${tableMarkup(
        compactions.worst,
        [
          { title: "conversation", cell: (row) => conversationLink(row, base, "/compactions"), isText: true },
          { title: "kept", cell: (row) => `${formatNumber(row.names.inView)} of ${formatNumber(row.names.needed)}` },
          { title: "lost, for example", cell: ({ examples }) => examples.slice(0, 3).join(", "), isText: true },
        ],
        { caption: "Names used again after a compaction" },
      )}<p><a href="${base}/conversations?sort=names&amp;order=descending">All conversations by names lost</a></p></section>`
}
<h2 id="strata">With Strata</h2><p>${fullText(sentences[1])}</p>`
}

function describeEstimated(dollars: number, estimated: number): string {
  if (estimated === 0) return "of the summaries"
  return estimated === dollars ? "estimated" : `${formatDollars(estimated)} of it estimated`
}

export const usageContextView = ({ report: { context } }: DetailsInput): Markup =>
  context.length === 0
    ? emptyState("Nothing entered a context.")
    : html`<div class="wide">${tableMarkup(
        context,
        [
          {
            title: "what filled the context",
            cell: ({ name, share }) => html`${name}${shareBar(share)}`,
            isText: true,
          },
          { title: "tokens", cell: ({ tokens }) => formatCompact(tokens) },
          { title: "share", cell: ({ share }) => formatPercent(share, 1) },
        ],
        { caption: "Everything that entered a context, estimated" },
      )}</div>`

export function usageAgentsView({ report }: DetailsInput): Markup {
  const { byProgram, byModel, byPurpose, agents } = report
  const purposes = byPurpose.map((line) => ({ ...line, name: PURPOSE_LABELS[line.purpose] }))
  return html`<div class="columns-two">
<section><h2>By agent</h2>${costTable(byProgram, "agent")}</section>
<section><h2>By model</h2>${costTable(byModel, "model")}</section>
<section><h2>By purpose</h2>${costTable(purposes, "purpose")}</section>
${agents.count === 0 ? undefined : html`<section><h2>Sub-agents</h2>${agentTable(report)}</section>`}
</div>${plusNote(report, agents.unknown > 0 ? ["some sub-agents record no cost"] : [])}`
}

const costTable = (lines: UsageReport["byModel"], title: string): Markup =>
  lines.length === 0
    ? emptyState("Nothing was billed.")
    : tableMarkup(
        lines,
        [
          { title, cell: ({ name, share }) => html`${name}${shareBar(share)}`, isText: true },
          { title: "conversations", cell: ({ conversations }) => formatNumber(conversations) },
          { title: "cost", cell: formatCost },
          {
            title: "share",
            cell: ({ share, unpriced, requests }) => (unpriced === requests ? "-" : formatPercent(share, 1)),
          },
        ],
        { caption: `Cost by ${title}` },
      )

const agentTable = ({ agents }: UsageReport): Markup =>
  tableMarkup(
    agents.byName,
    [
      { title: "sub-agent", cell: ({ name }) => name, isText: true },
      { title: "times", cell: ({ count }) => formatNumber(count) },
      { title: "cost", cell: agentCost },
    ],
    { caption: "Cost by sub-agent", total: ["all", formatNumber(agents.count), agentCost(agents)] },
  )

const agentCost = ({ count, unknown, dollars: paid }: Omit<AgentTotal, "name">): string =>
  formatMissCost({ count, unpriced: unknown, dollars: paid })
