/** A journal in a file. One writer appends batches in order; each batch is written whole or rolled back. */
import { type FileHandle, lstat, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { ClosedError, InvalidIdError, JournalWriteError } from "../../base/errors.ts"
import { isSafeId } from "../../base/ids.ts"
import { type Entry, isBoundaryEntry } from "../entries.ts"
import { decodeLine, encodeLine } from "../line.ts"
import type { BlobReceipt, FlushMode, Journal, JournalAddress, OpeningReport, Segment } from "../store.ts"
import { type IndexFile, type LineKind, readBytes } from "./index-file.ts"
import { DIRECTORY_MODE, FILE_MODE, type JournalPaths } from "./layout.ts"
import type { FileLock } from "./lock.ts"
import { scanLines } from "./scan.ts"

export interface FileJournalParts {
  readonly address: JournalAddress
  readonly paths: JournalPaths
  readonly handle: FileHandle
  readonly lock: FileLock | undefined
  readonly flush: FlushMode
  readonly size: number
  readonly index: IndexFile
  readonly opening: OpeningReport
}

interface Batch {
  readonly lines: readonly { readonly uuid: string; readonly kind: LineKind; readonly bytes: Buffer }[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class FileJournal implements Journal {
  readonly address: JournalAddress
  readonly location: string
  readonly notesPath: string
  readonly opening: OpeningReport
  readonly #paths: JournalPaths
  readonly #handle: FileHandle
  readonly #lock: FileLock | undefined
  readonly #flush: FlushMode
  readonly #index: IndexFile
  #size: number
  #waiting: Batch[] = []
  #writing: Promise<void> | undefined
  #unsynced = false
  /** A failed write may have left some of its bytes in the file. */
  #hasTornEnd = false
  #closed = false

  constructor(parts: FileJournalParts) {
    this.address = parts.address
    this.location = parts.paths.journal
    this.notesPath = parts.paths.notes
    this.opening = parts.opening
    this.#paths = parts.paths
    this.#handle = parts.handle
    this.#lock = parts.lock
    this.#flush = parts.flush
    this.#index = parts.index
    this.#size = parts.size
  }

  append(entries: readonly Entry[]): Promise<void> {
    if (this.#closed || this.#lock === undefined) return Promise.reject(new ClosedError())
    if (entries.length === 0) return Promise.resolve()
    const lines = entries.map((entry) => ({
      uuid: entry.uuid,
      kind: isBoundaryEntry(entry) ? ("boundary" as const) : ("entry" as const),
      bytes: encodeLine(entry),
    }))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ lines, resolve, reject })
      this.#writing ??= this.#writeWaiting()
    })
  }

  async sync(): Promise<void> {
    await this.#writing
    if (this.#flush === "never" || !this.#unsynced) return
    this.#unsynced = false
    await this.#handle.datasync().catch((error: unknown) => {
      this.#unsynced = true
      throw new JournalWriteError(this.location, error)
    })
  }

  async tail(): Promise<Segment> {
    const boundary = this.#index.lastBoundary
    return this.#segment(boundary ?? 0, this.#size)
  }

  async before(segment: Segment): Promise<Segment | undefined> {
    this.#mustBeOpen()
    if (segment.start === 0) return undefined
    const previous = await this.#index.record(segment.start - 1)
    const first = await this.#index.record(segment.start)
    return this.#segment(previous?.lastBoundary ?? 0, first!.offset)
  }

  async *entries(): AsyncGenerator<Entry> {
    yield* this.#decoded(0, this.#size)
  }

  async find(uuid: string): Promise<Entry | undefined> {
    this.#mustBeOpen()
    const record = await this.#index.find(uuid)
    if (!record || record.kind === "damaged") return undefined
    const decoded = decodeLine(await readBytes(this.#handle, record.offset, record.length))
    return decoded.state === "whole" && decoded.entry.uuid === uuid ? decoded.entry : undefined
  }

  async readCheckpoint(): Promise<unknown> {
    try {
      return JSON.parse(await readFile(this.#paths.checkpoint, "utf8")) as unknown
    } catch {
      return undefined // absent or damaged: the journal has everything to rebuild it
    }
  }

  async writeCheckpoint(value: unknown): Promise<void> {
    await writeWhole(this.#paths.checkpoint, JSON.stringify(value))
  }

  async writeBlob(name: string, data: string | Uint8Array): Promise<BlobReceipt> {
    const path = this.#blobPath(name)
    try {
      await mkdir(this.#paths.blobs, { recursive: true, mode: DIRECTORY_MODE })
      for (const directory of [dirname(this.#paths.blobs), this.#paths.blobs]) await mustNotBeLink(directory)
      await writeWhole(path, data)
    } catch (error) {
      throw new JournalWriteError(path, error)
    }
    return { location: path, bytes: typeof data === "string" ? Buffer.byteLength(data) : data.length }
  }

  async readBlob(name: string): Promise<Buffer | undefined> {
    return readFile(this.#blobPath(name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined
      throw error
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    try {
      await this.sync()
    } finally {
      await this.#index.close()
      await this.#handle.close()
      await this.#lock?.release()
    }
  }

  /** Writes all waiting batches. Callers that append at the same time share a write and a flush. */
  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batches = this.#waiting
      this.#waiting = []
      try {
        await this.#write(batches.flatMap((batch) => batch.lines))
        for (const batch of batches) batch.resolve()
      } catch (error) {
        for (const batch of batches) batch.reject(new JournalWriteError(this.location, error))
      }
    }
    this.#writing = undefined // before a caller whose append just resolved can append again
  }

  /** Removes a partial line before the next write, which would be fused with it. */
  async #cutTornEnd(): Promise<void> {
    if (!this.#hasTornEnd) return
    await this.#handle.truncate(this.#size)
    this.#hasTornEnd = false
  }

  async #write(lines: Batch["lines"]): Promise<void> {
    let offset = this.#size
    const records = lines.map(({ uuid, kind, bytes }) => {
      const record = { uuid, kind, offset, length: bytes.length - 1 }
      offset += bytes.length
      return record
    })
    await this.#cutTornEnd()
    try {
      await this.#handle.appendFile(Buffer.concat(lines.map((line) => line.bytes)))
      if (this.#flush === "always") await this.#handle.datasync()
      else this.#unsynced = true
      await this.#index.add(records)
    } catch (error) {
      this.#hasTornEnd = true
      await this.#cutTornEnd().catch(() => undefined) // retried before the next write and at the next opening
      throw error
    }
    this.#size = offset
  }

  async #segment(start: number, end: number): Promise<Segment> {
    this.#mustBeOpen()
    const first = await this.#index.record(start)
    const entries: Entry[] = []
    for await (const entry of this.#decoded(first?.offset ?? 0, end)) entries.push(entry)
    return { entries, start }
  }

  async *#decoded(start: number, end: number): AsyncGenerator<Entry> {
    this.#mustBeOpen()
    await this.#writing
    for await (const { bytes } of scanLines(this.#handle, start, end)) {
      const decoded = decodeLine(bytes)
      if (decoded.state === "whole") yield decoded.entry
    }
  }

  /** A name is an id with an optional extension. */
  #blobPath(name: string): string {
    const [, stem, extension = ""] = /^([^.]+)(?:\.([^.]+))?$/.exec(name) ?? []
    if (stem === undefined || !isSafeId(stem + extension)) throw new InvalidIdError("file name", name)
    return join(this.#paths.blobs, name)
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new ClosedError()
  }
}

/** A link in place of one of our directories would send what is written somewhere else. */
async function mustNotBeLink(directory: string): Promise<void> {
  if ((await lstat(directory)).isSymbolicLink()) throw new Error(`${directory} is a symbolic link`)
}

/** Replaces a file in one step: a reader sees the old content or the new, never a mix. */
async function writeWhole(path: string, data: string | Uint8Array): Promise<void> {
  const draft = `${path}.${process.pid}.draft`
  try {
    await writeFile(draft, data, { mode: FILE_MODE, flush: true })
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
