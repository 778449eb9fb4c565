/** All conversations of this machine: cost, losses with causes, Strata's estimated savings, and a list to search. */

import { formatCompact, formatDollars, formatNumber, formatPercent, formatTimeAgo, pluralize } from "@strata/core/base"
import { PURPOSE_LABELS } from "@strata/core/views"
import type { DeletedSessions } from "../../usage/deleted-sessions.ts"
import type { AgentTotal } from "../../usage/digest.ts"
import {
  LIST_ORDERS,
  type ListOrder,
  type UsageCost,
  type UsageList,
  type UsageReport,
  type UsageRow,
  type UsageSavings,
} from "../../usage/report-data.ts"
import { describeCoverage, formatInterval } from "../../usage/sentences.ts"
import { isPictureReady } from "../../usage/share.ts"
import { dayChart, dayLegend, groupIntoBars, namesByCost } from "../day-chart.ts"
import { fullText, html, type Markup } from "../markup.ts"
import { cards, emptyState, tableMarkup } from "./shell.ts"

export interface UsageViewInput {
  readonly base: string
  readonly report: UsageReport
  readonly list: UsageList
  readonly listQuery: ListQuery
  readonly deletedSessions?: DeletedSessions
  /** Sentence about work in progress. */
  readonly progress?: string
  readonly now: Date
}

export interface ListQuery {
  readonly text: string
  readonly sort: ListOrder | ""
  readonly page: number
  readonly project: string
}

export const ROWS_ON_PAGE = 50
const MAX_IN_TABLE = 8
const ORDER_LABELS: Readonly<Record<ListOrder, string>> = {
  newest: "newest first",
  cost: "most expensive first",
  lost: "most lost to caches first",
  names: "most lost at compactions first",
  saved: "most to save first",
  turns: "longest first",
}

export function usageView(shown: UsageViewInput): Markup {
  const { report, deletedSessions, progress } = shown
  if (report.conversations === 0)
    return html`<h1>Conversations of this machine</h1>${emptyState(
      progress ?? "No conversation was found.",
      "Looked in the usual places of Claude Code, Codex, pi, opencode, Gemini CLI, Copilot CLI, OpenHands and Strata. Add a place with: strata usage --dir DIRECTORY",
    )}`
  return html`<h1 class="quiet">Conversations of this machine</h1>
<p class="lead">${fullText(report.sentence)}</p>
${report.sentences.map((sentence) => html`<p>${fullText(sentence)}</p>`)}
${deletedSessions === undefined ? undefined : deletedNotice(deletedSessions)}
<p class="soft" role="status">${progress ?? `${pluralize(report.conversations, "conversation")} read.`}${isPictureReady(report) ? html` <a href="${shown.base}/picture.svg">Save a picture</a> without names or contents.` : undefined}</p>
${remarks(report)}
${summaryCards(report)}
${daySection(report)}
<div class="columns-two">
<section><h2>Where the cache was lost</h2>${missTable(report)}</section>
<section><h2>What compactions lost</h2>${compactionTable(shown)}</section>
<section><h2>By purpose</h2>${costTable(
    report.byPurpose.map((line) => ({ ...line, name: PURPOSE_LABELS[line.purpose] })),
    "purpose",
  )}</section>
<section><h2>By model</h2>${costTable(report.byModel, "model")}</section>
<section><h2>By program</h2>${costTable(report.byProgram, "program")}</section>
<section><h2>By project</h2>${costTable(report.byProject, "project")}</section>
<section><h2>What filled the context</h2>${contextTable(report)}</section>
${report.agents.count === 0 ? undefined : html`<section><h2>Sub-agents</h2>${agentTable(report)}</section>`}
</div>
${listSection(shown)}`
}

function summaryCards({ total, cache, compactions, saved, conversations }: UsageReport): Markup {
  const { names } = compactions
  return cards([
    {
      title: "spent",
      value: formatCost(total, total.isLowerBound),
      note: `in ${pluralize(conversations, "conversation")}`,
    },
    {
      title: "lost to broken caches",
      value: cache.lost.count === 0 ? "nothing" : formatMissCost(cache.lost),
      note: `${pluralize(cache.lost.count, "time")}, ${formatPercent(cache.lost.share, 1)} of the bill`,
    },
    {
      title: "lost at compactions",
      value:
        compactions.unrecorded === compactions.count && compactions.count > 0
          ? "unknown"
          : names.needed === 0
            ? "nothing seen"
            : formatPercent(names.lost, names.needed),
      note: `of ${formatNumber(names.needed)} names used again after ${pluralize(compactions.count - compactions.unrecorded, "compaction")}${compactions.unrecorded === 0 ? "" : `; unknown for ${formatNumber(compactions.unrecorded)} at the beginning of a file`}`,
    },
    savingCard(saved),
  ])
}

function savingCard(saved: UsageSavings) {
  const { figure, of, replayed } = saved
  if (figure.kind === "nothing")
    return { title: "Strata would have saved", value: "unknown", note: "nothing can be replayed" }
  if (figure.kind === "unknown")
    return {
      ...{ title: "Strata would have saved", value: "not known yet" },
      note: `${formatNumber(replayed)} of ${pluralize(of, "conversation")} replayed`,
    }
  const interval =
    figure.kind === "sampled" ? `${formatInterval(figure)}: a sample of ${formatNumber(figure.sample)} of ` : ""
  return {
    title: figure.share >= 0 ? "Strata would have saved" : "Strata would have cost",
    value: `${formatPercent(Math.abs(figure.share), 1)}${figure.share >= 0 ? "" : " more"}`,
    note: `${interval}${pluralize(of, "conversation")}, modelled, for ${describeCoverage(saved)}`,
  }
}

/** Remarks about data that the numbers do not include. */
function remarks({ files, simulated }: UsageReport): Markup {
  const lines = [
    ...files.unread.map(
      ({ reason, files: count, examples }) =>
        `Not read: ${pluralize(count, "file")} (${reason}): ${examples.join(", ")}${count > examples.length ? ", …" : ""}.`,
    ),
    ...(files.damaged.files > 0
      ? [
          `${pluralize(files.damaged.lines, "line")} of ${pluralize(files.damaged.files, "file")} cannot be read and ${files.damaged.lines === 1 ? "does" : "do"} not count: ${files.damaged.examples.join(", ")}${files.damaged.files > files.damaged.examples.length ? ", …" : ""}.`,
        ]
      : []),
    ...(simulated > 0
      ? [
          `${pluralize(simulated, "conversation")} with the simulator cost nothing and ${simulated === 1 ? "is" : "are"} not counted.`,
        ]
      : []),
  ]
  return html`${lines.map((line) => html`<p class="problem">${fullText(line)}</p>`)}`
}

function formatCost({ dollars: paid, unpriced, requests }: UsageCost, isLowerBound = false): string {
  if (requests > 0 && unpriced === requests) return "unknown"
  return unpriced > 0 || isLowerBound ? `more than ${formatDollars(paid)}` : formatDollars(paid)
}

interface MissCost {
  readonly count: number
  readonly unpriced: number
  readonly dollars: number
}

function formatMissCost({ count, unpriced, dollars: paid }: MissCost): string {
  if (unpriced === count) return "unknown"
  return unpriced > 0 ? `more than ${formatDollars(paid)}` : formatDollars(paid)
}

function daySection({ byDay }: UsageReport): Markup {
  const days = byDay.map(({ day, dollars: paid, byModel }) => ({ day, dollars: paid, parts: byModel }))
  const dated = days.filter(({ day }) => day !== "unknown")
  if (dated.length === 0) return emptyState("No transcript here has times.")
  const bars = groupIntoBars(dated)
  return html`<figure><figcaption>Money by ${bars.unit}, by model</figcaption>${dayLegend(namesByCost(bars.days))}<div data-chart tabindex="0">${dayChart(bars)}</div><p class="readout soft" data-readout role="status">Point at a bar, or use the arrow keys, to see its parts.</p></figure>`
}

function missTable({ cache }: UsageReport): Markup {
  if (cache.lost.count === 0) return emptyState("The cache was never lost.")
  return html`${tableMarkup(
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
  )}${
    cache.byReason.length === 0
      ? undefined
      : tableMarkup(
          cache.byReason,
          [
            { title: "the API's own reason", cell: ({ reason }) => reason.replaceAll("_", " "), isText: true },
            { title: "times", cell: ({ count }) => formatNumber(count) },
            { title: "cost", cell: ({ dollars: paid }) => formatDollars(paid) },
          ],
          { caption: "Lost caches, as the API explains them" },
        )
  }`
}

function compactionTable({ report: { compactions }, base }: UsageViewInput): Markup {
  if (compactions.worst.length === 0) return emptyState("No compaction lost a name that was used again.")
  return tableMarkup(
    compactions.worst.slice(0, MAX_IN_TABLE),
    [
      { title: "conversation", cell: (row) => linkTo(row, base), isText: true },
      { title: "kept", cell: ({ names }) => `${formatNumber(names.inView)} of ${formatNumber(names.needed)}` },
      { title: "lost, for example", cell: ({ examples }) => examples.slice(0, 3).join(", "), isText: true },
    ],
    { caption: "Names used again after a compaction, worst first" },
  )
}

type CostRow = UsageReport["byModel"][number]

const costTable = (lines: readonly CostRow[], title: string): Markup =>
  lines.length === 0
    ? emptyState("Nothing was billed.")
    : tableMarkup(
        lines.slice(0, MAX_IN_TABLE),
        [
          { title, cell: ({ name }) => name, isText: true },
          { title: "conversations", cell: ({ conversations }) => formatNumber(conversations) },
          { title: "cost", cell: (line) => formatCost(line) },
          {
            title: "share",
            cell: ({ share, unpriced, requests }) => (unpriced === requests ? "-" : formatPercent(share, 1)),
          },
        ],
        { caption: `Cost by ${title}` },
      )

const contextTable = ({ context }: UsageReport): Markup =>
  tableMarkup(
    context,
    [
      { title: "what", cell: ({ name }) => name, isText: true },
      { title: "tokens", cell: ({ tokens }) => formatCompact(tokens) },
      { title: "share", cell: ({ share }) => formatPercent(share, 1) },
    ],
    { caption: "Everything that entered a context, estimated" },
  )

const agentTable = ({ agents }: UsageReport): Markup =>
  tableMarkup(
    agents.byName.slice(0, MAX_IN_TABLE),
    [
      { title: "agent", cell: ({ name }) => name, isText: true },
      { title: "times", cell: ({ count }) => formatNumber(count) },
      { title: "cost", cell: agentCost },
    ],
    { caption: "Cost by sub-agent", total: ["all", formatNumber(agents.count), agentCost(agents)] },
  )

const agentCost = ({ count, unknown, dollars: paid }: Omit<AgentTotal, "name">): string =>
  formatMissCost({ count, unpriced: unknown, dollars: paid })

const linkTo = ({ key, title, id }: UsageRow, base: string): Markup =>
  html`<a href="${base}/c/${key}">${(title ?? id).slice(0, 90) || id}</a>`

/** The list with a search form, which works without a script. */
function listSection({ base, list, listQuery, now, report }: UsageViewInput): Markup {
  const { text, sort, page, project } = listQuery
  const pages = Math.max(1, Math.ceil(list.total / ROWS_ON_PAGE))
  const to = (at: number) => `${base}/?${new URLSearchParams({ q: text, sort, project, page: String(at) })}#list`
  return html`<section id="list"><h2>All conversations</h2>
<form class="tools" role="search" action="${base}/#list" method="get">
<label>Search in all of them <input type="search" name="q" value="${text}" autocomplete="off"></label>
<label>Project <select name="project"><option value="">all</option>${report.byProject.map(({ name }) => html`<option value="${name}"${name === project ? html` selected` : undefined}>${name}</option>`)}</select></label>
<label>Order <select name="sort">${(["", ...LIST_ORDERS] as const).map((each) => html`<option value="${each}"${each === sort ? html` selected` : undefined}>${each === "" ? (text === "" ? "newest first" : "best match first") : ORDER_LABELS[each]}</option>`)}</select></label>
<button>Show</button></form>
${
  list.rows.length === 0
    ? emptyState(
        "No conversation has all of these words.",
        "Try fewer words. The search covers messages and answers, not tool results.",
      )
    : tableMarkup(
        list.rows,
        [
          {
            title: "conversation",
            cell: (row) =>
              html`${linkTo(row, base)}${row.hit ? html`<br><span class="soft">${row.hit.snippet}</span>` : undefined}`,
            isText: true,
          },
          { title: "program", cell: ({ program }) => program, isText: true },
          {
            title: "last",
            cell: ({ to: last }) => (last === undefined ? "-" : formatTimeAgo(new Date(last), now)),
            isText: true,
          },
          { title: "turns", cell: ({ turns }) => formatNumber(turns) },
          { title: "peak", cell: ({ peak }) => formatCompact(peak) },
          { title: "compacted", cell: ({ compactions }) => formatNumber(compactions) },
          { title: "lost to caches", cell: formatRowMisses },
          {
            title: "names kept",
            cell: ({ names }) => (names.needed === 0 ? "-" : formatPercent(names.inView, names.needed)),
          },
          { title: "cost", cell: formatRowCost },
          {
            title: "with Strata",
            cell: ({ replayed }) =>
              replayed === undefined || replayed.recorded === 0
                ? "-"
                : formatPercent(replayed.strata, replayed.recorded),
          },
        ],
        {
          caption: `${pluralize(list.total, "conversation")}, page ${formatNumber(page + 1)} of ${formatNumber(pages)}`,
        },
      )
}
<nav class="actions" aria-label="Pages">${page > 0 ? html`<a href="${to(page - 1)}">Previous</a>` : undefined}${page + 1 < pages ? html`<a href="${to(page + 1)}">Next</a>` : undefined}</nav>
<p class="soft">“With Strata” compares two modelled costs: Strata's and that of the recorded conversation. Neither is the actual bill.</p></section>`
}

function formatRowCost({ dollars: paid, cost }: UsageRow): string {
  if (cost === "none") return "-"
  if (cost === "unknown" || cost === "simulated") return cost
  return cost === "known" ? formatDollars(paid) : `more than ${formatDollars(paid)}`
}

function formatRowMisses({ lost, cost }: UsageRow): string {
  if (lost.count === 0) return "-"
  return cost === "unknown" || lost.dollars === 0 ? "unknown" : formatDollars(lost.dollars)
}

function deletedNotice({ days, gone }: DeletedSessions): Markup {
  return html`<p class="problem">Claude Code deletes transcripts after ${pluralize(days, "day")}${gone > 0 ? `: ${pluralize(gone, "session")} that its history names ${gone === 1 ? "is" : "are"} gone` : ""}. <strong>strata archive</strong> copies them before they go.</p>`
}
