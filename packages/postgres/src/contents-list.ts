/** Lists a tenant's contents on the server, without their bytes. A call returns as many rows as a list needs. */
import type { StoredItem } from "@strata/core/store"
import { CONSOLIDATED, MESSAGES, SPENT, type StoredNamespace, totalsFile } from "@strata/core/store"
import { parseMemoryNamespace } from "./names.ts"

/** Maximum number of journals, or memory files, in one call. */
const MAX_AT_ONCE = 1_000

/** Calls a function for the tenant. */
export type QueryRows = <Row>(name: string, ...values: readonly unknown[]) => Promise<readonly Row[]>

/** Lists contents of one project, or of all if none is given. */
export async function* listContents(rows: QueryRows, project: string | null): AsyncGenerator<StoredItem> {
  yield* journals(rows, project)
  yield* memories(rows, project)
  yield* others(rows, project)
}

async function* journals(rows: QueryRows, project: string | null): AsyncGenerator<StoredItem> {
  for (let after = 0, count = MAX_AT_ONCE; count === MAX_AT_ONCE; ) {
    const found = await rows<JournalRow>("content_journals", project, after, MAX_AT_ONCE)
    for (const row of found) yield journalFrom(row)
    count = found.length
    after = found.at(-1)?.jid ?? after
  }
}

async function* memories(rows: QueryRows, project: string | null): AsyncGenerator<StoredItem> {
  let last = { place: "", path: "" }
  let group: MemoryRow[] = []
  for (let count = MAX_AT_ONCE; count === MAX_AT_ONCE; ) {
    const found = await rows<MemoryRow>("content_memories", project, last.place, last.path, MAX_AT_ONCE)
    for (const row of found) {
      if (row.path === SPENT && row.consolidated === null) continue // exported as totals instead
      if (group[0] && group[0].place !== row.place) {
        yield memoriesFrom(group)
        group = []
      }
      group.push(row)
    }
    count = found.length
    last = found.at(-1) ?? last
  }
  if (group.length > 0) yield memoriesFrom(group)
}

async function* others(rows: QueryRows, project: string | null): AsyncGenerator<StoredItem> {
  for (const { project: of, name: team, is_open } of await rows<TeamRow>("content_teams", project))
    yield {
      address: { kind: "team", project: of, team },
      files: [{ name: "members" }, { name: MESSAGES }],
      ...(is_open ? { isOpen: true } : {}),
    }
  for (const { project: of, bytes } of await rows<LogRow>("content_logs", project))
    yield { address: { kind: "log", project: of, name: "callers" }, lines: bytes, files: [] }
  for (const { project: of, text } of await rows<SumsRow>("content_sums", project))
    for (const [name, { length }] of totalsFile(text.toString("utf8")))
      yield { address: { kind: "sums", project: of }, files: [{ name, bytes: length }] }
}

interface JournalRow {
  readonly jid: number
  readonly project: string
  readonly under: string
  readonly id: string
  readonly bytes: number
  readonly touched: number
  readonly is_open: boolean
  readonly files: string | null
}

interface MemoryRow {
  readonly place: string
  readonly path: string
  readonly bytes: number | null
  readonly modified: number | null
  readonly consolidated: number | null
}

interface TeamRow {
  readonly project: string
  readonly name: string
  readonly is_open: boolean
}

interface LogRow {
  readonly project: string
  readonly bytes: number
}

export interface SumsRow {
  readonly project: string
  readonly text: Buffer
}

function journalFrom({ project, under, id, bytes, touched, is_open, files }: JournalRow): StoredItem {
  const listed = files === null ? [] : (JSON.parse(files) as readonly (readonly [string, number])[])
  return {
    address: { kind: "journal", project, ...(under === "" ? {} : { under }), id },
    lines: bytes,
    files: listed.map(([name, size]) => ({ name, bytes: size })).sort((a, b) => (a.name < b.name ? -1 : 1)),
    touched: new Date(touched).toISOString(),
    ...(is_open ? { isOpen: true } : {}),
  }
}

function memoriesFrom(found: readonly MemoryRow[]): StoredItem {
  const files = found.flatMap(({ path, bytes, modified }) =>
    path === "" || path === SPENT ? [] : { name: path, bytes: bytes!, modified: new Date(modified!).toISOString() },
  )
  const { place, consolidated } = found[0]!
  const time = consolidated === null ? [] : [{ name: CONSOLIDATED, bytes: new Date(consolidated).toISOString().length }]
  const touched = files
    .map(({ modified }) => modified)
    .sort()
    .at(-1)
  return {
    address: { kind: "memories", namespace: parseMemoryNamespace(place) as StoredNamespace },
    files: [...files, ...time].sort((a, b) => (a.name < b.name ? -1 : 1)),
    ...(touched === undefined ? {} : { touched }),
  }
}
