/**
 * The index of a journal: one record of fixed size per line. It finds the last boundary and any message without reading the
 * journal. It contains nothing that the journal does not, so a missing, short or damaged index is rebuilt.
 *
 *   uuid 16 | offset 8 | length 4 | kind 4 | last boundary 4 | crc32 4
 */
import { hash } from "node:crypto"
import { type FileHandle, open } from "node:fs/promises"
import { crc32 } from "node:zlib"

const RECORD_BYTES = 40
const SUMMED_BYTES = 36
const NO_BOUNDARY = 0xffffffff

export type LineKind = "entry" | "boundary" | "damaged"
const KINDS: readonly LineKind[] = ["entry", "boundary", "damaged"]

export interface LineRecord {
  /** Byte offset in the journal file. The length excludes the line end. */
  readonly offset: number
  readonly length: number
  readonly kind: LineKind
  /** The record number of the newest boundary up to and including this line. */
  readonly lastBoundary: number | undefined
}

export class IndexFile {
  /** Absent if a reader found no index. */
  readonly #handle: FileHandle | undefined
  readonly #readOnly: boolean
  /** How many records are in the file. */
  readonly #filed: () => number
  /** Records that a reader keeps in memory, because it must not write. */
  #unfiled = Buffer.alloc(0)
  #count: number
  #lastBoundary: number | undefined
  #end: number

  private constructor(
    handle: FileHandle | undefined,
    found: { count: number; last: LineRecord | undefined; readOnly: boolean },
  ) {
    this.#handle = handle
    this.#readOnly = found.readOnly
    this.#filed = found.readOnly ? () => found.count : () => this.#count
    this.#count = found.count
    this.#lastBoundary = found.last?.lastBoundary
    this.#end = found.last ? found.last.offset + found.last.length + 1 : 0
  }

  /** Opens the index and keeps the records that are within the first `journalBytes` of the journal. */
  static async open(path: string, journalBytes: number, options: { readonly readOnly: boolean }): Promise<IndexFile> {
    const { readOnly } = options
    const handle = await open(path, readOnly ? "r" : "a+").catch((error: NodeJS.ErrnoException) => {
      if (readOnly && error.code === "ENOENT") return undefined
      throw error
    })
    if (handle === undefined) return new IndexFile(handle, { count: 0, last: undefined, readOnly })
    const { size } = await handle.stat()
    let count = Math.floor(size / RECORD_BYTES)
    let last: LineRecord | undefined
    for (; count > 0; count--) {
      last = await readRecord(handle, count - 1)
      if (last && last.offset + last.length + 1 <= journalBytes) break
      last = undefined
    }
    if (!readOnly && count * RECORD_BYTES !== size) await handle.truncate(count * RECORD_BYTES)
    return new IndexFile(handle, { count, last, readOnly })
  }

  /** Whether the newest record is for the line with this uuid. */
  async fits(uuid: string): Promise<boolean> {
    if (this.#count === 0 || this.#handle === undefined) return false
    const bytes = await readBytes(this.#handle, (this.#count - 1) * RECORD_BYTES, RECORD_BYTES)
    return bytes.subarray(0, 16).equals(keyOf(uuid))
  }

  get count(): number {
    return this.#count
  }

  /** The journal is indexed up to this byte. */
  get end(): number {
    return this.#end
  }

  get lastBoundary(): number | undefined {
    return this.#lastBoundary
  }

  async add(lines: readonly { uuid: string; offset: number; length: number; kind: LineKind }[]): Promise<void> {
    const bytes = Buffer.alloc(lines.length * RECORD_BYTES)
    let count = this.#count
    let lastBoundary = this.#lastBoundary
    let end = this.#end
    lines.forEach((line, i) => {
      if (line.kind === "boundary") lastBoundary = count
      writeRecord(bytes.subarray(i * RECORD_BYTES, (i + 1) * RECORD_BYTES), { ...line, lastBoundary })
      count++
      end = line.offset + line.length + 1
    })
    if (this.#readOnly) this.#unfiled = Buffer.concat([this.#unfiled, bytes])
    else await this.#append(bytes)
    this.#count = count
    this.#lastBoundary = lastBoundary
    this.#end = end
  }

  /** Writes all of the bytes or none: a partial record would misalign all later ones. */
  async #append(bytes: Buffer): Promise<void> {
    try {
      await this.#handle!.appendFile(bytes)
    } catch (error) {
      await this.#handle!.truncate(this.#count * RECORD_BYTES).catch(() => undefined)
      throw error
    }
  }

  async record(number: number): Promise<LineRecord | undefined> {
    if (number < 0 || number >= this.#count) return undefined
    return parseRecord(await this.#bytes(number, 1))
  }

  /** The newest line with this uuid. */
  async find(uuid: string): Promise<LineRecord | undefined> {
    const key = keyOf(uuid)
    const CHUNK_RECORDS = 25_000 // 1 MB at a time, newest first
    for (let end = this.#count; end > 0; end -= CHUNK_RECORDS) {
      const start = Math.max(0, end - CHUNK_RECORDS)
      const chunk = await this.#bytes(start, end - start)
      for (let at = chunk.lastIndexOf(key); at >= 0; at = at === 0 ? -1 : chunk.lastIndexOf(key, at - 1)) {
        if (at % RECORD_BYTES !== 0) continue
        const record = parseRecord(chunk.subarray(at, at + RECORD_BYTES))
        if (record) return record
      }
    }
    return undefined
  }

  async close(): Promise<void> {
    await this.#handle?.close()
  }

  async #bytes(first: number, count: number): Promise<Buffer> {
    const filed = Math.max(0, Math.min(count, this.#filed() - first))
    const fromFile =
      filed > 0 ? await readBytes(this.#handle!, first * RECORD_BYTES, filed * RECORD_BYTES) : Buffer.alloc(0)
    if (filed === count) return fromFile
    const from = (first + filed - this.#filed()) * RECORD_BYTES
    return Buffer.concat([fromFile, this.#unfiled.subarray(from, from + (count - filed) * RECORD_BYTES)])
  }
}

function keyOf(uuid: string): Buffer {
  const hex = uuid.replaceAll("-", "")
  return /^[0-9a-f]{32}$/.test(hex) ? Buffer.from(hex, "hex") : hash("sha256", uuid, "buffer").subarray(0, 16)
}

function writeRecord(into: Buffer, line: LineRecord & { uuid: string }): void {
  keyOf(line.uuid).copy(into, 0)
  into.writeBigUInt64LE(BigInt(line.offset), 16)
  into.writeUInt32LE(line.length, 24)
  into.writeUInt32LE(KINDS.indexOf(line.kind), 28)
  into.writeUInt32LE(line.lastBoundary ?? NO_BOUNDARY, 32)
  into.writeUInt32LE(crc32(into.subarray(0, SUMMED_BYTES)), SUMMED_BYTES)
}

function parseRecord(bytes: Buffer): LineRecord | undefined {
  if (bytes.length < RECORD_BYTES || crc32(bytes.subarray(0, SUMMED_BYTES)) !== bytes.readUInt32LE(SUMMED_BYTES))
    return undefined
  const lastBoundary = bytes.readUInt32LE(32)
  const kind = KINDS[bytes.readUInt32LE(28)]
  if (kind === undefined) return undefined
  return {
    offset: Number(bytes.readBigUInt64LE(16)),
    length: bytes.readUInt32LE(24),
    kind,
    lastBoundary: lastBoundary === NO_BOUNDARY ? undefined : lastBoundary,
  }
}

async function readRecord(handle: FileHandle, number: number): Promise<LineRecord | undefined> {
  return parseRecord(await readBytes(handle, number * RECORD_BYTES, RECORD_BYTES))
}

/** The bytes of a range. Fewer only at the end of the file. */
export async function readBytes(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, position + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return bytes.subarray(0, done)
}
