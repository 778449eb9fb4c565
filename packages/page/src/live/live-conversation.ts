/**
 * A conversation that is followed while it grows, even if another process writes it. New lines of a journal are appended one by one, so an
 * update costs only the new content. If the path leaves the known entries, after a rewind or an undo, everything is read again; transcripts
 * in files are always read again.
 */

import { type Entry, isMessage } from "@strata/core"
import { SerialQueue } from "@strata/core/base"
import { isDecision } from "@strata/core/store"
import { ParentLinks } from "@strata/core/views"
import type { BoundaryNames, Transcript } from "@strata/transcripts"
import { neededNames, TimelineReducer } from "@strata/transcripts/inspect"
import { TurnClasses } from "../render/turn-classes.ts"
import { type CompactionContents, compactionContents } from "./compaction-contents.ts"
import type { JournalCursor, LiveSource } from "./live-source.ts"
import { type Row, toRow } from "./rows.ts"

const EFFECTS_INTERVAL_MS = 10_000 // minimum interval for reading all texts, to find what a compaction lost
/** Decisions that may change the path. */
const CHANGES_PATH: ReadonlySet<string> = new Set(["rewound", "undone", "branched"])

/** What compactions kept and lost. */
export interface CompactionEffects {
  /** For each compaction, how many of the names used after it were still in view. */
  readonly names: readonly (BoundaryNames | undefined)[]
  /** By boundary. */
  readonly contents: ReadonlyMap<string, CompactionContents>
}

export class LiveConversation {
  readonly #source: LiveSource
  readonly #listeners = new Set<() => void>()
  #state: LiveState
  #stop: (() => void) | undefined
  readonly #updates = new SerialQueue()
  #mark: string

  private constructor(source: LiveSource, { state, mark }: { readonly state: LiveState; readonly mark: string }) {
    this.#source = source
    this.#state = state
    this.#mark = mark
  }

  static async open(source: LiveSource): Promise<LiveConversation> {
    const mark = await source.version() // read first, so that entries written meanwhile count as a change
    return new LiveConversation(source, { state: await read(source), mark })
  }

  get metadata(): Omit<Transcript, "entries" | "aside"> {
    return this.#state.transcript
  }

  /** Rows of the path, in order. */
  get rows(): readonly Row[] {
    return this.#state.rows
  }

  get timeline(): TimelineReducer {
    return this.#state.timeline
  }

  get classes(): TurnClasses {
    return this.#state.classes
  }

  /** All entries read so far, including those that left the path. */
  get entries(): readonly Entry[] {
    return this.#state.entries
  }

  /** What each compaction kept and lost. Reads all texts, so a running conversation computes it at intervals. */
  compactionEffects(now: Date): CompactionEffects {
    const { transcript, onPath, effects: known } = this.#state
    const boundaries = this.#state.timeline.timeline().boundaries.length
    const isNew = known?.at === onPath.length || now.getTime() - (known?.since ?? 0) < EFFECTS_INTERVAL_MS
    if (known && isNew && known.names.length === boundaries) return known
    const names = neededNames(onPath, transcript.model)
    const contents = compactionContents(onPath, transcript)
    const effects = { at: onPath.length, since: now.getTime(), names, contents }
    this.#state.effects = effects
    return effects
  }

  find(uuid: string): Entry | undefined {
    return this.#state.byUuid.get(uuid)
  }

  /** Follows the conversation while there are listeners. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#stop ??= this.#source.onMayHaveChanged(() => this.update())
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#end()
    }
  }

  #end(): void {
    this.#stop?.()
    this.#stop = undefined
  }

  /** Reads the current state. */
  update(): Promise<void> {
    return this.#updates.run(() => this.#takeNew())
  }

  async #takeNew(): Promise<void> {
    const before = this.#state
    const mark = await this.#source.version()
    if (mark === this.#mark) return
    const grown = before.cursor && (await this.#source.readAppended(before.cursor))
    if (grown && appendEntries(before, grown.entries)) before.cursor = grown.cursor
    else this.#state = await read(this.#source)
    this.#mark = mark // set last, so that a failed read is repeated
    for (const listener of this.#listeners) listener()
  }

  close(): void {
    this.#listeners.clear()
    this.#end()
    this.#source.close()
  }
}

interface LiveState {
  readonly transcript: Transcript
  readonly links: ParentLinks
  readonly timeline: TimelineReducer
  readonly classes: TurnClasses
  readonly rows: Row[]
  readonly entries: Entry[]
  readonly byUuid: Map<string, Entry>
  /** Entries of the path, in order. */
  readonly onPath: Entry[]
  /** Position up to which the journal was read. */
  cursor: JournalCursor | undefined
  /** Cached result of `compactionEffects`; `at` is the number of entries on the path. */
  effects?: CompactionEffects & { readonly at: number; readonly since: number }
}

async function read(source: LiveSource): Promise<LiveState> {
  const { transcript, cursor } = await source.read()
  const classes = new TurnClasses()
  const state: LiveState = {
    transcript,
    links: new ParentLinks(),
    timeline: new TimelineReducer({ model: transcript.model ?? "unknown", onTurn: (view) => classes.recordTurn(view) }),
    classes,
    rows: [],
    entries: [],
    byUuid: new Map(),
    onPath: [],
    cursor,
  }
  for (const entry of transcript.aside) appendEntry(state, entry, "off-path")
  for (const entry of transcript.entries) appendEntry(state, entry, "on-path")
  return state
}

/** Appends entries. Returns false if one does not continue the path. */
function appendEntries(state: LiveState, entries: readonly Entry[]): boolean {
  for (const entry of entries) {
    if (state.byUuid.has(entry.uuid)) continue
    if (isDecision(entry) ? CHANGES_PATH.has(entry.subtype) : !continuesPath(entry, state.links)) return false
    appendEntry(state, entry, isMessage(entry) && entry.isSidechain ? "off-path" : "on-path")
  }
  return true
}

function continuesPath(entry: Entry, links: ParentLinks): boolean {
  if (!isMessage(entry) || entry.isSidechain) return true
  const parent = (entry.type === "system" ? entry.logicalParentUuid : undefined) ?? entry.parentUuid
  return parent === null ? links.head === undefined : parent === links.head
}

function appendEntry(state: LiveState, entry: Entry, place: "on-path" | "off-path"): void {
  const { links, timeline, classes, rows, entries, byUuid } = state
  links.add(entry)
  timeline.take(entry, place)
  if (place === "on-path") classes.addEntry(entry)
  entries.push(entry)
  byUuid.set(entry.uuid, entry)
  if (place === "off-path") return
  state.onPath.push(entry)
  const row = toRow(entry, rows.length)
  if (row) rows.push(row)
}
