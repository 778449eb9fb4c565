/** Everything that a tenant stores on the server, for moving, erasing and retention. Each call of the port is one statement. */

import { ConversationLockedError, type Entry, isSafeId } from "@strata/core"
import { uuidKey, validateId } from "@strata/core/base"
import {
  BLOB,
  CONSOLIDATED,
  type ContentAddress,
  ContentDiffersError,
  type ContentFileBytes,
  type Contents,
  type ContentWrite,
  decodeLine,
  decodeTeam,
  encodeTeam,
  isBoundaryEntry,
  type MailboxDraft,
  MEMBERS,
  MESSAGES,
  type PositionedMessage,
  peekLine,
  pruneTotals,
  SPENT,
  type StoredMember,
  totalsFile,
  writeTotals,
} from "@strata/core/store"
import { readLogLines } from "./append-log.ts"
import { listContents, type SumsRow } from "./contents-list.ts"
import type { Database } from "./database.ts"
import { extractListingFacts } from "./listing.ts"
import type { MessageRow } from "./mailbox.ts"
import { postgresMemory } from "./memory-files.ts"
import { journalNamespaceKey, memoryNamespaceKey, validateBlobName, validateProject } from "./names.ts"
import { type LeaseOwnerRow, leaseOwner, type ProcessLease } from "./process-lease.ts"
import { MAX_BYTES } from "./read-lines.ts"

// A team on the server as texts, and back.

const MAX_AT_ONCE = 1_000

interface TeamLocation {
  readonly database: Database
  readonly tenant: string
  readonly address: ContentAddress & { readonly kind: "team" }
}

const keyOfTeam = ({ project, team }: TeamLocation["address"]) => [
  validateProject(project),
  validateId("team name", team),
]

/** Returns nothing if the team has neither messages nor members. */
export async function readTeam({
  database,
  tenant,
  address,
}: TeamLocation): Promise<ReadonlyMap<string, Buffer> | undefined> {
  const key = keyOfTeam(address)
  const messages: PositionedMessage[] = []
  for (let count = MAX_AT_ONCE; count === MAX_AT_ONCE; ) {
    const after = messages.at(-1)?.at ?? 0
    const rows = await database.rows<MessageRow>("content_messages", tenant, ...key, after, MAX_AT_ONCE)
    messages.push(...rows.map(placedFrom))
    count = rows.length
  }
  const known = await database.row<{ senders: string | null; members: string | null; last: number | null }>(
    "content_members",
    tenant,
    ...key,
  )
  const senders = JSON.parse(known.senders ?? "{}") as Record<string, number>
  const members = JSON.parse(known.members ?? "[]") as readonly (StoredMember & { readonly read: number | null })[]
  if (messages.length + members.length === 0) return undefined
  const kept = members.map(({ read, ...member }) => (read === null ? member : { ...member, read }))
  return encodeTeam({ messages, senders, members: kept, end: known.last ?? 0 })
}

const placedFrom = ({ n, sender, sequence, receivers, content }: MessageRow): PositionedMessage => ({
  from: sender,
  to: JSON.parse(receivers) as readonly string[],
  ...{ sequence, at: n },
  content: JSON.parse(content) as MailboxDraft["content"],
})

/** Appends only: throws unless the stored messages are a prefix of the given ones. */
export async function writeTeam(kept: TeamLocation, files: readonly ContentFileBytes[]): Promise<void> {
  const { database, tenant, address } = kept
  const before = await readTeam(kept)
  const texts = new Map(before ?? [])
  for (const { name, data } of files) if (name === MESSAGES || name === MEMBERS) texts.set(name, data)
  const { messages, senders, members, end = 0 } = decodeTeam(texts)
  const known = before?.get(MESSAGES) ?? Buffer.alloc(0)
  const differs = () => new ContentDiffersError(address, "a message")
  if (!(texts.get(MESSAGES) ?? known).subarray(0, known.length).equals(known)) throw differs()
  const last = before ? (decodeTeam(before).messages.at(-1)?.at ?? 0) : 0
  const fresh = messages.filter(({ at }) => at > last)
  const sent = Object.entries(senders)
  const isWritten = await database.value<boolean>(
    "content_team_write",
    ...[tenant, ...keyOfTeam(address), last],
    ...[fresh.map(({ at }) => at), fresh.map(({ from }) => from), fresh.map(({ sequence }) => sequence)],
    ...[fresh.map(({ to }) => JSON.stringify(to)), fresh.map(({ content }) => JSON.stringify(content))],
    ...[sent.map(([name]) => name), sent.map(([, sequence]) => sequence)],
    ...[members.map(({ name }) => name), members.map(({ conversation }) => conversation)],
    ...[members.map(({ read }) => read ?? null), end],
  )
  if (!isWritten) throw differs()
}

type JournalContent = ContentAddress & { readonly kind: "journal" }
type LogContent = ContentAddress & { readonly kind: "log" }
type MemoryContent = ContentAddress & { readonly kind: "memories" }

export interface PostgresContentsOptions {
  readonly database: Database
  readonly holder: ProcessLease
}

export function postgresContents({ database, holder }: PostgresContentsOptions): Contents {
  const { tenant } = holder
  const rows = <Row>(name: string, ...values: readonly unknown[]) => database.rows<Row>(name, tenant, ...values)
  const value = <T>(name: string, ...values: readonly unknown[]) => database.value<T>(name, tenant, ...values)

  async function refusedFor(address: JournalContent, state: string): Promise<Error> {
    const [why, what = ""] = state.split(" ")
    if (why !== "held") return new ContentDiffersError(address, why === "size" ? `the size (${what})` : `"${what}"`)
    const [row] = await rows<LeaseOwnerRow>("writer", ...journalNamespaceKey(address), address.id)
    const by = row && leaseOwner(row, holder)
    return new ConversationLockedError(address.id, by ?? { pid: 0, host: "another machine", since: "a moment ago" })
  }

  async function writeJournal(address: JournalContent, { lines, files = [], touched }: ContentWrite): Promise<void> {
    for (const { name } of files) if (name.startsWith(BLOB)) validateBlobName(name.slice(BLOB.length))
    const read = lines ? linesFrom(lines.data) : []
    const entries = read.flatMap(({ entry }) => entry ?? [])
    const { facts, firstWords } = extractListingFacts(entries, { hasFirstWords: false })
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

  async function writeMemory(address: MemoryContent, { files = [] }: ContentWrite): Promise<void> {
    const time = files.find(({ name }) => name === CONSOLIDATED)
    const texts = files.filter((file) => file !== time)
    const other = await value<string | null>(
      "content_memory_write",
      memoryNamespaceKey(address.namespace),
      ...[texts.map(({ name }) => name), texts.map(({ data }) => data)],
      texts.map(({ modified }) => (modified === undefined ? null : Date.parse(modified))),
      texts.map(({ replaces = false }) => replaces),
      time ? Date.parse(time.data.toString("utf8")) : null,
    )
    if (other !== null) throw new ContentDiffersError(address, `"${other}"`)
  }

  async function writeLog(address: LogContent, { lines }: ContentWrite): Promise<void> {
    if (!lines || lines.data.length === 0) return
    const each = linesFrom(lines.data).map(({ line }) => line.subarray(0, -1))
    const size = await value<number | null>(
      "content_log_write",
      validateProject(address.project),
      address.name,
      lines.at,
      each,
    )
    if (size !== null) throw new ContentDiffersError(address, `the size (${size})`)
  }

  /** The project's memory, which contains the totals. */
  const memoryOf = (project: string) => postgresMemory({ database, tenant, place: memoryNamespaceKey({ project }) })

  return {
    async *list({ project } = {}) {
      yield* listContents(rows, project === undefined ? null : validateProject(project))
    },

    async lines(address, from) {
      if (address.kind === "journal")
        return (await value<Buffer | null>("content_lines", ...journalKey(address), from, MAX_BYTES)) ?? Buffer.alloc(0)
      if (address.kind !== "log") return Buffer.alloc(0)
      return readLogLines({ database, tenant, address }, from)
    },

    async files(address, names) {
      switch (address.kind) {
        case "journal":
          return mapOf(await rows<FileRow>("content_files", ...journalKey(address), names))
        case "memories":
          return mapOf(await rows<FileRow>("content_memory_files", memoryNamespaceKey(address.namespace), names))
        case "team": {
          const texts = await readTeam({ database, tenant, address })
          return new Map(names.flatMap((name) => (texts?.has(name) ? [[name, texts.get(name)!] as const] : [])))
        }
        case "sums":
          return totalsFile(await memoryOf(address.project).read(SPENT))
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
          return writeTotals(memoryOf(address.project), address.project, change)
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
          return void (await rows("content_memory_erase", memoryNamespaceKey(address.namespace), names ?? null))
        case "team": {
          const places = names?.map((name) => Number(name.slice(MESSAGES.length + 1)))
          const key = [validateProject(address.project), validateId("team name", address.team)]
          return void (await rows("content_team_erase", ...key, places ?? null))
        }
        case "log":
          return void (await rows("content_log_erase", validateProject(address.project), address.name))
        case "sums":
          return void (await rows("content_memory_erase", memoryNamespaceKey({ project: address.project }), [SPENT]))
      }
    },

    async prune({ before, dryRun = false }) {
      const day = before.toISOString().slice(0, 10)
      const messages = await value<number>("content_prune", before.getTime(), dryRun)
      let sums = 0
      for (const { project } of await rows<SumsRow>("content_sums", null))
        sums += await pruneTotals(memoryOf(project), { day, dryRun })
      return { messages, sums }
    },
  }
}

interface FileRow {
  readonly name: string
  readonly data: Buffer
}

const mapOf = (found: readonly FileRow[]): ReadonlyMap<string, Buffer> =>
  new Map(found.map(({ name, data }) => [name, data]))

const journalKey = (address: JournalContent) => [
  ...journalNamespaceKey(address),
  validateId("conversation id", address.id),
]

/** The journal that is open: the conversation, or a sub-agent. */
function heldIn(address: JournalContent, state: string): JournalContent {
  const id = state.split(" ")[1] ?? ""
  return !isSafeId(id) || id === address.id ? address : { ...address, under: address.id, id }
}

interface ReadLine {
  readonly line: Buffer
  readonly length: number
  /** The hash of the uuid. Null if the line cannot be read. */
  readonly key: Buffer | null
  readonly entry: Entry | undefined
}

/** Lines with their line ends, and the columns by which the server finds them. */
function linesFrom(data: Buffer): readonly ReadLine[] {
  const found: ReadLine[] = []
  for (let start = 0; start < data.length; ) {
    const end = data.indexOf(0x0a, start) + 1 || data.length
    const line = data.subarray(start, end)
    const decoded = decodeLine(line.subarray(0, -1))
    const entry = decoded.state === "whole" ? decoded.entry : undefined
    const uuid = entry?.uuid ?? peekLine(line)?.uuid
    found.push({ line, length: line.length, key: uuid === undefined ? null : uuidKey(uuid), entry })
    start = end
  }
  return found
}
