/**
 * An index that follows the journals of a directory: it reads what is new in them, and nothing else. If the index is damaged, from another
 * version or gone, it is built again. If it cannot be written, it is kept in memory. While another process keeps it locked, an index in
 * memory takes its place.
 */
import { closeSync, fstatSync, mkdirSync, openSync, rmSync, statSync } from "node:fs"
import { open, readdir, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { isSafeId } from "../base/ids.ts"
import type { Entry } from "../journal/entries.ts"
import { DIRECTORY_MODE, FILE_MODE } from "../journal/file/layout.ts"
import { scanLines } from "../journal/file/scan.ts"
import { decodeLine, peekLine } from "../journal/line.ts"

const EXTENSION = ".jsonl"
const BATCH = 500 // passages per transaction: a first indexing survives being stopped, and others get to write

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
    this.#index?.close()
    this.#index = undefined
    this.#closeStandIn()
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

  async #catchUp(index: I, { only, isLate = () => false }: CatchUp): Promise<void> {
    const journals = await this.#journals()
    const marks = index.marks()
    for (const conversation of marks.keys()) if (!journals.has(conversation)) index.remove(conversation)
    for (const [conversation, { bytes }] of journals) {
      if (only && !only.has(conversation)) continue
      if (isLate()) return
      const mark = marks.get(conversation)
      if (mark === undefined || (JSON.parse(mark) as Mark).bytes !== bytes)
        await this.#read(index, { conversation, mark, isLate })
    }
  }

  /** The conversations of the directory and the sizes of their journals, the last written first. */
  async #journals(): Promise<ReadonlyMap<string, { readonly bytes: number; readonly touched: number }>> {
    const names = await readdir(this.#options.directory).catch(() => [] as string[])
    const ids = names.filter((name) => name.endsWith(EXTENSION)).map((name) => name.slice(0, -EXTENSION.length))
    const sizes = await Promise.all(
      ids.filter(isSafeId).map(async (id) => {
        // deleted since
        const file = await stat(this.#file(id)).catch(() => undefined)
        return file?.isFile() ? [[id, { bytes: file.size, touched: file.mtimeMs }] as const] : []
      }),
    )
    return new Map(sizes.flat().sort(([, a], [, b]) => b.touched - a.touched))
  }

  #file(conversation: string): string {
    return join(this.#options.directory, conversation + EXTENSION)
  }

  async #read(
    index: I,
    given: { readonly conversation: string; readonly mark: string | undefined; readonly isLate: () => boolean },
  ): Promise<void> {
    const { conversation, mark, isLate } = given
    const handle = await open(this.#file(conversation)).catch(() => undefined)
    if (!handle) return
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
        if (!store() || isLate()) return
        await setImmediate() // others get their turn
      }
      store()
    } finally {
      await handle.close()
    }
  }
}

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
