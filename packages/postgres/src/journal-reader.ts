/** Reads a journal on the server in byte ranges: a long journal takes few calls and is never completely in memory. */
import { ClosedError, type Entry } from "@strata/core"
import { uuidKey } from "@strata/core/base"
import {
  type DamagedLine,
  type DamageReport,
  decodeLine,
  isBoundaryEntry,
  type Journal,
  type JournalRange,
  type JournalSegment,
} from "@strata/core/store"
import type { Database } from "./database.ts"
import { type ByteRange, entriesIn, MAX_BYTES } from "./read-lines.ts"

export interface JournalReaderOptions {
  readonly database: Database
  readonly tenant: string
  readonly jid: number
}

export class JournalReader {
  readonly #parts: JournalReaderOptions
  /** Damaged lines by offset. */
  readonly #damaged = new Map<number, DamagedLine>()
  readonly #damageListeners = new Set<(found: DamageReport) => void>()
  #hasNewGap = false
  protected isClosed = false

  constructor(parts: JournalReaderOptions) {
    this.#parts = parts
  }

  /** The damage that reading has found so far. */
  protected get damage() {
    const damagedLines = [...this.#damaged.values()].slice(0, MAX_NAMED)
    return { damagedLines, damagedCount: this.#damaged.size, hasNewGap: this.#hasNewGap }
  }

  onDamage(listener: (found: DamageReport) => void): void {
    this.#damageListeners.add(listener)
  }

  async tail(): Promise<JournalSegment> {
    return (await this.resume()).tail
  }

  async resume(): Promise<NonNullable<Journal["preloaded"]>> {
    this.mustBeOpen()
    const [found] = await this.rows<SegmentRow>("segment", null, MAX_BYTES)
    return this.parseResume(found!)
  }

  protected async parseResume({ first, past, lines, kept }: SegmentRow): Promise<NonNullable<Journal["preloaded"]>> {
    const tail = { entries: await this.#all({ from: first, to: past }, lines), start: first }
    const [boundary] = tail.entries
    const hasCheckpoint = boundary !== undefined && isBoundaryEntry(boundary) && kept !== null
    return hasCheckpoint ? { tail, checkpoint: parseCheckpoint(kept) } : { tail }
  }

  async before({ start }: JournalSegment): Promise<JournalSegment | undefined> {
    this.mustBeOpen()
    if (start === 0) return undefined
    const [found] = await this.rows<SegmentRow>("segment", start, MAX_BYTES)
    const { first, past, lines } = found!
    return { entries: await this.#all({ from: first, to: past }, lines), start: first }
  }

  async *entries(): AsyncGenerator<Entry> {
    this.mustBeOpen()
    yield* this.#between({ from: 0, to: Number.MAX_SAFE_INTEGER })
  }

  async find(uuid: string): Promise<Entry | undefined> {
    return (await this.findMany([uuid]))[0]
  }

  async findMany(uuids: readonly string[]): Promise<readonly Entry[]> {
    this.mustBeOpen()
    if (uuids.length === 0) return []
    const rows = await this.rows<LineRow>("find", uuids.map(uuidKey))
    const byUuid = new Map(rows.flatMap(entryOf).map((entry) => [entry.uuid, entry]))
    return uuids.flatMap((uuid) => byUuid.get(uuid) ?? [])
  }

  async findByHandle(digits: string): Promise<readonly Entry[]> {
    this.mustBeOpen()
    if (!/^[0-9a-f]{10}$/.test(digits)) return []
    const rows = await this.rows<LineRow>("find_handle", Buffer.from(digits, "hex"))
    const byUuid = new Map<string, Entry>()
    for (const entry of rows.flatMap(entryOf)) if (!byUuid.has(entry.uuid)) byUuid.set(entry.uuid, entry)
    return [...byUuid.values()]
  }

  async *range({ first, last, around = 0 }: JournalRange): AsyncGenerator<Entry> {
    this.mustBeOpen()
    const ends = [uuidKey(first), last === undefined ? null : uuidKey(last)]
    const [found] = await this.rows<{ first: number | null; past: number }>("stretch", ...ends, around)
    if (found?.first != null) yield* this.#between({ from: found.first, to: found.past })
  }

  async readCheckpoint(): Promise<unknown> {
    const value = await this.value<Buffer | null>("checkpoint_read")
    return value === null ? undefined : parseCheckpoint(value)
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
        this.mustBeOpen()
        return (await this.value<Buffer | null>("read", from, to)) ?? undefined
      },
      linesBefore: (at) => this.value<number>("lines_before", at),
      onDamage: (found, { isUnanswered }) => {
        this.#hasNewGap ||= isUnanswered
        if (this.#damaged.has(found.offset)) return
        this.#damaged.set(found.offset, found)
        for (const listener of this.#damageListeners) listener({ first: found, count: 1 })
      },
    })
  }

  /** Calls a function of this journal. */
  protected rows<Row>(name: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    const { database, tenant, jid } = this.#parts
    return database.rows<Row>(name, tenant, jid, ...values)
  }

  /** Calls a function of this journal that returns one value. */
  protected value<T>(name: string, ...values: readonly unknown[]): Promise<T> {
    const { database, tenant, jid } = this.#parts
    return database.value<T>(name, tenant, jid, ...values)
  }

  protected mustBeOpen(): void {
    if (this.isClosed) throw new ClosedError()
  }
}

/** Maximum number of damaged positions that are reported individually. */
const MAX_NAMED = 100

export interface SegmentRow {
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

/** An unreadable checkpoint is rebuilt from the journal. */
function parseCheckpoint(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"))
  } catch {
    return undefined
  }
}
