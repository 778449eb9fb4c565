/**
 * A conversation that is followed while it goes on, also when another process writes it. New lines of a journal are taken one by one, so a
 * change costs what is new. Where the path leaves what was taken, after a rewind or an undo, everything is read again; other programs'
 * transcripts are always read again.
 */
import { statSync } from "node:fs"
import { open, readFile } from "node:fs/promises"
import { type Entry, isDecision, isMessage, type NeededNames, readTranscripts, type Transcript } from "@strata/core"
import { neededNames } from "@strata/core/internal/inspect/needed-names"
import { CourseFold } from "@strata/core/internal/inspect/recorded-course"
import { readJournalBytes } from "@strata/core/internal/journal/read-bytes"
import { Links } from "@strata/core/internal/views/path"
import { TurnClasses } from "../draw/turn-classes.ts"
import { type FileFollower, followFile, markOf } from "./followed-file.ts"
import { type Row, rowOf } from "./rows.ts"

const LINE_END = 0x0a
const JOURNAL = "strata"
const BETWEEN_READINGS_MS = 10_000 // of all texts, for the names that a compaction lost
/** After these, the path may be another one. */
const CHANGES_PATH: ReadonlySet<string> = new Set(["rewound", "undone", "branched"])

export class FollowedConversation {
  readonly file: string
  readonly #listeners = new Set<() => void>()
  #state: State
  #follower: FileFollower | undefined
  #work: Promise<void> = Promise.resolve()
  #mark: string
  readonly #within: string | undefined

  private constructor(file: string, { state, mark, within }: Start) {
    this.file = file
    this.#state = state
    this.#mark = mark
    this.#within = within
  }

  static async open(file: string, within?: string): Promise<FollowedConversation> {
    const mark = markOf(file) // before reading: what is written meanwhile is a change
    return new FollowedConversation(file, { state: await read(file, within), mark, within })
  }

  get about(): Omit<Transcript, "entries" | "aside"> {
    return this.#state.transcript
  }

  /** What is on the path, in order. */
  get rows(): readonly Row[] {
    return this.#state.rows
  }

  get fold(): CourseFold {
    return this.#state.fold
  }

  get classes(): TurnClasses {
    return this.#state.classes
  }

  /** Everything that was read so far, also what left the path. */
  get entries(): readonly Entry[] {
    return this.#state.entries
  }

  /** By boundary: of the names used after it, which were still in view. Every text is read for it, so a running conversation waits between two. */
  needed(now: Date): readonly (NeededNames | undefined)[] {
    const { transcript, onPath, needed: known } = this.#state
    const boundaries = this.#state.fold.course().boundaries.length
    const isNew = known?.at === onPath.length || now.getTime() - (known?.since ?? 0) < BETWEEN_READINGS_MS
    if (known && isNew && known.names.length === boundaries) return known.names
    const names = neededNames(onPath, transcript.model)
    this.#state.needed = { at: onPath.length, since: now.getTime(), names }
    return names
  }

  find(uuid: string): Entry | undefined {
    return this.#state.byUuid.get(uuid)
  }

  /** Follows the file as long as someone listens. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#follower ??= followFile(this.file, () => void this.update().catch(() => undefined))
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#follower?.close()
      this.#follower = undefined
    }
  }

  /** Takes what the file has by now. */
  update(): Promise<void> {
    this.#work = this.#work.then(
      () => this.#takeNew(),
      () => this.#takeNew(),
    )
    return this.#work
  }

  async #takeNew(): Promise<void> {
    const before = this.#state
    const mark = markOf(this.file)
    if (mark === this.#mark) return
    const grown = before.isJournal ? await appended(this.file, before) : undefined
    const isTaken = grown !== undefined && takeAll(before, readJournalBytes(grown, { isFromStart: false }).entries)
    if (isTaken) before.offset += grown.length
    else this.#state = await read(this.file, this.#within)
    this.#mark = mark // once it is taken: a reading that failed is tried again
    for (const listener of this.#listeners) listener()
  }

  close(): void {
    this.#listeners.clear()
    this.#follower?.close()
    this.#follower = undefined
  }
}

interface Start {
  readonly state: State
  readonly mark: string
  readonly within: string | undefined
}

interface State {
  readonly transcript: Transcript
  readonly isJournal: boolean
  readonly links: Links
  readonly fold: CourseFold
  readonly classes: TurnClasses
  readonly rows: Row[]
  readonly entries: Entry[]
  readonly byUuid: Map<string, Entry>
  /** Of the file that was read. */
  readonly inode: number | undefined
  /** Everything that is on the path, in order. */
  readonly onPath: Entry[]
  /** The byte after the last whole line. */
  offset: number
  /** `at`: how many entries were on the path. */
  needed?: { readonly at: number; readonly since: number; readonly names: readonly (NeededNames | undefined)[] }
}

async function read(file: string, within: string | undefined): Promise<State> {
  const inode = statSync(file, { throwIfNoEntry: false })?.ino
  const before = await readFile(file).catch(() => Buffer.alloc(0)) // a session in a database is no file
  const all = await readTranscripts(file)
  const transcript = all.find(({ id }) => id === within) ?? all[0]!
  const classes = new TurnClasses()
  const state: State = {
    transcript,
    isJournal: transcript.format === JOURNAL,
    links: new Links(),
    fold: new CourseFold({ model: transcript.model ?? "unknown", onTurn: (view) => classes.note(view) }),
    classes,
    rows: [],
    entries: [],
    byUuid: new Map(),
    inode,
    onPath: [],
    offset: before.lastIndexOf(LINE_END) + 1,
  }
  for (const entry of transcript.aside) take(state, entry, "off-path")
  for (const entry of transcript.entries) take(state, entry, "on-path")
  return state
}

/** Whether all of them follow what was taken before. */
function takeAll(state: State, entries: readonly Entry[]): boolean {
  for (const entry of entries) {
    if (state.byUuid.has(entry.uuid)) continue
    if (isDecision(entry) ? CHANGES_PATH.has(entry.subtype) : !follows(entry, state.links)) return false
    take(state, entry, isMessage(entry) && entry.isSidechain ? "off-path" : "on-path")
  }
  return true
}

function follows(entry: Entry, links: Links): boolean {
  if (!isMessage(entry) || entry.isSidechain) return true
  const parent = (entry.type === "system" ? entry.logicalParentUuid : undefined) ?? entry.parentUuid
  return parent === null ? links.head === undefined : parent === links.head
}

function take(state: State, entry: Entry, place: "on-path" | "off-path"): void {
  const { links, fold, classes, rows, entries, byUuid } = state
  links.add(entry)
  fold.take(entry, place)
  if (place === "on-path") classes.take(entry)
  entries.push(entry)
  byUuid.set(entry.uuid, entry)
  if (place === "off-path") return
  state.onPath.push(entry)
  const row = rowOf(entry, rows.length)
  if (row) rows.push(row)
}

/** What was written since, up to the last whole line. `undefined`: it is another file now, or does not go on where it ended. */
async function appended(file: string, { inode, offset }: Pick<State, "inode" | "offset">): Promise<Buffer | undefined> {
  await using handle = await open(file)
  const { size, ino } = await handle.stat()
  if (size < offset || ino !== inode || offset === 0) return undefined
  const from = offset - 1 // with the line end before it
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from)
  if (buffer[0] !== LINE_END) return undefined
  return buffer.subarray(1, buffer.subarray(0, bytesRead).lastIndexOf(LINE_END) + 1)
}
