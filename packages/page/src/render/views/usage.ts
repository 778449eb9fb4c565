/** The first page of `strata usage`: one sentence, four numbers, the next step, a chart and the most expensive conversations. */

import { formatTimeAgo, pluralize } from "@strata/core/base"
import type { DeletedSessions } from "../../usage/deleted-sessions.ts"
import {
  FOOTNOTE_SYMBOLS,
  FOUND_PROGRAMS,
  type NextStep,
  type UsageNumber,
  type UsageOverview,
} from "../../usage/overview.ts"
import type { UsageReport, UsageRow } from "../../usage/report-data.ts"
import { isPictureReady } from "../../usage/share.ts"
import { dayChart, dayLegend, groupIntoBars, namesByCost } from "../day-chart.ts"
import { fullText, html, type Markup, type MarkupContent } from "../markup.ts"
import { emptyState } from "./shell.ts"
import {
  conversationLink,
  conversationTitle,
  formatRowCost,
  formatRowMisses,
  projectName,
  shareBar,
} from "./usage-format.ts"

export interface UsageViewInput {
  readonly base: string
  readonly report: UsageReport
  readonly overview: UsageOverview
  /** The most expensive conversations. */
  readonly rows: readonly UsageRow[]
  readonly deletedSessions?: DeletedSessions
  /** Sentence about work in progress. */
  readonly progress?: string
  readonly now: Date
}

/** Pages that explain the numbers. */
const NUMBER_PATHS: Readonly<Record<UsageNumber["key"], string>> = {
  spent: "/agents",
  caches: "/caches",
  names: "/compactions",
  strata: "/compactions#strata",
}

export function usageView(shown: UsageViewInput): Markup {
  const { base, report, overview, deletedSessions, progress } = shown
  if (report.conversations === 0 && progress !== undefined)
    return html`<h1>${progress}</h1>${emptyState("The first conversations appear here in a moment.")}`
  if (report.conversations === 0)
    return html`<h1>${overview.sentence}</h1>${emptyState(
      `Looked in the usual places of ${FOUND_PROGRAMS}.`,
    )}${nextStep(overview.next, base)}`
  return html`<h1 class="quiet">What your agents cost</h1>
<p class="lead summary">${withFootnotes(overview.sentence, overview.numbers)}</p>${progress === undefined ? undefined : html`<p class="progress soft" role="status">${progress}</p>`}
${numberCards(overview.numbers, base)}
${nextStep(overview.next, base)}
<div class="overview">${daySection(report)}${mostExpensive(shown)}</div>
${footnotes(overview.numbers)}
${deletedSessions === undefined ? undefined : deletedNotice(deletedSessions)}
${remarks(report)}
${isPictureReady(report) ? html`<p class="soft"><a href="${base}/picture.svg">Save a picture</a> of these figures, without names or contents.</p>` : undefined}`
}

/** Replaces the symbols of footnotes by links. The sentence has only Strata's own words, so nothing else in it is a symbol. */
function withFootnotes(sentence: string, numbers: readonly UsageNumber[]): MarkupContent {
  const pattern = new RegExp(`([${FOOTNOTE_SYMBOLS.join("")}])`)
  return sentence.split(pattern).map((part) => {
    const number = numbers.find(({ footnote }) => footnote?.symbol === part)
    return number ? footnoteLink(number, "sentence") : part
  })
}

function footnoteLink({ key, title, footnote }: UsageNumber, place: "sentence" | "number"): Markup | undefined {
  return (
    footnote &&
    html`<sup><a class="footnote" id="footnote-${place}-${key}" href="#note-${key}" aria-label="Note on ${title}">${footnote.symbol}</a></sup>`
  )
}

const numberCards = (numbers: readonly UsageNumber[], base: string): Markup =>
  html`<dl class="cards numbers">${numbers.map(
    (number) =>
      html`<div><dt><a href="${base}${NUMBER_PATHS[number.key]}">${number.title}</a></dt><dd><strong>${number.value}${footnoteLink(number, "number")}</strong><span>${number.detail}</span></dd></div>`,
  )}</dl>`

function footnotes(numbers: readonly UsageNumber[]): Markup | undefined {
  const noted = numbers.filter(({ footnote }) => footnote !== undefined)
  if (noted.length === 0) return undefined
  return html`<h2 class="quiet">Notes</h2><ul class="footnotes">${noted.map(
    ({ key, title, footnote }) =>
      html`<li id="note-${key}" tabindex="-1"><a href="#footnote-number-${key}" aria-label="Back to ${title}">${footnote!.symbol}</a><span>${footnote!.text}</span></li>`,
  )}</ul>`
}

function nextStep(next: NextStep | undefined, base: string): Markup | undefined {
  if (next === undefined) return undefined
  const action =
    "command" in next
      ? html`<code id="next-step" tabindex="0">${next.command}</code>`
      : html`<a id="next-step" href="${base}/c/${next.row.key}/${next.view}">${conversationTitle(next.row)}</a>`
  return html`<p class="next"><span><strong>Next</strong> ${next.text}</span> ${action}</p>`
}

function daySection({ byDay }: UsageReport): Markup {
  const days = byDay.map(({ day, dollars: paid, byModel }) => ({ day, dollars: paid, parts: byModel }))
  const dated = days.filter(({ day }) => day !== "unknown")
  if (dated.length === 0) return emptyState("No transcript here has times.")
  const bars = groupIntoBars(dated)
  return html`<figure><figcaption>Money by ${bars.unit}, by model</figcaption>${dayLegend(namesByCost(bars.days))}<div data-chart tabindex="0" role="group" aria-label="Money by ${bars.unit}; arrow keys choose a bar">${dayChart(bars)}</div><p class="readout soft" data-readout role="status">Point at a bar to see its parts.</p></figure>`
}

function mostExpensive({ base, rows, report, now }: UsageViewInput): Markup {
  const max = Math.max(...rows.map(({ dollars }) => dollars), 0)
  return html`<section class="dearest"><h2>Most expensive</h2><a id="all-conversations" href="${base}/conversations">${report.conversations === 1 ? "The list" : `All ${pluralize(report.conversations, "conversation")}`}</a>
<ol>${rows.map(
    (row) =>
      html`<li>${conversationLink(row, base)}<strong>${formatRowCost(row)}</strong><span class="soft">${[
        row.program,
        ...(row.project === undefined ? [] : [projectName(row.project)]),
        ...(row.to === undefined ? [] : [formatTimeAgo(new Date(row.to), now)]),
      ].join(
        " · ",
      )}</span><span class="lost">${row.lost.count === 0 ? undefined : `${formatRowMisses(row)} lost`}</span>${shareBar(max === 0 ? 0 : row.dollars / max)}</li>`,
  )}</ol></section>`
}

/** Remarks about data that the numbers do not include. */
function remarks({ files, simulated }: UsageReport): Markup {
  const { unread, damaged } = files
  const lines = [
    ...unread.map(
      ({ reason, files: count, examples }) =>
        `Not read: ${pluralize(count, "file")} (${reason}): ${examples.join(", ")}${count > examples.length ? ", …" : ""}.`,
    ),
    ...(damaged.files > 0
      ? [
          `Not counted: ${pluralize(damaged.lines, "damaged line")} of ${pluralize(damaged.files, "file")}: ${damaged.examples.join(", ")}${damaged.files > damaged.examples.length ? ", …" : ""}.`,
        ]
      : []),
    ...(simulated > 0
      ? [`Not counted: ${pluralize(simulated, "conversation")} with the simulator, which cost nothing.`]
      : []),
  ]
  return html`${lines.map((line) => html`<p class="problem">${fullText(line)}</p>`)}`
}

function deletedNotice({ days, gone }: DeletedSessions): Markup {
  return html`<p class="problem">Claude Code deletes transcripts after ${pluralize(days, "day")}${gone > 0 ? `; ${pluralize(gone, "session")} of its history ${gone === 1 ? "is" : "are"} gone` : ""}. <strong>strata archive</strong> copies them before that.</p>`
}
