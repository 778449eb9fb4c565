/**
 * The live record of one conversation, shared by everything that works on it: the journal, the views that follow it, and the events.
 * Entries are written one batch after another, so each gets its place, even when callers do not wait for one another.
 *
 * An entry is *written* when the journal has it, and *durable* when a power cut leaves it there. Most of a turn is decided in
 * `request-preparer.ts`.
 */
import type { Clock, Ids } from "../base/clock.ts"
import type { RequestSource } from "../base/enums.ts"
import { Events, SerialQueue } from "../base/work.ts"
import {
  type DecisionOf,
  type Entry,
  type EntryDraft,
  isBoundaryEntry,
  isDecision,
  isMessage,
} from "../journal/entries.ts"
import { describeDamage } from "../journal/line.ts"
import type { AppendOptions, Journal } from "../journal/store.ts"
import { isRequest, type Message, type Uuid } from "../messages/messages.ts"
import type { ContextView } from "../views/context/context.ts"
import { loadViews } from "../views/load.ts"
import { type PackedTail, packTail, unpackViews } from "../views/packed-tail.ts"
import type { ViewOptions, Views } from "../views/views.ts"
import type { ConversationEvents, RecordEvents } from "./events.ts"
import { checkDraft } from "./incoming.ts"

export interface RecordParts {
  readonly journal: Journal
  readonly views: Views
  readonly viewOptions: ViewOptions
  readonly clock: Clock
  readonly ids: Ids
  /** What listing and resuming show. */
  readonly session: Omit<SessionFactsParts, "source">
  /** What the conversation's requests are for. */
  readonly source: RequestSource
}

export interface Appending {
  /** The views that the entries were decided by. If the conversation has been rewound since, they belong to the branch that was left. */
  readonly seen?: Views | undefined
  /** Starts to flush them as soon as they are written: the disk works while the views follow. `durable()` waits for it. */
  readonly flush?: boolean
}

/** What the journal has of the views. */
type Pending =
  /** All of it. */
  | { readonly state: "written" }
  /** A call decides. Its entries are written at its end, all of them or none. */
  | { readonly state: "gathering" | "writing"; readonly batch: Batch }
  /** A write failed, and the views have not been loaded again. */
  | { readonly state: "uncertain" }

/** Entries that the views have and the journal does not, in their order. */
interface Batch {
  readonly entries: Entry[]
  /** Begins a flush when it is written. */
  endsTurn: boolean
  readonly after: WhenWritten[]
}

export interface WhenWritten {
  written(): Promise<void>
  /** The entries could not be written, and the views no longer have them. */
  lost(): void
}

/** What is durable of what is written. `begun`: flushes that have begun and that no one waits for yet. */
type Disk =
  | { readonly state: "clean"; readonly begun?: undefined }
  | { readonly state: "flushing"; readonly begun: Promise<void> }
  /** Something was written since the last flush began. */
  | { readonly state: "due"; readonly begun: Promise<void> | undefined }

/** `isDamaged`: the file has lost something that the views may still know. */
type Seen = { isDamaged: boolean } & (
  | { readonly state: "awake"; readonly views: Views }
  /** `packed`: what the views are built from. */
  | { readonly state: "asleep"; readonly packed: PackedTail }
)

/** A call whose entries are written together. Calls take turns. */
interface Call {
  /** Why something that it had decided could not be written. */
  loss?: { readonly error: unknown }
}

const WRITTEN: Pending = { state: "written" }
const UNCERTAIN: Pending = { state: "uncertain" }
const CLEAN: Disk = { state: "clean" }

export class ConversationRecord {
  readonly journal: Journal
  readonly events = new Events<ConversationEvents & RecordEvents>()
  readonly clock: Clock
  readonly ids: Ids
  readonly source: RequestSource
  readonly session: SessionFacts
  readonly viewOptions: ViewOptions
  readonly #queue = new SerialQueue()
  #seen: Seen
  #uses = 0
  #call: Call | undefined
  #pending: Pending = WRITTEN
  #disk: Disk = CLEAN
  /** What was called back about written batches, as long as no one has waited for it. */
  #following: Promise<unknown> | undefined
  /** Views that had entries which could not be written. */
  readonly #lost = new WeakSet<Views>()

  constructor({ journal, views, viewOptions, clock, ids, session, source }: RecordParts) {
    this.journal = journal
    this.clock = clock
    this.ids = ids
    this.source = source
    this.session = new SessionFacts({ ...session, source })
    this.viewOptions = viewOptions
    this.#seen = awake(views)
    // what opening found is in `opened`; this is what a later reading finds
    journal.onDamage?.((found) => {
      this.#seen.isDamaged = true
      this.events.emit("notice", { message: describeDamage(found, journal.location) })
    })
  }

  /** The current views. A rewind replaces them, and so does a sleep: then they are built again here, equal to those from before. */
  get views(): Views {
    this.#uses++
    if (this.#seen.state === "awake") return this.#seen.views
    const views = unpackViews(this.#seen.packed, this.viewOptions)
    this.#seen = { ...awake(views), isDamaged: this.#seen.isDamaged }
    this.events.emit("woken", {})
    return views
  }

  /** How often someone asked for the views. */
  get uses(): number {
    return this.#uses
  }

  get isAsleep(): boolean {
    return this.#seen.state === "asleep"
  }

  /**
   * Gives the memory of the views back, unless someone has used them. What they are built from is kept, packed. `letGo` is called with the
   * views just before: nothing may hold on to them.
   */
  sleep({ uses, letGo }: { readonly uses: number; readonly letGo: (views: Views) => void }): Promise<void> {
    return this.#inOrder(async () => {
      if (this.isAsleep || this.#uses !== uses) return
      const packed = await packTail(this.journal)
      const seen = this.#seen
      if (!packed || seen.state === "asleep" || seen.isDamaged) return
      if (this.#uses !== uses || this.#pending.state !== "written") return
      letGo(seen.views)
      this.#seen = { state: "asleep", packed, isDamaged: false }
    })
  }

  get id(): string {
    return this.journal.address.id
  }

  /** Resolves with the entries as they are in the journal. */
  async append(drafts: readonly EntryDraft[], how: Appending = {}): Promise<readonly Entry[]> {
    for (const draft of drafts) checkDraft(draft)
    return this.#inOrder(() => this.#append(drafts, { ...how, waits: false }))
  }

  /** For the work of a call: resolves when the views have the entries. They are in the journal when the call ends. */
  async decide(drafts: readonly EntryDraft[], how: Appending = {}): Promise<readonly Entry[]> {
    for (const draft of drafts) checkDraft(draft)
    return this.#inOrder(() => {
      if (this.#call?.loss) throw this.#call.loss.error // it may be about what was lost
      return this.#append(drafts, { ...how, waits: this.#call !== undefined })
    })
  }

  /**
   * A call: what it decides is written at its end, all of it or nothing, because over a network every write is a way there and back. What
   * others append meanwhile comes after what it has so far. If it cannot be written, the views are as the journal is, and the call fails, or
   * is made `again` with a write for each decision: the one that cannot be written need not keep back the others.
   */
  async together<T>(call: () => Promise<T>, { again = false } = {}): Promise<T> {
    if (this.#pending.state === "uncertain") await this.writeSoFar()
    const state: Call = {}
    this.#call = state
    try {
      const result = await call()
      await this.written()
      if (state.loss) throw state.loss.error // where others wrote, or a layer asked, the call has not seen it fail
      return result
    } catch (error) {
      this.#call = undefined
      if (again && state.loss) {
        if (this.#pending.state === "uncertain") await this.writeSoFar()
        return await call()
      }
      await this.written().catch(() => undefined) // what was decided before the failure counts
      throw error
    } finally {
      this.#call = undefined
    }
  }

  /** Calls back when the journal has everything that the views have, or when what was not written is lost. At once, if it has. */
  async whenWritten(after: WhenWritten): Promise<void> {
    if ("batch" in this.#pending) this.#pending.batch.after.push(after)
    else await after.written()
  }

  /** Writes what the views have and the journal does not. */
  async writeSoFar(): Promise<void> {
    if (this.#pending.state !== "written") await this.#inOrder(() => this.#writeBatch())
  }

  /** The same, and waits for what follows from it. */
  async written(): Promise<void> {
    await this.writeSoFar()
    const following = this.#following
    this.#following = undefined
    await following
  }

  /** Lets the disk work on everything written, and goes on. If it fails, `durable()` says so. */
  beginFlush(): void {
    const { begun: before } = this.#disk
    this.#disk = CLEAN
    if (this.journal.flushesItself) return
    const begun = Promise.all([before, this.journal.sync()]).then(() => undefined)
    begun.catch(() => undefined) // it reaches the one who waits for it
    this.#disk = { state: "flushing", begun }
  }

  /** Everything so far is durable. A flush that has failed since fails here: the disk may report it only once. */
  async durable(): Promise<void> {
    if (this.#pending.state === "gathering") this.#pending.batch.endsTurn = true
    await this.written()
    if (this.#disk.state === "due") this.beginFlush()
    const { begun } = this.#disk
    this.#disk = CLEAN
    await begun
  }

  /** Returns to an earlier place of the journal. Anything appended meanwhile waits until the views have been loaded again. */
  rewind(to: Uuid): Promise<void> {
    return this.#inOrder(async () => {
      await this.#write([this.place({ type: "strata", subtype: "rewound" }, to)])
      await this.#load()
    })
  }

  /** Writes entries at places of their own and continues with other views, which have followed them already. */
  change(decide: () => Promise<{ readonly entries: readonly Entry[]; readonly views: Views }>): Promise<void> {
    return this.#inOrder(async () => {
      await this.#writeBatch()
      const { entries, views } = await decide()
      await this.#store(entries)
      this.#seen = awake(views)
      for (const entry of entries) this.events.emit("entry", { entry })
    })
  }

  place(draft: EntryDraft, parent: Uuid | null): Entry {
    const timestamp = this.clock.now().toISOString()
    const uuid = this.ids.uuid()
    if (draft.type === "strata") return { ...draft, uuid, parentUuid: parent, timestamp } as Entry
    const isBoundary = draft.type === "system" && draft.subtype === "compact_boundary"
    const at = isBoundary ? { parentUuid: null, logicalParentUuid: parent } : { parentUuid: parent }
    return { timestamp, ...draft, uuid: draft.uuid ?? uuid, sessionId: this.id, ...at } as Message
  }

  /** Writes the session's facts where model or mode have changed. */
  async recordSession(): Promise<void> {
    const draft = this.session.changed(this.views.context)
    if (draft) await this.decide([draft])
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      await this.#makeCertain()
      return work()
    })
  }

  async #append(
    drafts: readonly EntryDraft[],
    { seen: given = this.views, flush = false, waits }: Appending & { readonly waits: boolean },
  ): Promise<readonly Entry[]> {
    if (drafts.length === 0) return []
    const seen = this.#lost.has(given) ? this.views : given // no entry follows one that is not there
    let parent = seen.context.newest?.uuid ?? null
    const onPath = seen === this.views || parent === null || this.#isInView(parent)
    let isListed = seen.context.session !== undefined
    const placed: Entry[] = []
    const entries: Entry[] = []
    for (const draft of drafts) {
      const entry = this.place(draft, parent)
      placed.push(entry)
      entries.push(entry)
      if (!isDecision(entry)) parent = entry.uuid
      // in the same write as the first message, so that a conversation is listed even if its process dies before the first request
      if (isBoundaryEntry(entry) || (!isListed && isMessage(entry) && isRequest(entry))) {
        entries.push(this.place(this.session.draft(this.views.context), parent))
        isListed = true
      }
    }
    await this.#write(entries, { onPath, flush, waits: waits && !entries.some(isBoundaryEntry) })
    return placed
  }

  #isInView(uuid: Uuid): boolean {
    const { context } = this.views
    if (this.views.isUndone(uuid)) return true
    return context.newest?.uuid === uuid || context.storedMessages().some((message) => message.uuid === uuid)
  }

  async #write(entries: readonly Entry[], { onPath = true, flush = false, waits = false } = {}): Promise<void> {
    if (waits) this.#gather(entries, flush)
    else {
      await this.#writeBatch()
      await this.#store(entries, { endsTurn: flush })
      if (flush) this.beginFlush()
    }
    // all at once: no one may see a boundary without the summary after it
    const checkpoints = entries.flatMap((entry) => {
      this.views.apply(entry, onPath ? "on-path" : "off-path")
      return isBoundaryEntry(entry) ? [this.views.checkpoint(entry.uuid)] : []
    })
    if (!waits) for (const entry of entries) this.events.emit("entry", { entry })
    // a checkpoint only saves time at the next opening, so failing to write one is not an error
    for (const checkpoint of checkpoints) await this.journal.writeCheckpoint(checkpoint).catch(() => undefined)
  }

  #gather(entries: readonly Entry[], endsTurn: boolean): void {
    if (this.#pending.state !== "gathering")
      this.#pending = { state: "gathering", batch: { entries: [], endsTurn: false, after: [] } }
    const { batch } = this.#pending
    for (const entry of entries) batch.entries.push(entry) // a call has no room for 100,000 arguments
    batch.endsTurn ||= endsTurn
  }

  async #writeBatch(): Promise<void> {
    if (this.#pending.state !== "gathering") return
    const { batch } = this.#pending
    const { entries, after } = batch
    this.#pending = { state: "writing", batch }
    try {
      await this.#store(entries, { endsTurn: batch.endsTurn })
      this.#pending = WRITTEN
    } catch (error) {
      if (this.#call) this.#call.loss = { error }
      this.#lost.add(this.views)
      this.#pending = UNCERTAIN
      await this.#makeCertain().catch(() => undefined) // tried again before anything else
      for (const each of after) each.lost()
      throw error
    }
    if (batch.endsTurn) this.beginFlush()
    for (const entry of entries) this.events.emit("entry", { entry })
    // not awaited here: they may append
    if (after.length > 0) this.#following = Promise.all([this.#following, ...after.map((each) => each.written())])
  }

  /** Resolves if the journal has the entries, also where only its answer was lost. */
  async #store(entries: readonly Entry[], how: AppendOptions = {}): Promise<void> {
    try {
      await this.journal.append(entries, how)
    } catch (error) {
      const found = await this.journal.findMany(entries.map(({ uuid }) => uuid)).catch(() => undefined)
      if (found === undefined) this.#pending = UNCERTAIN
      if (found?.length !== entries.length) throw error
    }
    this.#disk = { state: "due", begun: this.#disk.begun }
  }

  async #makeCertain(): Promise<void> {
    if (this.#pending.state !== "uncertain") return
    await this.#load()
    this.events.emit("reloaded", {})
  }

  /** The views as the journal is. Until they are there, nothing else is done. */
  async #load(): Promise<void> {
    this.#pending = UNCERTAIN
    this.#seen = awake((await loadViews(this.journal, this.viewOptions)).views)
    this.#pending = WRITTEN
  }
}

const awake = (views: Views): Seen => ({ state: "awake", views, isDamaged: false })

// What listing and resuming need, as the journal keeps it. It follows the first message of a person and every boundary, so a resume reads
// nothing before that.

export interface SessionFactsParts {
  readonly model: string
  readonly cwd: string
  readonly title?: string | undefined
  /** What the conversation's requests are for. */
  readonly source: RequestSource
}

type SessionDraft = { readonly type: "strata" } & DecisionOf<"session">

export class SessionFacts {
  readonly #parts: SessionFactsParts
  /** The agent's permission mode. Without an agent the journal's continues. */
  mode: string | undefined

  constructor(parts: SessionFactsParts) {
    this.#parts = parts
  }

  draft({ session }: ContextView, change: { readonly title?: string; readonly prompt?: Uuid } = {}): SessionDraft {
    const { model, cwd, source } = this.#parts
    const title = change.title ?? session?.title ?? this.#parts.title
    const prompt = change.prompt ?? session?.prompt
    const mode = this.mode ?? session?.mode
    return {
      type: "strata",
      subtype: "session",
      model,
      cwd,
      ...(session?.origin === undefined ? {} : { origin: session.origin }),
      ...(mode === undefined ? {} : { mode }),
      ...(title === undefined ? {} : { title }),
      ...(prompt === undefined ? {} : { prompt }),
      ...(source === "main" ? {} : { source }),
    }
  }

  /** A resume continues with the model that was asked last, in the mode that was set last. Nothing if the journal has both. */
  changed(context: ContextView): SessionDraft | undefined {
    const { session } = context
    if (!session) return undefined // it comes with the first message
    const draft = this.draft(context)
    return session.model === draft.model && session.mode === draft.mode ? undefined : draft
  }

  /** An undo brings back the session facts of that time. Model and mode continue as they are now, and so does the title. */
  afterUndo(context: ContextView, title: string | undefined): SessionDraft | undefined {
    const { session, prompt } = context
    const isOther = session && ((title !== undefined && session.title !== title) || session.prompt !== prompt?.uuid)
    if (!isOther) return this.changed(context)
    return this.draft(context, {
      ...(title === undefined ? {} : { title }),
      ...(prompt ? { prompt: prompt.uuid } : {}),
    })
  }
}
