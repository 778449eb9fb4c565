/**
 * The journal of one thread. Operations on it run serially. The write lock is held while the thread is in use and released soon after, so
 * that another process can write. Content that was read or written stays in memory: only lines that others added are read again.
 */
import {
  type Clock,
  ConversationLockedError,
  ConversationNotFoundError,
  callAfter,
  LockLostError,
  SerialQueue,
} from "@strata/core/base"
import { type Journal, type JournalAddress, type Store, waitForLock } from "@strata/core/store"
import { checkpointId, entriesOf, lineOf, type SegmentLine, segmentId, type ThreadLine } from "./lines.ts"
import { Segment, segmentAfter } from "./segment.ts"
import { damagedThread } from "./thread-errors.ts"

const IDLE_MS = 200 // a graph writes several times in a step; a model takes longer
const MAX_OLDER = 4 // segments cached for time travel

export interface ThreadOptions {
  readonly store: Store
  readonly address: JournalAddress
  readonly name: string
  readonly clock: Clock
  /** How long to wait for another process that writes to the thread, in milliseconds. */
  readonly lockTimeoutMs: number
}

/** Read access to a thread. */
export interface ThreadReader {
  readonly segment: Segment
  /** The segment that contains a checkpoint. */
  find(ns: string, id: string): Promise<Segment | undefined>
  /** An earlier segment by number. */
  earlier(number: number): Promise<Segment | undefined>
}

/** Write access to a thread. */
export interface ThreadWriter extends ThreadReader {
  /** Adds a line that its segment has applied already. */
  add(line: ThreadLine | undefined): void
  /** Starts a new segment. */
  begin(line: SegmentLine): Segment
}

export class ThreadJournal {
  readonly #place: ThreadOptions
  readonly #queue = new SerialQueue()
  #segment: Segment | undefined
  #older = new Map<number, Segment>()
  #writer: Journal | undefined
  /** Fence of this process's last write lock, while the segment in memory is current. */
  #fence: number | undefined
  #stopIdle: () => void = () => {}

  constructor(place: ThreadOptions) {
    this.#place = place
  }

  get isIdle(): boolean {
    return this.#queue.isIdle && this.#writer === undefined
  }

  get bytes(): number {
    return this.#segment?.bytes ?? 0
  }

  /** Resolves with undefined if the thread does not exist. */
  read<T>(work: (reading: ThreadReader) => Promise<T>): Promise<T | undefined> {
    return this.#inTurn(async () => {
      if (this.#writer) return this.#segment && work(this.#reading(this.#writer, this.#segment))
      const journal = await this.#opened("read")
      if (!journal) {
        this.#forget()
        return undefined
      }
      try {
        const segment = await this.#upToDate(journal)
        return segment && (await work(this.#reading(journal, segment)))
      } finally {
        await journal.close()
      }
    })
  }

  /** `work` determines the lines to add. It runs again if it is unknown whether they were written. */
  write(work: (writing: ThreadWriter) => Promise<void>): Promise<void> {
    return this.#inTurn(async () => {
      try {
        await this.#append(work, true)
      } catch (error) {
        await this.#release().catch(() => undefined) // the first error is the one to report
        this.#forget()
        await this.#again(work, error)
      }
    })
  }

  /** Repeats a write whose acknowledgement or lock may have been lost, adding only what is missing. */
  async #again(work: (writing: ThreadWriter) => Promise<void>, error: unknown): Promise<void> {
    if (error instanceof ConversationLockedError) throw error
    try {
      await this.#append(work, false, error instanceof LockLostError ? undefined : error)
    } catch (second) {
      await this.#release().catch(() => undefined)
      this.#forget()
      throw second
    }
  }

  async #append(work: (writing: ThreadWriter) => Promise<void>, create: boolean, failed?: unknown): Promise<void> {
    const journal = await this.#writable(create)
    if (!journal) {
      if (failed !== undefined) throw failed
      return
    }
    const lines: ThreadLine[] = []
    const begin = (line: SegmentLine) => {
      if (this.#segment) this.#keepOlder(this.#segment)
      lines.push(line)
      this.#segment = new Segment(line)
      return this.#segment
    }
    const segment = this.#segment ?? begin(Segment.firstLine(this.#place.name))
    const add = (line: ThreadLine | undefined) => void (line && lines.push(line))
    await work({ ...this.#reading(journal, segment), add, begin })
    if (lines.length === 0) return
    if (failed !== undefined) throw failed
    await journal.append(entriesOf(lines, this.#place.clock.now().toISOString()), { endsTurn: true })
  }

  /** Releases the write lock. */
  close(): Promise<void> {
    return this.#inTurn(() => this.#release())
  }

  async #release(): Promise<void> {
    const writer = this.#writer
    this.#writer = undefined
    await writer?.close()
  }

  #forget(): void {
    this.#segment = undefined
    this.#fence = undefined
    this.#older.clear()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#stopIdle()
    return this.#queue.run(work).finally(() => {
      if (this.#queue.isIdle && this.#writer) this.#waitIdle()
    })
  }

  #waitIdle(): void {
    // an error here recurs with the next write, which reports it
    this.#stopIdle = callAfter(this.#place.clock, IDLE_MS, () => void this.close().catch(() => this.#forget()))
  }

  async #writable(create: boolean): Promise<Journal | undefined> {
    if (this.#writer) return this.#writer
    const journal = await this.#opened("write", create)
    if (!journal) return undefined
    this.#writer = journal
    const isAsLeft = this.#fence !== undefined && journal.fence === this.#fence + 1
    if (!isAsLeft) await this.#upToDate(journal)
    this.#fence = journal.fence
    return journal
  }

  /** Waits while another process writes. */
  async #opened(access: "read" | "write", create = false): Promise<Journal | undefined> {
    const { store, address } = this.#place
    const options = { access, preload: this.#segment === undefined, ...(access === "write" ? { create } : {}) }
    return waitForLock(() => store.open(address, options), this.#place).catch((error: unknown) => {
      if (error instanceof ConversationNotFoundError) return undefined
      throw error
    })
  }

  /** Reads the lines added since the last read, or the newest segment. */
  async #upToDate(journal: Journal): Promise<Segment | undefined> {
    const known = this.#segment
    if (known) {
      const lines = await linesOf(journal.range({ first: known.lastUuid }))
      if (lines[0]?.uuid === known.lastUuid) {
        const now = segmentAfter(known, lines.slice(1))
        if (now !== known) this.#keepOlder(known)
        this.#segment = now
        return now
      }
    }
    this.#forget() // nothing was read yet, or the journal was replaced
    const { tail } = journal.preloaded ?? (await journal.resume())
    this.#segment = segmentAfter(
      undefined,
      tail.entries.flatMap((entry) => lineOf(entry) ?? []),
    )
    return this.#segment
  }

  #reading(journal: Journal, segment: Segment): ThreadReader {
    const earlier = (number: number) => this.#earlier(journal, number)
    return {
      segment,
      earlier,
      find: async (ns, id) => {
        const at = segment.placeOf(ns, id)
        if (at === segment.number) return segment
        if (at !== undefined) return earlier(at)
        if (segment.isHeadless) throw damagedThread(this.#place.name)
        if (!segment.mayBeEarlier(ns, id)) return undefined
        const entry = await journal.find(checkpointId(ns, id))
        const line = entry && lineOf(entry)
        return line && earlier(line.segment)
      },
    }
  }

  async #earlier(journal: Journal, number: number): Promise<Segment | undefined> {
    const kept = this.#older.get(number)
    if (kept) return kept
    const lines = await linesOf(journal.range({ first: segmentId(number), last: segmentId(number + 1) }))
    const segment = segmentAfter(
      undefined,
      lines.filter((line) => line.segment === number),
    )
    if (segment) this.#keepOlder(segment)
    return segment
  }

  #keepOlder(segment: Segment): void {
    this.#older.set(segment.number, segment)
    for (const number of this.#older.keys()) if (this.#older.size > MAX_OLDER) this.#older.delete(number)
  }
}

async function linesOf(entries: AsyncIterable<Parameters<typeof lineOf>[0]>): Promise<ThreadLine[]> {
  const lines: ThreadLine[] = []
  for await (const entry of entries) {
    const line = lineOf(entry)
    if (line) lines.push(line)
  }
  return lines
}
