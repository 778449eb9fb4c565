/** The frame of every live page: navigation, the other views, and the main part that is updated after changes. */
import { html, type Markup } from "../markup.ts"

export interface PageShell {
  readonly title: string
  /** Base path of all pages. */
  readonly base: string
  /** Navigation path from the start page to this one. */
  readonly trail: readonly { readonly words: string; readonly path: string }[]
  readonly views?: readonly ViewLink[]
  /** URL of the page's event stream, if it is live. */
  readonly events?: string
  readonly main: Markup
  /** Whether the view fills the height of the window. */
  readonly isTall?: boolean
}

export interface ViewLink {
  readonly label: string
  readonly path: string
  readonly isCurrent: boolean
}

export function shell({ title, base, trail, views = [], events, main, isTall = false }: PageShell): Markup {
  return html`<!doctype html>
<html lang="en" data-base="${base}"${events === undefined ? undefined : html` data-events="${events}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Strata</title>
<link rel="icon" href="${base}/icon.svg">
<link rel="stylesheet" href="${base}/style.css">
<script type="module" src="${base}/script/page.js"></script>
</head>
<body${isTall ? html` class="tall"` : undefined}>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<nav class="trail" aria-label="Where you are"><a class="mark" href="${base}/">Strata</a>${trail.map(
    ({ words, path }) => html`<span aria-hidden="true">/</span><a href="${base}${path}">${words}</a>`,
  )}</nav>
${events === undefined ? undefined : html`<p class="live" role="status" data-live><span class="dot" aria-hidden="true"></span><span data-live-words>connecting</span></p>`}
${
  views.length === 0
    ? undefined
    : html`<nav class="views" aria-label="Views">${views.map(
        ({ label, path, isCurrent }) =>
          html`<a href="${base}${path}"${isCurrent ? html` aria-current="page"` : undefined}>${label}</a>`,
      )}</nav>`
}
</header>
<main id="main" tabindex="-1" data-main>${main}</main>
<footer><p class="soft">This page is served by Strata on this machine. Nothing leaves it.</p></footer>
<dialog class="ask" data-ask aria-labelledby="ask-title"><form method="dialog"><h2 id="ask-title"></h2><p data-ask-words></p><menu><button value="no">Cancel</button><button value="yes" class="go">Continue</button></menu></form></dialog>
</body>
</html>
`
}

/** A key metric. */
export interface Card {
  readonly title: string
  readonly value: string
  readonly note?: string
}

export const cards = (all: readonly Card[]): Markup =>
  html`<dl class="cards">${all.map(
    ({ title, value, note }) =>
      html`<div><dt>${title}</dt><dd><strong>${value}</strong>${note === undefined ? undefined : html`<span>${note}</span>`}</dd></div>`,
  )}</dl>`

/** Message and hint for an empty view. */
export const emptyState = (words: string, hint?: string): Markup =>
  html`<div class="empty"><p>${words}</p>${hint === undefined ? undefined : html`<p class="soft">${hint}</p>`}</div>`

export interface TableColumn<T> {
  readonly title: string
  readonly cell: (row: T) => Markup | string
  /** Whether cells contain text, which is left-aligned and may wrap. Numbers are right-aligned. */
  readonly isText?: boolean
}

export function tableMarkup<T>(
  rows: readonly T[],
  columns: readonly TableColumn<T>[],
  { caption, total }: { readonly caption: string; readonly total?: readonly (Markup | string)[] },
): Markup {
  const kind = (isText = false) => (isText ? html` class="long"` : undefined)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption><thead><tr>${columns.map(
    ({ title, isText }) => html`<th scope="col"${kind(isText)}>${title}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (row) => html`<tr>${columns.map(({ cell, isText }) => html`<td${kind(isText)}>${cell(row)}</td>`)}</tr>`,
  )}${
    total === undefined
      ? undefined
      : html`<tr class="total">${columns.map(({ isText }, i) => html`<td${kind(isText)}>${total[i]}</td>`)}</tr>`
  }</tbody></table></div>`
}
