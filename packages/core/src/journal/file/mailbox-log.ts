/**
 * The log of a team on disk: numbered segments of lines. Writers hold the team's lock. Readers need no lock, because a line without a line
 * end is ignored. Each segment starts with the sequences given before it, so older segments can be removed.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  writeSync,
} from "node:fs"
import { open, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { InvalidIdError } from "../../base/errors.ts"
import type { MailboxCursor, MailboxDraft, MailboxMessage, MailboxReadResult } from "../mailbox.ts"
import {
  decodeMailboxLine,
  encodeHeader,
  encodeMessage,
  holdsCompleteLine,
  splitMailboxLines,
} from "../mailbox-line.ts"
import type { FlushMode } from "../store.ts"
import { type FileFencing, fenceFile, removeDrafts } from "./fence-files.ts"
import { FILE_MODE } from "./layout.ts"

const LINE_END = 0x0a
const SEGMENT_NAME = /^(\d{8})\.log$/

export interface LogPosition {
  readonly segment: number
  readonly offset: number
}

export const formatCursor = ({ segment, offset }: LogPosition): MailboxCursor => `${segment}:${offset}`

export function parseCursor(cursor: MailboxCursor): LogPosition {
  const [, segment, offset] = /^(\d{1,8}):(\d{1,15})$/.exec(cursor) ?? []
  if (segment === undefined) throw new InvalidIdError("position in a mailbox", cursor)
  return { segment: Number(segment), offset: Number(offset) }
}

export const isAfter = (a: LogPosition, b: LogPosition): boolean =>
  a.segment === b.segment ? a.offset > b.offset : a.segment > b.segment

export const segmentPath = (directory: string, segment: number): string =>
  join(directory, `${String(segment).padStart(8, "0")}.log`)

const numbersIn = (names: readonly string[]): readonly number[] =>
  names
    .flatMap((name) => SEGMENT_NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)

export async function segmentsIn(directory: string): Promise<readonly number[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return []
    throw error
  })
  return numbersIn(names)
}

export interface LogReadResult extends MailboxReadResult {
  /** The last line has no end: a write is in progress, or a writer was killed. */
  readonly hasOpenEnd: boolean
}

/** Reads everything after a cursor. The cost depends only on the new messages. */
export async function readLog(directory: string, after: MailboxCursor | undefined): Promise<LogReadResult> {
  const segments = await segmentsIn(directory) // listed before reading: all segments but the last are complete
  const asked = after === undefined ? { segment: segments[0] ?? 1, offset: 0 } : parseCursor(after)
  const last = segments.at(-1) ?? asked.segment
  const from = asked.segment > last ? { segment: last, offset: Number.MAX_SAFE_INTEGER } : asked
  const reading = { messages: [] as MailboxMessage[], problems: [] as string[], hasOpenEnd: false }
  const first = segments[0] ?? from.segment
  if (from.segment < first)
    reading.problems.push(
      `The messages before segment ${first} of ${directory} were removed before they were read here.`,
    )
  let place: LogPosition = from
  for (const segment of segments.filter((number) => number >= from.segment)) {
    const path = segmentPath(directory, segment)
    const wanted = segment === from.segment ? from.offset : 0
    const { bytes, open: openBytes, start } = await linesFrom(path, wanted)
    if (start < wanted) reading.problems.push(describeTruncation(path))
    for (const { start: at, next, line } of splitMailboxLines(bytes)) {
      const cursor = formatCursor({ segment, offset: start + next })
      if (line.state === "message") {
        const { at: _, ...message } = line.message
        reading.messages.push({ ...message, cursor })
      }
      if (line.state === "damaged")
        reading.problems.push(
          `A message in ${path} is damaged and was skipped: ${next - at} bytes at offset ${start + at}. All others were read.`,
        )
    }
    place = { segment, offset: start + bytes.length }
    reading.hasOpenEnd = openBytes > 0
  }
  return { ...reading, cursor: formatCursor(place) }
}

/** Whether there is anything after a cursor. */
export async function hasMore(directory: string, after: MailboxCursor | undefined): Promise<boolean> {
  const { messages, problems } = await readLog(directory, after)
  return messages.length > 0 || problems.length > 0
}

/** A file that became shorter: reading continues at its end, because a position beyond it would skip new messages. */
const describeTruncation = (path: string) =>
  `${path} is shorter than what was read of it before: it was replaced or cut. Messages may be missing; those that come now are read.`

interface SegmentLines {
  readonly bytes: Buffer
  /** Size of an unfinished line after the complete lines. */
  readonly open: number
  /** Offset of the first byte: the requested one, or the end of a shorter file. */
  readonly start: number
}

export async function linesFrom(path: string, wanted: number): Promise<SegmentLines> {
  const handle = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined // removed in the meantime
    throw error
  })
  if (!handle) return { bytes: Buffer.alloc(0), open: 0, start: wanted }
  try {
    const { size } = await handle.stat()
    const start = Math.min(size, wanted)
    const all = Buffer.alloc(size - start)
    const { bytesRead } = await handle.read(all, 0, all.length, start)
    const end = all.subarray(0, bytesRead).lastIndexOf(LINE_END) + 1
    return { bytes: all.subarray(0, end), open: bytesRead - end, start }
  } finally {
    await handle.close()
  }
}

/** The written messages, in the order of the drafts. After a failure, `error` applies to the remaining ones. */
export interface AppendResult {
  readonly messages: readonly MailboxMessage[]
  readonly error?: unknown
}

export interface LogWriterOptions {
  readonly directory: string
  readonly segmentBytes: number
  readonly flush: FlushMode
  /** Throws unless the team's lock is held. Called right before each write, after the segment was opened. */
  readonly check: () => void
}

/** Writes to the log. Every method is called under the team's lock and none waits, so the lock is released within a millisecond. */
export class LogWriter {
  readonly #directory: string
  readonly #segmentBytes: number
  readonly #flush: FlushMode
  readonly #check: () => void
  #hasUnflushed = false
  #end: { readonly fd: number; readonly segment: number; offset: number } | undefined
  /** The last sequence of each sender, and how many damaged lines came before it. */
  #senders = new Map<string, { readonly sequence: number; readonly damaged: number }>()
  /** Positions of the newest messages of each receiver. */
  #receivers = new Map<string, LogPosition[]>()
  #damaged = 0

  constructor(options: LogWriterOptions) {
    this.#directory = options.directory
    this.#segmentBytes = options.segmentBytes
    this.#flush = options.flush
    this.#check = options.check
  }

  /** The last sequence of a sender. A damaged line may have been the sender's, so its sequence is not reused. */
  last(from: string): number {
    const known = this.#senders.get(from)
    return known ? known.sequence + this.#damaged - known.damaged : 0
  }

  /** Number of messages for a receiver after its read position. */
  waiting(receiver: string, reached: LogPosition | undefined): number {
    const places = this.#receivers.get(receiver) ?? []
    if (reached === undefined) return places.length
    const unread = places.findIndex((place) => isAfter(place, reached))
    places.splice(0, unread < 0 ? places.length : unread)
    return places.length
  }

  /** Reads what other processes wrote, and completes or cuts off a line that a killed writer left open. */
  catchUp(): void {
    if (this.#end && fstatSync(this.#end.fd).nlink === 0) this.#forget()
    if (!this.#end) this.#open(numbersIn(readdirSync(this.#directory))[0] ?? 1)
    for (;;) {
      this.#readRest()
      const next = this.#end!.segment + 1
      if (!this.#open(next, "existing")) break
    }
    if (this.#end!.offset === 0) this.#writeHeader()
  }

  /** Appends in one write. Call `catchUp` first. */
  append(drafts: readonly MailboxDraft[]): AppendResult {
    if (this.#end!.offset >= this.#segmentBytes) this.#rotate()
    const given = new Map<string, number>()
    const lines = drafts.map((draft) => {
      const sequence = (given.get(draft.from) ?? this.last(draft.from)) + 1
      given.set(draft.from, sequence)
      const message = { ...draft, sequence }
      return { message, bytes: encodeMessage(message) }
    })
    const { written, error } = this.#write(Buffer.concat(lines.map(({ bytes }) => bytes)))
    const messages: MailboxMessage[] = []
    let used = 0
    for (const { message, bytes } of lines) {
      used += bytes.length
      if (used > written) break
      this.#end!.offset += bytes.length
      this.#note(message)
      messages.push({ ...message, cursor: formatCursor(this.#end!) })
    }
    if (error !== undefined) this.#cut(this.#end!.offset) // removes a partial line, which no reader has used
    return { messages, ...(error === undefined ? {} : { error }) }
  }

  /** Resolves when the written lines are on disk. Called without the lock, so that others can write in the meantime. */
  async flush(): Promise<void> {
    if (!this.#end || !this.#hasUnflushed) return
    this.#hasUnflushed = false
    const { fd } = this.#end
    await new Promise<void>((resolve, reject) => {
      fdatasync(fd, (error) => (error ? reject(error) : resolve()))
    }).catch((error: unknown) => {
      this.#hasUnflushed = true
      throw error
    })
  }

  close(): void {
    if (this.#flush !== "never") this.#flushNow()
    this.#forget()
  }

  #flushNow(): void {
    if (this.#end && this.#hasUnflushed) fdatasyncSync(this.#end.fd)
    this.#hasUnflushed = false
  }

  #forget(): void {
    if (this.#end) closeSync(this.#end.fd)
    this.#end = undefined
    this.#hasUnflushed = false
    this.#senders = new Map()
    this.#receivers = new Map()
    this.#damaged = 0
  }

  #open(segment: number, which: "existing" | "any" = "any"): boolean {
    const path = segmentPath(this.#directory, segment)
    let fd: number
    try {
      fd = openSync(path, which === "existing" ? APPEND_EXISTING : "a+", FILE_MODE)
    } catch (error) {
      if (which === "existing" && (error as NodeJS.ErrnoException).code === "ENOENT") return false
      throw error
    }
    if (this.#end) closeSync(this.#end.fd)
    this.#end = { fd, segment, offset: 0 }
    return true
  }

  #readRest(): void {
    const end = this.#end!
    const { size } = fstatSync(end.fd)
    if (size <= end.offset) {
      end.offset = size
      return
    }
    const all = Buffer.alloc(size - end.offset)
    const bytes = all.subarray(0, readSync(end.fd, all, 0, all.length, end.offset))
    const ended = this.#settle(bytes)
    for (const { next, line } of splitMailboxLines(ended)) {
      if (line.state === "message") this.#note(line.message, { segment: end.segment, offset: end.offset + next })
      else if (line.state === "damaged") this.#damaged++
      else for (const [name, sequence] of Object.entries(line.header.senders)) this.#raise(name, sequence)
    }
    end.offset += ended.length
  }

  /** Cuts off an unfinished line, which was not acknowledged. A line that lacks only its end is completed. */
  #settle(bytes: Buffer): Buffer {
    const end = bytes.lastIndexOf(LINE_END) + 1
    if (end === bytes.length) return bytes
    if (holdsCompleteLine(bytes.subarray(end))) {
      this.#check()
      writeSync(this.#end!.fd, "\n")
      return Buffer.concat([bytes, Buffer.of(LINE_END)])
    }
    this.#cut(this.#end!.offset + end)
    return bytes.subarray(0, end)
  }

  #note({ from, to, sequence }: { from: string; to: readonly string[]; sequence: number }, at?: LogPosition): void {
    this.#raise(from, sequence)
    const { segment, offset } = at ?? this.#end!
    for (const name of to) {
      const places = this.#receivers.get(name) ?? []
      places.push({ segment, offset })
      if (places.length > 2 * MAX_POSITIONS) places.splice(0, MAX_POSITIONS)
      this.#receivers.set(name, places)
    }
  }

  #raise(name: string, sequence: number): void {
    if (sequence >= (this.#senders.get(name)?.sequence ?? 0))
      this.#senders.set(name, { sequence, damaged: this.#damaged })
  }

  #rotate(): void {
    const end = this.#end!
    if (this.#flush !== "never") this.#flushNow()
    this.#open(end.segment + 1)
    this.#writeHeader()
  }

  #writeHeader(): void {
    const names = [...this.#senders.keys()].sort()
    const bytes = encodeHeader(Object.fromEntries(names.map((name) => [name, this.last(name)])))
    const { written, error } = this.#write(bytes)
    if (error !== undefined) {
      this.#cut(0)
      throw error
    }
    this.#end!.offset = written
  }

  #cut(size: number): void {
    this.#check()
    ftruncateSync(this.#end!.fd, size)
  }

  #write(bytes: Buffer): { written: number; error?: unknown } {
    this.#check()
    this.#hasUnflushed = true
    let written = 0
    try {
      while (written < bytes.length) written += writeSync(this.#end!.fd, bytes, written)
      return { written }
    } catch (error) {
      return { written, error }
    }
  }
}

const APPEND_EXISTING = constants.O_RDWR | constants.O_APPEND
const MAX_POSITIONS = 10_000 // the largest limit of waiting messages that the settings allow

/** Removes the segments before a position, but never the last one. Keeps one more for a reader whose last save was lost in a power cut. */
export async function removeSegmentsBefore(directory: string, segment: number): Promise<void> {
  const segments = await segmentsIn(directory)
  const passed = segments.filter((number) => number < segment - 1 && number !== segments.at(-1))
  const next = segments.find((number) => !passed.includes(number))
  if (next === undefined || passed.length === 0) return
  // the next segment must contain the sequences of the removed ones
  const { bytes } = await linesFrom(segmentPath(directory, next), 0)
  if (decodeMailboxLine(bytes.subarray(0, bytes.indexOf(LINE_END))).state !== "header") return
  for (const number of passed) await rm(segmentPath(directory, number), { force: true })
}

/**
 * Moves the current segment out of reach of a former lock holder that may still run. Other processes notice it when they next take the
 * lock.
 */
export async function renewLastSegment(directory: string, by: FileFencing): Promise<void> {
  await removeDrafts(directory, () => true)
  const last = (await segmentsIn(directory)).at(-1)
  if (last !== undefined) await fenceFile(segmentPath(directory, last), by)
}
