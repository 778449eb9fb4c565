/**
 * The index of a journal: one record of fixed size per line. It locates the last boundary and any message without reading the journal. It
 * can always be rebuilt from the journal, so a missing, short or damaged index is replaced.
 *
 * uuid 16 | offset 8 | length 4 | kind 4 | last boundary 4 | crc32 4
 */

import { open } from "node:fs/promises"
import { crc32 } from "node:zlib"
import { KEY_BYTES, uuidKey } from "../../base/text.ts"
import { type ByteSource, type Fence, PooledFile } from "./guarded-writes.ts"

const RECORD_BYTES = 40
const SUMMED_BYTES = 36
const NO_BOUNDARY = 0xffffffff
const CHUNK_RECORDS = 25_000 // 1 MB per read
const MAX_UNFILED = 64 // records: lines that the next opening must read if the process dies

/** `damaged`: the line could not be read when it was indexed. `repeated`: an earlier line has the same uuid. */
export type LineKind = "entry" | "boundary" | "damaged" | "repeated"
const KINDS: readonly LineKind[] = ["entry", "boundary", "damaged", "repeated"]

export interface LineToIndex {
  readonly uuid: string
  readonly offset: number
  readonly length: number
  readonly kind: LineKind
}

export interface IndexSurvey {
  readonly isSound: boolean
  readonly damaged: readonly NumberedRecord[]
}

export interface NumberedRecord {
  readonly record: LineRecord
  readonly number: number
}

export interface LineRecord {
  /** The key of the line's uuid, in hex. */
  readonly key: string
  /** Byte offset in the journal file. The length excludes the line end. */
  readonly offset: number
  readonly length: number
  readonly kind: LineKind
  /** The record number of the newest boundary up to and including this line. */
  readonly lastBoundary: number | undefined
}

export class IndexFile {
  /** Absent if a reader found no index. */
  readonly #handle: PooledFile | undefined
  readonly #readOnly: boolean
  /** Number of records in the file. */
  #filed: number
  /** Records after those in the file, up to `count`. A reader keeps all of them in memory; a writer collects some for one write. */
  #unfiled = Buffer.alloc(MAX_UNFILED * RECORD_BYTES)
  /** Whether this process has written to the index. The first entry is written at once, so that an unwritable index is noticed. */
  #isWritable = false
  #count: number
  #lastBoundary: number | undefined
  #end: number

  private constructor(
    handle: PooledFile | undefined,
    found: { count: number; last: LineRecord | undefined; readOnly: boolean },
  ) {
    this.#handle = handle
    this.#readOnly = found.readOnly
    this.#filed = found.count
    this.#count = found.count
    this.#lastBoundary = found.last?.lastBoundary
    this.#end = found.last ? found.last.offset + found.last.length + 1 : 0
  }

  /** Opens the index with the records that are within the first `journalBytes` of the journal. Without a fence it is read-only. */
  static async open(path: string, journalBytes: number, fence: Fence | undefined): Promise<IndexFile> {
    const readOnly = fence === undefined
    const opening = readOnly ? PooledFile.open(path, "r") : PooledFile.open(path, "a+", fence)
    const handle = await opening.catch((error: unknown) => {
      if (readOnly) return undefined // a reader works without an index
      throw error
    })
    if (handle === undefined) return new IndexFile(handle, { count: 0, last: undefined, readOnly })
    const size = await handle.size()
    const { count, last } = await lastUsable(handle, Math.floor(size / RECORD_BYTES), journalBytes)
    if (!readOnly && count * RECORD_BYTES !== size) await handle.truncate(count * RECORD_BYTES)
    return new IndexFile(handle, { count, last, readOnly })
  }

  get count(): number {
    return this.#count
  }

  /** The offset up to which the journal is indexed. */
  get end(): number {
    return this.#end
  }

  get lastBoundary(): number | undefined {
    return this.#lastBoundary
  }

  async add(lines: readonly LineToIndex[]): Promise<void> {
    const unfiled = this.#count - this.#filed
    this.#makeRoom(unfiled + lines.length)
    let lastBoundary = this.#lastBoundary
    let end = this.#end
    for (const [i, line] of lines.entries()) {
      if (line.kind === "boundary") lastBoundary = this.#count + i
      writeRecord(this.#unfiled, (unfiled + i) * RECORD_BYTES, { ...line, lastBoundary })
      end = line.offset + line.length + 1
    }
    if (!this.#isWritable || unfiled + lines.length >= MAX_UNFILED) await this.#file(unfiled + lines.length)
    this.#count += lines.length
    this.#lastBoundary = lastBoundary
    this.#end = end
  }

  #makeRoom(records: number): void {
    if (this.#unfiled.length >= records * RECORD_BYTES) return
    const larger = Buffer.alloc(Math.max(records * RECORD_BYTES, 2 * this.#unfiled.length))
    this.#unfiled.copy(larger)
    this.#unfiled = larger
  }

  /** Writes this many unfiled records, all or none: a partial record would misalign all later ones. */
  async #file(records: number): Promise<void> {
    if (this.#readOnly || records === 0) return
    try {
      await this.#handle!.append(this.#unfiled.subarray(0, records * RECORD_BYTES))
    } catch (error) {
      await this.#handle!.truncate(this.#filed * RECORD_BYTES).catch(() => undefined)
      throw error
    }
    this.#filed += records
    this.#isWritable = true
  }

  async record(number: number): Promise<LineRecord | undefined> {
    if (number < 0 || number >= this.#count) return undefined
    return parseRecord(await this.#bytes(number, 1))
  }

  /** Records from `first`. A record with a wrong checksum is `undefined`. */
  async records(first: number, count: number): Promise<readonly (LineRecord | undefined)[]> {
    const bytes = await this.#bytes(first, count)
    return Array.from({ length: count }, (_, at) =>
      parseRecord(bytes.subarray(at * RECORD_BYTES, (at + 1) * RECORD_BYTES)),
    )
  }

  /** The lines with this uuid and their record numbers, newest first. */
  find(uuid: string): AsyncGenerator<NumberedRecord> {
    return this.#withKeyEnding(uuidKey(uuid))
  }

  /** The lines whose key ends with these hex digits, newest first. */
  findEnding(digits: string): AsyncGenerator<NumberedRecord> {
    return this.#withKeyEnding(Buffer.from(digits, "hex"))
  }

  async *#withKeyEnding(end: Buffer): AsyncGenerator<NumberedRecord> {
    const inRecord = KEY_BYTES - end.length
    for (let last = this.#count; last > 0; last -= CHUNK_RECORDS) {
      const start = Math.max(0, last - CHUNK_RECORDS)
      const chunk = await this.#bytes(start, last - start)
      for (let at = chunk.lastIndexOf(end); at >= 0; at = at === 0 ? -1 : chunk.lastIndexOf(end, at - 1)) {
        if (at % RECORD_BYTES !== inRecord) continue
        const from = at - inRecord
        const record = parseRecord(chunk.subarray(from, from + RECORD_BYTES))
        if (record) yield { record, number: start + from / RECORD_BYTES }
      }
    }
  }

  /** Whether every record matches its checksum, and which lines were damaged when they were indexed. */
  async survey(): Promise<IndexSurvey> {
    const damaged: NumberedRecord[] = []
    let isSound = true
    for (let first = 0; first < this.#count; first += CHUNK_RECORDS) {
      const records = await this.records(first, Math.min(CHUNK_RECORDS, this.#count - first))
      for (const [at, record] of records.entries()) {
        if (record === undefined) isSound = false
        else if (record.kind === "damaged") damaged.push({ record, number: first + at })
      }
    }
    return { isSound, damaged }
  }

  /** The uuid keys of all lines. */
  async keys(): Promise<Set<string>> {
    const keys = new Set<string>()
    for (let first = 0; first < this.#count; first += CHUNK_RECORDS) {
      const bytes = await this.#bytes(first, Math.min(CHUNK_RECORDS, this.#count - first))
      for (let at = 0; at < bytes.length; at += RECORD_BYTES) keys.add(bytes.toString("hex", at, at + KEY_BYTES))
    }
    return keys
  }

  async close(): Promise<void> {
    await this.#file(this.#count - this.#filed).catch(() => undefined) // the next opening reads those lines from the journal
    await this.#handle?.close()
  }

  async #bytes(first: number, count: number): Promise<Buffer> {
    const filed = Math.max(0, Math.min(count, this.#filed - first))
    const from = (first + filed - this.#filed) * RECORD_BYTES
    // copied before the first await, because later records may overwrite these
    const unfiled = Buffer.from(this.#unfiled.subarray(from, from + (count - filed) * RECORD_BYTES))
    if (filed === 0) return unfiled
    const fromFile = await readBytes(this.#handle!, first * RECORD_BYTES, filed * RECORD_BYTES)
    return filed === count ? fromFile : Buffer.concat([fromFile, unfiled])
  }
}

/** The newest record that is intact and within the journal. Everything after it is dropped and read from the journal again. */
async function lastUsable(
  handle: ByteSource,
  filed: number,
  journalBytes: number,
): Promise<{ count: number; last: LineRecord | undefined }> {
  for (let end = filed; end > 0; end -= CHUNK_RECORDS) {
    const start = Math.max(0, end - CHUNK_RECORDS)
    const chunk = await readBytes(handle, start * RECORD_BYTES, (end - start) * RECORD_BYTES)
    for (let at = chunk.length - RECORD_BYTES; at >= 0; at -= RECORD_BYTES) {
      const last = parseRecord(chunk.subarray(at, at + RECORD_BYTES))
      if (last && last.offset + last.length + 1 <= journalBytes) return { count: start + at / RECORD_BYTES + 1, last }
    }
  }
  return { count: 0, last: undefined }
}

function writeRecord(into: Buffer, at: number, line: LineToIndex & Pick<LineRecord, "lastBoundary">): void {
  uuidKey(line.uuid).copy(into, at)
  into.writeBigUInt64LE(BigInt(line.offset), at + 16)
  into.writeUInt32LE(line.length, at + 24)
  into.writeUInt32LE(KINDS.indexOf(line.kind), at + 28)
  into.writeUInt32LE(line.lastBoundary ?? NO_BOUNDARY, at + 32)
  into.writeUInt32LE(crc32(into.subarray(at, at + SUMMED_BYTES)), at + SUMMED_BYTES)
}

function parseRecord(bytes: Buffer): LineRecord | undefined {
  if (bytes.length < RECORD_BYTES || crc32(bytes.subarray(0, SUMMED_BYTES)) !== bytes.readUInt32LE(SUMMED_BYTES))
    return undefined
  const lastBoundary = bytes.readUInt32LE(32)
  const kind = KINDS[bytes.readUInt32LE(28)]
  if (kind === undefined) return undefined
  return {
    key: bytes.toString("hex", 0, KEY_BYTES),
    offset: Number(bytes.readBigUInt64LE(16)),
    length: bytes.readUInt32LE(24),
    kind,
    lastBoundary: lastBoundary === NO_BOUNDARY ? undefined : lastBoundary,
  }
}

/** Reads a range of bytes. Returns fewer only at the end of the file. */
export async function readBytes(handle: ByteSource, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, position + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return bytes.subarray(0, done)
}

// Directories whose new names a power cut could still lose: a new file is safe only once its directory is flushed.

export class UnflushedDirectories {
  #directories: Set<string>

  constructor(directories: readonly string[]) {
    this.#directories = new Set(directories)
  }

  get isEmpty(): boolean {
    return this.#directories.size === 0
  }

  add(directories: readonly string[]): void {
    for (const directory of directories) this.#directories.add(directory)
  }

  /** Flushes the directories. If that fails, they remain pending. */
  async flush(): Promise<void> {
    const waiting = [...this.#directories]
    this.#directories = new Set()
    try {
      await Promise.all(waiting.map(flushDirectory))
    } catch (error) {
      this.add(waiting)
      throw error
    }
  }
}

const MAX_PARALLEL = 8 // each takes a descriptor, and a server has thousands of conversations

/** Directories waiting to be flushed. Callers that ask for the same directory share its flush. */
const queue = new Map<string, PromiseWithResolvers<void>>()
let running = 0

/** Resolves when the names in a directory are on disk. */
export function flushDirectory(directory: string): Promise<void> {
  const known = queue.get(directory)
  if (known) return known.promise
  const waiting = Promise.withResolvers<void>()
  queue.set(directory, waiting)
  flushNext()
  return waiting.promise
}

function flushNext(): void {
  for (const [directory, waiting] of queue) {
    if (running === MAX_PARALLEL) return
    queue.delete(directory)
    running++
    void fsyncDirectory(directory)
      .then(waiting.resolve, waiting.reject)
      .finally(() => {
        running--
        flushNext()
      })
  }
}

/** Windows has no such flush, and some network disks refuse it. They make names durable by themselves. */
async function fsyncDirectory(directory: string): Promise<void> {
  if (process.platform === "win32") return
  const handle = await open(directory, "r")
  try {
    await handle.sync()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EINVAL") throw error
  } finally {
    await handle.close()
  }
}
