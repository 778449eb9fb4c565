/**
 * A list that the server sorts, filters, searches and divides into pages. It works without a script: titles of columns and pages are links,
 * and the rest is a form. On a phone each row becomes a card.
 */
import { formatNumber } from "@strata/core/base"
import { fullText, html, type Markup } from "../markup.ts"
import { emptyState } from "./shell.ts"

export type SortDirection = "ascending" | "descending"

export interface ListColumn<T> {
  /** Name in the URL. */
  readonly key: string
  readonly title: string
  readonly cell: (row: T) => Markup | string
  /** Whether cells contain text, which is left-aligned and may wrap. Numbers are right-aligned. */
  readonly isText?: boolean
  /** Direction after the first click. Absent: the column cannot be sorted. */
  readonly sort?: SortDirection
  /** Value by which `selectRows` sorts. Not needed if an index sorts. */
  readonly value?: (row: T) => string | number | undefined
}

export interface ListFilter<T> {
  /** Name in the URL. */
  readonly key: string
  readonly title: string
  readonly options: readonly { readonly value: string; readonly title: string }[]
  /** Not needed if an index filters. */
  readonly matches?: (row: T, value: string) => boolean
}

/** What a URL can ask of a list. */
export interface ListShape<T> {
  readonly columns: readonly ListColumn<T>[]
  readonly filters?: readonly ListFilter<T>[]
  /** Order without a search. */
  readonly order: ListSort
}

export interface ListSort {
  readonly key: string
  readonly direction: SortDirection
}

export interface ListQuery {
  readonly text: string
  /** Absent for a search: the best match first. */
  readonly order?: ListSort
  /** From 1. */
  readonly page: number
  /** Values by the key of the filter. */
  readonly filters: Readonly<Record<string, string>>
}

export const ROWS_ON_PAGE = 25 // on a phone a row is a card of 220 pixels
/** Content of a cell without a value. On a phone it is omitted. */
const NOTHING = "-"
const MAX_SEARCH_CHARACTERS = 500
const MAX_PAGE_DIGITS = 6

/** Parses the query string of a list. Invalid values are ignored. */
export function parseListQuery<T>(given: URLSearchParams, { columns, filters = [], order }: ListShape<T>): ListQuery {
  const text = (given.get("q") ?? "").trim().slice(0, MAX_SEARCH_CHARACTERS)
  const column = columns.find(({ key, sort }) => sort !== undefined && key === given.get("sort"))
  const direction = given.get("order")
  const page = given.get("page") ?? ""
  const chosen = filters.flatMap(({ key, options }) => {
    const value = given.get(key)
    return value !== null && options.some((option) => option.value === value) ? [[key, value] as const] : []
  })
  const sort = column?.sort && {
    key: column.key,
    direction: direction === "ascending" || direction === "descending" ? direction : column.sort,
  }
  return {
    text,
    ...(sort ? { order: sort } : text === "" ? { order } : {}),
    page: /^\d+$/.test(page) && page.length <= MAX_PAGE_DIGITS ? Math.max(1, Number(page)) : 1,
    filters: Object.fromEntries(chosen),
  }
}

/** Rows of one page, and the number of all rows that match. */
export interface ListPage<T> {
  readonly rows: readonly T[]
  readonly total: number
}

export const pageCount = (total: number): number => Math.max(1, Math.ceil(total / ROWS_ON_PAGE))

/** Searches, filters and sorts rows in memory. `text` is what the search covers. */
export function selectRows<T>(
  all: readonly T[],
  {
    query,
    shape,
    text,
  }: { readonly query: ListQuery; readonly shape: ListShape<T>; readonly text: (row: T) => string },
): ListPage<T> {
  const words = query.text.toLowerCase().split(/\s+/).filter(Boolean)
  const filters = (shape.filters ?? []).filter(({ key }) => query.filters[key] !== undefined)
  const found = all.filter((row) => {
    const searched = words.length === 0 ? "" : text(row).toLowerCase()
    return (
      words.every((word) => searched.includes(word)) &&
      filters.every(({ key, matches }) => matches?.(row, query.filters[key]!) ?? true)
    )
  })
  const { key, direction } = query.order ?? shape.order
  const value = shape.columns.find((column) => column.key === key)?.value
  const sorted = value ? found.toSorted((a, b) => compareValues(value(a), value(b), direction)) : found
  const from = (Math.min(query.page, pageCount(sorted.length)) - 1) * ROWS_ON_PAGE
  return { rows: sorted.slice(from, from + ROWS_ON_PAGE), total: sorted.length }
}

/** Rows without a value are last in both directions. */
function compareValues(
  a: string | number | undefined,
  b: string | number | undefined,
  direction: SortDirection,
): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  const difference = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en")
  return direction === "ascending" ? difference : -difference
}

export interface ListInput<T> extends ListPage<T> {
  /** Path of the page, with its base. */
  readonly path: string
  readonly shape: ListShape<T>
  readonly query: ListQuery
  readonly caption: string
  /** Label of the search field, such as "Search messages". */
  readonly searchLabel: string
  /** Shown if nothing matches. */
  readonly noMatch: string
  /** The element that the links jump to, if other things are above the list. */
  readonly anchor?: string
}

export function listMarkup<T>(list: ListInput<T>): Markup {
  const { rows, shape, caption, noMatch } = list
  return html`${searchForm(list)}
${
  rows.length === 0
    ? emptyState(noMatch)
    : html`<div class="scroll"><table class="list" role="table"><caption>${caption}</caption><thead role="rowgroup"><tr role="row">${shape.columns.map(
        (column) => columnHeader(column, list),
      )}</tr></thead><tbody role="rowgroup">${rows.map(
        (row) => html`<tr role="row">${shape.columns.map((column) => cellMarkup(column, row))}</tr>`,
      )}</tbody></table></div>${pageLinks(list)}`
}`
}

function cellMarkup<T>({ cell, title, isText }: ListColumn<T>, row: T): Markup {
  const content = cell(row)
  const style = [...(isText ? ["long"] : []), ...(content === NOTHING || content === "" ? ["nothing"] : [])].join(" ")
  return html`<td role="cell" data-title="${title}"${style === "" ? undefined : html` class="${style}"`}>${content}</td>`
}

function columnHeader<T>({ key, title, isText, sort }: ListColumn<T>, list: ListInput<T>): Markup {
  const style = isText ? html` class="long"` : undefined
  if (sort === undefined) return html`<th role="columnheader" scope="col"${style}>${title}</th>`
  const current = list.query.order?.key === key ? list.query.order.direction : undefined
  const next = current === undefined ? sort : current === "ascending" ? "descending" : "ascending"
  const to = listAddress(list, { order: { key, direction: next }, page: 1 })
  return html`<th role="columnheader" scope="col"${style}${current === undefined ? undefined : html` aria-sort="${current}"`}><a id="sort-${key}" href="${to}">${title}${
    current === undefined ? undefined : html`<span aria-hidden="true"> ${current === "ascending" ? "↑" : "↓"}</span>`
  }</a></th>`
}

/** The order, unless it is the one that the list has by itself. */
const chosenOrder = <T>({ text, order }: ListQuery, { order: own }: ListShape<T>): ListSort | undefined =>
  text === "" && order?.key === own.key && order.direction === own.direction ? undefined : order

/** The address of this list with some values changed. Values that are the default are omitted. */
function listAddress<T>(list: ListInput<T>, change: Partial<ListQuery>): Markup {
  const { path, shape, anchor } = list
  const query = { ...list.query, ...change }
  const { text, page, filters } = query
  const order = chosenOrder(query, shape)
  const params = new URLSearchParams({
    ...(text === "" ? {} : { q: text }),
    ...filters,
    ...(order === undefined ? {} : { sort: order.key, order: order.direction }),
    ...(page === 1 ? {} : { page: String(page) }),
  })
  return fullText(`${path}${params.size === 0 ? "" : `?${params}`}${anchor === undefined ? "" : `#${anchor}`}`)
}

function searchForm<T>(list: ListInput<T>): Markup {
  const { path, query, shape, searchLabel, anchor } = list
  const { text, filters } = query
  const order = chosenOrder(query, shape)
  const isNarrowed = text !== "" || Object.keys(filters).length > 0
  return html`<form class="tools list-tools" role="search" action="${path}${anchor === undefined ? "" : `#${anchor}`}" method="get">
<label class="search">${searchLabel} <input id="list-search" type="search" name="q" value="${fullText(text)}" autocomplete="off"></label>
${(shape.filters ?? [])
  .filter(({ options }) => options.length > 1)
  .map(
    ({ key: name, title, options }) =>
      html`<label>${title} <select id="list-${name}" name="${name}"><option value="">all</option>${options.map(
        ({ value, title: label }) =>
          html`<option value="${fullText(value)}"${value === filters[name] ? html` selected` : undefined}>${label}</option>`,
      )}</select></label>`,
  )}
${order ? html`<input type="hidden" name="sort" value="${order.key}"><input type="hidden" name="order" value="${order.direction}">` : undefined}
<button id="list-show">Show</button>${isNarrowed ? html`<a href="${listAddress(list, { text: "", page: 1, filters: {} })}">Show all</a>` : undefined}</form>`
}

function pageLinks<T>(list: ListInput<T>): Markup | undefined {
  const { total, query } = list
  const last = pageCount(total)
  if (last === 1) return undefined
  const page = Math.min(query.page, last)
  const first = (page - 1) * ROWS_ON_PAGE + 1
  const to = (label: string, at: number) =>
    at < 1 || at > last || at === page
      ? html`<span class="soft">${label}</span>`
      : html`<a href="${listAddress(list, { page: at })}">${label}</a>`
  return html`<nav class="pages" aria-label="Pages of the list">${to("First", 1)}${to("Previous", page - 1)}<span>${formatNumber(first)} to ${formatNumber(first + list.rows.length - 1)} of ${formatNumber(total)}</span>${to("Next", page + 1)}${to("Last", last)}</nav>`
}
