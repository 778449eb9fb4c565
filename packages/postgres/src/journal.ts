/** A journal on the server. Reading asks for stretches of bytes, so a long journal comes in few calls and is never in memory as a whole. */
import { randomUUID } from "node:crypto"
import {
  type AppendedLines,
  ClosedError,
  type DamagedLine,
  type DamageFound,
  decodeLine,
  type Entry,
  encodeLine,
  isBoundaryEntry,
  type Journal,
  type JournalAddress,
  LockLostError,
  type OpeningReport,
  type JournalSegment as Segment,
  StrataError,
  type JournalStretch as Stretch,
} from "@strata/core"
import { keyOf } from "@strata/core/internal/base/line-key"
import type { Database } from "./database.ts"
import type { Holder } from "./holder.ts"
import { InFlight } from "./in-flight.ts"
import { type HolderRow, holderFrom } from "./leases.ts"
import { listedIn } from "./listing.ts"
import { checkedBlobName, placeKey } from "./names.ts"
import { type ByteRange, entriesIn, MOST_BYTES } from "./read-lines.ts"

/** What opening a journal found on the server. */
export interface OpenedJournal {
  readonly jid: number
  readonly bytes: number
  readonly tailAt: number
  /** Absent for a reader. */
  readonly fence?: number
  readonly created: boolean
  readonly tookOver: boolean
  /** The beginning of the tail, if it was asked for. */
  readonly lines?: Buffer
  readonly checkpoint?: Buffer
  readonly sent?: string
  readonly hasFirstWords: boolean
}

export interface PostgresJournalParts {
  readonly address: JournalAddress
  readonly location: string
  readonly database: Database
  readonly holder: Holder
  readonly opened: OpenedJournal
  /** With mode `always` every append waits for the disk of the server. */
  readonly flush: "always" | "turn" | "never"
  readonly onAppended: (appended: AppendedLines) => void
  readonly onClosed: () => void
}

const NOTHING_FOUND = {
  tornBytes: 0,
  repeatedLines: 0,
  bridged: 0,
  restored: 0,
  index: "used",
  checkpoint: "unread",
} as const

/** Damaged places that are named one by one. */
const MOST_NAMED = 100

export class PostgresJournal implements Journal {
  readonly address: JournalAddress
  readonly location: string
  readonly fence?: number
  readonly flushesItself: boolean
  readonly inFlight: InFlight
  resumed?: Awaited<ReturnType<Journal["resume"]>>
  readonly #parts: PostgresJournalParts
  #bytes: number
  #hasFirstWords: boolean
  #isClosed = false
  /** Appends are made one after the other: each begins where the one before ended. */
  #last: Promise<unknown> = Promise.resolve()
  /** By offset. */
  readonly #damaged = new Map<number, DamagedLine>()
  #hasNewGap = false
  readonly #damageListeners = new Set<(found: DamageFound) => void>()

  constructor(parts: PostgresJournalParts) {
    const { address, location, opened, flush } = parts
    this.#parts = parts
    this.address = address
    this.location = location
    if (opened.fence !== undefined) this.fence = opened.fence
    this.flushesItself = flush !== "turn"
    this.#bytes = opened.bytes
    this.#hasFirstWords = opened.hasFirstWords
    this.inFlight = new InFlight({
      sent: opened.sent,
      note: (...changes) => this.#call("in_flight_note", opened.jid, ...changes).then(() => undefined),
    })
  }

  get opening(): OpeningReport {
    const { created, tookOver } = this.#parts.opened
    const damagedLines = [...this.#damaged.values()].slice(0, MOST_NAMED)
    return {
      ...NOTHING_FOUND,
      ...{
        created,
        tookOverLock: tookOver,
        damagedLines,
        damagedCount: this.#damaged.size,
        hasNewGap: this.#hasNewGap,
      },
    }
  }

  onDamage(listener: (found: DamageFound) => void): void {
    this.#damageListeners.add(listener)
  }

  append(entries: readonly Entry[], { endsTurn = false } = {}): Promise<void> {
    return this.#inOrder(async () => {
      this.#mustBeWriter()
      if (entries.length === 0) return
      await this.#append(entries, this.#parts.flush === "always" || (this.#parts.flush === "turn" && endsTurn))
    })
  }

  async #append(entries: readonly Entry[], waits: boolean): Promise<void> {
    const lines = entries.map(encodeLine)
    for (const line of lines) checkSize("entry", line)
    const [bytes, from] = [Buffer.concat(lines), this.#bytes]
    const { facts, firstWords } = listedIn(entries, { hasFirstWords: this.#hasFirstWords })
    const state = await this.#value<string>("append", [
      ...[this.#jid, ...this.#right(), from, bytes],
      lines.map(({ length }) => length),
      Buffer.concat(entries.map(({ uuid }) => keyOf(uuid))),
      entries.flatMap((entry, at) => (isBoundaryEntry(entry) ? [at + 1] : [])),
      ...[facts, firstWords, waits],
    ])
    if (state === "grown") throw grownError(`${this.address.project}/${this.address.id}`)
    if (state !== "written" && state !== "there") throw await this.#lost()
    this.#bytes = from + bytes.length
    this.#hasFirstWords ||= firstWords !== null
    this.#parts.onAppended({ conversation: this.address.id, from, bytes })
  }

  async sync(): Promise<void> {
    if (this.fence === undefined || this.flushesItself || this.#isClosed) return
    await this.#inOrder(async () => {
      if (!(await this.#value<boolean>("flush", [this.#jid, ...this.#right()]))) throw await this.#lost()
    })
  }

  async tail(): Promise<Segment> {
    return (await this.resume()).tail
  }

  async resume(): Promise<NonNullable<Journal["resumed"]>> {
    this.#mustBeOpen()
    const [found] = await this.#call<SegmentRow>("segment", this.#jid, null, MOST_BYTES)
    return this.#resumedFrom(found!)
  }

  /** What opening brought along. Call it once, before the journal is used. */
  async takeResumed(): Promise<this> {
    const { lines, checkpoint, tailAt, bytes } = this.#parts.opened
    this.resumed = await this.#resumedFrom({
      first: tailAt,
      past: bytes,
      lines: lines ?? null,
      kept: checkpoint ?? null,
    })
    return this
  }

  async #resumedFrom({ first, past, lines, kept }: SegmentRow): Promise<NonNullable<Journal["resumed"]>> {
    const tail = { entries: await this.#all({ from: first, to: past }, lines), start: first }
    const [boundary] = tail.entries
    const hasCheckpoint = boundary !== undefined && isBoundaryEntry(boundary) && kept !== null
    return hasCheckpoint ? { tail, checkpoint: parsed(kept) } : { tail }
  }

  async before({ start }: Segment): Promise<Segment | undefined> {
    this.#mustBeOpen()
    if (start === 0) return undefined
    const [found] = await this.#call<SegmentRow>("segment", this.#jid, start, MOST_BYTES)
    const { first, past, lines } = found!
    return { entries: await this.#all({ from: first, to: past }, lines), start: first }
  }

  async *entries(): AsyncGenerator<Entry> {
    this.#mustBeOpen()
    yield* this.#between({ from: 0, to: Number.MAX_SAFE_INTEGER })
  }

  async find(uuid: string): Promise<Entry | undefined> {
    return (await this.findMany([uuid]))[0]
  }

  async findMany(uuids: readonly string[]): Promise<readonly Entry[]> {
    this.#mustBeOpen()
    if (uuids.length === 0) return []
    const rows = await this.#call<LineRow>("find", this.#jid, uuids.map(keyOf))
    const byUuid = new Map(rows.flatMap(entryOf).map((entry) => [entry.uuid, entry]))
    return uuids.flatMap((uuid) => byUuid.get(uuid) ?? [])
  }

  async findByHandle(digits: string): Promise<readonly Entry[]> {
    this.#mustBeOpen()
    if (!/^[0-9a-f]{10}$/.test(digits)) return []
    const rows = await this.#call<LineRow>("find_handle", this.#jid, Buffer.from(digits, "hex"))
    const byUuid = new Map<string, Entry>()
    for (const entry of rows.flatMap(entryOf)) if (!byUuid.has(entry.uuid)) byUuid.set(entry.uuid, entry)
    return [...byUuid.values()]
  }

  async *stretch({ first, last, around = 0 }: Stretch): AsyncGenerator<Entry> {
    this.#mustBeOpen()
    const ends = [keyOf(first), last === undefined ? null : keyOf(last)]
    const [found] = await this.#call<{ first: number | null; past: number }>("stretch", this.#jid, ...ends, around)
    if (found?.first != null) yield* this.#between({ from: found.first, to: found.past })
  }

  async readCheckpoint(): Promise<unknown> {
    const value = await this.#value<Buffer | null>("checkpoint_read", [this.#jid])
    return value === null ? undefined : parsed(value)
  }

  async writeCheckpoint(value: unknown): Promise<void> {
    if (this.#isClosed || this.fence === undefined) return // a reader changes nothing
    await this.#value<boolean>("checkpoint_write", [this.#jid, ...this.#right(), Buffer.from(JSON.stringify(value))])
  }

  async writeBlob(name: string, data: string | Uint8Array): ReturnType<Journal["writeBlob"]> {
    this.#mustBeWriter()
    const bytes = Buffer.from(data)
    checkSize("stored result", bytes)
    const given = [
      ...[randomUUID(), this.#jid, ...this.#right()],
      ...[checkedBlobName(name), bytes, this.#parts.flush === "always"],
    ]
    if (!(await this.#value<boolean>("blob_write", given))) throw await this.#lost()
    return { location: `${this.location}/${name}`, bytes: bytes.length }
  }

  async readBlob(name: string): Promise<Buffer | undefined> {
    return (await this.#value<Buffer | null>("blob_read", [this.#jid, checkedBlobName(name)])) ?? undefined
  }

  async readNotes(): Promise<string | undefined> {
    return (await this.#value<Buffer | null>("notes_read", [this.#jid]))?.toString("utf8")
  }

  async writeNotes(text: string, expected?: string | null): Promise<boolean> {
    this.#mustBeWriter()
    const bytes = Buffer.from(text.toWellFormed())
    checkSize("text of notes", bytes)
    const before = typeof expected === "string" ? Buffer.from(expected) : null
    const [found] = await this.#parts.database.rows<{ notes_write: string }>(
      "notes_write",
      ...[this.#tenant, randomUUID(), this.#jid, ...this.#right(), bytes, expected === undefined, before],
    )
    if (found!.notes_write === "lost") throw await this.#lost()
    return found!.notes_write === "written"
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    const { onClosed } = this.#parts
    await this.#inOrder(async () => {
      if (this.#isClosed) return
      this.#isClosed = true
      try {
        await this.inFlight.settled()
        const { holder } = this.#parts
        if (this.fence !== undefined) await holder.giveBack("close", this.#tenant, this.#jid, ...this.#right())
      } finally {
        onClosed()
      }
    })
  }

  async #all({ from, to }: ByteRange, lines: Buffer | null): Promise<readonly Entry[]> {
    const entries: Entry[] = []
    for await (const entry of this.#between({ from, to }, lines ?? undefined)) entries.push(entry)
    return entries
  }

  #between(range: ByteRange, known?: Buffer): AsyncGenerator<Entry> {
    return entriesIn({
      ...{ range, known },
      read: async (from, to) => {
        this.#mustBeOpen()
        return (await this.#value<Buffer | null>("read", [this.#jid, from, to])) ?? undefined
      },
      linesBefore: (at) => this.#value<number>("lines_before", [this.#jid, at]),
      onDamage: (found, { isUnanswered }) => {
        this.#hasNewGap ||= isUnanswered
        if (this.#damaged.has(found.offset)) return
        this.#damaged.set(found.offset, found)
        for (const listener of this.#damageListeners) listener({ first: found, count: 1 })
      },
    })
  }

  /** Who may write: the process, and the number of its acquisition. */
  #right(): readonly [string, number] {
    return [this.#parts.holder.id, this.fence ?? -1]
  }

  get #jid(): number {
    return this.#parts.opened.jid
  }

  get #tenant(): string {
    return this.#parts.holder.tenant
  }

  #call<Row>(name: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#parts.database.rows<Row>(name, this.#tenant, ...values)
  }

  #value<T>(name: string, values: readonly unknown[]): Promise<T> {
    return this.#parts.database.value<T>(name, this.#tenant, ...values)
  }

  async #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last
    const mine = before.then(work, work)
    this.#last = mine.catch(() => undefined)
    return mine
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw new ClosedError()
  }

  #mustBeWriter(): void {
    if (this.#isClosed || this.fence === undefined) throw new ClosedError()
  }

  async #lost(): Promise<LockLostError> {
    const { project, id } = this.address
    const [found] = await this.#call<HolderRow>("writer", ...placeKey(this.address), id).catch(() => [])
    const holder = found && holderFrom(found, this.#parts.holder)
    return new LockLostError(`${project}/${id}`, holder ? { holder } : {})
  }
}

/** The driver reads bytes as one text, up to four letters for each, and ends the process where that is longer than a text can be. */
const MOST_VALUE_BYTES = 120 * 1024 * 1024

function checkSize(what: string, { length }: Uint8Array): void {
  if (length <= MOST_VALUE_BYTES) return
  throw new StrataError(
    `A ${what} of ${Math.ceil(length / 1024 ** 2)} MB is too large for PostgreSQL, which takes ${MOST_VALUE_BYTES / 1024 ** 2} MB at most here. Nothing was written. Store it in parts, or elsewhere.`,
    { code: "too-large" },
  )
}

/** Only this process writes, so it is a write of its own that was given up before its answer came. */
const grownError = (name: string) =>
  new StrataError(
    `${name} does not end where this process left it: an earlier write, whose answer did not come, was made after all, or lost with the server. This write was not made, and everything acknowledged is kept. Close the conversation here and open it again: then it continues from what is there.`,
    { code: "journal-grown" },
  )

interface SegmentRow {
  readonly first: number
  readonly past: number
  readonly lines: Buffer | null
  readonly kept: Buffer | null
}

interface LineRow {
  readonly at: number
  readonly line: Buffer
}

function entryOf({ line }: LineRow): readonly Entry[] {
  const decoded = decodeLine(line.subarray(0, -1))
  return decoded.state === "whole" ? [decoded.entry] : []
}

/** A checkpoint that cannot be read is rebuilt from the journal. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"))
  } catch {
    return undefined
  }
}
