/** Where conversations are stored. `Store` is a port: callers do not change when another implementation replaces the file store. */
import type { NamedHolder } from "../base/errors.ts"
import type { JournalAddress } from "./address.ts"
import type { AppendLog, LogAddress } from "./append-log.ts"
import type { Contents } from "./contents.ts"
import { type DailyTotals, decodeTotals, encodeTotals, SPENT } from "./daily-totals.ts"
import type { DecisionOf, Entry } from "./entries.ts"
import type { InFlightLog, UnsettledRequests } from "./in-flight.ts"
import type { DamagedLine, DamageReport } from "./line.ts"
import type { Mailbox, TeamAddress } from "./mailbox.ts"
import { type MemoryFiles, type MemoryNamespace, updateText } from "./memory-files.ts"
import type { PassageStore, PassageStoreAddress } from "./passage-store.ts"
import type { Permit, PermitAddress } from "./permit.ts"

// The part of the `Store` port that an index follows: which journals of a namespace have grown, and their lines from an offset. Lines are
// returned as stored bytes.

export interface JournalFeed {
  /** A directory for the index, if the store keeps files. Otherwise the index is kept in memory. */
  readonly directory?: string
  /** The journals that may have grown since the last poll. `unread` names journals to check again. */
  poll(unread: ReadonlySet<string>): Promise<FeedPoll>
  /** The sizes of these journals. Missing journals are omitted. */
  sizes(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, JournalSize>>
  /** Makes the next poll check everything, because what was found was not read. */
  forget(): void
  /** The lines from an offset, which must be the start of a line. Empty if the journal does not exist. */
  lines(id: string, from: number): AsyncIterable<FeedLine>
  /** Calls the listener with what this process appends. Returns a function that removes it. */
  onAppended(listener: (appended: AppendedLines) => void): () => void
  close(): void
}

export interface JournalSize {
  readonly bytes: number
  /** When the journal was last written to, in milliseconds. */
  readonly touched: number
}

export interface FeedPoll {
  /** The journals that may have grown, most recently written first. */
  readonly journals: ReadonlyMap<string, JournalSize>
  /** Whether these are all journals. */
  readonly isAll: boolean
  /** Journals that were deleted since the last poll. */
  readonly deleted: readonly string[]
}

export interface FeedLine {
  readonly offset: number
  /** Without its line end. */
  readonly bytes: Buffer
  /** False while the line is being written. */
  readonly ended: boolean
}

/** Complete lines with their line ends. */
export interface AppendedLines {
  readonly conversation: string
  /** Offset of the lines in the journal. */
  readonly from: number
  readonly bytes: Buffer
}

export type { JournalAddress } from "./address.ts"

export interface Store {
  /** Where the store is, for messages to the user. */
  readonly description: string
  /** Whether processes on other machines use the store, so that a path does not identify a project. Default: false. */
  readonly isShared?: boolean
  /** Opens a journal. Creates it if `create` is set. Opening for writing takes the conversation's lock. */
  open(address: JournalAddress, options: OpenJournalOptions): Promise<Journal>
  /** The sorted names of all projects with conversations, of every owner. */
  projects(): Promise<readonly string[]>
  /** The conversations of a project, most recently written first. With `under`: the sub-agents of that conversation. */
  list(project: string, options?: ListJournalsOptions): Promise<readonly ConversationListing[]>
  /** Which of these journals exist. Opens none. */
  has(addresses: readonly JournalAddress[]): Promise<readonly boolean[]>
  /** The process that has a journal open for writing. */
  writerOf(address: JournalAddress): Promise<NamedHolder | undefined>
  /** The memory files of one namespace, and other small texts that processes share. */
  memories(place: MemoryNamespace): MemoryFiles
  /** Messages between the processes of a team. */
  mailboxes(team: TeamAddress): Mailbox
  /** A permit to do something exclusively, or with limited concurrency. */
  permit(address: PermitAddress): Permit
  /** The growing journals of one namespace, for an index that follows them. */
  feed(place: Omit<JournalAddress, "id">): JournalFeed
  /** The search index of these journals, if the store has one on a server. Otherwise it is a file in the feed's directory, or in memory. */
  passages?(address: PassageStoreAddress): PassageStore
  /** Passage stores with passages of deleted journals. Present only together with `passages`. */
  outdatedPassages?(): Promise<readonly PassageStoreAddress[]>
  /** An append-only log of lines. */
  log(address: LogAddress): AppendLog
  /** Everything that is stored, for moving, erasing and retention. */
  contents(): Contents
}

/** Selects the journals to list. */
export interface ListJournalsOptions {
  /** The id of the conversation whose sub-agents are listed. */
  readonly under?: string
  /** Returns only id, size and time, without opening journals. */
  readonly isBare?: boolean
}

/** Options for opening a journal. */
export interface OpenJournalOptions {
  readonly access: "write" | "read"
  readonly create?: boolean
  /** Also loads what a resume needs. A store across a network returns it with the same call, as `preloaded`. */
  readonly preload?: boolean
}

/** A listed conversation. */
export interface ConversationListing {
  readonly id: string
  readonly bytes: number
  /** When it was last written to, as an ISO time. */
  readonly touched: string
  /** The time of the last message, as an ISO time. Absent without messages, or if the store does not record it. */
  readonly lastMessage?: string
  /** The newest title, mode, model and directory. Absent if the conversation has no request yet. */
  readonly facts?: Omit<DecisionOf<"session">, "subtype">
  /** The first line of the user's first message, if there is no title. */
  readonly firstWords?: string
  /** Damage that was found, or why the conversation cannot be opened, described for the user. */
  readonly problem?: string
}

/** The record of one conversation. Entries can be appended and read, never changed. */
export interface Journal {
  readonly address: JournalAddress
  /** The path, for messages to the user. */
  readonly location: string
  /** A fencing number, larger for each writer. Absent for readers. */
  readonly fence?: number
  /** Whether `append` already gives the durability of the flush mode, so that `sync` is not needed. Default: false. */
  readonly flushesItself?: boolean
  /** The file with its lines, if the store keeps files. */
  readonly file?: string
  /** The file with the session notes, if the store has files. Users and the Edit tool change it there. */
  readonly notesPath?: string
  /** What opening found and repaired, and what reads have found since. */
  readonly opening: OpeningReport
  /** Calls the listener for damage that is found from now on, once per read. */
  onDamage?(listener: (found: DamageReport) => void): void
  /** Resolves when the entries are written (and flushed, in mode `always`). Writes all of them or none. */
  append(entries: readonly Entry[], options?: AppendOptions): Promise<void>
  /** Flushes everything appended so far, unless the mode is `never`. */
  sync(): Promise<void>
  /** The entries from the last boundary, in the order they were written. */
  tail(): Promise<JournalSegment>
  /** What a resume needed when the journal was opened, if it was requested and available. */
  readonly preloaded?: ResumeData
  /** What a resume needs, in one call: the tail, and the checkpoint if the tail starts with a boundary. */
  resume(): Promise<ResumeData>
  /** The entries before a segment, back to the previous boundary. */
  before(segment: JournalSegment): Promise<JournalSegment | undefined>
  /** Every entry, first to last. */
  entries(): AsyncIterable<Entry>
  find(uuid: string): Promise<Entry | undefined>
  /** The existing entries with these uuids, in the same order. */
  findMany(uuids: readonly string[]): Promise<readonly Entry[]>
  /** The entries with this handle, newest first. More than one is rare. */
  findByHandle(digits: string): Promise<readonly Entry[]>
  /** The entries of a range, in the order they were written. Empty if the journal lacks one of its ends. */
  range(wanted: JournalRange): AsyncIterable<Entry>
  /** The state of the views at the last boundary. It can be rebuilt from the journal, so losing it does no harm. */
  readCheckpoint(): Promise<unknown>
  writeCheckpoint(value: unknown): Promise<void>
  /**
   * Writes a file of the conversation, such as a large tool result, completely or not at all. A name consists of letters, digits, `-` and
   * `_`, with at most one dot in between. Others are refused with `InvalidIdError`.
   */
  writeBlob(name: string, data: string | Uint8Array): Promise<BlobReceipt>
  readBlob(name: string): Promise<Buffer | undefined>
  /** The current session notes, which the user may have edited. */
  readNotes(): Promise<string | undefined>
  /**
   * Replaces the notes completely or not at all. Returns false if the present text is not the expected one: `null` for no notes, default
   * any.
   */
  writeNotes(text: string, expected?: string | null): Promise<boolean>
  /** Requests whose cost is not in the journal yet. Optional: without it, requests of a killed process are not counted. */
  readonly inFlight?: InFlightLog & UnsettledRequests
  close(): Promise<void>
}

/** Options for appending entries. */
export interface AppendOptions {
  /** These entries end the turn. A store across a network makes them durable in the same call, so that `sync` has nothing left to do. */
  readonly endsTurn?: boolean
}

/** What a resume needs. */
export interface ResumeData {
  readonly tail: JournalSegment
  /** The value that `readCheckpoint` returns. */
  readonly checkpoint?: unknown
}

/** A range of entries: from one entry to another, in either order, or to the end. */
export interface JournalRange {
  /** The uuid of the first entry. */
  readonly first: string
  /** The uuid of the last entry. Default: the end of the journal. */
  readonly last?: string
  /** How many further entries to include before and after the range. Default: none. */
  readonly around?: number
}

/** A part of a journal that starts at a boundary. */
export interface JournalSegment {
  readonly entries: readonly Entry[]
  /** Position of the segment. Opaque to callers. */
  readonly start: number
}

/** Where a blob was written. */
export interface BlobReceipt {
  /** For messages to the user. */
  readonly location: string
  /** The file, if the store has files. Tools read it there. */
  readonly path?: string
  readonly bytes: number
}

/** What opening a journal found and repaired. */
export interface OpeningReport {
  readonly created: boolean
  /** Whether the previous owner of the lock had died. */
  readonly tookOverLock: boolean
  /** Size of an unfinished last line, which is copied to `quarantineFile`. */
  readonly tornBytes: number
  /** Ranges that changed after they were written: the first 100 found so far. Their lines are skipped, and later entries are relinked. */
  readonly damagedLines: readonly DamagedLine[]
  /** Number of such ranges found so far. */
  readonly damagedCount: number
  /** Lines skipped because an earlier line has the same uuid: the journal was written twice. */
  readonly repeatedLines: number
  /** Entries after a lost line that were relinked to the message before it. */
  readonly bridged: number
  /** Boundaries that were rebuilt from the lines after them. */
  readonly restored: number
  /** Whether something was lost that no decision in the journal accounts for yet. */
  readonly hasNewGap: boolean
  readonly index: "used" | "extended" | "rebuilt"
  /** `damaged`: the checksum did not match, so everything was read from the journal. */
  readonly checkpoint: "unread" | "used" | "absent" | "damaged"
  /** The file with copies of the damaged bytes. The journal keeps them too, except for an unfinished last line. */
  readonly quarantineFile?: string
}

/**
 * What survives a power cut, in every store. A killed process loses nothing acknowledged in any mode.
 *
 * - `always`: what `append`, `writeBlob` and `send` of a mailbox acknowledge is durable when they resolve. `sync` and `close` have nothing
 * left to do.
 * - `turn`: it is durable when the next `sync` or `close` resolves; messages, when their mailbox is closed. Until then a blob is complete
 * or absent.
 * - `never`: no call waits for the disk.
 *
 * In every mode, notes and memories are durable when `writeNotes` and `install` resolve, because they replace what the user may have
 * written.
 * No call waits for data that can be rebuilt or is only an estimate: checkpoints (complete or absent, except with `never`), the index,
 * requests
 * in flight, team members and their read positions, and hidden memory files.
 */
export type FlushMode = "always" | "turn" | "never"

// The daily spending of a project's processes, added up in a small text that they share.

/** Dollars spent per day. A day is a UTC date such as `2026-11-17`. */
export interface DailyBudget {
  spentOn(day: string): Promise<number>
  /** Resolves with the new total. Concurrent additions are not lost. A negative amount corrects an earlier addition. */
  add(dollars: number, day: string): Promise<number>
}

const MAX_DAYS = 2

/** A budget in the memory files of a project. It keeps two days, because work that started before midnight is settled after it. */
export function dailyBudgetIn(files: Pick<MemoryFiles, "read" | "install">): DailyBudget {
  return {
    spentOn: async (day) => decodeTotals((await files.read(SPENT)) ?? "")[day] ?? 0,
    async add(dollars, day) {
      let sum = 0
      await updateText(files, SPENT, (text) => {
        const sums = decodeTotals(text ?? "")
        sum = (sums[day] ?? 0) + dollars
        return encodeTotals(newestDays({ ...sums, [day]: sum }))
      })
      return sum
    },
  }
}

const newestDays = (sums: DailyTotals): DailyTotals => Object.fromEntries(Object.entries(sums).sort().slice(-MAX_DAYS))
