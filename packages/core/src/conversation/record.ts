/**
 * The live record of one conversation, shared by all its parts: the journal, the views that follow it, and the events. Entries are written
 * in batches one after another, so their order is defined even if callers do not await each other.  An entry is *written* when the journal
 * contains it, and *durable* when it survives a power failure. Most decisions of a turn are made in `request-preparer.ts`.
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

export interface RecordDependencies extends SessionFactsInput {
  readonly journal: Journal
  readonly views: Views
  readonly viewOptions: ViewOptions
  readonly clock: Clock
  readonly ids: Ids
}

export interface RecordAppendOptions {
  /** Views on which the entries were decided. If the conversation was rewound since, the entries belong to the abandoned branch. */
  readonly seen?: Views | undefined
  /** Whether to start flushing as soon as they are written, while the views are updated. `durable()` waits for it. */
  readonly flush?: boolean
}

/** How much of the views the journal contains. */
type Pending =
  /** Everything is written. */
  | { readonly state: "written" }
  /** A call is collecting entries, which are written at its end, all or none. */
  | { readonly state: "gathering" | "writing"; readonly batch: Batch }
  /** A write failed, and the views have not been reloaded. */
  | { readonly state: "uncertain" }

/** Entries that are in the views but not in the journal, in order. */
interface Batch {
  readonly entries: Entry[]
  /** Whether to start a flush when it is written. */
  endsTurn: boolean
  readonly after: WhenWritten[]
}

export interface WhenWritten {
  written(): Promise<void>
  /** Called if the entries could not be written and were removed from the views. */
  lost(): void
}

/** How much of the written entries is durable. `begun`: running flushes that nobody awaits yet. */
type Disk =
  | { readonly state: "clean"; readonly begun?: undefined }
  | { readonly state: "flushing"; readonly begun: Promise<void> }
  /** Entries were written since the last flush began. */
  | { readonly state: "due"; readonly begun: Promise<void> | undefined }

/** `isDamaged`: the file has lost content that the views may still contain. */
type Seen = { isDamaged: boolean } & (
  | { readonly state: "awake"; readonly views: Views }
  /** `packed`: data from which the views are rebuilt. */
  | { readonly state: "asleep"; readonly packed: PackedTail }
)

/** A call whose entries are written together. Calls run one after another. */
interface Call {
  /** Error because of which decided entries could not be written. */
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
  readonly session: SessionRecorder
  readonly viewOptions: ViewOptions
  readonly #queue = new SerialQueue()
  #seen: Seen
  #uses = 0
  #call: Call | undefined
  #pending: Pending = WRITTEN
  #disk: Disk = CLEAN
  /** Pending callbacks of written batches that nobody has awaited. */
  #following: Promise<unknown> | undefined
  /** Views that contained entries which could not be written. */
  readonly #lost = new WeakSet<Views>()

  constructor({ journal, views, viewOptions, clock, ids, ...session }: RecordDependencies) {
    this.journal = journal
    this.clock = clock
    this.ids = ids
    this.source = session.source
    this.session = new SessionRecorder(session)
    this.viewOptions = viewOptions
    this.#seen = awake(views)
    // damage found at opening is in `opened`; this handles damage found later
    journal.onDamage?.((found) => {
      this.#seen.isDamaged = true
      this.events.emit("notice", { message: describeDamage(found, journal.location) })
    })
  }

  /** The current views. A rewind replaces them. If they were unloaded, they are rebuilt here, equal to the previous ones. */
  get views(): Views {
    this.#uses++
    if (this.#seen.state === "awake") return this.#seen.views
    const views = unpackViews(this.#seen.packed, this.viewOptions, this.journal)
    this.#seen = { ...awake(views), isDamaged: this.#seen.isDamaged }
    this.events.emit("woken", {})
    return views
  }

  /** Number of accesses to the views. */
  get uses(): number {
    return this.#uses
  }

  get isAsleep(): boolean {
    return this.#seen.state === "asleep"
  }

  /**
   * Unloads the views unless they were used since. The packed data to rebuild them is preserved. `letGo` is called with the views before,
   * because nothing may hold references to them.
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

  /** Appends entries. Resolves when they are in the journal. */
  async append(drafts: readonly EntryDraft[], how: RecordAppendOptions = {}): Promise<readonly Entry[]> {
    for (const draft of drafts) checkDraft(draft)
    return this.#inOrder(() => this.#append(drafts, { ...how, waits: false }))
  }

  /** Appends entries during a call: resolves when the views contain them. They are in the journal when the call ends. */
  async decide(drafts: readonly EntryDraft[], how: RecordAppendOptions = {}): Promise<readonly Entry[]> {
    for (const draft of drafts) checkDraft(draft)
    return this.#inOrder(() => {
      if (this.#call?.loss) throw this.#call.loss.error // the decision may depend on lost entries
      return this.#append(drafts, { ...how, waits: this.#call !== undefined })
    })
  }

  /**
   * Runs a call and writes its entries at its end, all or none, because over a network every write is a round trip. Entries appended by
   * others meanwhile follow those decided so far. If they cannot be written, the views are reset to the journal and the call fails, or is
   * repeated if `again`, with a write per decision, so that one failing write does not prevent the others.
   */
  async together<T>(call: () => Promise<T>, { again = false } = {}): Promise<T> {
    if (this.#pending.state === "uncertain") await this.writeSoFar()
    const state: Call = {}
    this.#call = state
    try {
      const result = await call()
      await this.written()
      if (state.loss) throw state.loss.error // the call may not have noticed, if others wrote or a layer requested it
      return result
    } catch (error) {
      this.#call = undefined
      if (again && state.loss) {
        if (this.#pending.state === "uncertain") await this.writeSoFar()
        return await call()
      }
      await this.written().catch(() => undefined) // entries decided before the failure are valid
      throw error
    } finally {
      this.#call = undefined
    }
  }

  /** Calls back when the journal contains everything in the views, or when unwritten entries are lost. At once if everything is written. */
  async whenWritten(after: WhenWritten): Promise<void> {
    if ("batch" in this.#pending) this.#pending.batch.after.push(after)
    else await after.written()
  }

  /** Writes entries that are in the views but not in the journal. */
  async writeSoFar(): Promise<void> {
    if (this.#pending.state !== "written") await this.#inOrder(() => this.#writeBatch())
  }

  /** Writes pending entries and waits for the callbacks. */
  async written(): Promise<void> {
    await this.writeSoFar()
    const following = this.#following
    this.#following = undefined
    await following
  }

  /** Starts flushing everything written, without waiting. If it fails, `durable()` reports it. */
  beginFlush(): void {
    const { begun: before } = this.#disk
    this.#disk = CLEAN
    if (this.journal.flushesItself) return
    const begun = Promise.all([before, this.journal.sync()]).then(() => undefined)
    begun.catch(() => undefined) // reported to whoever awaits it
    this.#disk = { state: "flushing", begun }
  }

  /** Resolves when everything so far is durable. A flush that failed since is reported here, because the disk may report it only once. */
  async durable(): Promise<void> {
    if (this.#pending.state === "gathering") this.#pending.batch.endsTurn = true
    await this.written()
    if (this.#disk.state === "due") this.beginFlush()
    const { begun } = this.#disk
    this.#disk = CLEAN
    await begun
  }

  /** Returns to an earlier position of the journal. Other appends wait until the views are reloaded. */
  rewind(to: Uuid): Promise<void> {
    return this.#inOrder(async () => {
      await this.#write([this.place({ type: "strata", subtype: "rewound" }, to)])
      await this.#load()
    })
  }

  /** Writes entries at their own positions and continues with other views, which already contain them. */
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

  /** Records the session facts if model or mode have changed. */
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
    { seen: given = this.views, flush = false, waits }: RecordAppendOptions & { readonly waits: boolean },
  ): Promise<readonly Entry[]> {
    if (drafts.length === 0) return []
    const seen = this.#lost.has(given) ? this.views : given // no entry may follow a missing one
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
      // in the same write as the first message, so that the conversation is listed even if its process dies before the first request
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
    // synchronously, so that nobody sees a boundary without its summary
    const checkpoints = entries.flatMap((entry) => {
      this.views.apply(entry, onPath ? "on-path" : "off-path")
      return isBoundaryEntry(entry) ? [this.views.checkpoint(entry.uuid)] : []
    })
    if (!waits) for (const entry of entries) this.events.emit("entry", { entry })
    // a checkpoint only speeds up the next opening, so failing to write one is not an error
    for (const checkpoint of checkpoints) await this.journal.writeCheckpoint(checkpoint).catch(() => undefined)
  }

  #gather(entries: readonly Entry[], endsTurn: boolean): void {
    if (this.#pending.state !== "gathering")
      this.#pending = { state: "gathering", batch: { entries: [], endsTurn: false, after: [] } }
    const { batch } = this.#pending
    for (const entry of entries) batch.entries.push(entry) // not spread, because calls are limited in arguments
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
      await this.#makeCertain().catch(() => undefined) // retried before anything else
      for (const each of after) each.lost()
      throw error
    }
    if (batch.endsTurn) this.beginFlush()
    for (const entry of entries) this.events.emit("entry", { entry })
    // not awaited here, because callbacks may append
    if (after.length > 0) this.#following = Promise.all([this.#following, ...after.map((each) => each.written())])
  }

  /** Writes entries. Resolves if the journal contains them, even if only its response was lost. */
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

  /** Reloads the views from the journal. Until then, nothing else is done. */
  async #load(): Promise<void> {
    this.#pending = UNCERTAIN
    this.#seen = awake((await loadViews(this.journal, this.viewOptions)).views)
    this.#pending = WRITTEN
  }
}

const awake = (views: Views): Seen => ({ state: "awake", views, isDamaged: false })

// Facts for listing and resuming, as stored in the journal. They follow the first message of the user and every boundary, so a resume reads
// nothing before.

export interface SessionFactsInput {
  readonly model: string
  readonly cwd: string
  readonly title?: string | undefined
  /** Purpose of the conversation's requests. */
  readonly source: RequestSource
}

type SessionDraft = { readonly type: "strata" } & DecisionOf<"session">
type SessionChange = { readonly title?: string | undefined; readonly prompt?: Uuid | undefined }

export class SessionRecorder {
  readonly #parts: SessionFactsInput
  /** The agent's permission mode. Without an agent, the mode in the journal remains. */
  mode: string | undefined

  constructor(parts: SessionFactsInput) {
    this.#parts = parts
  }

  draft({ session }: ContextView, change: SessionChange = {}): SessionDraft {
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

  /** Facts if model or mode changed, so that a resume continues with the last ones. `undefined` if the journal contains both. */
  changed(context: ContextView): SessionDraft | undefined {
    const { session } = context
    if (!session) return undefined // recorded with the first message
    const draft = this.draft(context)
    return session.model === draft.model && session.mode === draft.mode ? undefined : draft
  }

  /** Facts after an undo, which restores earlier ones. Model, mode and title remain as they are now. */
  afterUndo(context: ContextView, title: string | undefined): SessionDraft | undefined {
    const { session, prompt } = context
    const isOther = session && ((title !== undefined && session.title !== title) || session.prompt !== prompt?.uuid)
    return isOther ? this.draft(context, { title, prompt: prompt?.uuid }) : this.changed(context)
  }
}
