/** Sources that a page follows: a journal in a store, or a transcript of any program in a file. */

import { type FSWatcher, statSync, watch } from "node:fs"
import { basename, dirname } from "node:path"
import type { Clock, Entry, Store } from "@strata/core"
import { callAfter } from "@strata/core/base"
import { type JournalAddress, readJournalBytes, storeUri } from "@strata/core/store"
import { readTranscripts, type Transcript } from "@strata/transcripts"
import { copyJournal, journalTranscript } from "@strata/transcripts/inspect"

// Polls at intervals, and soon after the system reports a change. The directory is watched, because a replaced file has a different inode.

const SETTLE_MS = 120 // several lines are written together

export interface PollOptions {
  readonly clock: Clock
  readonly everyMs: number
  readonly watchedFile?: { readonly directory: string; readonly name: string }
  /** Called for each poll. The next poll waits for it. */
  readonly poll: () => Promise<void>
}

/** Starts polling and returns a function that stops it. */
export function pollForChanges({ clock, everyMs, watchedFile, poll }: PollOptions): () => void {
  let isOver = false
  let isLooking = false
  let isDue = false
  let cancel = () => {}

  const next = (ms: number) => {
    cancel()
    cancel = isOver ? () => {} : callAfter(clock, ms, () => void looked())
  }
  const looked = async () => {
    isLooking = true
    isDue = false
    await poll().catch(() => undefined) // the next poll tries again
    isLooking = false
    next(isDue ? SETTLE_MS : everyMs)
  }
  const reported = () => {
    if (isDue) return
    isDue = true
    if (!isLooking) next(SETTLE_MS)
  }

  const watcher = watchedFile && watchDirectory(watchedFile, reported)
  next(everyMs)
  return () => {
    isOver = true
    cancel()
    watcher?.close()
  }
}

/** Watches a directory. `undefined` if the system cannot; polling finds changes too. */
function watchDirectory(
  { directory, name }: NonNullable<PollOptions["watchedFile"]>,
  onChange: () => void,
): FSWatcher | undefined {
  try {
    const watcher = watch(directory, (_event, changed) => {
      if (changed === null || changed === name) onChange()
    })
    watcher.on("error", () => watcher.close())
    watcher.unref()
    return watcher
  } catch {
    return undefined
  }
}

/** Position up to which a journal was read: its last complete line, and the offset where that line begins. */
export interface JournalCursor {
  readonly offset: number
  readonly line: Buffer
}

export interface SourceReadResult {
  readonly transcript: Transcript
  /** Absent if the source can only be read completely. */
  readonly cursor?: JournalCursor
}

/** Appended entries, and the position after them. */
export interface AppendedEntries {
  readonly entries: readonly Entry[]
  readonly cursor: JournalCursor
}

export interface LiveSource {
  /** A string that changes with each change of the source. */
  version(): Promise<string>
  /** Reads the complete source. */
  read(): Promise<SourceReadResult>
  /** Entries appended after the cursor. `undefined` if the journal does not continue at the cursor. */
  readAppended(cursor: JournalCursor): Promise<AppendedEntries | undefined>
  /** Calls `poll` at intervals and when the system reports a change. The next call waits for the previous one. */
  onMayHaveChanged(look: () => Promise<void>): () => void
  close(): void
}

/** A journal in a store. */
export interface JournalLocation {
  readonly store: Store
  readonly address: JournalAddress
}

const LINE_END = 0x0a
const POLL_MS = 1_000

export function journalSource({ store, address }: JournalLocation, clock: Clock): LiveSource {
  const { id, ...place } = address
  const feed = store.feed(place)
  return {
    async version() {
      const size = (await feed.sizes(new Set([id]))).get(id)
      return size ? `${size.bytes} ${size.touched}` : ""
    },
    async read() {
      const copy = await copyJournal(store, address)
      const cursor = findLastLine(Buffer.from(copy.bytes))
      const transcript = journalTranscript({ file: storeUri(address), id, ...copy })
      return { transcript, ...(cursor ? { cursor } : {}) }
    },
    async readAppended(cursor) {
      let last: JournalCursor | undefined
      const added: Buffer[] = []
      for await (const { offset, bytes, ended } of feed.lines(id, cursor.offset)) {
        if (!ended) break
        if (last) added.push(bytes, Buffer.of(LINE_END))
        else if (!bytes.equals(cursor.line)) return undefined // the journal was replaced
        last = { offset, line: Buffer.from(bytes) }
      }
      return last && { entries: readJournalBytes(Buffer.concat(added), { isFromStart: false }).entries, cursor: last }
    },
    onMayHaveChanged: (poll) =>
      pollForChanges({
        ...{ clock, everyMs: POLL_MS, poll },
        ...(feed.directory === undefined ? {} : { watchedFile: { directory: feed.directory, name: `${id}.jsonl` } }),
      }),
    close: () => feed.close(),
  }
}

function findLastLine(bytes: Buffer): JournalCursor | undefined {
  const end = bytes.lastIndexOf(LINE_END)
  if (end < 1) return undefined
  const offset = bytes.lastIndexOf(LINE_END, end - 1) + 1
  return { offset, line: Buffer.from(bytes.subarray(offset, end)) }
}

/** A transcript in a file. It is always read completely, because other programs change what they have written. */
export interface TranscriptLocation {
  readonly file: string
  /** Id of the conversation, if the file contains several. */
  readonly conversationId?: string
}

/** Suffix that names a session in a database: `#` and the session id. */
const DATABASE_SESSION = /(?<=\.db)#.*$/
const FILE_POLL_MS = 2_000 // in case the system reports nothing: a shared disk, too many watchers

export function fileSource({ file, conversationId }: TranscriptLocation, clock: Clock): LiveSource {
  const path = file.replace(DATABASE_SESSION, "")
  return {
    async version() {
      const found = statSync(path, { throwIfNoEntry: false })
      return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : ""
    },
    async read() {
      const all = await readTranscripts(file)
      return { transcript: all.find(({ id }) => id === conversationId) ?? all[0]! }
    },
    readAppended: async () => undefined,
    onMayHaveChanged: (poll) =>
      pollForChanges({
        ...{ clock, everyMs: FILE_POLL_MS, poll },
        watchedFile: { directory: dirname(path), name: basename(path) },
      }),
    close() {},
  }
}
