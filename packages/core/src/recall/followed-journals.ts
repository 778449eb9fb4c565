/**
 * An index that follows the journals of a directory: it reads what is new in them, and nothing else. If the index is damaged, from another
 * version or gone, it is built again. If it cannot be written, it is kept in memory. While another process keeps it locked, an index in
 * memory takes its place.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from "node:fs"
import { open } from "node:fs/promises"
import { dirname, join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { isSafeId } from "../base/ids.ts"
import type { Entry } from "../journal/entries.ts"
import { DIRECTORY_MODE, FILE_MODE } from "../journal/file/layout.ts"
import { scanLines } from "../journal/file/scan.ts"
import { decodeLine, peekLine } from "../journal/line.ts"

const EXTENSION = ".jsonl"
const LOCK_EXTENSION = ".lock"
const BATCH = 100 // passages per transaction: about 20 ms, then others get their turn
const SLICE_MS = 30 // of reading in the background, before a question may come first
/** Journals that are looked at each time even if no one has them open: they were written last. */
const RECENT = 16
/** A write without a lock is noticed after this. No part of Strata writes so. */
const ALL_AGAIN_MS = 60_000
/** The times of a directory have steps. A change in the same step as the look before would not show. */
const TIME_STEP_MS = 50

/** A step from one state of a source to the next. A mark is any text by which the owner knows how far it has read. */
export interface Extension<P> {
  readonly source: string
  readonly passages: readonly P[]
  /** The mark that the caller saw. `undefined`: the source is new. */
  readonly from: string | undefined
  /** Leaves out what was indexed before. */
  readonly isRestart?: boolean
  readonly to: string
}

export interface FollowingIndex<P> {
  marks(): ReadonlyMap<string, string>
  /** Says no if another process has moved the mark since. */
  extend(extension: Extension<P>): boolean
  remove(source: string): void
  close(): void
}

/** Makes passages of the entries of one journal, in their order. */
export interface EntryReader<P> {
  take(entry: Entry): readonly P[]
  /** What it must know of earlier entries to go on from here. JSON. */
  carried?(): unknown
}

export interface FollowedJournalsOptions<P, I extends FollowingIndex<P>> {
  readonly directory: string
  /** The name of the index in the directory. */
  readonly name: string
  /** What earlier versions called theirs. They are removed. */
  readonly oldNames?: readonly string[]
  /** `path`: a file, or `:memory:`. */
  readonly open: (path: string) => I
  /** `carried`: what the reader before it left. */
  readonly reader: (carried: unknown) => EntryReader<P>
}

export interface CatchUp {
  /** Only these conversations. Default: all. */
  readonly only?: ReadonlySet<string>
  /** Asked between batches. What is not read by then is read the next time. */
  readonly isLate?: () => boolean
  /** If more bytes than this are new, they are read in the background, and the question goes to what is there. */
  readonly mostNew?: number
}

/** What was seen in the directory when all of it was looked through. */
interface Look {
  readonly index: unknown
  /** The directory's own time: it changes when a file is added, removed or locked. */
  readonly changed: bigint
  readonly at: number
  /** The journals that may grow without a change of the directory. */
  readonly growing: readonly string[]
}

/** How far a journal has been read: to the end of the line that starts at `last` and holds the entry `uuid`. */
interface Mark {
  readonly bytes: number
  readonly last: number
  readonly uuid: string | undefined
  readonly carried?: unknown
}

/** An answer, and what was asked: the index in the file, or one in memory because another process keeps the file locked. */
export interface Asked<T> {
  readonly answer: T
  readonly of: "index" | "stand-in"
}

export class FollowedJournals<P, I extends FollowingIndex<P>> {
  readonly #options: FollowedJournalsOptions<P, I>
  #index: I | undefined
  /** Which file it is. Someone may remove it, and another process may then write a new one. */
  #inode: number | undefined
  #isInMemory = false
  /** Asked while the file is locked. It is kept until the file is free again. */
  #standIn: I | undefined
  #look: Look | undefined
  /** Work in the background. Closing stops it. */
  #background: symbol | undefined
  /** One question after another: each may open the index again. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: FollowedJournalsOptions<P, I>) {
    this.#options = options
  }

  /** Reads what is new, then asks the index. */
  ask<T>(question: (index: I) => T, which: CatchUp = {}): Promise<Asked<T>> {
    return this.#inOrder(async () => {
      const asked = async (index: I) => {
        await this.#catchUp(index, which)
        return question(index)
      }
      try {
        const answer = await this.#retried(asked)
        this.#closeStandIn()
        return { answer, of: "index" }
      } catch (error) {
        if (!isBusy(error)) throw error
        this.#standIn ??= this.#options.open(":memory:")
        return { answer: await asked(this.#standIn), of: "stand-in" }
      }
    })
  }

  /** Reads what is new. Asking does that too; call it where no one waits. If another process writes, it is left to that one. */
  update(which: CatchUp = {}): Promise<void> {
    return this.#inOrder(() =>
      this.#retried((index) => this.#catchUp(index, which)).catch((error: unknown) => {
        if (!isBusy(error)) throw error
      }),
    )
  }

  close(): void {
    this.#background = undefined
    this.#closeIndex()
    this.#closeStandIn()
  }

  /** Reads what is new in slices, so that a question never waits for all of it. */
  async #updateInBackground(): Promise<void> {
    if (this.#background) return
    const own = Symbol("background")
    this.#background = own
    for (let isDone = false; !isDone && this.#background === own; ) {
      const end = performance.now() + SLICE_MS
      isDone = true
      const isLate = () => {
        if (performance.now() > end || this.#background !== own) isDone = false
        return !isDone
      }
      await this.update({ isLate })
      await setImmediate()
    }
    if (this.#background === own) this.#background = undefined
  }

  #closeStandIn(): void {
    this.#standIn?.close()
    this.#standIn = undefined
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(work)
    this.#last = run.catch(() => undefined)
    return run
  }

  /** A damaged index holds nothing that the journals do not: it is removed and built again, once. */
  async #retried<T>(work: (index: I) => Promise<T>): Promise<T> {
    try {
      return await work(this.#opened())
    } catch (error) {
      if (!isFromSqlite(error) || isBusy(error) || this.#isInMemory) throw error
      const wasOurs = this.#isOurs()
      this.#closeIndex()
      if (isDamage(error)) removeDatabase(this.#path)
      else if (wasOurs) this.#isInMemory = true
      return work(this.#opened())
    }
  }

  #opened(): I {
    if (this.#index && !this.#isOurs()) this.#closeIndex()
    this.#index ??= this.#isInMemory ? this.#options.open(":memory:") : this.#openedFile()
    return this.#index
  }

  #closeIndex(): void {
    this.#index?.close()
    this.#index = undefined
  }

  /** Whether the index that is open is still the one at its path. What is written to a file that was removed reaches no one. */
  #isOurs(): boolean {
    return this.#isInMemory || statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode
  }

  #openedFile(): I {
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: DIRECTORY_MODE })
      // SQLite would let others read it
      const file = openSync(this.#path, "a", FILE_MODE)
      this.#inode = fstatSync(file).ino
      closeSync(file)
      for (const name of this.#options.oldNames ?? []) removeDatabase(join(this.#options.directory, name))
      return this.#options.open(this.#path)
    } catch (error) {
      if (isFromSqlite(error) && (isDamage(error) || isBusy(error))) throw error
      this.#isInMemory = true
      return this.#options.open(":memory:")
    }
  }

  get #path(): string {
    return join(this.#options.directory, this.#options.name)
  }

  async #catchUp(index: I, { only, isLate = () => false, mostNew }: CatchUp): Promise<void> {
    const { journals, look } = this.#journals(index, only)
    const marks = index.marks()
    if (look) for (const conversation of marks.keys()) if (!journals.has(conversation)) index.remove(conversation)
    const grown = [...journals].flatMap(([conversation, { bytes }]) => {
      const mark = marks.get(conversation)
      const read = mark === undefined ? 0 : (JSON.parse(mark) as Mark).bytes
      return mark !== undefined && read === bytes ? [] : [{ conversation, mark, fresh: Math.abs(bytes - read) }]
    })
    if (mostNew !== undefined && grown.reduce((sum, { fresh }) => sum + fresh, 0) > mostNew) {
      this.#look = undefined
      this.#updateInBackground().catch(() => undefined) // a question that waits for it reports what is wrong
      return
    }
    let isComplete = true
    for (const { conversation, mark } of grown)
      isComplete = !isLate() && (await this.#read(index, { conversation, mark, isLate })) && isComplete
    this.#look = isComplete ? (look ?? this.#look) : undefined
  }

  /**
   * The conversations that may have grown and the sizes of their journals, the last written first. If the directory is as it was, only
   * those that someone has open, and the ones written last, are looked at. `look`: all of them were.
   */
  #journals(index: I, only: ReadonlySet<string> | undefined): { journals: ReadonlyMap<string, Size>; look?: Look } {
    if (only) return { journals: this.#sizes([...only]) }
    const { directory } = this.#options
    const changed = statSync(directory, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n
    const [now, known] = [performance.now(), this.#look]
    if (known?.index === index && known.changed === changed && now - known.at < ALL_AGAIN_MS)
      return { journals: this.#sizes(known.growing) }
    const names = changed === 0n ? [] : readdirSync(directory)
    const journals = this.#sizes(names.flatMap((name) => idOf(name, EXTENSION)))
    const growing = [...[...journals.keys()].slice(0, RECENT), ...names.flatMap((name) => idOf(name, LOCK_EXTENSION))]
    const isSettled = Date.now() - Number(changed / 1_000_000n) > TIME_STEP_MS
    const look = { index, changed: isSettled ? changed : -1n, at: now, growing: [...new Set(growing)] }
    return { journals, look }
  }

  #sizes(ids: readonly string[]): ReadonlyMap<string, Size> {
    const sizes = ids.filter(isSafeId).flatMap((id) => {
      const file = statSync(this.#file(id), { throwIfNoEntry: false }) // it may be deleted since
      return file?.isFile() ? [[id, { bytes: file.size, touched: file.mtimeMs }] as const] : []
    })
    return new Map(sizes.sort(([, a], [, b]) => b.touched - a.touched))
  }

  #file(conversation: string): string {
    return join(this.#options.directory, conversation + EXTENSION)
  }

  /** Whether all of it was read. */
  async #read(
    index: I,
    given: { readonly conversation: string; readonly mark: string | undefined; readonly isLate: () => boolean },
  ): Promise<boolean> {
    const { conversation, mark, isLate } = given
    const handle = await open(this.#file(conversation)).catch(() => undefined)
    if (!handle) return false
    try {
      const { size } = await handle.stat()
      const known = mark === undefined ? undefined : (JSON.parse(mark) as Mark)
      const isContinued = known !== undefined && (await isStillThere(handle, known))
      let from = mark
      let isRestart = !isContinued
      let reached: Mark = isContinued ? known : { bytes: 0, last: 0, uuid: undefined }
      const reader = this.#options.reader(reached.carried)
      let passages: P[] = []
      const store = () => {
        const carried = reader.carried?.()
        const to = JSON.stringify({ ...reached, ...(carried === undefined ? {} : { carried }) })
        if (to === from) return true
        const isStored = index.extend({ source: conversation, passages, from, to, isRestart })
        from = to
        isRestart = false
        passages = []
        return isStored
      }
      for await (const { offset, bytes, ended } of scanLines(handle, reached.bytes, size)) {
        if (!ended) break // still being written
        const line = decodeLine(bytes)
        if (line.state === "whole") passages.push(...reader.take(line.entry))
        reached = { bytes: offset + bytes.length + 1, last: offset, uuid: peekLine(bytes)?.uuid }
        if (passages.length < BATCH) continue
        if (!store() || isLate()) return false
        await setImmediate() // others get their turn
      }
      return store()
    } finally {
      await handle.close()
    }
  }
}

interface Size {
  readonly bytes: number
  readonly touched: number
}

const idOf = (name: string, extension: string): readonly string[] =>
  name.endsWith(extension) ? [name.slice(0, -extension.length)] : []

type Handle = Awaited<ReturnType<typeof open>>

/** A journal only grows. If it was replaced, its last known entry is no longer in its place. */
async function isStillThere(handle: Handle, { bytes, last, uuid }: Mark): Promise<boolean> {
  if (bytes === 0) return true
  for await (const line of scanLines(handle, last, bytes)) {
    return line.ended && line.offset + line.bytes.length + 1 === bytes && peekLine(line.bytes)?.uuid === uuid
  }
  return false
}

interface SqliteError extends Error {
  readonly errcode: number
}

const isFromSqlite = (error: unknown): error is SqliteError =>
  error instanceof Error && (error as { code?: unknown }).code === "ERR_SQLITE_ERROR"

const DAMAGE = new Set([1, 11, 26]) // SQLITE_ERROR (a table is missing), SQLITE_CORRUPT, SQLITE_NOTADB

/** The low byte is the error, the rest says more about it. */
const isDamage = ({ errcode }: SqliteError) => DAMAGE.has(errcode & 0xff)

const LOCKED = new Set([5, 6]) // SQLITE_BUSY, SQLITE_LOCKED

const isBusy = (error: unknown) => isFromSqlite(error) && LOCKED.has(error.errcode & 0xff)

/** Removes an index. The next question builds it again from the journals. */
export function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true })
}
