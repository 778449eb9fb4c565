/** Responds with a page or a part of it. */
import type { Context } from "hono"
import { html, type Markup } from "../render/markup.ts"

export const respondWithPage = (context: Context, page: Markup, status: 200 | 404 | 500 = 200): Response =>
  context.html(page.toString(), status)

/** Responds to an action with a sentence in the page. */
export const respondWithText = (context: Context, words: string): Response =>
  context.html(html`<p>${words}</p>`.toString())
