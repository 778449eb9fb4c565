/** The list of conversations with their costs and sizes: sorted, searched, filtered and divided into pages on the server. */
import { formatCompact, formatDollars, formatNumber, formatTimeAgo, pluralize } from "@strata/core/base"
import type { ListedConversation } from "../../live/source.ts"
import { html, type Markup, shorten } from "../markup.ts"
import { type ListShape, listMarkup, parseListQuery, selectRows } from "./list.ts"
import { emptyState } from "./shell.ts"

export interface ConversationsViewInput {
  readonly base: string
  readonly name: string
  readonly conversations: readonly ListedConversation[]
  /** Query string of the list. */
  readonly search: URLSearchParams
  /** Sentence about work in progress. */
  readonly progress: string | undefined
  /** Sentence about conversations that are not listed. */
  readonly notListed?: string | undefined
  readonly now: Date
}

export function conversationsView({
  base,
  name,
  conversations,
  search,
  progress,
  notListed,
  now,
}: ConversationsViewInput): Markup {
  const others = notListed === undefined ? undefined : html`<p class="soft">${notListed}</p>`
  if (conversations.length === 0)
    return html`<h1>${name}</h1>${emptyState(
      "No conversation yet.",
      "Begin one with: strata chat. It appears here as soon as you say something.",
    )}${others}`
  const shape = listShape(conversations, { base, now })
  const query = parseListQuery(search, shape)
  const { project } = query.filters
  const shown = project === undefined ? conversations : conversations.filter((one) => one.project === project)
  const page = selectRows(conversations, { query, shape, text: searchedText })
  return html`<h1 class="quiet">${name}</h1>
${summary(shown, { base, project })}
${progress === undefined ? undefined : html`<p class="soft" role="status">${progress}</p>`}
${listMarkup({
  ...{ ...page, path: `${base}/conversations`, shape, query, searchLabel: "Search titles, models and projects" },
  caption: pluralize(page.total, "conversation"),
  noMatch: "No conversation has all of these words.",
})}
${
  page.rows.some(({ usage }) => usage && IS_LOWER_BOUND.has(usage.cost))
    ? html`<p class="soft">+ at least: a part has no known price, or its transcript records too little.</p>`
    : undefined
}
${others}`
}

const IS_LOWER_BOUND: ReadonlySet<string> = new Set(["partly-unknown", "lower-bound"])
/** Kinds of cost that have a number. */
const IS_PRICED: ReadonlySet<string> = new Set(["known", ...IS_LOWER_BOUND])
const NOT_READ = "not read yet"

const searchedText = ({ id, title = "", model = "", project = "", program = "" }: ListedConversation): string =>
  [id, title, model, project, program].join("\n")

const dollarsOf = ({ usage }: ListedConversation): number | undefined =>
  usage && IS_PRICED.has(usage.cost) ? usage.dollars : undefined

/** What the conversations cost together, and which one cost most. */
function summary(
  conversations: readonly ListedConversation[],
  { base, project }: { readonly base: string; readonly project: string | undefined },
): Markup | undefined {
  const total = conversations.reduce((sum, one) => sum + (dollarsOf(one) ?? 0), 0)
  if (total === 0) return undefined
  const first = conversations.reduce((a, b) => ((dollarsOf(b) ?? 0) > (dollarsOf(a) ?? 0) ? b : a))
  const isLowerBound = conversations.some(({ usage }) => usage && IS_LOWER_BOUND.has(usage.cost))
  const sum = (key: "requests" | "tokens") => conversations.reduce((all, { usage }) => all + (usage?.[key] ?? 0), 0)
  const place = project === undefined ? "" : ` of ${project}`
  return html`<p class="lead"><strong>${formatDollars(total)}${isLowerBound ? "+" : ""}</strong> in ${pluralize(conversations.length, "conversation")}${place}: ${pluralize(sum("requests"), "request")}, ${formatCompact(sum("tokens"))} tokens.</p>
${conversations.length === 1 ? undefined : html`<p>Most expensive: <a href="${base}/c/${first.id}/money">${titleOf(first)}</a>, ${formatCost(first)}.</p>`}`
}

const MAX_TITLE = 110

const titleOf = ({ title = "", id }: ListedConversation): string => shorten(title, MAX_TITLE) || id

function formatCost({ usage }: ListedConversation): string {
  if (!usage) return NOT_READ
  if (usage.cost === "none") return "-"
  if (!IS_PRICED.has(usage.cost)) return usage.cost
  return `${formatDollars(usage.dollars)}${usage.cost === "known" ? "" : "+"}`
}

function listShape(
  conversations: readonly ListedConversation[],
  { base, now }: Pick<ConversationsViewInput, "base" | "now">,
): ListShape<ListedConversation> {
  const projects = [...new Set(conversations.flatMap(({ project }) => project ?? []))].sort()
  const hasUsage = conversations.some(({ usage }) => usage)
  return {
    order: { key: "last", direction: "descending" },
    filters: [
      {
        ...{ key: "project", title: "Project" },
        options: projects.map((value) => ({ value, title: value })),
        matches: ({ project }, value) => project === value,
      },
    ],
    columns: [
      {
        ...{ key: "title", title: "conversation", isText: true, sort: "ascending" },
        cell: (row) => html`<a href="${base}/c/${row.id}">${titleOf(row)}</a>`,
        value: (row) => titleOf(row).toLowerCase(),
      },
      ...(projects.length < 2
        ? []
        : [
            {
              ...{ key: "project", title: "project", isText: true, sort: "ascending" as const },
              cell: ({ project = "-" }: ListedConversation) => project,
              value: ({ project }: ListedConversation) => project,
            },
          ]),
      {
        ...{ key: "last", title: "last used", sort: "descending" },
        cell: ({ touched }) => formatTimeAgo(new Date(touched), now),
        value: ({ touched }) => touched,
      },
      ...(hasUsage ? [...USAGE_COLUMNS, costColumn(conversations)] : []),
    ],
  }
}

const USAGE_COLUMNS: ListShape<ListedConversation>["columns"] = [
  {
    ...{ key: "requests", title: "requests", sort: "descending" },
    cell: ({ usage }) => (usage ? formatNumber(usage.requests) : "-"),
    value: ({ usage }) => usage?.requests,
  },
  {
    ...{ key: "tokens", title: "tokens", sort: "descending" },
    cell: ({ usage }) => (usage && usage.tokens > 0 ? formatCompact(usage.tokens) : "-"),
    value: ({ usage }) => usage?.tokens,
  },
  {
    ...{ key: "compactions", title: "compacted", sort: "descending" },
    cell: ({ usage }) => (usage && usage.compactions > 0 ? formatNumber(usage.compactions) : "-"),
    value: ({ usage }) => usage?.compactions,
  },
]

const BAR_WIDTH = 80 // pixels

/** The cost, with a bar that compares it to the highest one. */
function costColumn(conversations: readonly ListedConversation[]): ListShape<ListedConversation>["columns"][number] {
  const max = conversations.reduce((most, one) => Math.max(most, dollarsOf(one) ?? 0), 0)
  const bar = (dollars: number) => {
    const width = (BAR_WIDTH * dollars) / max
    return html`<svg class="cost-bar" width="${BAR_WIDTH}" height="4" aria-hidden="true"><rect x="${(BAR_WIDTH - width).toFixed(1)}" width="${width.toFixed(1)}" height="4" rx="2"/></svg>`
  }
  return {
    ...{ key: "cost", title: "cost", sort: "descending" },
    cell: (row) => {
      const dollars = dollarsOf(row) ?? 0
      return max === 0 ? formatCost(row) : html`${formatCost(row)}${bar(dollars)}`
    },
    value: dollarsOf,
  }
}
