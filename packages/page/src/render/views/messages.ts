/** The scrollable conversation. The page contains only rows near the window; the script loads further slices. */
import { formatNumber } from "@strata/core/base"
import type { LiveConversation } from "../../live/live-conversation.ts"
import { html, type Markup } from "../markup.ts"
import { rowsMarkup } from "./rows.ts"
import { emptyState } from "./shell.ts"

const SLICE_ROWS = 20

export interface MessagesViewOptions {
  readonly base: string
  readonly conversation: string
  /** Index of the first row. */
  readonly at: number
}

export function messagesView({ rows }: LiveConversation, place: MessagesViewOptions): Markup {
  const { base, conversation, at } = place
  if (rows.length === 0)
    return emptyState("There are no messages yet.", "Messages appear here as soon as they are in the journal.")
  const from = Math.floor(Math.min(at, rows.length - 1) / SLICE_ROWS) * SLICE_ROWS
  const path = `${base}/c/${conversation}`
  return html`<div class="tools">
<form role="search" data-find="${path}/find"><label>Search in it <input type="search" name="words" autocomplete="off"></label> <button>Search</button></form>
<p class="soft"><span data-count>${formatNumber(rows.length)}</span> rows <button type="button" data-go="first">First</button> <button type="button" data-go="last">Last</button></p>
<div data-found aria-live="polite"></div></div>
<div class="rows" data-rows="${path}" data-total="${rows.length}" data-slice="${SLICE_ROWS}" data-from="${from}" tabindex="0" role="feed" aria-label="Messages">
<section class="slice-rows" data-slice-from="${from}">${rowsMarkup(rows.slice(from, from + SLICE_ROWS), { base, conversation })}</section></div>`
}
