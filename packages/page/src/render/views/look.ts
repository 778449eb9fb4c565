/** All conversations of this machine: what was spent, what was lost and why, what Strata would have saved, and a list to search. */

import { counted, dollars, grouped, percent, short, timeAgo } from "@strata/core/base"
import { PURPOSE_LABELS } from "@strata/core/views"
import type { AgentSum } from "../../usage/digest.ts"
import type { GoneSessions } from "../../usage/gone-sessions.ts"
import {
  LIST_ORDERS,
  type ListOrder,
  type LookList,
  type LookReport,
  type LookRow,
  type LookSavings,
  type LookSpent,
} from "../../usage/report-data.ts"
import { intervalWords, moneyWords } from "../../usage/sentences.ts"
import { isPictureReady } from "../../usage/share.ts"
import { barsOf, dayChart, dayLegend, namesIn } from "../day-chart.ts"
import { html, type Markup, wholeText } from "../markup.ts"
import { cards, empty, tableOf } from "./shell.ts"

export interface LookShown {
  readonly base: string
  readonly report: LookReport
  readonly list: LookList
  readonly asked: ListAsked
  readonly gone?: GoneSessions
  /** What is still being done, as a sentence. */
  readonly working?: string
  readonly now: Date
}

export interface ListAsked {
  readonly query: string
  readonly sort: ListOrder | ""
  readonly page: number
  readonly project: string
}

export const ROWS_ON_PAGE = 50
const MAX_IN_TABLE = 8
const ORDER_WORDS: Readonly<Record<ListOrder, string>> = {
  newest: "newest first",
  cost: "most expensive first",
  lost: "most lost to caches first",
  names: "most lost at compactions first",
  saved: "most to save first",
  turns: "longest first",
}

export function lookView(shown: LookShown): Markup {
  const { report, gone, working } = shown
  if (report.conversations === 0)
    return html`<h1>Conversations of this machine</h1>${empty(
      working ?? "No conversation was found.",
      "Looked in the usual places of Claude Code, Codex, pi, opencode, Gemini CLI, Copilot CLI, OpenHands and Strata. Add a place with: strata usage --dir DIRECTORY",
    )}`
  return html`<h1 class="quiet">Conversations of this machine</h1>
<p class="lead">${wholeText(report.sentence)}</p>
${report.sentences.map((sentence) => html`<p>${wholeText(sentence)}</p>`)}
${gone === undefined ? undefined : goneWords(gone)}
<p class="soft" role="status">${working ?? `${counted(report.conversations, "conversation")} read.`}${isPictureReady(report) ? html` <a href="${shown.base}/picture.svg">Save a picture</a> without names or contents.` : undefined}</p>
${remarks(report)}
${figures(report)}
${daysOf(report)}
<div class="columns-two">
<section><h2>Where the cache was lost</h2>${lossTable(report)}</section>
<section><h2>What compactions lost</h2>${compactionTable(shown)}</section>
<section><h2>By purpose</h2>${spentTable(
    report.byPurpose.map((line) => ({ ...line, name: PURPOSE_LABELS[line.purpose] })),
    "purpose",
  )}</section>
<section><h2>By model</h2>${spentTable(report.byModel, "model")}</section>
<section><h2>By program</h2>${spentTable(report.byProgram, "program")}</section>
<section><h2>By project</h2>${spentTable(report.byProject, "project")}</section>
<section><h2>What filled the context</h2>${contextTable(report)}</section>
${report.agents.count === 0 ? undefined : html`<section><h2>Sub-agents</h2>${agentTable(report)}</section>`}
</div>
${listSection(shown)}`
}

function figures({ total, cache, compactions, saved, conversations }: LookReport): Markup {
  const { names } = compactions
  return cards([
    {
      title: "spent",
      value: paidWords(total, total.isLowerBound),
      about: `in ${counted(conversations, "conversation")}`,
    },
    {
      title: "lost to broken caches",
      value: cache.lost.count === 0 ? "nothing" : lossWords(cache.lost),
      about: `${counted(cache.lost.count, "time")}, ${percent(cache.lost.share, 1)} of the bill`,
    },
    {
      title: "lost at compactions",
      value:
        compactions.unrecorded === compactions.count && compactions.count > 0
          ? "unknown"
          : names.needed === 0
            ? "nothing seen"
            : percent(names.lost, names.needed),
      about: `of ${grouped(names.needed)} names used again after ${counted(compactions.count - compactions.unrecorded, "compaction")}${compactions.unrecorded === 0 ? "" : `; unknown for ${grouped(compactions.unrecorded)} at the beginning of a file`}`,
    },
    savingCard(saved),
  ])
}

function savingCard(saved: LookSavings) {
  const { figure, of, replayed } = saved
  if (figure.kind === "nothing")
    return { title: "Strata would have saved", value: "unknown", about: "nothing can be replayed" }
  if (figure.kind === "unknown")
    return {
      ...{ title: "Strata would have saved", value: "not known yet" },
      about: `${grouped(replayed)} of ${counted(of, "conversation")} replayed`,
    }
  const interval =
    figure.kind === "sampled" ? `${intervalWords(figure)}: a sample of ${grouped(figure.sample)} of ` : ""
  return {
    title: figure.share >= 0 ? "Strata would have saved" : "Strata would have cost",
    value: `${percent(Math.abs(figure.share), 1)}${figure.share >= 0 ? "" : " more"}`,
    about: `${interval}${counted(of, "conversation")}, modelled, for ${moneyWords(saved)}`,
  }
}

/** What is left out of the figures. */
function remarks({ files, simulated }: LookReport): Markup {
  const lines = [
    ...files.unread.map(
      ({ reason, files: count, examples }) =>
        `Not read: ${counted(count, "file")} (${reason}): ${examples.join(", ")}${count > examples.length ? ", …" : ""}.`,
    ),
    ...(files.damaged.files > 0
      ? [
          `${counted(files.damaged.lines, "line")} of ${counted(files.damaged.files, "file")} cannot be read and ${files.damaged.lines === 1 ? "does" : "do"} not count: ${files.damaged.examples.join(", ")}${files.damaged.files > files.damaged.examples.length ? ", …" : ""}.`,
        ]
      : []),
    ...(simulated > 0
      ? [
          `${counted(simulated, "conversation")} with the simulator cost nothing and ${simulated === 1 ? "is" : "are"} not counted.`,
        ]
      : []),
  ]
  return html`${lines.map((line) => html`<p class="problem">${wholeText(line)}</p>`)}`
}

function paidWords({ dollars: paid, unpriced, requests }: LookSpent, isLowerBound = false): string {
  if (requests > 0 && unpriced === requests) return "unknown"
  return unpriced > 0 || isLowerBound ? `more than ${dollars(paid)}` : dollars(paid)
}

interface Loss {
  readonly count: number
  readonly unpriced: number
  readonly dollars: number
}

function lossWords({ count, unpriced, dollars: paid }: Loss): string {
  if (unpriced === count) return "unknown"
  return unpriced > 0 ? `more than ${dollars(paid)}` : dollars(paid)
}

function daysOf({ byDay }: LookReport): Markup {
  const days = byDay.map(({ day, dollars: paid, byModel }) => ({ day, dollars: paid, parts: byModel }))
  const dated = days.filter(({ day }) => day !== "unknown")
  if (dated.length === 0) return empty("No transcript here has times.")
  const bars = barsOf(dated)
  return html`<figure><figcaption>Money by ${bars.unit}, by model</figcaption>${dayLegend(namesIn(bars.days))}<div data-chart tabindex="0">${dayChart(bars)}</div><p class="readout soft" data-readout role="status">Point at a bar, or use the arrow keys, to see its parts.</p></figure>`
}

function lossTable({ cache }: LookReport): Markup {
  if (cache.lost.count === 0) return empty("The cache was never lost.")
  return html`${tableOf(
    cache.byCause,
    [
      { title: "because", cell: ({ words }) => words, isText: true },
      { title: "times", cell: ({ count }) => grouped(count) },
      { title: "tokens", cell: ({ tokens }) => short(tokens) },
      { title: "cost", cell: lossWords },
    ],
    {
      caption: "Lost caches by cause",
      total: ["all", grouped(cache.lost.count), short(cache.lost.tokens), lossWords(cache.lost)],
    },
  )}${
    cache.byReason.length === 0
      ? undefined
      : tableOf(
          cache.byReason,
          [
            { title: "the API's own reason", cell: ({ reason }) => reason.replaceAll("_", " "), isText: true },
            { title: "times", cell: ({ count }) => grouped(count) },
            { title: "cost", cell: ({ dollars: paid }) => dollars(paid) },
          ],
          { caption: "Lost caches, as the API explains them" },
        )
  }`
}

function compactionTable({ report: { compactions }, base }: LookShown): Markup {
  if (compactions.worst.length === 0) return empty("No compaction lost a name that was used again.")
  return tableOf(
    compactions.worst.slice(0, MAX_IN_TABLE),
    [
      { title: "conversation", cell: (row) => linkTo(row, base), isText: true },
      { title: "kept", cell: ({ names }) => `${grouped(names.inView)} of ${grouped(names.needed)}` },
      { title: "lost, for example", cell: ({ examples }) => examples.slice(0, 3).join(", "), isText: true },
    ],
    { caption: "Names used again after a compaction, worst first" },
  )
}

type SpentLine = LookReport["byModel"][number]

const spentTable = (lines: readonly SpentLine[], title: string): Markup =>
  lines.length === 0
    ? empty("Nothing was billed.")
    : tableOf(
        lines.slice(0, MAX_IN_TABLE),
        [
          { title, cell: ({ name }) => name, isText: true },
          { title: "conversations", cell: ({ conversations }) => grouped(conversations) },
          { title: "cost", cell: (line) => paidWords(line) },
          {
            title: "share",
            cell: ({ share, unpriced, requests }) => (unpriced === requests ? "-" : percent(share, 1)),
          },
        ],
        { caption: `Cost by ${title}` },
      )

const contextTable = ({ context }: LookReport): Markup =>
  tableOf(
    context,
    [
      { title: "what", cell: ({ name }) => name, isText: true },
      { title: "tokens", cell: ({ tokens }) => short(tokens) },
      { title: "share", cell: ({ share }) => percent(share, 1) },
    ],
    { caption: "Everything that entered a context, estimated" },
  )

const agentTable = ({ agents }: LookReport): Markup =>
  tableOf(
    agents.byName.slice(0, MAX_IN_TABLE),
    [
      { title: "agent", cell: ({ name }) => name, isText: true },
      { title: "times", cell: ({ count }) => grouped(count) },
      { title: "cost", cell: agentCost },
    ],
    { caption: "Cost by sub-agent", total: ["all", grouped(agents.count), agentCost(agents)] },
  )

const agentCost = ({ count, unknown, dollars: paid }: Omit<AgentSum, "name">): string =>
  lossWords({ count, unpriced: unknown, dollars: paid })

const linkTo = ({ key, title, id }: LookRow, base: string): Markup =>
  html`<a href="${base}/c/${key}">${(title ?? id).slice(0, 90) || id}</a>`

/** A form that works without a script. */
function listSection({ base, list, asked, now, report }: LookShown): Markup {
  const { query, sort, page, project } = asked
  const pages = Math.max(1, Math.ceil(list.total / ROWS_ON_PAGE))
  const to = (at: number) => `${base}/?${new URLSearchParams({ q: query, sort, project, page: String(at) })}#list`
  return html`<section id="list"><h2>All conversations</h2>
<form class="tools" role="search" action="${base}/#list" method="get">
<label>Search in all of them <input type="search" name="q" value="${query}" autocomplete="off"></label>
<label>Project <select name="project"><option value="">all</option>${report.byProject.map(({ name }) => html`<option value="${name}"${name === project ? html` selected` : undefined}>${name}</option>`)}</select></label>
<label>Order <select name="sort">${(["", ...LIST_ORDERS] as const).map((each) => html`<option value="${each}"${each === sort ? html` selected` : undefined}>${each === "" ? (query === "" ? "newest first" : "best match first") : ORDER_WORDS[each]}</option>`)}</select></label>
<button>Show</button></form>
${
  list.rows.length === 0
    ? empty(
        "No conversation has all of these words.",
        "Try fewer words. The search looks at what people and models said, not at tool results.",
      )
    : tableOf(
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
            cell: ({ to: last }) => (last === undefined ? "-" : timeAgo(new Date(last), now)),
            isText: true,
          },
          { title: "turns", cell: ({ turns }) => grouped(turns) },
          { title: "peak", cell: ({ peak }) => short(peak) },
          { title: "compacted", cell: ({ compactions }) => grouped(compactions) },
          { title: "lost to caches", cell: lostIn },
          {
            title: "names kept",
            cell: ({ names }) => (names.needed === 0 ? "-" : percent(names.inView, names.needed)),
          },
          { title: "cost", cell: costOf },
          {
            title: "with Strata",
            cell: ({ replayed }) =>
              replayed === undefined || replayed.recorded === 0 ? "-" : percent(replayed.strata, replayed.recorded),
          },
        ],
        { caption: `${counted(list.total, "conversation")}, page ${grouped(page + 1)} of ${grouped(pages)}` },
      )
}
<nav class="actions" aria-label="Pages">${page > 0 ? html`<a href="${to(page - 1)}">Previous</a>` : undefined}${page + 1 < pages ? html`<a href="${to(page + 1)}">Next</a>` : undefined}</nav>
<p class="soft">“With Strata” is modelled beside the recorded course, modelled in the same way. Neither is the bill.</p></section>`
}

function costOf({ dollars: paid, cost }: LookRow): string {
  if (cost === "none") return "-"
  if (cost === "unknown" || cost === "simulated") return cost
  return cost === "known" ? dollars(paid) : `more than ${dollars(paid)}`
}

function lostIn({ lost, cost }: LookRow): string {
  if (lost.count === 0) return "-"
  return cost === "unknown" || lost.dollars === 0 ? "unknown" : dollars(lost.dollars)
}

function goneWords({ days, gone }: GoneSessions): Markup {
  return html`<p class="problem">Claude Code deletes transcripts after ${counted(days, "day")}${gone > 0 ? `: ${counted(gone, "session")} that its history names ${gone === 1 ? "is" : "are"} gone` : ""}. <strong>strata archive</strong> copies them before they go.</p>`
}
