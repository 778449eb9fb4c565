/**
 * The live record of one conversation, shared by everything that works on it: the journal, the views that follow it, and the events.
 * Entries are written one batch after another, so each gets its place, even when callers do not wait for one another.
 */
import type { Clock } from "../base/clock.ts"
import { Events } from "../base/events.ts"
import type { Ids } from "../base/ids.ts"
import { Queue } from "../base/queue.ts"
import type { RequestSource } from "../base/vocabulary.ts"
import { describeDamage } from "../journal/damage.ts"
import {
  type DecisionDraft,
  type DecisionOf,
  type Draft,
  type Entry,
  isBoundaryEntry,
  isDecision,
  isMessage,
} from "../journal/entries.ts"
import type { AppendOptions, Journal } from "../journal/store.ts"
import { isRequest, type Message, type Uuid } from "../messages/messages.ts"
import { loadViews } from "../views/load.ts"
import { type PackedTail, packTail, unpackViews } from "../views/packed-tail.ts"
import { type ViewOptions, Views } from "../views/views.ts"
import type { ConversationEvents } from "./events.ts"
import { checkDraft } from "./incoming.ts"

export interface RecordParts {
  readonly journal: Journal
  readonly views: Views
  readonly viewOptions: ViewOptions
  readonly clock: Clock
  readonly ids: Ids
  /** What listing and resuming show. */
  readonly session: { readonly model: string; readonly cwd: string; readonly title?: string | undefined }
  /** What the conversation's requests are for. */
  readonly source: RequestSource
}

export interface Appending {
  /** The views that the entries were decided by. If the conversation has been rewound since, they belong to the branch that was left. */
  readonly seen?: Views | undefined
  /** Starts to flush them as soon as they are written: the disk works while the views follow. `flushed()` waits for it. */
  readonly flush?: boolean
}

interface Call {
  /** Why something that it had decided could not be written. */
  loss?: { readonly error: unknown }
}

export class ConversationRecord {
  readonly journal: Journal
  readonly events = new Events<ConversationEvents>()
  #flushing: Promise<void> | undefined
  readonly clock: Clock
  readonly ids: Ids
  readonly source: RequestSource
  /** Called when the views are there again after a sleep. */
  onWake: () => void = () => undefined
  /** Called when the views were loaded again, because entries that they had could not be written. */
  onReload: () => void = () => undefined
  readonly #session: RecordParts["session"]
  /** The agent's permission mode. Without an agent the journal's continues. */
  #mode: string | undefined
  /** While it is asleep: what they are built from. */
  #views: Views | PackedTail
  readonly #viewOptions: ViewOptions
  #uses = 0
  /** The file has lost something that the views may still know. */
  #isDamaged = false
  readonly #queue = new Queue()
  /** The call under way whose entries are written together. Calls take turns. */
  #call: Call | undefined
  /** Entries that the views have and the journal does not, in their order. */
  #unwritten: Entry[] = []
  #flushesUnwritten = false
  /** They are on their way into the journal. */
  #isWriting = false
  /** Something was written since a flush began. */
  #isFlushDue = false
  #waiting: { readonly written: () => Promise<void>; readonly lost: () => void }[] = []
  #following: Promise<unknown> | undefined
  /** The views may not be as the journal is: a write failed, and they could not be loaded again. */
  #isUncertain = false
  /** Views that had entries which could not be written. */
  readonly #lost = new WeakSet<Views>()

  constructor({ journal, views, viewOptions, clock, ids, session, source }: RecordParts) {
    this.journal = journal
    this.clock = clock
    this.ids = ids
    this.source = source
    this.#session = session
    this.#views = views
    this.#viewOptions = viewOptions
    // what opening found is in `opened`; this is what a later reading finds
    journal.onDamage?.((found) => {
      this.#isDamaged = true
      this.events.emit("notice", { message: describeDamage(found, journal.location) })
    })
  }

  /** The current views. A rewind replaces them, and so does a sleep: then they are built again here, equal to those from before. */
  get views(): Views {
    this.#uses++
    if (!(this.#views instanceof Views)) {
      this.#views = unpackViews(this.#views, this.#viewOptions)
      this.onWake()
    }
    return this.#views
  }

  /** How often someone asked for the views. */
  get uses(): number {
    return this.#uses
  }

  get isAsleep(): boolean {
    return !(this.#views instanceof Views)
  }

  /**
   * Gives the memory of the views back, unless someone has used them. What they are built from is kept, packed. `letGo` is called with the
   * views just before: nothing may hold on to them.
   */
  sleep({ uses, letGo }: { readonly uses: number; readonly letGo: (views: Views) => void }): Promise<void> {
    return this.#inOrder(async () => {
      if (this.isAsleep || this.#uses !== uses) return
      const packed = await packTail(this.journal)
      if (!packed || this.#isDamaged || this.#uses !== uses || this.#unwritten.length > 0) return
      letGo(this.views)
      this.#views = packed
    })
  }

  get id(): string {
    return this.journal.address.id
  }

  /** Resolves with the entries as they are in the journal. */
  async append(drafts: readonly Draft[], how: Appending = {}): Promise<readonly Entry[]> {
    for (const draft of drafts) checkDraft(draft)
    return this.#inOrder(() => this.#append(drafts, { ...how, waits: false }))
  }

  /** For the work of a call: resolves when the views have the entries. They are in the journal when the call ends. */
  async decide(drafts: readonly Draft[], how: Appending = {}): Promise<readonly Entry[]> {
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
    if (this.#isUncertain) await this.writeSoFar()
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
        if (this.#isUncertain) await this.writeSoFar()
        return await call()
      }
      await this.written().catch(() => undefined) // what was decided before the failure counts
      throw error
    } finally {
      this.#call = undefined
    }
  }

  /** Whether the journal has everything that the views have. */
  get isWritten(): boolean {
    return this.#unwritten.length === 0 && !this.#isWriting
  }

  /** Calls back when that is so, or when what was not written is lost. */
  whenWritten(written: () => Promise<void>, lost: () => void): void {
    this.#waiting.push({ written, lost })
  }

  /** Writes what the views have and the journal does not. */
  async writeSoFar(): Promise<void> {
    const isDue = !this.isWritten || this.#waiting.length > 0 || this.#isUncertain
    if (isDue) await this.#inOrder(() => this.#writeUnwritten())
  }

  /** The same, and waits for what follows from it. */
  async written(): Promise<void> {
    await this.writeSoFar()
    const following = this.#following
    this.#following = undefined
    await following
  }

  /** Lets the disk work on everything written, and goes on. If it fails, `flushed()` says so. */
  beginFlush(): void {
    this.#isFlushDue = false
    if (this.journal.flushesItself) return
    this.#flushing = Promise.all([this.#flushing, this.journal.sync()]).then(() => undefined)
    this.#flushing.catch(() => undefined) // it reaches the one who waits for it
  }

  /** Everything so far is on the disk. A flush that has failed since fails here: the disk may report it only once. */
  async flushed(): Promise<void> {
    this.#flushesUnwritten = this.#unwritten.length > 0
    await this.written()
    if (this.#isFlushDue) this.beginFlush()
    const begun = this.#flushing
    this.#flushing = undefined
    await begun
  }

  /** Returns to an earlier place of the journal. Anything appended meanwhile waits until the views have been loaded again. */
  rewind(to: Uuid, load: () => Promise<Views>): Promise<void> {
    return this.#inOrder(async () => {
      await this.#write([this.place({ type: "strata", subtype: "rewound" }, to)])
      this.#isUncertain = true
      this.#views = await load()
      this.#isUncertain = false
    })
  }

  /** Writes entries at places of their own and continues with other views, which have followed them already. */
  change(decide: () => Promise<{ readonly entries: readonly Entry[]; readonly views: Views }>): Promise<void> {
    return this.#inOrder(async () => {
      await this.#writeUnwritten()
      const { entries, views } = await decide()
      await this.#store(entries)
      this.#views = views
      for (const entry of entries) this.events.emit("entry", { entry })
    })
  }

  place(draft: Draft, parent: Uuid | null): Entry {
    const timestamp = this.clock.now().toISOString()
    const uuid = this.ids.uuid()
    if (draft.type === "strata") return { ...draft, uuid, parentUuid: parent, timestamp } as Entry
    const isBoundary = draft.type === "system" && draft.subtype === "compact_boundary"
    const at = isBoundary ? { parentUuid: null, logicalParentUuid: parent } : { parentUuid: parent }
    return { timestamp, ...draft, uuid: draft.uuid ?? uuid, sessionId: this.id, ...at } as Message
  }

  /** What listing and resuming need. It follows the first message of a person and every boundary, so a resume reads nothing before that. */
  sessionFacts(change: { readonly title?: string; readonly prompt?: Uuid } = {}): DecisionDraft {
    const current = this.views.context.session
    const title = change.title ?? current?.title ?? this.#session.title
    const prompt = change.prompt ?? current?.prompt
    const mode = this.#mode ?? current?.mode
    return {
      type: "strata",
      subtype: "session",
      model: this.#session.model,
      cwd: this.#session.cwd,
      ...(current?.origin === undefined ? {} : { origin: current.origin }),
      ...(mode === undefined ? {} : { mode }),
      ...(title === undefined ? {} : { title }),
      ...(prompt === undefined ? {} : { prompt }),
      ...(this.source === "main" ? {} : { source: this.source }),
    }
  }

  setMode(mode: string): void {
    this.#mode = mode
  }

  /** A resume continues with the model that was asked last, in the mode that was set last. */
  async recordSession(): Promise<void> {
    const { session } = this.views.context
    if (!session) return // it comes with the first message
    const { model, mode } = this.sessionFacts() as DecisionOf<"session">
    if (session.model !== model || session.mode !== mode) await this.decide([this.sessionFacts()])
  }

  /** An undo brings back the session facts of that time. Model and mode continue as they are now, and so does the title. */
  async followUndo(title: string | undefined): Promise<void> {
    const { session, prompt } = this.views.context
    if (session && ((title !== undefined && session.title !== title) || session.prompt !== prompt?.uuid))
      await this.append([
        this.sessionFacts({ ...(title === undefined ? {} : { title }), ...(prompt ? { prompt: prompt.uuid } : {}) }),
      ])
    else await this.recordSession()
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      await this.#makeCertain()
      return work()
    })
  }

  async #append(
    drafts: readonly Draft[],
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
        entries.push(this.place(this.sessionFacts(), parent))
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
    if (waits) {
      for (const entry of entries) this.#unwritten.push(entry) // a call has no room for 100,000 arguments
      this.#flushesUnwritten ||= flush
    } else {
      await this.#writeUnwritten()
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

  async #writeUnwritten(): Promise<void> {
    const [entries, endsTurn, waiting] = [this.#unwritten, this.#flushesUnwritten, this.#waiting]
    this.#unwritten = []
    this.#flushesUnwritten = false
    this.#waiting = []
    this.#isWriting = true
    try {
      if (entries.length > 0) await this.#store(entries, { endsTurn })
    } catch (error) {
      if (this.#call) this.#call.loss = { error }
      this.#lost.add(this.views)
      this.#isUncertain = true
      await this.#makeCertain().catch(() => undefined) // tried again before anything else
      for (const { lost } of waiting) lost()
      throw error
    } finally {
      this.#isWriting = false
    }
    if (endsTurn) this.beginFlush()
    for (const entry of entries) this.events.emit("entry", { entry })
    // not awaited here: they may append
    if (waiting.length > 0) this.#following = Promise.all([this.#following, ...waiting.map(({ written }) => written())])
  }

  /** Resolves if the journal has the entries, also where only its answer was lost. */
  async #store(entries: readonly Entry[], how: AppendOptions = {}): Promise<void> {
    try {
      await this.journal.append(entries, how)
    } catch (error) {
      const found = await this.journal.findMany(entries.map(({ uuid }) => uuid)).catch(() => undefined)
      if (found === undefined) this.#isUncertain = true
      if (found?.length !== entries.length) throw error
    }
    this.#isFlushDue = true
  }

  async #makeCertain(): Promise<void> {
    if (!this.#isUncertain) return
    this.#views = (await loadViews(this.journal, this.#viewOptions)).views
    this.#isUncertain = false
    this.onReload()
  }
}
