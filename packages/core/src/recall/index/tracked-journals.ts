/**
 * An index that tracks the journals of a namespace and reads only their new lines. Lines that this process appends are buffered and
 * stored in the background. A damaged, outdated or deleted index is rebuilt. If it cannot be written, or the store has no files, it is
 * in memory. While another process locks it, a temporary index in memory replaces it.
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

/** Delay before appended lines are stored: many lines in one transaction cost a fraction of one transaction each. */
const FOLLOW_AFTER_MS = 500
const SLICE_MS = 5 // of reading in the background, before questions get their turn

interface TrackedJournalsOptions {
  /** Closed together with the index. */
  readonly feed: JournalFeed
  /** File name of the index in the feed's directory. */
  readonly name: string
  /** File names of earlier versions, which are removed. */
  readonly oldNames?: readonly string[]
  /** `path`: a file, or `:memory:`. */
  readonly open: (path: string) => IncrementalIndex
  /** The index on the store's server. There is no file then. */
  readonly served?: IncrementalIndex
  readonly reader: MakeReader
  /** Whether lines that this process appends are stored without a question. */
  readonly hearsAppends?: boolean
  readonly clock?: Clock
}

export interface CatchUpOptions {
  /** Only these conversations. Default: all. */
  readonly only?: ReadonlySet<string>
  /** Conversations to exclude from the update. They are read the next time. */
  readonly except?: ReadonlySet<string>
  /** Checked between batches. Lines not read by then are read the next time. */
  readonly isLate?: () => boolean
  /** If there are more new bytes than this, they are read in the background, and the question uses the index as it is. */
  readonly maxNew?: number
  /** Milliseconds since the last update. Before that, the question uses the index as it is, and an update follows. */
  readonly maxAge?: number
}

/** An answer, and the index that gave it: the one in the file, or one in memory because another process locks the file. */
export interface IndexAnswer<T> {
  readonly answer: T
  readonly of: "index" | "stand-in"
}

export class TrackedJournals {
  readonly #options: TrackedJournalsOptions
  #index: IncrementalIndex | undefined
  /** Identifies the file. Someone may remove it, and another process may then write a new one. */
  #inode: number | undefined
  #isInMemory: boolean
  /** Replaces the index while the file is locked, until it is free again. */
  #standIn: IncrementalIndex | undefined
  readonly #feed: JournalFeed
  /** The index that is up to date, apart from the unread conversations. */
  #follower: IncrementalIndex | undefined
  readonly #unread = new Set<string>()
  readonly #appended = new AppendedBuffer()
  #stopListening: (() => void) | undefined
  #stopTimer: (() => void) | undefined
  /** Time of the last update. */
  #lookedAt = Number.NEGATIVE_INFINITY
  #isClosed = false
  /** Identifies the work in the background. Closing resets it. */
  #background: symbol | undefined
  /** Runs questions serially, because each may reopen the index. */
  readonly #questions = new SerialQueue()

  constructor(options: TrackedJournalsOptions) {
    this.#options = options
    this.#feed = options.feed
    this.#isInMemory = options.served !== undefined || options.feed.directory === undefined
    this.#listen()
  }

  /** Reads new lines, then queries the index. */
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

  /** Reads new lines. `ask` does that too; call this where no one waits. Skipped if another process is writing. */
  update(which: CatchUpOptions = {}): Promise<void> {
    return this.#questions.run(async () => {
      if (this.#isClosed) return
      const work = (index: IncrementalIndex) => index.briefly(() => this.#catchUp(index, which))
      await this.#retried(work).catch((error: unknown) => {
        if (!isBusy(error)) throw error
      })
    })
  }

  /** Stops listening and reading until the next question, which reads new lines again. */
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
          isLeft = isBusy(error) // a question that waits for this work reports other errors
        })
        .finally(() => {
          this.#stopTimer = undefined
          if (isLeft || !this.#appended.isEmpty) this.#followSoon()
        })
    })
  }

  /** Stores what this process has appended, batch by batch, then reads lines of other processes. */
  async #follow(): Promise<void> {
    const appended = new Set(this.#appended.conversations) // lines appended meanwhile wait for the next time
    while (appended.size > 0 && !this.#isClosed) {
      await this.#questions.run(async () => {
        const store = (index: IncrementalIndex) => index.briefly(() => this.#storeAppended(index, appended))
        if (!this.#isClosed) await this.#retried(store)
      })
      await setImmediate()
    }
    await this.update({ maxNew: 0 })
  }

  /**
   * Stores about one batch of the lines of these conversations in one transaction, and removes them from the set. Remaining lines are
   * found by the next update.
   */
  async #storeAppended(index: IncrementalIndex, conversations: Set<string>): Promise<void> {
    const positions = await index.positions()
    const steps: SourceUpdate[] = []
    let passages = 0
    for (const conversation of conversations) {
      conversations.delete(conversation)
      const appended = this.#appended.take(conversation)
      const of = { conversation, position: positions.get(conversation), reader: this.#options.reader }
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

  /** A damaged index contains nothing that the journals do not: it is removed and rebuilt, once. */
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

  /** Whether the open index is still the file at its path. Nobody sees writes to a file that was removed. */
  #isOurs(): boolean {
    return this.#isInMemory || statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode
  }

  #openedFile(): IncrementalIndex {
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: DIRECTORY_MODE })
      // SQLite would create a file that others can read
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
      ? this.#feed.sizes(only).then((journals) => ({ journals, isAll: false, deleted: [] }))
      : this.#feed.poll(this.#unread)
    const [{ journals, isAll, deleted }, positions] = await Promise.all([listing, index.positions()])
    if (!only) this.#lookedAt = startedAt
    const removed = isAll ? [...positions.keys()].filter((conversation) => !journals.has(conversation)) : deleted
    for (const conversation of removed) this.#unread.delete(conversation)
    const indexed = removed.filter((conversation) => positions.has(conversation))
    if (indexed.length > 0) await index.remove(...indexed)
    const grown = [...journals].flatMap(([conversation, { bytes }]) => {
      const position = positions.get(conversation)
      if (position?.startsWith(`{"bytes":${bytes},`)) return [] // compares the start of the text, because parsing all positions takes long
      const read = position === undefined ? 0 : (JSON.parse(position) as JournalPosition).bytes
      if (this.#appended.continues(conversation, read)) return [] // the next batch has it
      return position !== undefined && read === bytes
        ? []
        : [{ conversation, position, newBytes: Math.abs(bytes - read) }]
    })
    for (const { conversation } of grown) this.#unread.add(conversation)
    const toRead = grown.filter(({ conversation }) => !except?.has(conversation))
    if (maxNew !== undefined && toRead.reduce((sum, { newBytes }) => sum + newBytes, 0) > maxNew) {
      const names = toRead.map(({ conversation }) => conversation)
      this.#readInBackground(names).catch(() => undefined) // a question that waits for this work reports the error
      return
    }
    for (const { conversation, position } of toRead) {
      if (isLate()) return
      const reading = { conversation, position, isLate, feed: this.#feed, reader: this.#options.reader }
      if (await readJournal(index, reading)) this.#unread.delete(conversation)
    }
  }
}
