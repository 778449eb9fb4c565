/**
 * A conversation that is followed while it goes on, also when another process writes it. New lines of a journal are taken one by one, so a
 * change costs what is new. Where the path leaves what was taken, after a rewind or an undo, everything is read again; transcripts in files
 * are always read again.
 */

import { type Entry, isMessage } from "@strata/core"
import { SerialQueue } from "@strata/core/base"
import { isDecision } from "@strata/core/store"
import { ParentLinks } from "@strata/core/views"
import type { BoundaryNames, Transcript } from "@strata/transcripts"
import { neededNames, TimelineReducer } from "@strata/transcripts/inspect"
import { TurnClasses } from "../render/turn-classes.ts"
import type { JournalCursor, LiveSource } from "./live-source.ts"
import { type Row, toRow } from "./rows.ts"

const NAMES_INTERVAL_MS = 10_000 // of all texts, for the names that a compaction lost
/** After these, the path may be another one. */
const CHANGES_PATH: ReadonlySet<string> = new Set(["rewound", "undone", "branched"])

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
    const mark = await source.version() // before reading: what is written meanwhile is a change
    return new LiveConversation(source, { state: await read(source), mark })
  }

  get metadata(): Omit<Transcript, "entries" | "aside"> {
    return this.#state.transcript
  }

  /** What is on the path, in order. */
  get rows(): readonly Row[] {
    return this.#state.rows
  }

  get timeline(): TimelineReducer {
    return this.#state.timeline
  }

  get classes(): TurnClasses {
    return this.#state.classes
  }

  /** Everything that was read so far, also what left the path. */
  get entries(): readonly Entry[] {
    return this.#state.entries
  }

  /** By boundary: of the names used after it, which were still in view. Every text is read for it, so a running conversation waits between two. */
  neededNames(now: Date): readonly (BoundaryNames | undefined)[] {
    const { transcript, onPath, needed: known } = this.#state
    const boundaries = this.#state.timeline.timeline().boundaries.length
    const isNew = known?.at === onPath.length || now.getTime() - (known?.since ?? 0) < NAMES_INTERVAL_MS
    if (known && isNew && known.names.length === boundaries) return known.names
    const names = neededNames(onPath, transcript.model)
    this.#state.needed = { at: onPath.length, since: now.getTime(), names }
    return names
  }

  find(uuid: string): Entry | undefined {
    return this.#state.byUuid.get(uuid)
  }

  /** Follows it as long as someone listens. */
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

  /** Takes what is there by now. */
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
    this.#mark = mark // once it is taken: a reading that failed is tried again
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
  /** Everything that is on the path, in order. */
  readonly onPath: Entry[]
  /** How far it was read. */
  cursor: JournalCursor | undefined
  /** `at`: how many entries were on the path. */
  needed?: { readonly at: number; readonly since: number; readonly names: readonly (BoundaryNames | undefined)[] }
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

/** Whether all of them follow what was taken before. */
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
