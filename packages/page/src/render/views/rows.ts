/**
 * The conversation itself. A row has the start of each text; the rest is fetched when someone opens it, as text. Every row has an address,
 * so that a link to a message can be given away.
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
import { counted, short } from "@strata/core/base"
import { isThinking } from "@strata/core/messages"
import { attachmentName } from "../../labels/attachments.ts"
import { compactedSentence } from "../../labels/compaction.ts"
import { decisionWords } from "../../labels/decisions.ts"
import { blocksIn, callSummary, type Row, textIn } from "../../live/rows.ts"
import { html, type Markup, wholeText } from "../markup.ts"

const SHOWN_CHARACTERS = 1_500
const SHOWN_LINES = 24
const SUMMARY_CHARACTERS = 140

export interface RowPlace {
  readonly base: string
  readonly conversation: string
}

export const rowsMarkup = (rows: readonly Row[], place: RowPlace): Markup =>
  html`${rows.map((row) => rowMarkup(row, place))}`

function rowMarkup(row: Row, place: RowPlace): Markup {
  const { handle } = row
  const entry = row.kind === "decision" ? row.decision : row.message
  const time = entry.timestamp.startsWith("1970") ? "" : entry.timestamp.slice(0, 19).replace("T", " ")
  const link = html`<a class="address" href="#${handle}" title="A link to this message" aria-label="Link to message ${handle}">${handle}</a>`
  if (row.kind === "decision")
    return html`<article class="row decision" id="${handle}"><p><span class="who">strata</span> ${decisionWords(row.decision)} ${link}</p></article>`
  if (row.kind === "boundary") {
    const { preTokens } = (row.message.type === "system" ? row.message.compactMetadata : undefined) ?? {}
    return html`<article class="row boundary" id="${handle}"><p><span class="who">compacted</span> ${compactedSentence({ tokensBefore: preTokens })} <a href="${place.base}/c/${place.conversation}/compactions#${handle}">What was kept</a> ${link}</p></article>`
  }
  const { words, kind } = speakerOf(row.message)
  const blocks = blocksIn(row.message)
  return html`<article class="row ${kind}" id="${handle}"><h2><span class="who">${words}</span><time>${time}</time>${link}</h2>
${blocks.map((block, i) => blockMarkup(block, `${entry.uuid}/${i}`))}</article>`
}

function speakerOf(message: Message): { readonly words: string; readonly kind: string } {
  switch (message.type) {
    case "assistant":
      return { words: message.message.model ?? "model", kind: "answer" }
    case "attachment":
      return { words: attachmentName(message.attachment.type), kind: "note" }
    case "user":
      if (message.isCompactSummary) return { words: "summary", kind: "note" }
      return isRequest(message) ? { words: "you", kind: "person" } : { words: "results", kind: "results" }
    default:
      return { words: "system", kind: "note" }
  }
}

/** `key` names the block: the entry and its place in it. */
function blockMarkup(block: Block, key: string): Markup {
  const text = textIn(block)
  const size = text.length
  if (isToolUse(block)) return folded({ key, kind: "call", title: block.name, start: callSummary(block), size })
  if (isToolResult(block)) {
    const state = resultState(block)
    return folded({ key, kind: "result", title: state === "ok" ? "result" : state, start: text, size })
  }
  if (isThinking(block))
    return text === ""
      ? html`<p class="soft">thinking, not readable</p>`
      : folded({ key, kind: "thinking", title: "thinking", start: text, size })
  if (!isText(block)) return html`<p class="soft">${text.slice(0, SUMMARY_CHARACTERS)}</p>`
  if (text.trim() === "") return html``
  const start = beginning(text)
  return html`<div class="text"><p class="said">${wholeText(start)}</p>${
    start.length < text.length
      ? html`<button type="button" data-whole="${key}">Show all ${short(text.length)} characters</button>`
      : undefined
  }</div>`
}

interface Folded {
  readonly key: string
  readonly kind: string
  readonly title: string
  readonly start: string
  readonly size: number
}

const folded = ({ key, kind, title, start, size }: Folded): Markup =>
  html`<details class="folded ${kind}" data-block="${key}"><summary><span class="name">${title}</span> <span class="start">${oneLine(start)}</span> <span class="size">${counted(size, "character")}</span></summary><pre tabindex="0"></pre></details>`

const oneLine = (text: string): string =>
  text
    .slice(0, 4 * SUMMARY_CHARACTERS)
    .trim()
    .slice(0, SUMMARY_CHARACTERS)

function beginning(text: string): string {
  const lines = text.slice(0, SHOWN_CHARACTERS).split("\n", SHOWN_LINES)
  const start = lines.join("\n")
  return start.length === text.length ? text : start
}

/** Places where words were found: a line each, with a link to the message. */
export function foundMarkup(
  found: readonly { readonly uuid: string; readonly at: number; readonly words: string }[],
): Markup {
  return html`<ol class="found">${found.map(
    ({ uuid, words }) => html`<li><a href="#${handleOf(uuid)}">${handleOf(uuid)}</a> ${words}</li>`,
  )}</ol>`
}
