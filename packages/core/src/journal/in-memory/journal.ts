/** A journal in memory, with the same lines as in a file. */
import type { Clock } from "../../base/clock.ts"
import { isSafeId } from "../../base/clock.ts"
import { ClosedError, InvalidIdError, type NamedHolder } from "../../base/errors.ts"
import { handleOf } from "../../messages/media.ts"
import { type Entry, isBoundaryEntry } from "../entries.ts"
import type { SentRequest } from "../in-flight.ts"
import { decodeLine, encodeLine, inspectLostLine } from "../line.ts"
import { ParentRelinker } from "../parent-relinker.ts"
import type { AppendedLines, Journal, JournalAddress, JournalSegment, OpeningReport, ResumeData } from "../store.ts"

/** The stored data of a journal, which outlives its openings. */
export interface StoredJournal {
  readonly lines: Buffer[]
  /** Size of all lines. */
  bytes: number
  readonly blobs: Map<string, Buffer>
  readonly inFlight: Map<string, SentRequest>
  checkpoint: string | undefined
  notes: string | undefined
  /** When it was last written to, as an ISO time. */
  touched: string
  /** Larger than that of every journal written earlier. */
  writes: number
  /** Number of writers so far. */
  fence: number
  writer: NamedHolder | undefined
}

export const newJournal = (clock: Clock): StoredJournal => ({
  ...stampWrite(clock),
  ...{ lines: [], bytes: 0, blobs: new Map(), inFlight: new Map(), fence: 0 },
  ...{ checkpoint: undefined, notes: undefined, writer: undefined },
})

interface MemoryJournalOptions {
  readonly address: JournalAddress
  readonly location: string
  readonly kept: StoredJournal
  readonly clock: Clock
  readonly isCreated: boolean
  readonly isWriter: boolean
  readonly preload?: boolean
  readonly onAppended?: (appended: AppendedLines) => void
}

const CLEAN_OPENING: Omit<OpeningReport, "created"> = {
  tookOverLock: false,
  tornBytes: 0,
  damagedLines: [],
  damagedCount: 0,
  repeatedLines: 0,
  bridged: 0,
  restored: 0,
  hasNewGap: false,
  index: "used",
  checkpoint: "unread",
}

export function memoryJournal(parts: MemoryJournalOptions): Journal {
  const { address, location, kept, clock, isCreated, onAppended } = parts
  const fence = parts.isWriter ? ++kept.fence : undefined
  let isClosed = false
  if (fence !== undefined)
    kept.writer = { pid: process.pid, host: "memory", since: clock.now().toISOString(), isSelf: true, fence }

  const isWriter = () => !isClosed && fence !== undefined && kept.writer?.fence === fence
  const mustBeWriter = () => {
    if (!isWriter()) throw new ClosedError()
  }
  const mustBeOpen = () => {
    if (isClosed) throw new ClosedError()
  }

  /** A line that is not an entry is skipped and bridged, as in a file. */
  function entriesFrom(start = 0, end = kept.lines.length): readonly Entry[] {
    mustBeOpen()
    const bridge = new ParentRelinker({ isFromStart: start === 0 })
    const read = kept.lines.slice(start, end).flatMap((line, i) => {
      const decoded = decodeLine(line.subarray(0, -1))
      if (decoded.state === "whole") return bridge.take(decoded.entry)
      const at = { line: start + i + 1, offset: start + i, bytes: line.length, why: decoded.why, isLost: true }
      return bridge.lose(inspectLostLine(at, line))
    })
    return [...read, ...bridge.end()]
  }

  function segmentBefore(end: number): JournalSegment {
    let start = end - 1
    for (; start > 0; start--) {
      const entry = entryAt(kept.lines, start)
      if (entry && isBoundaryEntry(entry)) break
    }
    start = Math.max(0, start)
    return { entries: entriesFrom(start, end), start }
  }

  const readCheckpoint = () => (kept.checkpoint === undefined ? undefined : (JSON.parse(kept.checkpoint) as unknown))

  const resumedNow = (): ResumeData => {
    const tail = segmentBefore(kept.lines.length)
    const [first] = tail.entries
    return first && isBoundaryEntry(first) ? { tail, checkpoint: readCheckpoint() } : { tail }
  }

  return {
    address,
    location,
    opening: { ...CLEAN_OPENING, created: isCreated },
    ...(fence === undefined ? {} : { fence }),
    ...(parts.preload ? { preloaded: resumedNow() } : {}),
    flushesItself: true,

    async append(entries) {
      mustBeWriter()
      if (entries.length === 0) return
      const lines = entries.map(encodeLine) // all are encoded before the first is stored
      const from = kept.bytes
      for (const line of lines) {
        kept.lines.push(line)
        kept.bytes += line.length
      }
      Object.assign(kept, stampWrite(clock))
      onAppended?.({ conversation: address.id, from, bytes: Buffer.concat(lines) })
    },
    async sync() {},

    async tail() {
      return segmentBefore(kept.lines.length)
    },
    resume: async () => resumedNow(),
    async before({ start }) {
      mustBeOpen()
      return start === 0 ? undefined : segmentBefore(start)
    },
    async *entries() {
      yield* entriesFrom()
    },
    async find(uuid) {
      return entriesFrom().findLast((entry) => entry.uuid === uuid)
    },
    async findMany(uuids) {
      const byUuid = new Map(entriesFrom().map((entry) => [entry.uuid, entry]))
      return uuids.flatMap((uuid) => byUuid.get(uuid) ?? [])
    },
    async findByHandle(digits) {
      const found = entriesFrom().filter(({ uuid }) => handleOf(uuid) === digits)
      return [...new Map(found.map((entry) => [entry.uuid, entry])).values()].toReversed()
    },
    async *range({ first, last, around = 0 }) {
      const entries = entriesFrom()
      const from = entries.findLastIndex(({ uuid }) => uuid === first)
      const to = last === undefined ? entries.length - 1 : entries.findLastIndex(({ uuid }) => uuid === last)
      if (from < 0 || to < 0) return
      yield* entries.slice(Math.max(0, Math.min(from, to) - around), Math.max(from, to) + around + 1)
    },

    readCheckpoint: async () => readCheckpoint(),
    async writeCheckpoint(value) {
      if (isWriter()) kept.checkpoint = JSON.stringify(value) // a reader changes nothing
    },

    async writeBlob(name, data) {
      mustBeWriter()
      const bytes = Buffer.from(data)
      kept.blobs.set(validateBlobName(name), bytes)
      return { location: `${location}/${name}`, bytes: bytes.length }
    },
    readBlob: async (name) => kept.blobs.get(validateBlobName(name)),

    readNotes: async () => kept.notes,
    async writeNotes(text, expected) {
      mustBeWriter()
      if (expected !== undefined && (kept.notes ?? null) !== expected) return false
      kept.notes = text.toWellFormed() // as in a file
      return true
    },

    inFlight: {
      sent: (request) => void kept.inFlight.set(request.id, request),
      finished: (id) => void kept.inFlight.delete(id),
      unsettled: () => [...kept.inFlight.values()],
      clear: () => kept.inFlight.clear(),
    },

    async close() {
      if (isWriter()) kept.writer = undefined
      isClosed = true
    },
  }
}

let writes = 0

/** Time and number of a write. Numbers decide if two writes have the same time. */
const stampWrite = (clock: Clock) => ({ touched: clock.now().toISOString(), writes: ++writes })

function entryAt(lines: readonly Buffer[], at: number): Entry | undefined {
  const line = lines[at]
  const decoded = line && decodeLine(line.subarray(0, -1))
  return decoded?.state === "whole" ? decoded.entry : undefined
}

/** The same rule for names as in a file store. */
export function validateBlobName(name: string): string {
  const [, stem, extension = ""] = /^([^.]+)(?:\.([^.]+))?$/.exec(name) ?? []
  if (stem === undefined || !isSafeId(stem + extension)) throw new InvalidIdError("file name", name)
  return name
}
