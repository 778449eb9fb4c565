/** From the lines of a journal to steps of the index: what is new since the mark that it has. */
import { setImmediate } from "node:timers/promises"
import type { Entry } from "../../journal/entries.ts"
import { decodeLine, peekLine } from "../../journal/line.ts"
import type { FeedLine, JournalFeed } from "../../journal/store.ts"
import type { Passage } from "../passages/passage.ts"
import type { AppendedStretch } from "./appended-lines.ts"
import type { FollowedIndex } from "./followed-index.ts"
import type { Extension } from "./passage-index.ts"

/** Makes passages of the entries of one journal, in their order. */
export interface EntryReader {
  take(entry: Entry): readonly Passage[]
  /** What it must know of earlier entries to go on from here. JSON. */
  carried?(): unknown
}

/** `carried`: what the reader before it left. */
export type MakeReader = (carried: unknown) => EntryReader

/** How far a journal has been read: to the end of the line that starts at `last` and holds the entry `uuid`. */
export interface Mark {
  readonly bytes: number
  readonly last: number
  readonly uuid: string | undefined
  readonly carried?: unknown
}

const BEGINNING: Mark = { bytes: 0, last: 0, uuid: undefined }

interface Unread {
  readonly conversation: string
  /** The index's mark. */
  readonly mark: string | undefined
  readonly reader: MakeReader
}

/** The step that lines in memory make. Nothing if they do not begin where the index ends. */
export function appendedStep(
  { from, parts }: AppendedStretch,
  { conversation, mark, reader }: Unread,
): Extension | undefined {
  const known = mark === undefined ? BEGINNING : (JSON.parse(mark) as Mark)
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
  return { source: conversation, passages: lines.passages, from: mark, to: lines.mark() }
}

const LINE_END = 0x0a

interface Reading extends Unread {
  readonly feed: Pick<JournalFeed, "lines">
  readonly isLate: () => boolean
}

/** Whether all of it was read. A journal only grows: one whose last known line is no longer in its place was replaced, and is read from the start. */
export async function readJournal(index: FollowedIndex, reading: Reading): Promise<boolean> {
  const { conversation, mark, feed } = reading
  const known = mark === undefined ? BEGINNING : (JSON.parse(mark) as Mark)
  if (known.bytes === 0) return storeLines(index, { ...reading, known, unread: feed.lines(conversation, 0) })
  const [first, unread] = await firstOf(feed.lines(conversation, known.last))
  if (first && isLastOf(known, first)) return storeLines(index, { ...reading, known, unread })
  await unread.return?.()
  const from = feed.lines(conversation, 0)
  return storeLines(index, { ...reading, known: BEGINNING, unread: from, isRestart: true })
}

interface Storing extends Reading {
  readonly known: Mark
  readonly unread: AsyncIterable<FeedLine>
  readonly isRestart?: boolean
}

async function storeLines(index: FollowedIndex, storing: Storing): Promise<boolean> {
  const { conversation, mark, isLate, reader, known, unread } = storing
  let from = mark
  let isRestart = storing.isRestart ?? mark === undefined
  const lines = new Lines(known, reader)
  const store = async () => {
    const to = lines.mark()
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
    await setImmediate() // others get their turn
  }
  return store()
}

/** The first of them, and the others. */
async function firstOf<T>(all: AsyncIterable<T>): Promise<readonly [T | undefined, AsyncIterableIterator<T>]> {
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
  #reached: Mark

  constructor(reached: Mark, reader: MakeReader) {
    this.#reached = reached
    this.#reader = reader(reached.carried)
  }

  get bytes(): number {
    return this.#reached.bytes
  }

  /** A line without its line end. */
  take(bytes: Buffer, offset: number): void {
    const line = decodeLine(bytes)
    if (line.state === "whole") this.passages.push(...this.#reader.take(line.entry))
    this.#reached = { bytes: offset + bytes.length + 1, last: offset, uuid: peekLine(bytes)?.uuid }
  }

  mark(): string {
    const carried = this.#reader.carried?.()
    return JSON.stringify({ ...this.#reached, ...(carried === undefined ? {} : { carried }) })
  }
}

const isLastOf = ({ bytes, last, uuid }: Mark, line: FeedLine): boolean =>
  line.ended && line.offset === last && last + line.bytes.length + 1 === bytes && peekLine(line.bytes)?.uuid === uuid
