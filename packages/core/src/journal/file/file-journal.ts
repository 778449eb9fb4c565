/** A journal in a file. One writer appends batches in order. Each batch is written completely or rolled back. */
import { readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { isSafeId } from "../../base/clock.ts"
import { ClosedError, InvalidIdError, JournalWriteError, LockLostError, StrataError } from "../../base/errors.ts"
import { assertFitsMemory } from "../../base/memory.ts"
import { runCooperatively } from "../../base/work.ts"
import { handleOf, isShortHandle } from "../../messages/media.ts"
import { type Entry, isBoundaryEntry } from "../entries.ts"
import { decodeLine, encodeLine } from "../line.ts"
import { ParentRelinker } from "../parent-relinker.ts"
import type {
  BlobReceipt,
  FlushMode,
  Journal,
  JournalAddress,
  JournalRange,
  JournalSegment,
  OpeningReport,
  ResumeData,
} from "../store.ts"
import {
  type AtomicFile,
  decodeCheckpoint,
  encodeCheckpointTask,
  type HeldLock,
  lockLost,
  notifyAppended,
  type PooledFile,
  removeFile,
  writeAtomically,
} from "./guarded-writes.ts"
import {
  type IndexFile,
  type IndexSurvey,
  type LineKind,
  type LineRecord,
  readBytes,
  UnflushedDirectories,
} from "./index-file.ts"
import type { JournalPaths } from "./layout.ts"
import { makeDirectory, mustNotBeLink } from "./make-directory.ts"
import { type DamageListener, type DamageLog, readLines } from "./read-lines.ts"
import { InFlightFile, readNotesFile, writeNotesFile } from "./small-files.ts"

export interface FileJournalOptions {
  readonly address: JournalAddress
  readonly paths: JournalPaths
  readonly handle: PooledFile
  readonly held?: HeldLock
  readonly flush: FlushMode
  readonly size: number
  readonly index: IndexFile
  readonly damage: DamageLog
  readonly newNames: readonly string[]
  readonly opening: Pick<OpeningReport, "created" | "tookOverLock" | "tornBytes" | "index">
}

interface Batch {
  readonly lines: readonly { readonly uuid: string; readonly kind: LineKind; readonly bytes: Buffer }[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class FileJournal implements Journal {
  readonly address: JournalAddress
  readonly location: string
  readonly file: string
  readonly notesPath: string
  readonly inFlight: InFlightFile
  readonly fence?: number
  readonly #opening: FileJournalOptions["opening"]
  readonly #damage: DamageLog
  readonly #repeated = new Set<number>()
  readonly #found = { bridged: 0, restored: 0, hasNewGap: false }
  #checkpoint: OpeningReport["checkpoint"] = "unread"
  readonly #paths: JournalPaths
  readonly #handle: PooledFile
  readonly #held: HeldLock | undefined
  readonly #flush: FlushMode
  readonly #newNames: UnflushedDirectories
  readonly #index: IndexFile
  #size: number
  #waiting: Batch[] = []
  #writing: Promise<void> | undefined
  #unsynced = false
  #flushing: Promise<void> | undefined
  #survey: IndexSurvey | undefined
  #isIndexWrong = false
  #hasTornEnd = false
  #closed = false

  constructor(parts: FileJournalOptions) {
    this.address = parts.address
    this.location = parts.paths.journal
    this.file = parts.paths.journal
    this.notesPath = parts.paths.notes
    this.inFlight = new InFlightFile(parts.paths.inFlight, parts.held)
    if (parts.held) this.fence = parts.held.lock.fence
    this.#opening = parts.opening
    this.#damage = parts.damage
    this.#paths = parts.paths
    this.#handle = parts.handle
    this.#held = parts.held
    this.#flush = parts.flush
    this.#newNames = new UnflushedDirectories(parts.newNames)
    this.#index = parts.index
    this.#size = parts.size
  }

  get opening(): OpeningReport {
    const { places, count, quarantineFile } = this.#damage
    const { bridged, restored, hasNewGap } = this.#found
    return {
      ...this.#opening,
      damagedLines: places,
      damagedCount: count,
      repeatedLines: this.#repeated.size,
      bridged,
      restored,
      hasNewGap,
      checkpoint: this.#checkpoint,
      ...(quarantineFile === undefined ? {} : { quarantineFile }),
    }
  }

  onDamage(listener: DamageListener): void {
    this.#damage.listen(listener)
  }

  append(entries: readonly Entry[]): Promise<void> {
    if (this.#closed || this.#held === undefined) return Promise.reject(new ClosedError())
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

  /** Also waits for a flush in progress, which may include what the caller has appended. */
  async sync(): Promise<void> {
    await this.#writing
    const isDue = this.#unsynced || !this.#newNames.isEmpty
    if (this.#flush === "never" || !isDue) return this.#flushing
    const flushing = this.#flushAll().catch((error: unknown) => {
      throw new JournalWriteError(this.location, error)
    })
    this.#flushing = flushing
    await flushing
  }

  async #flushAll(): Promise<void> {
    const lines = this.#unsynced ? this.#handle.datasync() : undefined
    this.#unsynced = false
    const flushes = await Promise.allSettled([lines, this.#newNames.flush()])
    if (flushes[0].status === "rejected") this.#unsynced = true
    for (const flush of flushes) if (flush.status === "rejected") throw flush.reason
  }

  async tail(): Promise<JournalSegment> {
    await this.#writing
    const { lastBoundary = 0, count } = this.#index
    const first = await this.#index.record(lastBoundary)
    assertFitsMemory(this.location, this.#size - (first?.offset ?? 0))
    return this.#segment(lastBoundary, count)
  }

  async resume(): Promise<ResumeData> {
    const tail = await this.tail()
    const [first] = tail.entries
    return first && isBoundaryEntry(first) ? { tail, checkpoint: await this.readCheckpoint() } : { tail }
  }

  async before(segment: JournalSegment): Promise<JournalSegment | undefined> {
    this.#mustBeOpen()
    if (segment.start === 0) return undefined
    return this.#segment(await this.#boundaryBefore(segment.start), segment.start)
  }

  async *entries(): AsyncGenerator<Entry> {
    this.#mustBeOpen()
    await this.#writing
    yield* this.#read(0, this.#index.count)
  }

  async find(uuid: string): Promise<Entry | undefined> {
    this.#mustBeOpen()
    for await (const { record, number } of this.#index.find(uuid)) {
      const found = await this.#lineAt(record, number)
      if (found?.uuid === uuid) return found
    }
    return (await this.#findUnindexed((entry) => entry.uuid === uuid))[0]
  }

  async findMany(uuids: readonly string[]): Promise<readonly Entry[]> {
    const found = await Promise.all(uuids.map((uuid) => this.find(uuid)))
    return found.filter((entry) => entry !== undefined)
  }

  async findByHandle(digits: string): Promise<readonly Entry[]> {
    this.#mustBeOpen()
    if (!isShortHandle(digits)) return []
    const found = new Map<string, Entry>()
    for await (const { record, number } of this.#index.findEnding(digits)) {
      const entry = await this.#lineAt(record, number)
      if (entry && !found.has(entry.uuid) && handleOf(entry.uuid) === digits) found.set(entry.uuid, entry)
    }
    return found.size > 0 ? [...found.values()] : this.#findUnindexed(({ uuid }) => handleOf(uuid) === digits)
  }

  async *range({ first, last, around = 0 }: JournalRange): AsyncGenerator<Entry> {
    this.#mustBeOpen()
    await this.#writing
    const { count } = this.#index
    const from = await this.#numberOf(first)
    const to = last === undefined ? count - 1 : await this.#numberOf(last)
    if (from === undefined || to === undefined) return
    const start = Math.max(0, Math.min(from, to) - around)
    const end = Math.min(count, Math.max(from, to) + around + 1)
    // gaps in a partial read say nothing about the whole journal
    yield* this.#bridged(new ParentRelinker({ isFromStart: start === 0 }), start, end)
  }

  async readCheckpoint(): Promise<unknown> {
    const bytes = await readFile(this.#paths.checkpoint).catch(() => undefined)
    const read = bytes === undefined ? ({ state: "absent" } as const) : decodeCheckpoint(bytes)
    this.#checkpoint = read.state
    return read.state === "used" ? read.value : undefined
  }

  /** Does nothing without the lock: its holder writes a checkpoint of its own. */
  async writeCheckpoint(value: unknown): Promise<void> {
    if (!this.#held?.lock.isHeld()) return
    try {
      await this.#writeWhole("checkpoint", {
        path: this.#paths.checkpoint,
        data: await runCooperatively(encodeCheckpointTask(value)),
      })
    } catch (error) {
      if (!(error instanceof LockLostError)) throw error
    }
  }

  async writeBlob(name: string, data: string | Uint8Array): Promise<BlobReceipt> {
    const path = this.#blobPath(name)
    const { blobs } = this.#paths
    this.#mustHold()
    try {
      const made = await makeDirectory(blobs)
      for (const directory of [dirname(blobs), blobs]) await mustNotBeLink(directory)
      await this.#writeWhole("blob", { path, data })
      this.#newNames.add([...made, blobs])
      if (this.#flush === "always") await this.#newNames.flush()
    } catch (error) {
      throw error instanceof StrataError ? error : new JournalWriteError(path, error)
    }
    return { location: path, path, bytes: typeof data === "string" ? Buffer.byteLength(data) : data.length }
  }

  /** Flushed before the file gets its name, so that a power cut leaves all of it or nothing. */
  #writeWhole(step: "checkpoint" | "blob", file: Pick<AtomicFile, "path" | "data">): Promise<void> {
    const { lock, fence } = this.#held!
    const check = () => fence.check(step)
    return writeAtomically({ ...file, number: lock.fence, flush: this.#flush !== "never", check })
  }

  async readBlob(name: string): Promise<Buffer | undefined> {
    return readFile(this.#blobPath(name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined
      throw error
    })
  }

  readNotes(): Promise<string | undefined> {
    return readNotesFile(this.notesPath)
  }

  async writeNotes(text: string, expected?: string | null): Promise<boolean> {
    const { lock, fence } = this.#mustHold()
    const check = () => fence.check("notes")
    return writeNotesFile({ path: this.notesPath, text, expected, number: lock.fence, check })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    try {
      await this.sync()
    } catch (error) {
      if (this.#held?.lock.isHeld()) throw error // otherwise the new owner has flushed what was acknowledged here
    } finally {
      await this.#index.close()
      await this.#handle.close()
      this.inFlight.close()
      this.#removeWrongIndex()
      await this.#held?.lock.release()
    }
  }

  /** Removes an index with wrong positions, so that the next opening rebuilds it. */
  #removeWrongIndex(): void {
    if (!this.#isIndexWrong || !this.#held?.lock.isHeld()) return
    const { lock, fence } = this.#held
    removeFile({ path: this.#paths.index, number: lock.fence, check: () => fence.check("remove") })
  }

  /** Writes all waiting batches. Concurrent appends share a write and a flush. */
  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batches = this.#waiting
      this.#waiting = []
      try {
        await this.#write(batches.flatMap((batch) => batch.lines))
        for (const batch of batches) batch.resolve()
      } catch (error) {
        const reason = error instanceof StrataError ? error : new JournalWriteError(this.location, error)
        for (const batch of batches) batch.reject(reason)
      }
    }
    this.#writing = undefined // before a caller whose append has just resolved can append again
  }

  /** Removes a partial line before the next write, which would continue it. */
  async #cutTornEnd(): Promise<void> {
    if (!this.#hasTornEnd) return
    await this.#handle.truncate(this.#size) // only with the lock: bytes after our last line may belong to another process
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
    const bytes = concatLines(lines)
    try {
      await this.#handle.append(bytes)
      this.#unsynced = true
      if (this.#flush === "always") await this.#flushAll()
      if (!this.#held!.lock.isHeld()) throw lockLost(this.#paths.lock, { written: true }) // the new owner may not have read this write
      await this.#index.add(records)
    } catch (error) {
      this.#hasTornEnd = true
      await this.#cutTornEnd().catch(() => undefined) // retried before the next write and at the next opening
      throw error
    }
    notifyAppended(this.#paths.directory, { conversation: this.address.id, from: this.#size, bytes })
    this.#size = offset
  }

  async #segment(start: number, end: number): Promise<JournalSegment> {
    this.#mustBeOpen()
    const entries: Entry[] = []
    for await (const entry of this.#read(start, end)) entries.push(entry)
    return { entries, start }
  }

  /** The entries of a range of lines. Damaged lines are reported, quarantined and bridged. */
  async *#read(from: number, to: number): AsyncGenerator<Entry> {
    const bridge = new ParentRelinker({ isFromStart: from === 0 })
    yield* this.#bridged(bridge, from, to)
    this.#note(bridge)
  }

  async *#bridged(bridge: ParentRelinker, from: number, to: number): AsyncGenerator<Entry> {
    const lines = readLines({ handle: this.#handle, index: this.#index, from, to, size: this.#size })
    for await (const line of lines) {
      if (line.state === "whole") {
        if (line.isUnindexed) this.#isIndexWrong = true
        yield* bridge.take(line.entry)
      } else if (line.state === "repeated") this.#repeated.add(line.offset)
      else {
        this.#damage.add(line.state === "lost" ? line.lost : line.at, line.content)
        if (this.#damage.isFull) await this.#damage.write()
        if (line.state === "lost") yield* bridge.lose(line.lost)
      }
    }
    yield* bridge.end()
    await this.#damage.report()
  }

  /** Keeps the largest numbers, because the same lines may be read several times. */
  #note({ bridged, restored, isUnanswered }: ParentRelinker): void {
    const found = this.#found
    found.bridged = Math.max(found.bridged, bridged)
    found.restored = Math.max(found.restored, restored)
    found.hasNewGap = isUnanswered
  }

  async #numberOf(uuid: string): Promise<number | undefined> {
    for await (const { number } of this.#index.find(uuid)) return number
    return undefined
  }

  async #lineAt({ offset, length }: LineRecord, number: number): Promise<Entry | undefined> {
    const bytes = await readBytes(this.#handle, offset, length)
    const decoded = decodeLine(bytes)
    if (decoded.state === "whole") return decoded.entry
    this.#damage.add({ line: number + 1, offset, bytes: length, why: decoded.why, isLost: true }, bytes)
    await this.#damage.report()
    return undefined
  }

  /** Entries that the index does not know, newest first. It may have lost some lines, or a line was damaged before it was indexed. */
  async #findUnindexed(isWanted: (entry: Entry) => boolean): Promise<readonly Entry[]> {
    this.#survey ??= await this.#index.survey()
    for (const { record, number } of this.#survey.damaged) await this.#lineAt(record, number)
    if (this.#survey.isSound) return []
    this.#isIndexWrong = true
    const found = new Map<string, Entry>()
    for await (const entry of this.entries()) if (isWanted(entry)) found.set(entry.uuid, entry)
    return [...found.values()].toReversed()
  }

  async #boundaryBefore(number: number): Promise<number> {
    for (let before = number - 1; before >= 0; before--) {
      const record = await this.#index.record(before)
      if (record) return record.lastBoundary ?? 0
    }
    return 0
  }

  #blobPath(name: string): string {
    const [, stem, extension = ""] = /^([^.]+)(?:\.([^.]+))?$/.exec(name) ?? []
    if (stem === undefined || !isSafeId(stem + extension)) throw new InvalidIdError("file name", name)
    return join(this.#paths.blobs, name)
  }

  /** Throws before any draft is written that could not get its name. */
  #mustHold(): HeldLock {
    if (this.#closed || this.#held === undefined) throw new ClosedError()
    if (!this.#held.lock.isHeld()) throw lockLost(this.#paths.lock)
    return this.#held
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new ClosedError()
  }
}

const concatLines = (lines: Batch["lines"]): Buffer =>
  lines.length === 1 ? lines[0]!.bytes : Buffer.concat(lines.map((line) => line.bytes))
