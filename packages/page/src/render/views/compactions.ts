/** Tells every compaction: why it happened, what it kept, what it left out, its messages, and how to undo it; and those that failed. */

import { type DecisionEntry, type Entry, handleOf, type Message } from "@strata/core"
import { formatDollars, pluralize } from "@strata/core/base"
import { isBoundary } from "@strata/core/messages"
import { type DecisionOf, isDecision } from "@strata/core/store"
import { dollarsFor } from "@strata/core/views"
import { attachmentTitle } from "../../labels/attachments.ts"
import { listAuditFindings } from "../../labels/compaction.ts"
import {
  compactionSizes,
  type DescribedCompaction,
  failureRows,
  keptRows,
  type LabelledRow,
  omittedRows,
  reasonRows,
  type SummaryBill,
} from "../../labels/compaction-rows.ts"
import { typedInstructions } from "../../live/compaction-contents.ts"
import type { CompactionEffects, LiveConversation } from "../../live/live-conversation.ts"
import { blockText, entryBlocks } from "../../live/rows.ts"
import { fullText, html, type Markup } from "../markup.ts"
import { emptyState } from "./shell.ts"

/** A compaction with all messages that it wrote. */
export interface CompactionDetails {
  readonly boundary: Message
  /** Row index of the boundary; `from` is the index after the previous boundary. */
  readonly at: number
  readonly from: number
  /** Absent for compactions of other programs. */
  readonly facts?: DecisionOf<"compacted">
  /** Messages of the compaction: the summary, facts, files. */
  readonly written: readonly Message[]
  /** Instructions of the user in the transcript of another program. */
  readonly typed: string | undefined
}

export function listCompactions({ rows }: Pick<LiveConversation, "rows">): readonly CompactionDetails[] {
  const entries: readonly Entry[] = rows.map((row) => (row.kind === "decision" ? row.decision : row.message))
  const facts = new Map(
    entries.flatMap((entry) =>
      isDecision(entry) && entry.subtype === "compacted" ? [[entry.boundary, entry] as const] : [],
    ),
  )
  let from = 0
  return entries.flatMap((entry, at) => {
    if (isDecision(entry) || !isBoundary(entry)) return []
    const rest = entries.slice(at + 1)
    const end = rest.findIndex((next) => !isDecision(next) && next.type === "assistant")
    const after = (end < 0 ? rest : rest.slice(0, end)).filter((one): one is Message => !isDecision(one))
    const written = after.filter(isPartOfCompaction)
    const known = facts.get(entry.uuid)
    const typed = known ? undefined : typedInstructions(after)
    const opened = { boundary: entry, at, from, ...(known ? { facts: known } : {}), written, typed }
    from = at + 1
    return [opened]
  })
}

const isPartOfCompaction = (entry: Message): boolean =>
  (entry.type === "user" && entry.isCompactSummary === true) || entry.type === "attachment"

export interface CompactionsViewOptions {
  readonly base: string
  readonly conversation: string
  readonly isStrata: boolean
  readonly effects: CompactionEffects
}

type Failure = Extract<DecisionEntry, { readonly subtype: "compaction-failed" }>

interface FailureDetails {
  readonly failure: Failure
  /** Row index. */
  readonly at: number
  readonly inARow: number
}

function listFailures({ rows }: Pick<LiveConversation, "rows">): readonly FailureDetails[] {
  let inARow = 0
  return rows.flatMap((row, at) => {
    if (row.kind === "boundary") inARow = 0
    if (row.kind !== "decision" || row.decision.subtype !== "compaction-failed") return []
    return [{ failure: row.decision, at, inARow: ++inARow }]
  })
}

/** What the requests for summaries cost, by the boundary or the failure that they led to. */
function summaryBills(entries: readonly Entry[]): ReadonlyMap<string, SummaryBill> {
  const ends = entries
    .filter((entry) => (isDecision(entry) ? entry.subtype === "compaction-failed" : isBoundary(entry)))
    .toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1))
  const bills = new Map<string, SummaryBill>()
  for (const entry of entries) {
    if (!isDecision(entry) || entry.subtype !== "spent" || !IS_SUMMARY.has(entry.purpose)) continue
    const end = ends.find(({ timestamp }) => timestamp >= entry.timestamp)?.uuid
    if (end === undefined) continue // its compaction is not finished
    const paid = dollarsFor({ ...entry, id: entry.responseId })
    const { requests, models, dollars } = bills.get(end) ?? { requests: 0, models: new Set<string>(), dollars: 0 }
    bills.set(end, {
      requests: requests + (entry.requests ?? 1),
      models: new Set([...models, entry.model]),
      dollars: paid === undefined || dollars === undefined ? undefined : dollars + paid,
    })
  }
  return bills
}

const IS_SUMMARY: ReadonlySet<string> = new Set(["compaction", "by-hand"])

export function compactionsView(conversation: LiveConversation, place: CompactionsViewOptions): Markup {
  const all = listCompactions(conversation)
  const failures = listFailures(conversation)
  const bills = summaryBills(conversation.entries)
  const plan = place.isStrata
    ? html`<p><button type="button" data-post="${place.base}/c/${place.conversation}/plan-compaction" data-into="plan">What would a compaction do now?</button></p><div id="plan" aria-live="polite"></div>`
    : undefined
  if (all.length === 0 && failures.length === 0)
    return html`${emptyState("Not compacted yet.", "A compaction happens when the window fills up, or when you ask for one with /compact.")}${plan}`
  const described = all.map((one, i) => describeDetails(one, { conversation, bills, effects: place.effects, at: i }))
  const sections = [
    ...all.map((one, i) => ({
      at: one.at,
      section: compaction(one, { ...place, described: described[i]!, number: i + 1, isNewest: i === all.length - 1 }),
    })),
    ...failures.map((one) => ({ at: one.at, section: failedCompaction(one, { ...place, bills }) })),
  ]
  return html`${plan}${sections.toSorted((a, b) => b.at - a.at).map(({ section }) => section)}`
}

function failedCompaction(
  { failure, at, inARow }: FailureDetails,
  { bills, base, conversation }: CompactionsViewOptions & Pick<DescriptionInput, "bills">,
): Markup {
  const { uuid, timestamp } = failure
  const rows = failureRows({ failure, inARow, bill: bills.get(uuid) })
  return html`<section class="compaction failed" id="${handleOf(uuid)}"><h2>Failed compaction <span class="soft">${formatTime(timestamp)}</span></h2>${rowsList(rows)}
<p><a href="${base}/c/${conversation}/messages?at=${at}">Where it happened</a></p></section>`
}

const formatTime = (timestamp: string): string => timestamp.slice(0, 16).replace("T", " ")

interface DescriptionInput {
  readonly conversation: LiveConversation
  readonly bills: ReadonlyMap<string, SummaryBill>
  readonly effects: CompactionEffects
  /** Index of the compaction. */
  readonly at: number
}

function describeDetails(
  { boundary, facts, written, typed }: CompactionDetails,
  { conversation, bills, effects, at }: DescriptionInput,
): DescribedCompaction {
  const metadata = boundary.type === "system" ? boundary.compactMetadata : undefined
  const { turns, boundaries } = conversation.timeline.timeline()
  const tail = (facts?.kept ?? metadata?.preservedMessages?.uuids ?? []).flatMap((uuid) => {
    const entry = conversation.find(uuid)
    return entry && !isDecision(entry) ? [entry] : []
  })
  return {
    program: conversation.metadata.format,
    ...{ metadata, facts, typed, tail, written },
    contents: effects.contents.get(boundary.uuid),
    needed: effects.names[at],
    next: turns.find(({ turn }) => turn === boundaries[at])?.context,
    cost: describeCost(bills.get(boundary.uuid), facts?.route),
  }
}

function describeCost(bill: SummaryBill | undefined, route: DecisionOf<"compacted">["route"] | undefined): string {
  if (bill === undefined)
    return route === "notes"
      ? "No request of its own: the notes kept meanwhile are the summary."
      : "It cost nothing: no request of its own."
  return bill.dollars === undefined ? "Its cost is unknown." : `It cost ${formatDollars(bill.dollars)}.`
}

interface CompactionViewOptions extends CompactionsViewOptions {
  readonly described: DescribedCompaction
  readonly isNewest: boolean
  readonly number: number
}

function compaction(details: CompactionDetails, place: CompactionViewOptions): Markup {
  const { boundary, at, from, facts, written } = details
  const { base, conversation, isStrata, isNewest, number, described } = place
  const handle = handleOf(boundary.uuid)
  const [sizes, share] = compactionSizes(described)
  const findings = facts?.audit ? listAuditFindings(facts.audit) : []
  return html`<section class="compaction" id="${handle}"><h2>Compaction ${number} <span class="soft">${formatTime(boundary.timestamp)}</span></h2>
<p class="lead">${sizes} <span class="soft">${share}</span></p>
<h3>Why</h3>${rowsList(reasonRows(described))}
<div class="columns-two"><section><h3>Kept</h3>${rowsList(keptRows(described))}</section>
<section><h3>Left out</h3>${rowsList(omittedRows(described), {
    label: "summarised",
    words:
      described.needed === "unrecorded"
        ? html`Unknown: this file begins with the compaction.`
        : html`<a href="${base}/c/${conversation}/messages?at=${from}">${pluralize(at - from, "row")} before it</a>. The journal has all of them.`,
  })}</section></div>
<h3>The window begins with</h3>
${written.map((message, i) => foldedPart(message, `${handle}-${i}`))}
${
  findings.length === 0
    ? undefined
    : html`<details class="folded" id="audit-${handle}"><summary><span class="name">what the check changed</span></summary><ul>${findings.map((line) => html`<li>${line.replace(/^- /, "")}</li>`)}</ul></details>`
}
${
  isStrata && isNewest
    ? html`<p class="actions"><button type="button" data-post="${base}/c/${conversation}/undo?compaction=${boundary.uuid}&dry=1" data-into="undo-${handle}">What would an undo do?</button>
<button type="button" class="danger" data-post="${base}/c/${conversation}/undo?compaction=${boundary.uuid}" data-into="undo-${handle}" data-asks="Undo the last compaction?" data-asks-more="The messages that it summarised come back into the window. The journal keeps the summary.">Undo it</button></p><div id="undo-${handle}" aria-live="polite"></div>`
    : undefined
}</section>`
}

interface LeadingRow {
  readonly label: string
  readonly words: Markup
}

const rowsList = (rows: readonly LabelledRow[], first?: LeadingRow): Markup =>
  html`<dl class="columns sentences">${first === undefined ? undefined : html`<dt>${first.label}</dt><dd>${first.words}</dd>`}${rows.map(
    ([label, words]) => html`<dt>${label}</dt><dd>${fullText(words)}</dd>`,
  )}</dl>`

function foldedPart(message: Message, id: string): Markup {
  const blocks = entryBlocks(message)
  const size = blocks.reduce((sum, block) => sum + blockText(block).length, 0)
  const title = message.type === "attachment" ? attachmentTitle(message.attachment) : "the summary"
  return html`<details class="folded" id="${id}" data-block="${message.uuid}/all"><summary><span class="name">${title}</span> <span class="size">${pluralize(size, "character")}</span></summary><pre tabindex="0"></pre></details>`
}

/** Renders a compaction plan. */
export function planMarkup(lines: readonly (readonly [label: string, words: string])[]): Markup {
  return html`<dl class="columns">${lines.map(([label, words]) => html`<dt>${label}</dt><dd>${words}</dd>`)}</dl>`
}
