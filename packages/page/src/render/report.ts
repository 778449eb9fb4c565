/** Renders a report page: the scorecard, a table of conversations, and charts for each of them. Its size is bounded. */

import { formatCompact, formatNumber, pluralize } from "@strata/core/base"
import type { ChartTimeline, PageContent, PageConversation } from "./content.ts"
import { classLegend, contextChart, MISS_SYMBOLS, missLegend } from "./context-chart.ts"
import { costChart, finalCost } from "./cost-chart.ts"
import { document } from "./document.ts"
import { formatAmount } from "./format.ts"
import { html, type Markup } from "./markup.ts"
import { turnRange } from "./scale.ts"
import { SCORE_COLUMNS } from "./score-columns.ts"

const MAX_POINTS = 400 // per chart; more would not be visible
const MIN_POINTS = 40
const MAX_TOTAL_POINTS = 30_000 // about 4 MB
const MAX_DETAILED = 60 // conversations with charts; the others are only in the table
const SLICES = 48
const MAX_CHARTS_WITH_SLICES = 40
const TALL_PIXELS = 220 // pixels
const LOW_PIXELS = 130
const OWN_POLICY = "strata"
const ORACLE_POLICY = "optimum"

export function page({ title, description, scorecard, conversations, total }: PageContent): Markup {
  const detailed = new Set(conversations.toSorted((a, b) => costWeight(b) - costWeight(a)).slice(0, MAX_DETAILED))
  const charts = [...detailed].reduce((sum, { timelines }) => sum + timelines.length, 0)
  const points = Math.min(MAX_POINTS, Math.max(MIN_POINTS, Math.floor(MAX_TOTAL_POINTS / Math.max(1, charts))))
  const slices = charts <= MAX_CHARTS_WITH_SLICES ? SLICES : 0
  const isMany = conversations.length > 1
  const body = html`${MISS_SYMBOLS}
<header><h1>${title}</h1>${description.map((sentence) => html`<p class="soft">${sentence}</p>`)}</header>
<main>
${scorecard && scorecard.scores.length > 0 ? scoreSection(scorecard) : undefined}
${isMany ? conversationTable(conversations, { detailed, total }) : undefined}
${conversations.map((conversation, i) =>
  detailed.has(conversation) ? details(conversation, { id: `c${i + 1}`, points, slices, isOpen: !isMany }) : undefined,
)}
</main>`
  return document({ title, body })
}

const costWeight = ({ timelines }: PageConversation) =>
  Math.max(0, ...timelines.map((course) => finalCost(course) ?? 0)) || (timelines[0]?.points.length ?? 0) / 1e9

function scoreSection({ scores, unit, conversations }: NonNullable<PageContent["scorecard"]>): Markup {
  const min = Math.min(...scores.filter(({ policy }) => policy !== ORACLE_POLICY).map(({ cost }) => cost))
  return html`<section><h2>Scorecard</h2>
<p>${pluralize(scores.length, "policy", "policies")} on ${pluralize(conversations, "conversation")}. The lowest cost is marked. Optimum knows the future, so it is a bound and not marked.</p>
<div class="scroll" tabindex="0"><table><thead><tr><th>policy</th>${SCORE_COLUMNS.map(({ title, description }) => html`<th title="${description}">${title}</th>`)}</tr></thead>
<tbody>${scores.map(
    (score) =>
      html`<tr${score.policy === OWN_POLICY ? html` class="ours"` : undefined}><th title="${score.about}">${score.policy}</th>${SCORE_COLUMNS.map(
        ({ title, cell }) =>
          html`<td${title === "cost" && score.policy !== ORACLE_POLICY && score.cost === min ? html` class="best"` : undefined}>${cell(score, unit)}</td>`,
      )}</tr>`,
  )}</tbody></table></div>
<details><summary>What the columns and policies mean</summary>
<dl class="columns">${SCORE_COLUMNS.map(({ title, description }) => html`<dt>${title}</dt><dd>${description}</dd>`)}<dt>-</dt><dd>there was nothing to count</dd></dl>
<dl class="columns">${scores.map(({ policy, about }) => html`<dt>${policy}</dt><dd>${about}</dd>`)}</dl></details></section>`
}

interface TableOptions {
  readonly detailed: ReadonlySet<PageConversation>
  readonly total: PageContent["total"]
}

function conversationTable(all: readonly PageConversation[], { detailed, total }: TableOptions): Markup {
  const left = all.length - detailed.size
  const isRecorded = all.every(({ timelines }) => timelines.length === 1)
  const columns = isRecorded ? factColumns(all) : costColumns(all)
  return html`<section><h2>Conversations</h2>
${left > 0 ? html`<p>The ${formatNumber(detailed.size)} with the highest cost have charts below; ${formatNumber(left)} are in this table only.</p>` : undefined}
<div class="scroll" tabindex="0"><table><thead><tr><th class="long">conversation</th><th>turns</th>${columns.map(({ title }) => html`<th>${title}</th>`)}</tr></thead>
<tbody>${all.map((conversation, i) => {
    const { name } = conversation
    const link = detailed.has(conversation) ? html`<a href="#c${i + 1}">${name}</a>` : name
    return html`<tr><td class="long">${link}</td><td>${formatNumber(turnCount(conversation))}</td>${columns.map(({ cell }) => html`<td>${cell(conversation)}</td>`)}</tr>`
  })}${total ? totalRow(all, { columns, total }) : undefined}</tbody></table></div>
${!isRecorded && all.some(({ unit }) => unit === "tokens") ? html`<p class="soft">Without a dollar sign: tokens of plain input, because a price is unknown.</p>` : undefined}</section>`
}

const totalRow = (
  all: readonly PageConversation[],
  {
    columns,
    total,
  }: { readonly columns: readonly ConversationColumn[]; readonly total: NonNullable<TableOptions["total"]> },
): Markup =>
  html`<tr class="total"><th class="long">all</th><td>${formatNumber(all.reduce((sum, each) => sum + turnCount(each), 0))}</td>${columns.map(({ title }) => html`<td>${total[title] ?? ""}</td>`)}</tr>`

interface ConversationColumn {
  readonly title: string
  readonly cell: (conversation: PageConversation) => string
}

/** Columns with the cost of each policy. */
const costColumns = (all: readonly PageConversation[]): readonly ConversationColumn[] =>
  [...new Set(all.flatMap(({ timelines }) => timelines.map(({ name }) => name)))].map((title) => ({
    title,
    cell: ({ timelines, unit }) => {
      const course = timelines.find(({ name }) => name === title)
      const paid = course && finalCost(course)
      return paid === undefined ? "-" : formatAmount(paid, unit)
    },
  }))

/** Columns with facts, if each conversation has one timeline. */
const factColumns = (all: readonly PageConversation[]): readonly ConversationColumn[] =>
  (all[0]?.timelines[0]?.facts ?? []).map(([title], i) => ({
    title,
    cell: ({ timelines }) => timelines[0]!.facts[i]?.[1] ?? "-",
  }))

const turnCount = ({ timelines }: PageConversation) => Math.max(0, ...timelines.map(({ points }) => points.length))

interface DetailOptions {
  readonly id: string
  readonly points: number
  readonly slices: number
  readonly isOpen: boolean
}

function details(conversation: PageConversation, { id, points, slices, isOpen }: DetailOptions): Markup {
  const { name, facts, remarks, timelines } = conversation
  const turns = turnRange(timelines[0]?.points ?? [])
  const scales = contextScales(timelines)
  const isSingle = timelines.length === 1
  const hasTurns = timelines.some((course) => course.points.length > 0)
  return html`<details class="conversation" id="${id}"${isOpen ? html` open` : undefined}><summary>${name} <span class="soft">${facts.join(" · ")}</span></summary>
${remarks.map((remark) => html`<p class="soft">${remark}</p>`)}
${factTable(timelines)}
${hasTurns ? costChart({ conversation, turns, points }) : html`<p>There are no requests to draw.</p>`}
${
  hasTurns
    ? html`<figure><figcaption>Context over turns, by class (tokens)${isSingle ? "" : "; panels share one scale unless they say otherwise"}</figcaption>
${classLegend(timelines)}${missLegend(timelines)}
<div class="${isSingle ? "single" : "panels"}">${timelines.map(
        (timeline) =>
          html`<div class="panel">${isSingle ? undefined : panelTitle(timeline, scales.of(timeline) > scales.shared)}${contextChart({ timeline, height: isSingle ? TALL_PIXELS : LOW_PIXELS, turns, max: scales.of(timeline), points, slices })}</div>`,
      )}</div></figure>`
    : undefined
}
${isSingle ? missTable(timelines[0]!) : undefined}
${isSingle ? compactionTable(timelines[0]!) : undefined}
</details>`
}

const OUTLIER_FACTOR = 2 // times the median: on a shared scale, the others would be too flat to read

interface ContextScales {
  /** Maximum of the scale that most panels share, in tokens. */
  readonly shared: number
  readonly of: (course: ChartTimeline) => number
}

/** One scale for all panels, except for timelines that are much larger than the others. */
function contextScales(courses: readonly ChartTimeline[]): ContextScales {
  const peaks = courses.map(peakContext).toSorted((a, b) => a - b)
  const usual = OUTLIER_FACTOR * (peaks[Math.floor((peaks.length - 1) / 2)] ?? 0)
  const shared = Math.max(1, ...peaks.filter((peak) => peak <= usual))
  return { shared, of: (course) => Math.max(shared, peakContext(course)) }
}

const peakContext = ({ points }: ChartTimeline) =>
  points.reduce((largest, { context }) => Math.max(largest, context), 0)

function panelTitle(course: ChartTimeline, hasOwnScale: boolean): Markup {
  const { name, boundaries, misses } = course
  const lost = misses.length === 0 ? "cache never lost" : `cache lost ${pluralize(misses.length, "time")}`
  const compacted = boundaries.length === 0 ? "no compaction" : pluralize(boundaries.length, "compaction")
  return html`<h4>${name}</h4><p class="soft">at most ${formatCompact(peakContext(course))}, ${compacted}, ${lost}${hasOwnScale ? "; its own scale" : ""}</p>`
}

function factTable(courses: readonly ChartTimeline[]): Markup {
  const titles = (courses[0]?.facts ?? []).map(([title]) => title)
  const isSingle = courses.length === 1
  return html`<div class="scroll" tabindex="0"><table><thead><tr>${isSingle ? undefined : html`<th>policy</th>`}${titles.map((title) => html`<th>${title}</th>`)}</tr></thead>
<tbody>${courses.map(
    ({ name, facts }) =>
      html`<tr${name === OWN_POLICY ? html` class="ours"` : undefined}>${isSingle ? undefined : html`<th>${name}</th>`}${facts.map(([, value]) => html`<td>${value}</td>`)}</tr>`,
  )}</tbody></table></div>`
}

const MAX_LISTED_MISSES = 12

/** Table of cache misses with their causes, for print and for users who cannot point at a symbol. */
function missTable({ misses }: ChartTimeline): Markup | undefined {
  if (misses.length === 0) return undefined
  const hasCosts = misses.some(({ cost }) => cost !== undefined)
  const largest = new Set(misses.toSorted((a, b) => b.tokens - a.tokens).slice(0, MAX_LISTED_MISSES))
  return html`<h3>Where the cache was lost</h3><div class="scroll" tabindex="0"><table><thead><tr><th>turn</th><th>tokens written again</th>${hasCosts ? html`<th>cost</th>` : undefined}<th class="long">why</th></tr></thead>
<tbody>${misses
    .filter((loss) => largest.has(loss))
    .map(
      ({ turn, tokens, cost = "-", reason }) =>
        html`<tr><td>${formatNumber(turn)}</td><td>${formatCompact(tokens)}</td>${hasCosts ? html`<td>${cost}</td>` : undefined}<td class="long">${reason}</td></tr>`,
    )}</tbody></table></div>
${misses.length > largest.size ? html`<p class="soft">and ${formatNumber(misses.length - largest.size)} smaller ones</p>` : undefined}`
}

const MAX_COMPACTIONS = 30

/** Table of the names that each compaction lost and that were used again. */
function compactionTable({ compactions = [] }: ChartTimeline): Markup | undefined {
  if (compactions.length === 0) return undefined
  const left = compactions.length - MAX_COMPACTIONS
  return html`<h3>Names used again after compactions</h3><div class="scroll" tabindex="0"><table><thead><tr><th>after turn</th><th>tokens</th><th>still in view</th><th class="long">lost</th></tr></thead>
<tbody>${compactions
    .slice(0, MAX_COMPACTIONS)
    .map(
      ({ turn, size, kept, lost }) =>
        html`<tr><td>${formatNumber(turn)}</td><td>${size}</td><td>${kept}</td><td class="long">${lost}</td></tr>`,
    )}</tbody></table></div>
${left > 0 ? html`<p class="soft">and ${formatNumber(left)} more</p>` : undefined}`
}
