/**
 * An index that follows the journals of a place: it reads what is new in them, and nothing else. What this process appends is handed to
 * it and stored in the background. If the index is damaged, from another version or gone, it is built again. If it cannot be written, or the
 * store keeps no files, it is kept in memory. While another process keeps it locked, an index in memory takes its place.
 */
import { closeSync, fstatSync, mkdirSync, openSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { type Clock, callAfter, systemClock } from "../../base/clock.ts"
import { SerialQueue } from "../../base/work.ts"
import { DIRECTORY_MODE, FILE_MODE } from "../../journal/file/layout.ts"
import type { JournalFeed } from "../../journal/store.ts"
import { AppendedBuffer } from "./appended-buffer.ts"
import type { IncrementalIndex } from "./incremental-index.ts"
import { isBusy, isDamage, isFromSqlite, removeDatabase } from "./index-file.ts"
import { appendedUpdate, type JournalPosition, type MakeReader, readJournal } from "./journal-updates.ts"
import type { SourceUpdate } from "./passage-index.ts"

/** What was appended waits this long: many lines in one transaction cost a fraction of one line in each. */
const FOLLOW_AFTER_MS = 500
const SLICE_MS = 5 // of reading in the background, before a question may come first

interface TrackedJournalsOptions {
  /** It is closed with the index. */
  readonly feed: JournalFeed
  /** The name of the index in the feed's directory. */
  readonly name: string
  /** What earlier versions called theirs. They are removed. */
  readonly oldNames?: readonly string[]
  /** `path`: a file, or `:memory:`. */
  readonly open: (path: string) => IncrementalIndex
  /** The index on the store's server. Then there is no file. */
  readonly served?: IncrementalIndex
  readonly reader: MakeReader
  /** Stores what this process appends without being asked. */
  readonly hearsAppends?: boolean
  readonly clock?: Clock
}

export interface CatchUpOptions {
  /** Only these conversations. Default: all. */
  readonly only?: ReadonlySet<string>
  /** Not these: the question leaves them out. They are read the next time. */
  readonly except?: ReadonlySet<string>
  /** Asked between batches. What is not read by then is read the next time. */
  readonly isLate?: () => boolean
  /** If more bytes than this are new, they are read in the background, and the question goes to what is there. */
  readonly maxNew?: number
  /** Milliseconds since the last look. Up to then the question goes to what is there, and a look follows it. */
  readonly maxAge?: number
}

/** An answer, and what was asked: the index in the file, or one in memory because another process keeps the file locked. */
export interface IndexAnswer<T> {
  readonly answer: T
  readonly of: "index" | "stand-in"
}

export class TrackedJournals {
  readonly #options: TrackedJournalsOptions
  #index: IncrementalIndex | undefined
  /** Which file it is. Someone may remove it, and another process may then write a new one. */
  #inode: number | undefined
  #isInMemory: boolean
  /** Asked while the file is locked. It is kept until the file is free again. */
  #standIn: IncrementalIndex | undefined
  readonly #feed: JournalFeed
  /** The index that has all that was seen, apart from these conversations. */
  #follower: IncrementalIndex | undefined
  readonly #unread = new Set<string>()
  readonly #appended = new AppendedBuffer()
  #stopListening: (() => void) | undefined
  #stopTimer: (() => void) | undefined
  /** On the clock. */
  #lookedAt = Number.NEGATIVE_INFINITY
  #isClosed = false
  /** Work in the background. Closing stops it. */
  #background: symbol | undefined
  /** One question after another: each may open the index again. */
  readonly #questions = new SerialQueue()

  constructor(options: TrackedJournalsOptions) {
    this.#options = options
    this.#feed = options.feed
    this.#isInMemory = options.served !== undefined || options.feed.directory === undefined
    this.#listen()
  }

  /** Reads what is new, then asks the index. */
  ask<T>(question: (index: IncrementalIndex) => T | Promise<T>, which: CatchUpOptions = {}): Promise<IndexAnswer<T>> {
    this.#listen()
    return this.#questions.run(async () => {
      const asked = async (index: IncrementalIndex) => {
        if (this.#isFresh(index, which)) this.#followSoon()
        else await this.#catchUp(index, which)
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
  update(which: CatchUpOptions = {}): Promise<void> {
    return this.#questions.run(async () => {
      if (this.#isClosed) return
      const work = (index: IncrementalIndex) => index.briefly(() => this.#catchUp(index, which))
      await this.#retried(work).catch((error: unknown) => {
        if (!isBusy(error)) throw error
      })
    })
  }

  /** Hears and reads nothing until the next question, which looks for what is new. */
  rest(): void {
    this.#background = undefined
    this.#stopListening?.()
    this.#stopListening = undefined
    this.#stopTimer?.()
    this.#stopTimer = undefined
    for (const conversation of [...this.#appended.conversations]) {
      this.#appended.take(conversation)
      this.#unread.add(conversation)
    }
    this.#lookedAt = Number.NEGATIVE_INFINITY
  }

  close(): void {
    this.#isClosed = true
    this.#background = undefined
    this.#stopListening?.()
    this.#stopTimer?.()
    this.#closeIndex()
    this.#closeStandIn()
    this.#feed.close()
  }

  #listen(): void {
    if (!this.#options.hearsAppends || this.#isClosed) return
    this.#stopListening ??= this.#feed.onAppended((appended) => {
      this.#appended.add(appended)
      this.#followSoon()
    })
  }

  #isFresh(index: IncrementalIndex, { maxAge }: CatchUpOptions): boolean {
    const age = this.#now() - this.#lookedAt
    return maxAge !== undefined && this.#follower === index && age >= 0 && age <= maxAge
  }

  #now(): number {
    return (this.#options.clock ?? systemClock).now().getTime()
  }

  #followSoon(): void {
    if (this.#stopTimer || this.#isClosed) return
    this.#stopTimer = callAfter(this.#options.clock ?? systemClock, FOLLOW_AFTER_MS, () => {
      let isLeft = false
      this.#follow()
        .catch((error: unknown) => {
          isLeft = isBusy(error) // a question that waits for it reports what else is wrong
        })
        .finally(() => {
          this.#stopTimer = undefined
          if (isLeft || !this.#appended.isEmpty) this.#followSoon()
        })
    })
  }

  /** Stores what this process has appended, one batch after the other, then looks for what others have. */
  async #follow(): Promise<void> {
    const appended = new Set(this.#appended.conversations) // what comes meanwhile waits for the next time
    while (appended.size > 0 && !this.#isClosed) {
      await this.#questions.run(async () => {
        const store = (index: IncrementalIndex) => index.briefly(() => this.#storeAppended(index, appended))
        if (!this.#isClosed) await this.#retried(store)
      })
      await setImmediate()
    }
    await this.update({ maxNew: 0 })
  }

  /** Stores about a batch of what these have appended, in one transaction, and takes them out. What does not fit is found by a look. */
  async #storeAppended(index: IncrementalIndex, conversations: Set<string>): Promise<void> {
    const positions = await index.positions()
    const steps: SourceUpdate[] = []
    let passages = 0
    for (const conversation of conversations) {
      conversations.delete(conversation)
      const appended = this.#appended.take(conversation)
      const of = { conversation, mark: positions.get(conversation), reader: this.#options.reader }
      const step = appended && appendedUpdate(appended, of)
      if (!step) continue
      steps.push(step)
      passages += step.passages.length
      if (passages >= index.batch) break
    }
    if (steps.length > 0) await index.extendAll(steps)
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

  /** A damaged index holds nothing that the journals do not: it is removed and built again, once. */
  async #retried<T>(work: (index: IncrementalIndex) => Promise<T>): Promise<T> {
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

  #opened(): IncrementalIndex {
    if (this.#index && !this.#isOurs()) this.#closeIndex()
    this.#index ??= this.#options.served ?? (this.#isInMemory ? this.#options.open(":memory:") : this.#openedFile())
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

  #openedFile(): IncrementalIndex {
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: DIRECTORY_MODE })
      // SQLite would let others read it
      const file = openSync(this.#path, "a", FILE_MODE)
      this.#inode = fstatSync(file).ino
      closeSync(file)
      for (const name of this.#options.oldNames ?? []) removeDatabase(join(this.#feed.directory!, name))
      return this.#options.open(this.#path)
    } catch (error) {
      if (isFromSqlite(error) && (isDamage(error) || isBusy(error))) throw error
      this.#isInMemory = true
      return this.#options.open(":memory:")
    }
  }

  get #path(): string {
    return join(this.#feed.directory!, this.#options.name)
  }

  async #catchUp(
    index: IncrementalIndex,
    { only, except, isLate = () => false, maxNew }: CatchUpOptions,
  ): Promise<void> {
    if (this.#follower !== index) {
      this.#feed.forget()
      this.#unread.clear()
      this.#follower = index
    }
    const startedAt = this.#now()
    const appended = new Set(
      only ?? (this.#appended.bytes > (maxNew ?? Number.POSITIVE_INFINITY) ? [] : this.#appended.conversations),
    )
    while (appended.size > 0 && !isLate()) await this.#storeAppended(index, appended)
    const listing = only
      ? this.#feed.sizes(only).then((journals) => ({ journals, isAll: false, gone: [] }))
      : this.#feed.poll(this.#unread)
    const [{ journals, isAll, deleted }, positions] = await Promise.all([listing, index.positions()])
    if (!only) this.#lookedAt = startedAt
    const removed = isAll ? [...positions.keys()].filter((conversation) => !journals.has(conversation)) : deleted
    for (const conversation of removed) this.#unread.delete(conversation)
    const indexed = removed.filter((conversation) => positions.has(conversation))
    if (indexed.length > 0) await index.remove(...indexed)
    const grown = [...journals].flatMap(([conversation, { bytes }]) => {
      const position = positions.get(conversation)
      if (position?.startsWith(`{"bytes":${bytes},`)) return [] // to parse them all takes long
      const read = position === undefined ? 0 : (JSON.parse(position) as JournalPosition).bytes
      if (this.#appended.continues(conversation, read)) return [] // the next batch has it
      return position !== undefined && read === bytes
        ? []
        : [{ conversation, mark: position, newBytes: Math.abs(bytes - read) }]
    })
    for (const { conversation } of grown) this.#unread.add(conversation)
    const toRead = grown.filter(({ conversation }) => !except?.has(conversation))
    if (maxNew !== undefined && toRead.reduce((sum, { newBytes }) => sum + newBytes, 0) > maxNew) {
      const names = toRead.map(({ conversation }) => conversation)
      this.#readInBackground(names).catch(() => undefined) // a question that waits for it reports what is wrong
      return
    }
    for (const { conversation, mark } of toRead) {
      if (isLate()) return
      const reading = { conversation, mark, isLate, feed: this.#feed, reader: this.#options.reader }
      if (await readJournal(index, reading)) this.#unread.delete(conversation)
    }
  }
}
