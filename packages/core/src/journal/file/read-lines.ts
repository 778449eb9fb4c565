/**
 * Reads lines of a journal file at the offsets that its index names. The index has checksums of its own, so one changed byte cannot affect
 * the neighboring lines: a lost line end joins nothing, and a new one splits nothing. Where index and file disagree, the bytes in between
 * are searched for lines.
 */

import { open } from "node:fs/promises"
import { crc32 } from "node:zlib"
import { LockLostError } from "../../base/errors.ts"
import {
  type DamagedLine,
  type DamageReport,
  decodeLine,
  END_CHANGED,
  inspectLostLine,
  type LineReadResult,
  SUM_DIFFERS,
  splitRawLine,
} from "../line.ts"
import type { ByteSource, Fence } from "./guarded-writes.ts"
import { type IndexFile, type LineRecord, readBytes } from "./index-file.ts"
import { FILE_MODE } from "./layout.ts"
import { scanLines } from "./scan.ts"

export interface ReadLinesOptions {
  readonly handle: ByteSource
  readonly index: IndexFile
  /** The record numbers of the first line and of the line after the last. */
  readonly from: number
  readonly to: number
  /** The size of the journal. */
  readonly size: number
}

const RECORDS_AT_ONCE = 5_000 // 200 KB of the index
const WINDOW_BYTES = 1 << 20
const LINE_END = 0x0a

interface DoubtfulRecord {
  readonly record: LineRecord
  readonly number: number
}

export async function* readLines({ handle, index, from, to, size }: ReadLinesOptions): AsyncGenerator<LineReadResult> {
  const file = new ReadAheadWindow(handle)
  const stretch = { start: await startOf(index, from), line: from + 1, doubtful: [] as DoubtfulRecord[] }
  const upTo = (end: number) => readGap({ handle, file, ...stretch, end })
  for (let first = from; first < to; first += RECORDS_AT_ONCE) {
    const records = await index.records(first, Math.min(RECORDS_AT_ONCE, to - first))
    for (const [at, record] of records.entries()) {
      const previous = stretch.doubtful.at(-1)?.record
      const position = previous ? previous.offset + previous.length + 1 : stretch.start
      if (!record || record.offset + 1 < position || record.offset + record.length > size) continue
      const number = first + at
      if (record.kind === "repeated") {
        yield* upTo(record.offset)
        yield { state: "repeated", offset: record.offset }
      } else {
        const bytes =
          file.known(record.offset, record.length + 1) ?? (await file.bytes(record.offset, record.length + 1))
        const after = bytes[record.length]
        const decoded = decodeLine(bytes.subarray(0, record.length))
        if (decoded.state === "damaged") {
          stretch.doubtful.push({ record, number })
          continue
        }
        if (stretch.start < record.offset) yield* upTo(record.offset)
        yield { state: "whole", entry: decoded.entry }
        const end = record.offset + record.length
        if (end < size && after !== undefined && after !== LINE_END)
          yield {
            state: "end-changed",
            at: { line: number + 1, offset: end, bytes: 1, why: END_CHANGED, isLost: false },
            content: Buffer.from([after]),
          }
      }
      stretch.start = record.offset + record.length + 1
      stretch.line = number + 2
      stretch.doubtful = []
    }
  }
  const next = to < index.count ? await index.record(to) : undefined
  yield* upTo(next?.offset ?? size)
}

/** The offset of a line: from its own record, or the end of the preceding one. */
async function startOf(index: IndexFile, number: number): Promise<number> {
  if (number === 0) return 0
  const own = await index.record(number)
  if (own) return own.offset
  for (let before = number - 1; before >= 0; before--) {
    const record = await index.record(before)
    if (record) return record.offset + record.length + 1
  }
  return 0
}

interface GapRange {
  readonly handle: ByteSource
  readonly file: ReadAheadWindow
  readonly start: number
  readonly end: number
  /** The number of the first line in the range. */
  readonly line: number
  /** Records of lines in the gap that are damaged or elsewhere. */
  readonly doubtful: readonly DoubtfulRecord[]
}

async function* readGap(range: GapRange): AsyncGenerator<LineReadResult> {
  if (range.start >= range.end) return
  if (range.doubtful.length === 0 || (await hasWholeLine(range))) yield* scanGap(range)
  else yield* readRecordedGap(range)
}

async function hasWholeLine({ handle, start, end }: GapRange): Promise<boolean> {
  for await (const { bytes } of scanLines(handle, start, end))
    if (splitRawLine(bytes).some(({ isComplete }) => isComplete)) return true
  return false
}

/** The index does not fit here, so lines are split at line ends. */
async function* scanGap({ handle, start, end, line }: GapRange): AsyncGenerator<LineReadResult> {
  let number = line
  for await (const { offset, bytes } of scanLines(handle, start, end)) {
    for (const piece of splitRawLine(bytes)) {
      if (piece.bytes.length === 0) continue
      const at = {
        line: number,
        offset: offset + piece.start,
        bytes: piece.bytes.length,
        why: SUM_DIFFERS,
        isLost: true,
      }
      const decoded = decodeLine(piece.bytes)
      if (decoded.state === "whole") yield { state: "whole", entry: decoded.entry, isUnindexed: true }
      else
        yield { state: "lost", lost: inspectLostLine({ ...at, why: decoded.why }, piece.bytes), content: piece.bytes }
    }
    number++
  }
}

/** The index fits here, so damaged lines are reported by their records. */
async function* readRecordedGap({ file, start, end, line, doubtful }: GapRange): AsyncGenerator<LineReadResult> {
  let position = start
  for (const { record, number } of doubtful) {
    if (record.offset > position) yield* unrecordedBytes({ file, start: position, end: record.offset, line: number })
    const { offset, length, key, kind } = record
    const bytes = await file.bytes(offset, length)
    const decoded = decodeLine(bytes)
    const why = decoded.state === "damaged" ? decoded.why : SUM_DIFFERS
    const known = kind === "entry" || kind === "boundary" ? { key, kind } : {}
    const lost = { ...inspectLostLine({ line: number + 1, offset, bytes: length, why, isLost: true }, bytes), ...known }
    yield { state: "lost", lost, content: bytes }
    position = offset + length + 1
  }
  if (end > position) yield* unrecordedBytes({ file, start: position, end, line })
}

/** Bytes that no record covers. Line ends are ignored, because one may have been added to separate two lines. */
async function* unrecordedBytes(range: {
  readonly file: ReadAheadWindow
  readonly start: number
  readonly end: number
  readonly line: number
}): AsyncGenerator<LineReadResult> {
  const { file, start, end, line } = range
  const bytes = await file.bytes(start, end - start)
  if (bytes.every((byte) => byte === LINE_END)) return
  const lost = { line, offset: start, bytes: bytes.length, why: SUM_DIFFERS, isLost: true }
  yield { state: "lost", lost, content: bytes }
}

/** Reads ahead, because most lines are small and adjacent. The returned bytes are valid until the next call. */
class ReadAheadWindow {
  readonly #handle: ByteSource
  #start = 0
  #bytes: Buffer = Buffer.alloc(0)

  constructor(handle: ByteSource) {
    this.#handle = handle
  }

  async bytes(offset: number, length: number): Promise<Buffer> {
    const known = this.known(offset, length)
    if (known) return known
    this.#bytes = await readBytes(this.#handle, offset, Math.max(length + 1, WINDOW_BYTES))
    this.#start = offset
    return this.#bytes.subarray(0, length)
  }

  /** Bytes that were read ahead, without waiting: that would take longer than decoding a line. */
  known(offset: number, length: number): Buffer | undefined {
    const from = offset - this.#start
    return from < 0 || from + length > this.#bytes.length ? undefined : this.#bytes.subarray(from, from + length)
  }
}

// Damage found in a journal file. Each position is reported once, and its bytes are copied to a quarantine file once, however often the
// journal is opened. The journal keeps them too.

const MAX_PLACES = 100 // listed in a report; the others are counted
const MAX_WAITING_BYTES = 8 << 20 // copied in one write
const MAX_COPY_BYTES = 16 << 20 // of one record: longer bytes are split

export type DamageListener = (found: DamageReport) => void

export class DamageLog {
  readonly #path: string
  /** Absent for readers, which copy nothing. */
  #fence: Fence | undefined
  readonly #places: DamagedLine[] = []
  readonly #offsets = new Set<number>()
  readonly #listeners: DamageListener[] = []
  /** Damage found since the listeners were last called. */
  #news: { first: DamagedLine; count: number } | undefined
  #waiting: { readonly offset: number; readonly content: Buffer }[] = []
  #records: string[] = []
  #waitingBytes = 0
  /** Copies that the quarantine file already contains. Read when the first damage is found. */
  #copied: Set<string> | undefined
  #isUsed = false

  constructor(path: string, fence: Fence | undefined) {
    this.#path = path
    this.#fence = fence
  }

  get places(): readonly DamagedLine[] {
    return this.#places
  }

  get count(): number {
    return this.#offsets.size
  }

  /** The file with copies of the damaged bytes. */
  get quarantineFile(): string | undefined {
    return this.#isUsed ? this.#path : undefined
  }

  /** Adds a callback for each read that finds damage. */
  listen(listener: DamageListener): void {
    this.#listeners.push(listener)
  }

  /** Reports each position only once. */
  add({ line, offset, bytes, why, isLost }: DamagedLine, content: Buffer): void {
    if (this.#offsets.has(offset)) return
    this.#offsets.add(offset)
    this.queueCopy(offset, content)
    const damage = { line, offset, bytes, why, isLost }
    if (this.#places.length < MAX_PLACES) this.#places.push(damage)
    this.#news = { first: this.#news?.first ?? damage, count: (this.#news?.count ?? 0) + 1 }
  }

  /** Queues bytes for copying. */
  queueCopy(offset: number, content: Buffer): void {
    if (this.#fence === undefined) return
    this.#waiting.push({ offset, content })
    this.#waitingBytes += content.length
  }

  /** Whether so many bytes wait that they should be written before reading on. */
  get isFull(): boolean {
    return this.#waitingBytes >= MAX_WAITING_BYTES
  }

  /** Call it at the end of each read. */
  async report(): Promise<void> {
    await this.write()
    const news = this.#news
    this.#news = undefined
    if (!news) return
    const found = { ...news, ...(this.quarantineFile === undefined ? {} : { quarantineFile: this.quarantineFile }) }
    for (const listener of this.#listeners) listener(found)
  }

  async write(): Promise<void> {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    this.#isUsed = true
    this.#copied ??= await copiedBefore(this.#path)
    for (const { offset, content } of waiting) await this.#copy(offset, content)
    await this.#writeRecords()
  }

  async #copy(offset: number, content: Buffer): Promise<void> {
    for (let start = 0; start < content.length; start += MAX_COPY_BYTES) {
      const piece = content.subarray(start, start + MAX_COPY_BYTES)
      const place = { offset: offset + start, length: piece.length, crc: crc32(piece) }
      const key = keyOf(place)
      if (this.#copied!.has(key)) continue
      this.#copied!.add(key)
      // a range of zeros, as left by a power loss, is described instead of copied
      const bytes = isZero(piece) ? '"zeros":true' : `"base64":"${piece.toString("base64")}"`
      this.#records.push(`{"offset":${place.offset},"length":${place.length},"crc":${place.crc},${bytes}}\n`)
      if (piece.length === MAX_COPY_BYTES) await this.#writeRecords()
    }
  }

  async #writeRecords(): Promise<void> {
    const text = this.#records.join("")
    this.#records = []
    if (text === "") return
    const file = await open(this.#path, "a", FILE_MODE)
    try {
      this.#fence?.check("set-aside") // after the opening: from now on it is this owner's file
      await file.appendFile(text)
    } catch (error) {
      if (!(error instanceof LockLostError)) throw error
      this.#fence = undefined // the new owner copies what it finds, and reading continues
    } finally {
      await file.close()
    }
  }
}

const keyOf = ({ offset, length, crc }: { offset: number; length: number; crc: number }) => `${offset} ${length} ${crc}`

const isZero = (bytes: Buffer) => bytes[0] === 0 && bytes.subarray(1).equals(bytes.subarray(0, -1))

async function copiedBefore(path: string): Promise<Set<string>> {
  const copied = new Set<string>()
  const handle = await open(path, "r").catch(() => undefined) // none yet
  if (!handle) return copied
  try {
    const { size } = await handle.stat()
    for await (const { bytes } of scanLines(handle, 0, size)) {
      const front = bytes.toString("latin1", 0, Math.min(bytes.length, 100))
      const match = /^\{"offset":(\d+),"length":(\d+),"crc":(\d+)/.exec(front)
      if (match) copied.add(`${match[1]} ${match[2]} ${match[3]}`)
    }
  } finally {
    await handle.close()
  }
  return copied
}
