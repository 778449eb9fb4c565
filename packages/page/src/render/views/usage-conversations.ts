/** The list of all conversations of this machine, and the list of projects. */
import { formatCompact, formatDollars, formatNumber, formatPercent, formatTimeAgo, pluralize } from "@strata/core/base"
import {
  LIST_ORDERS,
  type ListRequest,
  type NamedCost,
  type UsageList,
  type UsageReport,
  type UsageRow,
} from "../../usage/report-data.ts"
import { fullText, html, type Markup } from "../markup.ts"
import {
  type ListQuery,
  type ListShape,
  listMarkup,
  pageCount,
  parseListQuery,
  ROWS_ON_PAGE,
  selectRows,
} from "./list.ts"
import { emptyState } from "./shell.ts"
import { conversationLink, formatCost, formatRowCost, formatRowMisses, plusNote } from "./usage-format.ts"

export interface ConversationsInput {
  readonly base: string
  readonly report: UsageReport
  readonly list: (request: ListRequest) => UsageList
  readonly search: URLSearchParams
  readonly now: Date
}

export function usageConversationsView({ base, report, list, search, now }: ConversationsInput): Markup {
  if (report.conversations === 0) return emptyState("No conversations were found.")
  const shape = conversationsShape({ base, report, now })
  const query = parseListQuery(search, shape)
  const page = { ...listPage(query, list), shape, query }
  const isAll = query.text === "" && Object.keys(query.filters).length === 0
  return html`${listMarkup({
    ...{ ...page, path: `${base}/conversations`, searchLabel: "Search what you and the models wrote" },
    caption: isAll ? pluralize(page.total, "conversation") : `${pluralize(page.total, "conversation")} found`,
    noMatch: "No conversation has all of these words. The search covers messages and answers, not tool results.",
  })}
${plusNote(report)}<p class="soft">“With Strata” compares two modelled costs; neither is the bill.</p>`
}

/** Reads a page of the list from the index. A page after the last is the last. */
function listPage({ text, order, page, filters }: ListQuery, list: ConversationsInput["list"]): UsageList {
  const sort = LIST_ORDERS.find((each) => each === order?.key)
  const request = {
    ...(text === "" ? {} : { query: text }),
    ...(sort === undefined || order === undefined ? {} : { sort, direction: order.direction }),
    ...filters,
    limit: ROWS_ON_PAGE,
  }
  const found = list({ ...request, offset: (page - 1) * ROWS_ON_PAGE })
  if (found.rows.length > 0 || found.total === 0) return found
  return list({ ...request, offset: (pageCount(found.total) - 1) * ROWS_ON_PAGE })
}

const NO_DIRECTORY = /^\(/

function conversationsShape({
  base,
  report,
  now,
}: Pick<ConversationsInput, "base" | "report" | "now">): ListShape<UsageRow> {
  const optionsOf = (rows: readonly NamedCost[]) =>
    rows.filter(({ name }) => !NO_DIRECTORY.test(name)).map(({ name }) => ({ value: name, title: name }))
  return {
    order: { key: "cost", direction: "descending" },
    filters: [
      { key: "project", title: "Project", options: optionsOf(report.byProject) },
      { key: "program", title: "Program", options: optionsOf(report.byProgram) },
    ],
    columns: [
      {
        ...{ key: "title", title: "conversation", isText: true, sort: "ascending" },
        cell: (row) =>
          html`${conversationLink(row, base)}${row.hit ? html`<br><span class="soft">${row.hit.snippet}</span>` : undefined}`,
      },
      { key: "program", title: "program", isText: true, sort: "ascending", cell: ({ program }) => program },
      {
        ...{ key: "newest", title: "last used", sort: "descending" },
        cell: ({ to }) => (to === undefined ? "-" : formatTimeAgo(new Date(to), now)),
      },
      { key: "turns", title: "turns", sort: "descending", cell: ({ turns }) => formatNumber(turns) },
      { key: "peak", title: "peak", sort: "descending", cell: ({ peak }) => formatCompact(peak) },
      {
        key: "compactions",
        title: "compacted",
        sort: "descending",
        cell: ({ compactions }) => formatNumber(compactions),
      },
      { key: "lost", title: "lost to caches", sort: "descending", cell: formatRowMisses },
      {
        ...{ key: "names", title: "names lost", sort: "descending" },
        cell: ({ names }) =>
          names.needed === 0 ? "-" : `${formatNumber(names.lost)} of ${formatNumber(names.needed)}`,
      },
      { key: "cost", title: "cost", sort: "descending", cell: formatRowCost },
      { key: "saved", title: "with Strata", sort: "descending", cell: formatSaving },
    ],
  }
}

/** `$0.52 less (12%)` */
function formatSaving({ replayed }: UsageRow): string {
  if (replayed === undefined || replayed.recorded === 0) return "-"
  const saved = replayed.recorded - replayed.strata
  if (saved === 0) return "the same"
  return `${formatDollars(Math.abs(saved))} ${saved < 0 ? "more" : "less"} (${formatPercent(Math.abs(saved), replayed.recorded)})`
}

export interface ProjectsInput {
  readonly base: string
  readonly report: UsageReport
  readonly search: URLSearchParams
}

export function usageProjectsView({ base, report, search }: ProjectsInput): Markup {
  if (report.byProject.length === 0) return emptyState("No conversations were found.")
  const shape: ListShape<NamedCost> = {
    order: { key: "cost", direction: "descending" },
    columns: [
      {
        ...{ key: "name", title: "project", isText: true, sort: "ascending", value: ({ name }) => name },
        cell: ({ name }) =>
          NO_DIRECTORY.test(name)
            ? name
            : html`<a href="${base}/conversations?${fullText(String(new URLSearchParams({ project: name })))}">${name}</a>`,
      },
      {
        ...{
          key: "conversations",
          title: "conversations",
          sort: "descending",
          value: ({ conversations }) => conversations,
        },
        cell: ({ conversations }) => formatNumber(conversations),
      },
      { key: "cost", title: "cost", sort: "descending", value: ({ dollars }) => dollars, cell: formatCost },
      {
        ...{ key: "share", title: "share" },
        cell: ({ share, unpriced, requests }) => (unpriced === requests ? "-" : formatPercent(share, 1)),
      },
    ],
  }
  const query = parseListQuery(search, shape)
  const page = selectRows(report.byProject, { query, shape, text: ({ name }) => name })
  return html`${listMarkup({
    ...{ ...page, shape, query, path: `${base}/projects`, searchLabel: "Search paths" },
    caption: pluralize(page.total, "project"),
    noMatch: "No path contains all of these words.",
  })}${plusNote(report)}`
}
