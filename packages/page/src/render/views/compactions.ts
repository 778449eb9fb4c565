/** Details of every compaction: sizes, summarised messages, audit results, attached data, and how to undo it. */

import { type Entry, handleOf, type Message } from "@strata/core"
import { formatCompact, formatDollars, formatPercent, pluralize } from "@strata/core/base"
import { isBoundary } from "@strata/core/messages"
import { type DecisionOf, isDecision } from "@strata/core/store"
import { dollarsFor } from "@strata/core/views"
import type { BoundaryNames } from "@strata/transcripts"
import { attachmentName } from "../../labels/attachments.ts"
import { describeAudit, listAuditFindings, routeLabel } from "../../labels/compaction.ts"
import { describeLostNames, describeNamesInView } from "../../labels/needed-names.ts"
import type { LiveConversation } from "../../live/live-conversation.ts"
import { blockText, entryBlocks } from "../../live/rows.ts"
import { html, type Markup } from "../markup.ts"
import { cards, emptyState } from "./shell.ts"

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
    const written = (end < 0 ? rest : rest.slice(0, end)).filter(isPartOfCompaction)
    const known = facts.get(entry.uuid)
    const opened = { boundary: entry, at, from, ...(known ? { facts: known } : {}), written }
    from = at + 1
    return [opened]
  })
}

const isPartOfCompaction = (entry: Entry): entry is Message =>
  (entry.type === "user" && entry.isCompactSummary === true) || entry.type === "attachment"

export interface CompactionsViewOptions {
  readonly base: string
  readonly conversation: string
  readonly isStrata: boolean
  /** For each compaction, names used after it. */
  readonly neededNames: readonly (BoundaryNames | undefined)[]
}

/** Cost of each summary including failed attempts, by boundary. Absent if no model was asked; `undefined` if the price is unknown. */
function summaryCosts(entries: readonly Entry[]): ReadonlyMap<string, number | undefined> {
  const boundaries = entries
    .filter((entry) => !isDecision(entry) && isBoundary(entry))
    .toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1))
  const costs = new Map<string, number | undefined>()
  for (const entry of entries) {
    if (!isDecision(entry) || entry.subtype !== "spent" || !IS_SUMMARY.has(entry.purpose)) continue
    const boundary = boundaries.find(({ timestamp }) => timestamp >= entry.timestamp)?.uuid
    if (boundary === undefined) continue // its compaction is not finished
    const paid = dollarsFor({ ...entry, id: entry.responseId })
    const before = costs.has(boundary) ? costs.get(boundary) : 0
    costs.set(boundary, paid === undefined || before === undefined ? undefined : before + paid)
  }
  return costs
}

const IS_SUMMARY: ReadonlySet<string> = new Set(["compaction", "by-hand"])

export function compactionsView(conversation: LiveConversation, place: CompactionsViewOptions): Markup {
  const all = listCompactions(conversation)
  const costs = summaryCosts(conversation.entries)
  const plan = place.isStrata
    ? html`<p><button type="button" data-post="${place.base}/c/${place.conversation}/plan-compaction" data-into="plan">What would a compaction do now?</button></p><div id="plan" aria-live="polite"></div>`
    : undefined
  if (all.length === 0)
    return html`${emptyState("Not compacted yet.", "A compaction happens when the window fills up, or when you ask for one with /compact.")}${plan}`
  return html`${plan}${all
    .toReversed()
    .map((one, i) => compaction(one, { ...place, costs, isNewest: i === 0, number: all.length - i }))}`
}

interface CompactionViewOptions extends CompactionsViewOptions {
  readonly costs: ReadonlyMap<string, number | undefined>
  readonly isNewest: boolean
  readonly number: number
}

function compaction({ boundary, at, from, facts, written }: CompactionDetails, place: CompactionViewOptions): Markup {
  const { base, conversation, isStrata, isNewest, number, costs } = place
  const needed = place.neededNames[number - 1]
  const handle = handleOf(boundary.uuid)
  const metadata = boundary.type === "system" ? boundary.compactMetadata : undefined
  const before = facts?.tokensBefore ?? metadata?.preTokens
  const after = facts?.tokensAfter
  return html`<section class="compaction" id="${handle}"><h2>Compaction ${number} <span class="soft">${boundary.timestamp.slice(0, 16).replace("T", " ")}</span></h2>
${cards([
  { title: "before", value: before === undefined ? "unknown" : formatCompact(before), note: "tokens" },
  {
    title: "after",
    value: after === undefined ? "unknown" : formatCompact(after),
    note: after === undefined || before === undefined ? "tokens" : `${formatPercent(after, before)} of it`,
  },
  { title: "kept unchanged", value: facts ? pluralize(facts.kept.length, "message") : "unknown" },
  ...(facts ? [{ title: "the summary cost", ...summaryCost(costs, boundary.uuid) }] : []),
  ...(facts
    ? [
        {
          title: "how",
          value: routeLabel(facts.route),
          note: facts.prepared ? "written ahead, so no one waited" : triggerLabel(facts.trigger),
        },
      ]
    : []),
])}
${facts?.planned === undefined ? undefined : html`<p>${facts.planned}</p>`}
${
  facts?.audit
    ? html`<p>The summary was checked: ${describeAudit(facts.audit)}.</p>${
        listAuditFindings(facts.audit).length === 0
          ? undefined
          : html`<details id="audit-${handle}"><summary>What the check changed</summary><ul>${listAuditFindings(facts.audit).map((line) => html`<li>${line.replace(/^- /, "")}</li>`)}</ul></details>`
      }`
    : undefined
}
<p>Used again after it: ${describeNamesInView(needed)}${needed && needed !== "unrecorded" && needed.names > 0 ? " still in view" : ""}.${describeLostNames(needed) === "" ? "" : ` Lost from view: ${describeLostNames(needed)}.`}</p>
${
  needed === "unrecorded"
    ? html`<p>Summarised: unknown. This file begins with the compaction.</p>`
    : html`<p>Summarised: <a href="${base}/c/${conversation}/messages?at=${from}">${pluralize(at - from, "row")} before it</a>. All of them are in the journal.</p>`
}
${written.map((message, i) => foldedPart(message, `${handle}-${i}`))}
${
  isStrata && isNewest
    ? html`<p class="actions"><button type="button" data-post="${base}/c/${conversation}/undo?compaction=${boundary.uuid}&dry=1" data-into="undo-${handle}">What would an undo do?</button>
<button type="button" class="danger" data-post="${base}/c/${conversation}/undo?compaction=${boundary.uuid}" data-into="undo-${handle}" data-asks="Undo the last compaction?" data-asks-more="The messages that it summarised come back into the window. The journal keeps the summary.">Undo it</button></p><div id="undo-${handle}" aria-live="polite"></div>`
    : undefined
}</section>`
}

const summaryCost = (
  costs: CompactionViewOptions["costs"],
  boundary: string,
): { readonly value: string; readonly note?: string } =>
  costs.has(boundary)
    ? { value: formatMoney(costs.get(boundary)) }
    : { value: "nothing", note: "no request of its own" }

const triggerLabel = (trigger: "auto" | "manual") => (trigger === "auto" ? "automatic" : "on request")

function foldedPart(message: Message, id: string): Markup {
  const blocks = entryBlocks(message)
  const size = blocks.reduce((sum, block) => sum + blockText(block).length, 0)
  const title = message.type === "attachment" ? attachmentName(message.attachment.type) : "the summary"
  return html`<details class="folded" id="${id}" data-block="${message.uuid}/all"><summary><span class="name">${title}</span> <span class="size">${pluralize(size, "character")}</span></summary><pre tabindex="0"></pre></details>`
}

/** Renders a compaction plan. */
export function planMarkup(lines: readonly (readonly [label: string, words: string])[]): Markup {
  return html`<dl class="columns">${lines.map(([label, words]) => html`<dt>${label}</dt><dd>${words}</dd>`)}</dl>`
}

const formatMoney = (paid: number | undefined): string => (paid === undefined ? "unknown" : formatDollars(paid))
