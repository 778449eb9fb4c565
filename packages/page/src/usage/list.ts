/** The list of conversations: full-text search, filters, sorting and paging. */
import { escapeToLine } from "@strata/core/base"
import type { ListOrder, ListRequest, UsageFilter, UsageList, UsageRow } from "./report-data.ts"
import { type IndexScope, type ScopedIndex, scopeCondition } from "./usage-index.ts"

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 1_000

/** Expressions to sort by. */
const ORDERS: Readonly<Record<ListOrder, readonly string[]>> = {
  newest: ["c.last"],
  cost: ["c.dollars"],
  lost: ["c.lost_dollars", "c.lost"],
  names: ["c.needed - c.in_view"],
  saved: ["c.replay_recorded - c.replay_strata"],
  turns: ["c.turns"],
  title: ["lower(coalesce(c.title, c.name))"],
  program: ["c.program"],
  peak: ["c.peak"],
  compactions: ["c.compactions"],
}

const orderBy = (sort: ListOrder, direction: ListRequest["direction"]): string =>
  ORDERS[sort].map((value) => `${value} ${direction === "ascending" ? "ASC" : "DESC"} NULLS LAST`).join(", ")

const COLUMNS = `c.id, c.name, c.program, c.project, c.title, c.model, c.first, c.last, c.turns, c.peak, c.compactions, c.agents, c.dollars,
  c.cost, c.estimated, c.lost, c.lost_dollars, c.needed, c.in_view, c.replay_recorded, c.replay_strata, file.path`

export function listUsage({ index, scope }: ScopedIndex, request: ListRequest = {}): UsageList {
  const { query = "", sort, direction, offset = 0, limit = DEFAULT_LIMIT } = request
  const { where, values } = rowQuery({ scope, filter: request })
  const days = daysQuery(request)
  const from = "conversation c JOIN file ON file.id = c.file"
  const slice = [Math.max(0, Math.min(limit, MAX_LIMIT)), Math.max(0, offset)]
  const words = ftsQuery(query)
  if (words === undefined && query.trim() !== "") return { rows: [], total: 0 } // only signs, which nothing is indexed by
  if (words === undefined) {
    const conditions = `${where} AND ${days.where}`
    const all = [...values, ...days.values]
    const total = index.db.statement(`SELECT count(*) AS n FROM ${from} WHERE ${conditions}`).get(...all)
    const rows = index.db
      .statement(
        `SELECT ${COLUMNS} FROM ${from} WHERE ${conditions} ORDER BY ${orderBy(sort ?? "newest", direction)}, c.id LIMIT ? OFFSET ?`,
      )
      .all(...all, ...slice)
    return { rows: rows.map((row) => rowFrom(row)), total: Number(total!.n) }
  }
  // the best passage of each conversation; excerpts are extracted only for displayed rows
  const hits = `SELECT conversation, rowid AS passage, min(rank) AS best FROM said WHERE said MATCH ? GROUP BY conversation`
  const found = `(${hits}) hit JOIN conversation c ON c.id = hit.conversation JOIN file ON file.id = c.file WHERE ${where} AND ${days.where}`
  const all = [words, ...values, ...days.values]
  const total = index.db.statement(`SELECT count(*) AS n FROM ${found}`).get(...all)
  const rows = index.db
    .statement(
      `SELECT ${COLUMNS}, hit.passage FROM ${found} ORDER BY ${sort === undefined ? "hit.best" : orderBy(sort, direction)}, c.id LIMIT ? OFFSET ?`,
    )
    .all(...all, ...slice)
  // numbers are bound as reals, and FTS5 ignores a row id condition that is not an integer
  const passage = index.db.statement(
    "SELECT at, snippet(said, 0, '', '', '…', 24) AS snippet FROM said WHERE said MATCH ? AND rowid = CAST(? AS INTEGER)",
  )
  return {
    rows: rows.map((row) => {
      const hit = passage.get(words, Number(row.passage))
      return rowFrom(row, hit && { at: String(hit.at), snippet: String(hit.snippet) })
    }),
    total: Number(total!.n),
  }
}

/** Finds a row of the list by its key. */
export function findUsageRow({ index, scope }: ScopedIndex, key: number): UsageRow | undefined {
  const { where, values } = rowQuery({ scope, filter: {} })
  const row = index.db
    .statement(`SELECT ${COLUMNS} FROM conversation c JOIN file ON file.id = c.file WHERE ${where} AND c.id = ?`)
    .get(...values, key)
  return row && rowFrom(row)
}

/** Quotes every word, so that it is not parsed as an operator. The last word may be a prefix. */
function ftsQuery(query: string): string | undefined {
  const words = query.normalize("NFC").match(/[\p{L}\p{N}_]+/gu) ?? []
  return words.length === 0 ? undefined : `${words.map((word) => `"${word}"`).join(" ")}*`
}

interface RowQuery {
  readonly scope: IndexScope
  readonly filter: UsageFilter
}

/** Conditions on `conversation c` and `file`. The caller adds days, because costs count by day, and list rows by their last day. */
export function rowQuery({ scope, filter: { project, program } }: RowQuery) {
  const { where, values } = scopeCondition(scope)
  const conditions = [where, ...(project === undefined ? [] : ["(c.project = ? OR c.project LIKE ? ESCAPE '\\')"])]
  if (program !== undefined) conditions.push("c.program = ?")
  return {
    where: conditions.join(" AND "),
    values: [
      ...values,
      ...(project === undefined ? [] : [project, `${project.replace(/[\\%_]/g, "\\$&")}/%`]),
      ...(program === undefined ? [] : [program]),
    ],
  }
}

function daysQuery({ from, to }: UsageFilter) {
  return {
    where: `${from === undefined ? "1" : "c.last >= ?"} AND ${to === undefined ? "1" : "c.first < ?"}`,
    values: [...(from === undefined ? [] : [from]), ...(to === undefined ? [] : [`${to}U`])], // sorts after every time of that day
  }
}

type Row = Readonly<Record<string, unknown>>

export function rowFrom(row: Row, hit?: { readonly at: string; readonly snippet: string }): UsageRow {
  const text = (name: string) => (typeof row[name] === "string" ? { text: row[name] } : undefined)
  const optional = (name: string, key: string) => (text(name) ? { [key]: escapeToLine(text(name)!.text) } : {})
  const number = (name: string) => Number(row[name] ?? 0)
  return {
    key: number("id"),
    id: escapeToLine(String(row.name)),
    program: String(row.program),
    file: String(row.path),
    ...optional("project", "project"),
    ...optional("title", "title"),
    ...optional("model", "model"),
    ...optional("first", "from"),
    ...optional("last", "to"),
    ...{ turns: number("turns"), peak: number("peak"), compactions: number("compactions"), agents: number("agents") },
    ...{ dollars: number("dollars"), cost: row.cost as UsageRow["cost"], estimated: number("estimated") },
    lost: { count: number("lost"), dollars: number("lost_dollars") },
    names: { needed: number("needed"), inView: number("in_view"), lost: number("needed") - number("in_view") },
    ...(row.replay_recorded === null
      ? {}
      : { replayed: { recorded: number("replay_recorded"), strata: number("replay_strata") } }),
    ...(hit ? { hit: { ...(hit.at === "" ? {} : { at: hit.at }), snippet: escapeToLine(hit.snippet) } } : {}),
  }
}
