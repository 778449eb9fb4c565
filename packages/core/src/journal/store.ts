/** Where conversations are kept. `Store` is a port: callers do not change when another implementation takes the file store's place. */
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

// The part of the `Store` port that an index follows: which journals of a place have grown, and their lines from a place on. A line is given as
// the bytes that it has.

export interface JournalFeed {
  /** A directory for the index, if the store keeps files. Otherwise the index is kept in memory. */
  readonly directory?: string
  /** The journals that may have grown since the last look. `unread`: seen before, and to be looked at again. */
  poll(unread: ReadonlySet<string>): Promise<FeedPoll>
  /** The sizes of these journals. One that is not there is left out. */
  sizes(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, JournalSize>>
  /** Looks at everything the next time: what was seen was not read. */
  forget(): void
  /** The lines from an offset on, which is the beginning of a line. Nothing if the journal is not there. */
  lines(id: string, from: number): AsyncIterable<FeedLine>
  /** Calls back with what this process appends. Returns what ends it. */
  onAppended(listener: (appended: AppendedLines) => void): () => void
  close(): void
}

export interface JournalSize {
  readonly bytes: number
  /** When it was last written to: milliseconds. */
  readonly touched: number
}

export interface FeedPoll {
  /** The journals that may have grown, the last written first. */
  readonly journals: ReadonlyMap<string, JournalSize>
  /** Whether these are all there are. */
  readonly isAll: boolean
  /** Journals that were there and are no more. */
  readonly deleted: readonly string[]
}

export interface FeedLine {
  readonly offset: number
  /** Without its line end. */
  readonly bytes: Buffer
  /** False while it is being written. */
  readonly ended: boolean
}

/** Whole lines, with their ends. */
export interface AppendedLines {
  readonly conversation: string
  /** Where in the journal they begin. */
  readonly from: number
  readonly bytes: Buffer
}

export type { JournalAddress } from "./address.ts"

export interface Store {
  /** Where it keeps things, for messages to a person. */
  readonly description: string
  /** Processes on other machines use it too, so a path does not name a project. Default: no. */
  readonly isShared?: boolean
  /** Opens a journal, and creates it if `create` is set. Opening for writing takes the conversation's lock. */
  open(address: JournalAddress, options: OpenJournalOptions): Promise<Journal>
  /** The names of the projects that have conversations, sorted: those of every owner. */
  projects(): Promise<readonly string[]>
  /** The conversations of a project, the most recently written first. With `under`: those that belong to one of them, its sub-agents. */
  list(project: string, options?: ListJournalsOptions): Promise<readonly ConversationListing[]>
  /** Which of these journals are kept. Opens none. */
  has(addresses: readonly JournalAddress[]): Promise<readonly boolean[]>
  /** Who has a journal open for writing. */
  writerOf(address: JournalAddress): Promise<NamedHolder | undefined>
  /** The memory files of one place, and other small texts that processes share. */
  memories(place: MemoryNamespace): MemoryFiles
  /** Messages between the processes of a team. */
  mailboxes(team: TeamAddress): Mailbox
  /** The right to do something alone, or as one of several at once. */
  permit(address: PermitAddress): Permit
  /** The journals of one place as they grow, for an index that follows them. */
  feed(place: Omit<JournalAddress, "id">): JournalFeed
  /** The search index of these journals, if the store keeps it on a server. Otherwise it is a file in the feed's directory, or in memory. */
  passages?(address: PassageStoreAddress): PassageStore
  /** The shelves that have passages of journals that are gone. With `passages` only. */
  outdatedPassages?(): Promise<readonly PassageStoreAddress[]>
  /** Lines that are only ever added to. */
  log(address: LogAddress): AppendLog
  /** Everything that is kept, for moving, erasing and retention. */
  contents(): Contents
}

/** Which journals of a project to list. */
export interface ListJournalsOptions {
  /** The id of the conversation whose sub-agents are listed. */
  readonly under?: string
  /** Only id, size and time. No journal is opened. */
  readonly isBare?: boolean
}

/** What the journal is opened for. */
export interface OpenJournalOptions {
  readonly access: "write" | "read"
  readonly create?: boolean
  /** What a resume needs is wanted too. A store across a network gives it with the same call, as `resumed`. */
  readonly preload?: boolean
}

/** A conversation in the list of a store. */
export interface ConversationListing {
  readonly id: string
  readonly bytes: number
  /** When it was last written to, as an ISO time. */
  readonly touched: string
  /** The time of the last message, as an ISO time. Absent where nothing was said, or the store does not keep it. */
  readonly lastMessage?: string
  /** Title, mode, model and directory as last written. Absent where no one has asked anything yet. */
  readonly facts?: Omit<DecisionOf<"session">, "subtype">
  /** The first line of the person's first message, where there is no title. */
  readonly firstWords?: string
  /** Damage that was found on the way, or why it cannot be opened, as sentences. */
  readonly problem?: string
}

/** The record of one conversation. Entries can be added and read, never changed. */
export interface Journal {
  readonly address: JournalAddress
  /** The path, for messages to a person. */
  readonly location: string
  /** Larger for each writer than for the one before. Absent where it is opened for reading. */
  readonly fence?: number
  /** What `append` resolves with is as durable as the mode says, so that no one need call `sync`. Default: no. */
  readonly flushesItself?: boolean
  /** The file with its lines, if the store keeps files. */
  readonly file?: string
  /** The file with the session notes, if the store keeps files: people and the Edit tool change it there. */
  readonly notesPath?: string
  /** What opening found and repaired, and what reading has found since. */
  readonly opening: OpeningReport
  /** Calls back for damage that is found from now on, once for each reading. */
  onDamage?(listener: (found: DamageReport) => void): void
  /** Resolves when the entries are written (and flushed, in mode `always`). Writes all of them or none. */
  append(entries: readonly Entry[], options?: AppendOptions): Promise<void>
  /** Flushes everything appended so far, unless the mode is `never`. */
  sync(): Promise<void>
  /** The entries from the last boundary on, in the order they were written. */
  tail(): Promise<JournalSegment>
  /** What a resume needed when it was opened, if it was asked for and the store had it at hand. */
  readonly preloaded?: ResumeData
  /** What a resume needs, in one call: the tail, and the checkpoint where the tail begins with a boundary. */
  resume(): Promise<ResumeData>
  /** The entries before a segment, back to the previous boundary. */
  before(segment: JournalSegment): Promise<JournalSegment | undefined>
  /** Every entry, first to last. */
  entries(): AsyncIterable<Entry>
  find(uuid: string): Promise<Entry | undefined>
  /** Those that are there, in the order of the uuids. */
  findMany(uuids: readonly string[]): Promise<readonly Entry[]>
  /** The entries whose handle has these digits, newest first. More than one is rare. */
  findByHandle(digits: string): Promise<readonly Entry[]>
  /** The entries of a stretch, in the order they were written. None where the journal does not have its ends. */
  range(wanted: JournalRange): AsyncIterable<Entry>
  /** The state of the views at the last boundary. It can be rebuilt from the journal, so losing it loses nothing. */
  readCheckpoint(): Promise<unknown>
  writeCheckpoint(value: unknown): Promise<void>
  /**
   * Writes a file that belongs to the conversation, such as a large tool result. All of it or nothing. A name has letters, digits, `-` and `_`,
   * and at most one dot between them; others are refused with `InvalidIdError`.
   */
  writeBlob(name: string, data: string | Uint8Array): Promise<BlobReceipt>
  readBlob(name: string): Promise<Buffer | undefined>
  /** The session notes as they are now: the person may have edited them. */
  readNotes(): Promise<string | undefined>
  /** Writes all of the notes or nothing. False if the text there is not the expected one: `null` for no notes, left out for any. */
  writeNotes(text: string, expected?: string | null): Promise<boolean>
  /** Requests whose cost is not in the journal yet. A store without it works, but then what a killed process had sent is not counted. */
  readonly inFlight?: InFlightLog & UnsettledRequests
  close(): Promise<void>
}

/** How entries are appended. */
export interface AppendOptions {
  /** The turn ends with them. A store across a network makes them durable in the same call, so that `sync` has nothing left to do. */
  readonly endsTurn?: boolean
}

/** What a resume needs. */
export interface ResumeData {
  readonly tail: JournalSegment
  /** As `readCheckpoint` gives it. */
  readonly checkpoint?: unknown
}

/** From one entry to another, in either order, or to the end. */
export interface JournalRange {
  /** A uuid. */
  readonly first: string
  /** A uuid. Absent: to the end of the journal. */
  readonly last?: string
  /** How many entries before the first and after the last are wanted too. Default: none. */
  readonly around?: number
}

/** A part of a journal that starts at a boundary. */
export interface JournalSegment {
  readonly entries: readonly Entry[]
  /** Where the segment begins. Opaque to callers. */
  readonly start: number
}

/** Where a file of the conversation was written. */
export interface BlobReceipt {
  /** For messages to a person. */
  readonly location: string
  /** The file, if the store keeps files: tools read it there. */
  readonly path?: string
  readonly bytes: number
}

/** What opening a journal found and repaired. */
export interface OpeningReport {
  readonly created: boolean
  /** Whether the previous owner of the lock had died. */
  readonly tookOverLock: boolean
  /** Bytes of an unfinished last line. They are copied to `setAside`. */
  readonly tornBytes: number
  /** Places that changed after they were written: the first 100 that were read so far. Their lines are skipped, and the path goes on after them. */
  readonly damagedLines: readonly DamagedLine[]
  /** How many such places were read so far. */
  readonly damagedCount: number
  /** Lines left out because an earlier one has the same uuid: a journal that was written twice. */
  readonly repeatedLines: number
  /** Entries that follow a lost line and were joined to the message before it. */
  readonly bridged: number
  /** Boundaries that were rebuilt from the lines after them. */
  readonly restored: number
  /** Whether something was lost that no decision in the journal takes into account yet. */
  readonly hasNewGap: boolean
  readonly index: "used" | "extended" | "rebuilt"
  /** `damaged`: it did not match its checksum, so everything was read from the journal. */
  readonly checkpoint: "unread" | "used" | "absent" | "damaged"
  /** The file that damaged bytes were copied to. The journal keeps them too, except for an unfinished last line. */
  readonly quarantineFile?: string
}

/**
 * What survives a power cut, in every store. A process that is killed loses nothing acknowledged in any mode.
 *
 * - `always`: what `append`, `writeBlob` and `send` of a mailbox acknowledge is durable when they resolve. `sync` and `close` have nothing to do.
 * - `turn`: it is durable when the next `sync` or `close` resolves; messages when their mailbox is closed. A blob is whole or absent before that.
 * - `never`: no call waits for the disk.
 *
 * In every mode: notes and memories are durable when `writeNotes` and `install` resolve, because they replace what a person may have written.
 * Nothing waits for what can be worked out again or is only an estimate: checkpoints (whole or absent, except with `never`), the index, requests
 * in flight, members of a team and how far they have read, and memory files of one's own whose names begin with a dot.
 */
export type FlushMode = "always" | "turn" | "never"

// What the processes of a project spend, added up in a small text that they share.

/** Dollars by day. A day is a UTC day, `2026-11-17`. */
export interface DailyBudget {
  spentOn(day: string): Promise<number>
  /** Resolves with the new sum. No addition is lost, also if others add at the same time. What was added too much is taken off again. */
  add(dollars: number, day: string): Promise<number>
}

const MAX_DAYS = 2

/** A budget in the memory files of a project. It keeps two days: work that began before midnight is settled after it. */
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
