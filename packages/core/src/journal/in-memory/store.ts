/** A store in memory, for tests and experiments. It keeps encoded lines, as the file store does. */
import { systemClock } from "../../base/clock.ts"
import { ClosedError, ConversationLockedError, ConversationNotFoundError } from "../../base/errors.ts"
import { checkedId } from "../../base/ids.ts"
import { handleOf } from "../../messages/handles.ts"
import { Bridge } from "../bridge.ts"
import { lostLine } from "../damage.ts"
import { type Entry, isBoundaryEntry } from "../entries.ts"
import { decodeLine, encodeLine } from "../line.ts"
import { listingFacts } from "../listing.ts"
import type { Mailbox } from "../mailbox.ts"
import type { MemoryFiles } from "../memory-files.ts"
import type { Journal, JournalAddress, OpeningReport, Store } from "../store.ts"
import { mailboxInMemory } from "./mailbox.ts"
import { memoryFilesInMemory } from "./memory-files.ts"

interface Kept {
  readonly lines: Buffer[]
  readonly blobs: Map<string, Buffer>
  checkpoint: string | undefined
  open: boolean
}

const NOTHING_FOUND: OpeningReport = {
  created: false,
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

export function memoryStore(): Store {
  const journals = new Map<string, Kept>()
  const memories = new Map<string, MemoryFiles>()
  const mailboxes = new Map<string, Mailbox>()
  return {
    description: "memory",

    async open(address, { access, create = false }) {
      const key = `${ownerKey(address)}${checkedId("conversation id", address.id)}`
      const found = journals.get(key)
      if (!found && (!create || access === "read")) throw new ConversationNotFoundError(address.id, "memory")
      const kept = found ?? { lines: [], blobs: new Map(), checkpoint: undefined, open: false }
      journals.set(key, kept)
      if (access === "write") {
        const self = { pid: process.pid, host: "memory", since: "now", isSelf: true }
        if (kept.open) throw new ConversationLockedError(address.id, self)
        kept.open = true
      }
      return memoryJournal(address, kept, { created: !found, writable: access === "write" })
    },

    async list(project, { under } = {}) {
      const owner = under === undefined ? { project } : { project, under }
      const start = ownerKey(owner)
      const mine = [...journals].filter(([key]) => key.startsWith(start) && !key.slice(start.length).includes("/"))
      const listings = mine.map(async ([key, kept]) => {
        const address = { ...owner, id: key.slice(start.length) }
        return {
          id: address.id,
          bytes: kept.lines.reduce((sum, line) => sum + line.length, 0),
          touched: entryAt(kept.lines, kept.lines.length - 1)?.timestamp ?? "",
          ...(await listingFacts(memoryJournal(address, kept, { created: false, writable: false }))),
        }
      })
      return (await Promise.all(listings)).sort((a, b) => b.touched.localeCompare(a.touched))
    },

    memories(place) {
      const key = JSON.stringify(place, Object.keys(place).sort())
      const files = memories.get(key) ?? memoryFilesInMemory(`memory:${key}`, () => systemClock.now())
      memories.set(key, files)
      return files
    },

    mailboxes({ project, team }) {
      const key = `${checkedId("project name", project)}/${checkedId("team name", team)}`
      const mailbox = mailboxes.get(key) ?? mailboxInMemory(`memory:${key}`)
      mailboxes.set(key, mailbox)
      return mailbox
    },
  }
}

const ownerKey = ({ project, under }: Omit<JournalAddress, "id">): string =>
  `${checkedId("project name", project)}/${under === undefined ? "" : `${checkedId("conversation id", under)}/subagents/`}`

function memoryJournal(
  address: JournalAddress,
  kept: Kept,
  { created, writable }: { created: boolean; writable: boolean },
): Journal {
  let closed = false
  /** A line that is no entry is left out, and the path leads across it, as in a file. */
  const entriesFrom = (start: number, end: number): readonly Entry[] => {
    const bridge = new Bridge({ isFromStart: start === 0 })
    const read = kept.lines.slice(start, end).flatMap((line, i) => {
      const decoded = decodeLine(line.subarray(0, -1))
      if (decoded.state === "whole") return bridge.take(decoded.entry)
      const at = { line: start + i + 1, offset: start + i, bytes: line.length, why: decoded.why, isLost: true }
      return bridge.lose(lostLine(at, line))
    })
    return [...read, ...bridge.end()]
  }
  const boundaryBefore = (end: number) => {
    for (let at = end - 1; at > 0; at--) {
      const entry = entryAt(kept.lines, at)
      if (entry && isBoundaryEntry(entry)) return at
    }
    return 0
  }
  return {
    address,
    location: `memory:${ownerKey(address)}${address.id}`,
    opening: { ...NOTHING_FOUND, created },

    async append(entries) {
      if (closed || !writable) throw new ClosedError()
      kept.lines.push(...entries.map(encodeLine))
    },
    async sync() {},
    async tail() {
      const start = boundaryBefore(kept.lines.length)
      return { entries: entriesFrom(start, kept.lines.length), start }
    },
    async before(segment) {
      if (segment.start === 0) return undefined
      const start = boundaryBefore(segment.start)
      return { entries: entriesFrom(start, segment.start), start }
    },
    async *entries() {
      yield* entriesFrom(0, kept.lines.length)
    },
    async find(uuid) {
      return entriesFrom(0, kept.lines.length).findLast((entry) => entry.uuid === uuid)
    },
    async findByHandle(digits) {
      const found = entriesFrom(0, kept.lines.length).filter(({ uuid }) => handleOf(uuid) === digits)
      return [...new Map(found.map((entry) => [entry.uuid, entry])).values()].toReversed()
    },
    async *stretch({ first, last, around = 0 }) {
      const entries = entriesFrom(0, kept.lines.length)
      const from = entries.findLastIndex(({ uuid }) => uuid === first)
      const to = last === undefined ? entries.length - 1 : entries.findLastIndex(({ uuid }) => uuid === last)
      if (from < 0 || to < 0) return
      yield* entries.slice(Math.max(0, Math.min(from, to) - around), Math.max(from, to) + around + 1)
    },
    async readCheckpoint() {
      return kept.checkpoint === undefined ? undefined : (JSON.parse(kept.checkpoint) as unknown)
    },
    async writeCheckpoint(value) {
      kept.checkpoint = JSON.stringify(value)
    },
    async writeBlob(name, data) {
      const bytes = Buffer.from(data)
      kept.blobs.set(name, bytes)
      return { location: `memory:${address.id}/${name}`, bytes: bytes.length }
    },
    async readBlob(name) {
      return kept.blobs.get(name)
    },
    async close() {
      if (!closed && writable) kept.open = false
      closed = true
    },
  }
}

function entryAt(lines: readonly Buffer[], at: number): Entry | undefined {
  const line = lines[at]
  const decoded = line && decodeLine(line.subarray(0, -1))
  return decoded?.state === "whole" ? decoded.entry : undefined
}
