/**
 * Rows of a conversation. A row contains the beginning of each text; the rest is loaded as text when the user opens it. Every row has an
 * address, so that a message can be linked.
 */
import {
  type Block,
  handleOf,
  isRequest,
  isText,
  isToolResult,
  isToolUse,
  type Message,
  resultState,
} from "@strata/core"
import { formatCompact, pluralize } from "@strata/core/base"
import { isThinking } from "@strata/core/messages"
import { attachmentTitle } from "../../labels/attachments.ts"
import { describeCompaction } from "../../labels/compaction.ts"
import { describeDecision } from "../../labels/decisions.ts"
import { blockText, callSummary, entryBlocks, type Row } from "../../live/rows.ts"
import { fullText, html, type Markup } from "../markup.ts"

const MAX_START_CHARACTERS = 1_500
const MAX_START_LINES = 24
const MAX_SUMMARY_CHARACTERS = 140

export interface RowLinks {
  readonly base: string
  readonly conversation: string
}

export const rowsMarkup = (rows: readonly Row[], place: RowLinks): Markup =>
  html`${rows.map((row) => rowMarkup(row, place))}`

function rowMarkup(row: Row, place: RowLinks): Markup {
  const { handle } = row
  const entry = row.kind === "decision" ? row.decision : row.message
  const time = entry.timestamp.startsWith("1970") ? "" : entry.timestamp.slice(0, 19).replace("T", " ")
  const link = html`<a class="address" href="#${handle}" title="A link to this message" aria-label="Link to message ${handle}">${handle}</a>`
  if (row.kind === "decision")
    return html`<article class="row decision" id="${handle}"><p><span class="who">strata</span> ${describeDecision(row.decision)} ${link}</p></article>`
  if (row.kind === "boundary") {
    const { preTokens } = (row.message.type === "system" ? row.message.compactMetadata : undefined) ?? {}
    return html`<article class="row boundary" id="${handle}"><p><span class="who">compacted</span> ${describeCompaction({ tokensBefore: preTokens })} <a href="${place.base}/c/${place.conversation}/compactions#${handle}">What was kept</a> ${link}</p></article>`
  }
  const { name, kind } = describeSpeaker(row.message)
  const blocks = entryBlocks(row.message)
  return html`<article class="row ${kind}" id="${handle}"><h2><span class="who">${name}</span><time>${time}</time>${link}</h2>
${blocks.map((block, i) => blockMarkup(block, `${entry.uuid}/${i}`))}</article>`
}

function describeSpeaker(message: Message): { readonly name: string; readonly kind: string } {
  switch (message.type) {
    case "assistant":
      return { name: message.message.model ?? "model", kind: "answer" }
    case "attachment":
      return { name: attachmentTitle(message.attachment), kind: "note" }
    case "user":
      if (message.isCompactSummary) return { name: "summary", kind: "note" }
      return isRequest(message) ? { name: "you", kind: "person" } : { name: "results", kind: "results" }
    default:
      return { name: "system", kind: "note" }
  }
}

/** Renders a block. `key` identifies it by its entry and index. */
function blockMarkup(block: Block, key: string): Markup {
  const text = blockText(block)
  const size = text.length
  if (isToolUse(block)) return foldedMarkup({ key, kind: "call", title: block.name, start: callSummary(block), size })
  if (isToolResult(block)) {
    const state = resultState(block)
    return foldedMarkup({ key, kind: "result", title: state === "ok" ? "result" : state, start: text, size })
  }
  if (isThinking(block))
    return text === ""
      ? html`<p class="soft">thinking, not readable</p>`
      : foldedMarkup({ key, kind: "thinking", title: "thinking", start: text, size })
  if (!isText(block)) return html`<p class="soft">${text.slice(0, MAX_SUMMARY_CHARACTERS)}</p>`
  if (text.trim() === "") return html``
  const start = textStart(text)
  return html`<div class="text"><p class="message-text">${fullText(start)}</p>${
    start.length < text.length
      ? html`<button type="button" data-whole="${key}">Show all ${formatCompact(text.length)} characters</button>`
      : undefined
  }</div>`
}

interface FoldedBlock {
  readonly key: string
  readonly kind: string
  readonly title: string
  readonly start: string
  readonly size: number
}

const foldedMarkup = ({ key, kind, title, start, size }: FoldedBlock): Markup =>
  html`<details class="folded ${kind}" data-block="${key}"><summary><span class="name">${title}</span> <span class="start">${oneLine(start)}</span> <span class="size">${pluralize(size, "character")}</span></summary><pre tabindex="0"></pre></details>`

const oneLine = (text: string): string =>
  text
    .slice(0, 4 * MAX_SUMMARY_CHARACTERS)
    .trim()
    .slice(0, MAX_SUMMARY_CHARACTERS)

function textStart(text: string): string {
  const lines = text.slice(0, MAX_START_CHARACTERS).split("\n", MAX_START_LINES)
  const start = lines.join("\n")
  return start.length === text.length ? text : start
}

/** Search results, one line each with a link to the message. */
export function searchHitsMarkup(
  found: readonly { readonly uuid: string; readonly at: number; readonly excerpt: string }[],
): Markup {
  return html`<ol class="found">${found.map(
    ({ uuid, excerpt }) => html`<li><a href="#${handleOf(uuid)}">${handleOf(uuid)}</a> ${excerpt}</li>`,
  )}</ol>`
}
