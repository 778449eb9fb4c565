/**
 * An index that follows the journals of a directory: it reads what is new in them, and nothing else. If the index is damaged, from another
 * version or gone, it is built again. If it cannot be written, it is kept in memory. While another process keeps it locked, an index in
 * memory takes its place.
 */
import { closeSync, fstatSync, mkdirSync, openSync, statSync } from "node:fs"
import { open } from "node:fs/promises"
import { dirname, join } from "node:path"
import { setImmediate } from "node:timers/promises"
import type { Entry } from "../../journal/entries.ts"
import { DIRECTORY_MODE, FILE_MODE } from "../../journal/file/layout.ts"
import { scanLines } from "../../journal/file/scan.ts"
import { decodeLine, peekLine } from "../../journal/line.ts"
import type { Passage } from "../passages/passage.ts"
import { isBusy, isDamage, isFromSqlite, removeDatabase } from "./index-file.ts"
import { JournalLook } from "./journal-look.ts"
import type { PassageIndex } from "./passage-index.ts"

const BATCH = 25 // passages per transaction: about 5 ms, then others get their turn
const SLICE_MS = 5 // of reading in the background, before a question may come first

/** Makes passages of the entries of one journal, in their order. */
interface EntryReader {
  take(entry: Entry): readonly Passage[]
  /** What it must know of earlier entries to go on from here. JSON. */
  carried?(): unknown
}

interface FollowedJournalsOptions {
  readonly directory: string
  /** The name of the index in the directory. */
  readonly name: string
  /** What earlier versions called theirs. They are removed. */
  readonly oldNames?: readonly string[]
  /** `path`: a file, or `:memory:`. */
  readonly open: (path: string) => PassageIndex
  /** `carried`: what the reader before it left. */
  readonly reader: (carried: unknown) => EntryReader
}

export interface CatchUp {
  /** Only these conversations. Default: all. */
  readonly only?: ReadonlySet<string>
  /** Not these: the question leaves them out. They are read the next time. */
  readonly except?: ReadonlySet<string>
  /** Asked between batches. What is not read by then is read the next time. */
  readonly isLate?: () => boolean
  /** If more bytes than this are new, they are read in the background, and the question goes to what is there. */
  readonly mostNew?: number
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

export class FollowedJournals {
  readonly #options: FollowedJournalsOptions
  #index: PassageIndex | undefined
  /** Which file it is. Someone may remove it, and another process may then write a new one. */
  #inode: number | undefined
  #isInMemory = false
  /** Asked while the file is locked. It is kept until the file is free again. */
  #standIn: PassageIndex | undefined
  readonly #look: JournalLook
  /** The index that has all that was seen, apart from these conversations. */
  #follower: PassageIndex | undefined
  readonly #unread = new Set<string>()
  /** Work in the background. Closing stops it. */
  #background: symbol | undefined
  /** One question after another: each may open the index again. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: FollowedJournalsOptions) {
    this.#options = options
    this.#look = new JournalLook(options.directory)
  }

  /** Reads what is new, then asks the index. */
  ask<T>(question: (index: PassageIndex) => T, which: CatchUp = {}): Promise<Asked<T>> {
    return this.#inOrder(async () => {
      const asked = async (index: PassageIndex) => {
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
    this.#look.close()
  }

  /** Reads conversations in slices, so that a question never waits for all of them. */
  async #readInBackground(conversations: Iterable<string>): Promise<void> {
    if (this.#background) return
    const own = Symbol("background")
    this.#background = own
    const isOver = () => this.#background !== own
    try {
      for (const conversation of conversations) {
        for (let isDone = false; !isDone && !isOver(); ) {
          const end = performance.now() + SLICE_MS
          isDone = true
          const isLate = () => {
            if (performance.now() > end || isOver()) isDone = false
            return !isDone
          }
          await this.update({ only: new Set([conversation]), isLate })
          await setImmediate()
        }
      }
    } finally {
      if (!isOver()) this.#background = undefined
    }
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
  async #retried<T>(work: (index: PassageIndex) => Promise<T>): Promise<T> {
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

  #opened(): PassageIndex {
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

  #openedFile(): PassageIndex {
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

  async #catchUp(index: PassageIndex, { only, except, isLate = () => false, mostNew }: CatchUp): Promise<void> {
    if (this.#follower !== index) {
      this.#look.forget()
      this.#unread.clear()
      this.#follower = index
    }
    const { journals, isAll, gone } = only ? this.#look.only(only) : await this.#look.all(this.#unread)
    const marks = index.marks()
    const removed = isAll ? [...marks.keys()].filter((conversation) => !journals.has(conversation)) : gone
    for (const conversation of removed) {
      this.#unread.delete(conversation)
      if (marks.has(conversation)) index.remove(conversation)
    }
    const grown = [...journals].flatMap(([conversation, { bytes }]) => {
      const mark = marks.get(conversation)
      if (mark?.startsWith(`{"bytes":${bytes},`)) return [] // to parse them all takes long
      const read = mark === undefined ? 0 : (JSON.parse(mark) as Mark).bytes
      return mark !== undefined && read === bytes ? [] : [{ conversation, mark, fresh: Math.abs(bytes - read) }]
    })
    for (const { conversation } of grown) this.#unread.add(conversation)
    const wanted = grown.filter(({ conversation }) => !except?.has(conversation))
    if (mostNew !== undefined && wanted.reduce((sum, { fresh }) => sum + fresh, 0) > mostNew) {
      const names = wanted.map(({ conversation }) => conversation)
      this.#readInBackground(names).catch(() => undefined) // a question that waits for it reports what is wrong
      return
    }
    for (const { conversation, mark } of wanted) {
      if (isLate()) return
      if (await this.#read(index, { conversation, mark, isLate })) this.#unread.delete(conversation)
    }
  }

  /** Whether all of it was read. */
  async #read(
    index: PassageIndex,
    given: { readonly conversation: string; readonly mark: string | undefined; readonly isLate: () => boolean },
  ): Promise<boolean> {
    const { conversation, mark, isLate } = given
    const handle = await open(this.#look.file(conversation)).catch(() => undefined)
    if (!handle) return false
    try {
      const { size } = await handle.stat()
      const known = mark === undefined ? undefined : (JSON.parse(mark) as Mark)
      const isContinued = known !== undefined && (await isStillThere(handle, known))
      let from = mark
      let isRestart = !isContinued
      let reached: Mark = isContinued ? known : { bytes: 0, last: 0, uuid: undefined }
      const reader = this.#options.reader(reached.carried)
      let passages: Passage[] = []
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

type Handle = Awaited<ReturnType<typeof open>>

/** A journal only grows. If it was replaced, its last known entry is no longer in its place. */
async function isStillThere(handle: Handle, { bytes, last, uuid }: Mark): Promise<boolean> {
  if (bytes === 0) return true
  for await (const line of scanLines(handle, last, bytes)) {
    return line.ended && line.offset + line.bytes.length + 1 === bytes && peekLine(line.bytes)?.uuid === uuid
  }
  return false
}
