/** Everything that a tenant keeps on the server, for moving, erasing and retention. Each call of the port is one statement. */
import {
  type ContentAddress,
  type ContentChange,
  ContentDiffersError,
  type Contents,
  ConversationLockedError,
  decodeLine,
  type Entry,
  isBoundaryEntry,
  isSafeId,
  type KeptContent,
  type PrunedCounts,
} from "@strata/core"
import { checkedId } from "@strata/core/internal/base/ids"
import { keyOf } from "@strata/core/internal/base/line-key"
import { BLOB, CONSOLIDATED, DAYS, type KeptPlace, MESSAGES } from "@strata/core/internal/journal/contents"
import { peekLine } from "@strata/core/internal/journal/line"
import { sumsIn, sumsText } from "@strata/core/internal/journal/sums-content"
import type { Database } from "./database.ts"
import type { Holder } from "./holder.ts"
import { type HolderRow, holderFrom } from "./leases.ts"
import { listedIn } from "./listing.ts"
import { checkedBlobName, checkedProject, memoryKey, memoryPlace, placeKey } from "./names.ts"
import { MOST_BYTES } from "./read-lines.ts"
import { readTeam, writeTeam } from "./team-contents.ts"

/** Journals, and memory files, that one call lists. */
const MOST_AT_ONCE = 1_000

type Journal = ContentAddress & { readonly kind: "journal" }
type Log = ContentAddress & { readonly kind: "log" }
type Memories = ContentAddress & { readonly kind: "memories" }

export interface PostgresContentsParts {
  readonly database: Database
  readonly holder: Holder
}

export function postgresContents({ database, holder }: PostgresContentsParts): Contents {
  const { tenant } = holder
  const rows = <Row>(name: string, ...values: readonly unknown[]) => database.rows<Row>(name, tenant, ...values)
  const value = <T>(name: string, ...values: readonly unknown[]) => database.value<T>(name, tenant, ...values)

  async function* journals(project: string | null): AsyncGenerator<KeptContent> {
    for (let after = 0, count = MOST_AT_ONCE; count === MOST_AT_ONCE; ) {
      const found = await rows<JournalRow>("content_journals", project, after, MOST_AT_ONCE)
      for (const row of found) yield journalFrom(row)
      count = found.length
      after = found.at(-1)?.jid ?? after
    }
  }

  async function* memories(project: string | null): AsyncGenerator<KeptContent> {
    let last = { place: "", path: "" }
    let place: MemoryRow[] = []
    for (let count = MOST_AT_ONCE; count === MOST_AT_ONCE; ) {
      const found = await rows<MemoryRow>("content_memories", project, last.place, last.path, MOST_AT_ONCE)
      for (const row of found) {
        if (place[0] && place[0].place !== row.place) {
          yield memoriesFrom(place)
          place = []
        }
        place.push(row)
      }
      count = found.length
      last = found.at(-1) ?? last
    }
    if (place.length > 0) yield memoriesFrom(place)
  }

  async function* others(project: string | null): AsyncGenerator<KeptContent> {
    for (const { project: of, name: team, is_open } of await rows<TeamRow>("content_teams", project))
      yield {
        address: { kind: "team", project: of, team },
        files: [{ name: "members" }, { name: MESSAGES }],
        ...(is_open ? { isOpen: true } : {}),
      }
    for (const { project: of, bytes } of await rows<LogRow>("content_logs", project))
      yield { address: { kind: "log", project: of, name: "callers" }, lines: bytes, files: [] }
    const days = await rows<SumRow>("content_sums", project)
    for (const of of new Set(days.map((row) => row.project))) {
      const text = sumsOf(days.filter((row) => row.project === of))
      yield { address: { kind: "sums", project: of }, files: [{ name: DAYS, bytes: Buffer.byteLength(text) }] }
    }
  }

  async function refusedFor(address: Journal, state: string): Promise<Error> {
    const [why, what = ""] = state.split(" ")
    if (why !== "held") return new ContentDiffersError(address, why === "size" ? `the size (${what})` : `"${what}"`)
    const [row] = await rows<HolderRow>("writer", ...placeKey(address), address.id)
    const by = row && holderFrom(row, holder)
    return new ConversationLockedError(address.id, by ?? { pid: 0, host: "another machine", since: "a moment ago" })
  }

  async function writeJournal(address: Journal, { lines, files = [], touched }: ContentChange): Promise<void> {
    for (const { name } of files) if (name.startsWith(BLOB)) checkedBlobName(name.slice(BLOB.length))
    const read = lines ? linesFrom(lines.data) : []
    const entries = read.flatMap(({ entry }) => entry ?? [])
    const { facts, firstWords } = listedIn(entries, { hasFirstWords: false })
    const state = await value<string>(
      "content_write",
      ...journalKey(address),
      ...[lines?.at ?? null, lines?.data ?? null, read.map(({ length }) => length), read.map(({ key }) => key)],
      read.flatMap(({ entry }, at) => (entry && isBoundaryEntry(entry) ? [at + 1] : [])),
      ...[facts, firstWords, touched === undefined ? null : Date.parse(touched)],
      ...[files.map(({ name }) => name), files.map(({ data }) => data), files.map(({ replaces = false }) => replaces)],
    )
    if (state !== "written") throw await refusedFor(address, state)
  }

  async function writeMemory(address: Memories, { files = [] }: ContentChange): Promise<void> {
    const time = files.find(({ name }) => name === CONSOLIDATED)
    const texts = files.filter((file) => file !== time)
    const other = await value<string | null>(
      "content_memory_write",
      memoryKey(address.place),
      ...[texts.map(({ name }) => name), texts.map(({ data }) => data)],
      texts.map(({ modified }) => (modified === undefined ? null : Date.parse(modified))),
      texts.map(({ replaces = false }) => replaces),
      time ? Date.parse(time.data.toString("utf8")) : null,
    )
    if (other !== null) throw new ContentDiffersError(address, `"${other}"`)
  }

  async function writeLog(address: Log, { lines }: ContentChange): Promise<void> {
    if (!lines || lines.data.length === 0) return
    const each = linesFrom(lines.data).map(({ line }) => line.subarray(0, -1))
    const size = await value<number | null>(
      "content_log_write",
      checkedProject(address.project),
      address.name,
      lines.at,
      each,
    )
    if (size !== null) throw new ContentDiffersError(address, `the size (${size})`)
  }

  async function writeSums(project: string, { files = [] }: ContentChange): Promise<void> {
    for (const { data, replaces = false } of files) {
      const sums = Object.entries(sumsIn(data.toString("utf8")))
      const columns = [sums.map(([day]) => day), sums.map(([, dollars]) => dollars)]
      if (!(await value<boolean>("content_sums_write", checkedProject(project), ...columns, replaces)))
        throw new ContentDiffersError({ kind: "sums", project }, "a sum")
    }
  }

  return {
    async *list({ project } = {}) {
      const only = project === undefined ? null : checkedProject(project)
      yield* journals(only)
      yield* memories(only)
      yield* others(only)
    },

    async lines(address, from) {
      if (address.kind === "journal")
        return (
          (await value<Buffer | null>("content_lines", ...journalKey(address), from, MOST_BYTES)) ?? Buffer.alloc(0)
        )
      if (address.kind !== "log") return Buffer.alloc(0)
      const all = await value<Buffer | null>("log_read", checkedProject(address.project), address.name)
      return all === null ? Buffer.alloc(0) : Buffer.concat([all, Buffer.from("\n")]).subarray(from)
    },

    async files(address, names) {
      switch (address.kind) {
        case "journal":
          return mapOf(await rows<FileRow>("content_files", ...journalKey(address), names))
        case "memories":
          return mapOf(await rows<FileRow>("content_memory_files", memoryKey(address.place), names))
        case "team": {
          const texts = await readTeam({ database, tenant, address })
          return new Map(names.flatMap((name) => (texts?.has(name) ? [[name, texts.get(name)!] as const] : [])))
        }
        case "sums": {
          const days = await rows<SumRow>("content_sums", checkedProject(address.project))
          return days.length === 0 ? new Map() : new Map([[DAYS, Buffer.from(sumsOf(days))]])
        }
        case "log":
          return new Map()
      }
    },

    async write(address, change) {
      switch (address.kind) {
        case "journal":
          return writeJournal(address, change)
        case "memories":
          return writeMemory(address, change)
        case "team":
          return writeTeam({ database, tenant, address }, change.files ?? [])
        case "log":
          return writeLog(address, change)
        case "sums":
          return writeSums(address.project, change)
      }
    },

    async erase(address, names) {
      switch (address.kind) {
        case "journal": {
          const state = await value<string>("content_erase", ...journalKey(address), names ?? null)
          if (state !== "erased") throw await refusedFor(heldIn(address, state), state)
          return
        }
        case "memories":
          return void (await rows("content_memory_erase", memoryKey(address.place), names ?? null))
        case "team": {
          const places = names?.map((name) => Number(name.slice(MESSAGES.length + 1)))
          const key = [checkedProject(address.project), checkedId("team name", address.team)]
          return void (await rows("content_team_erase", ...key, places ?? null))
        }
        case "log":
          return void (await rows("content_log_erase", checkedProject(address.project), address.name))
        case "sums":
          return void (await rows("content_sums_erase", checkedProject(address.project)))
      }
    },

    async prune({ before, dryRun = false }) {
      const day = before.toISOString().slice(0, 10)
      const [counts] = await rows<PrunedCounts>("content_prune", before.getTime(), day, dryRun)
      return { messages: counts!.messages, sums: counts!.sums }
    },
  }
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

interface SumRow {
  readonly project: string
  readonly day: string
  readonly dollars: number
}

interface FileRow {
  readonly name: string
  readonly data: Buffer
}

const mapOf = (found: readonly FileRow[]): ReadonlyMap<string, Buffer> =>
  new Map(found.map(({ name, data }) => [name, data]))

const sumsOf = (days: readonly SumRow[]): string =>
  sumsText(Object.fromEntries(days.map(({ day, dollars }) => [day, dollars])))!

const journalKey = (address: Journal) => [...placeKey(address), checkedId("conversation id", address.id)]

/** The one that is open: the conversation, or a sub-agent. */
function heldIn(address: Journal, state: string): Journal {
  const id = state.split(" ")[1] ?? ""
  return !isSafeId(id) || id === address.id ? address : { ...address, under: address.id, id }
}

function journalFrom({ project, under, id, bytes, touched, is_open, files }: JournalRow): KeptContent {
  const listed = files === null ? [] : (JSON.parse(files) as readonly (readonly [string, number])[])
  return {
    address: { kind: "journal", project, ...(under === "" ? {} : { under }), id },
    lines: bytes,
    files: listed.map(([name, size]) => ({ name, bytes: size })).sort((a, b) => (a.name < b.name ? -1 : 1)),
    touched: new Date(touched).toISOString(),
    ...(is_open ? { isOpen: true } : {}),
  }
}

function memoriesFrom(found: readonly MemoryRow[]): KeptContent {
  const files = found.flatMap(({ path, bytes, modified }) =>
    path === "" ? [] : { name: path, bytes: bytes!, modified: new Date(modified!).toISOString() },
  )
  const { place, consolidated } = found[0]!
  const time = consolidated === null ? [] : [{ name: CONSOLIDATED, bytes: new Date(consolidated).toISOString().length }]
  const touched = files
    .map(({ modified }) => modified)
    .sort()
    .at(-1)
  return {
    address: { kind: "memories", place: memoryPlace(place) as KeptPlace },
    files: [...files, ...time].sort((a, b) => (a.name < b.name ? -1 : 1)),
    ...(touched === undefined ? {} : { touched }),
  }
}

interface ReadLine {
  readonly line: Buffer
  readonly length: number
  /** Of the uuid. Nothing: the line cannot be read. */
  readonly key: Buffer | null
  readonly entry: Entry | undefined
}

/** Lines with their line ends, and what the server needs to find them. */
function linesFrom(data: Buffer): readonly ReadLine[] {
  const found: ReadLine[] = []
  for (let start = 0; start < data.length; ) {
    const end = data.indexOf(0x0a, start) + 1 || data.length
    const line = data.subarray(start, end)
    const decoded = decodeLine(line.subarray(0, -1))
    const entry = decoded.state === "whole" ? decoded.entry : undefined
    const uuid = entry?.uuid ?? peekLine(line)?.uuid
    found.push({ line, length: line.length, key: uuid === undefined ? null : keyOf(uuid), entry })
    start = end
  }
  return found
}
