/** Turns lines of a journal into updates of the index, from the indexed position on. */
import { setImmediate } from "node:timers/promises"
import type { Entry } from "../../journal/entries.ts"
import { decodeLine, peekLine } from "../../journal/line.ts"
import type { FeedLine, JournalFeed } from "../../journal/store.ts"
import type { Passage } from "../passages/passage.ts"
import type { AppendedRange } from "./appended-buffer.ts"
import type { IncrementalIndex } from "./incremental-index.ts"
import type { SourceUpdate } from "./passage-index.ts"

/** Turns the entries of one journal into passages, in order. */
export interface EntryReader {
  take(entry: Entry): readonly Passage[]
  /** State from earlier entries that a later reader needs, as JSON. */
  carried?(): unknown
}

/** `carried`: the state of a previous reader. */
export type MakeReader = (carried: unknown) => EntryReader

/** How far a journal has been read: to the end of the line that starts at `last` and contains the entry `uuid`. */
export interface JournalPosition {
  readonly bytes: number
  readonly last: number
  readonly uuid: string | undefined
  readonly carried?: unknown
}

const JOURNAL_START: JournalPosition = { bytes: 0, last: 0, uuid: undefined }

interface UnreadJournal {
  readonly conversation: string
  /** Indexed position of the journal. */
  readonly position: string | undefined
  readonly reader: MakeReader
}

/** The update from lines in memory. Undefined if they do not start where the index ends. */
export function appendedUpdate(
  { from, parts }: AppendedRange,
  { conversation, position, reader }: UnreadJournal,
): SourceUpdate | undefined {
  const known = position === undefined ? JOURNAL_START : (JSON.parse(position) as JournalPosition)
  if (known.bytes !== from) return undefined
  const lines = new Lines(known, reader)
  let offset = from
  for (const part of parts)
    for (let start = 0; start < part.length; ) {
      const end = part.indexOf(LINE_END, start)
      lines.take(part.subarray(start, end), offset + start)
      start = end + 1
      if (start === part.length) offset += start
    }
  return { source: conversation, passages: lines.passages, from: position, to: lines.position() }
}

const LINE_END = 0x0a

interface JournalReadOptions extends UnreadJournal {
  readonly feed: Pick<JournalFeed, "lines">
  readonly isLate: () => boolean
}

/**
 * Whether the journal was read to its end. A journal only grows: if its last known line has moved, the journal was replaced and is read
 * from the start.
 */
export async function readJournal(index: IncrementalIndex, reading: JournalReadOptions): Promise<boolean> {
  const { conversation, position, feed } = reading
  const known = position === undefined ? JOURNAL_START : (JSON.parse(position) as JournalPosition)
  if (known.bytes === 0) return storeLines(index, { ...reading, known, unread: feed.lines(conversation, 0) })
  const [first, unread] = await splitFirst(feed.lines(conversation, known.last))
  if (first && isLastOf(known, first)) return storeLines(index, { ...reading, known, unread })
  await unread.return?.()
  const from = feed.lines(conversation, 0)
  return storeLines(index, { ...reading, known: JOURNAL_START, unread: from, isRestart: true })
}

interface StoreOptions extends JournalReadOptions {
  readonly known: JournalPosition
  readonly unread: AsyncIterable<FeedLine>
  readonly isRestart?: boolean
}

async function storeLines(index: IncrementalIndex, storing: StoreOptions): Promise<boolean> {
  const { conversation, position, isLate, reader, known, unread } = storing
  let from = position
  let isRestart = storing.isRestart ?? position === undefined
  const lines = new Lines(known, reader)
  const store = async () => {
    const to = lines.position()
    if (to === from) return true
    const isStored = await index.extend({ source: conversation, passages: lines.passages, from, to, isRestart })
    from = to
    isRestart = false
    lines.passages = []
    return isStored
  }
  for await (const { offset, bytes, ended } of unread) {
    if (!ended) break // still being written
    lines.take(bytes, offset)
    if (lines.passages.length < index.batch) continue
    if (!(await store()) || isLate()) return false
    await setImmediate() // yields to the event loop
  }
  return store()
}

/** The first item, and an iterator over the rest. */
async function splitFirst<T>(all: AsyncIterable<T>): Promise<readonly [T | undefined, AsyncIterableIterator<T>]> {
  const iterator = all[Symbol.asyncIterator]()
  const first = await iterator.next()
  const rest: AsyncIterableIterator<T> = {
    next: () => iterator.next(),
    return: async (value) => (await iterator.return?.(value)) ?? { done: true, value },
    [Symbol.asyncIterator]: () => rest,
  }
  return [first.done ? undefined : first.value, rest]
}

class Lines {
  passages: Passage[] = []
  readonly #reader: EntryReader
  #reached: JournalPosition

  constructor(reached: JournalPosition, reader: MakeReader) {
    this.#reached = reached
    this.#reader = reader(reached.carried)
  }

  get bytes(): number {
    return this.#reached.bytes
  }

  /** `bytes`: a line without its line end. */
  take(bytes: Buffer, offset: number): void {
    const line = decodeLine(bytes)
    if (line.state === "whole") this.passages.push(...this.#reader.take(line.entry))
    this.#reached = { bytes: offset + bytes.length + 1, last: offset, uuid: peekLine(bytes)?.uuid }
  }

  position(): string {
    const carried = this.#reader.carried?.()
    return JSON.stringify({ ...this.#reached, ...(carried === undefined ? {} : { carried }) })
  }
}

const isLastOf = ({ bytes, last, uuid }: JournalPosition, line: FeedLine): boolean =>
  line.ended && line.offset === last && last + line.bytes.length + 1 === bytes && peekLine(line.bytes)?.uuid === uuid
