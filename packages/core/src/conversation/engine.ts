/**
 * The parts of a conversation: its record, layers, prompt, requests and responses, created once. Calls run here one after another, in the
 * order they were made.
 */

import { setImmediate } from "node:timers/promises"
import type { Clock, Ids } from "../base/clock.ts"
import type { CacheLifetime, RequestSource } from "../base/enums.ts"
import { ClosedError, InvalidContentError, MessageNotFoundError } from "../base/errors.ts"
import type { Telemetry } from "../base/telemetry.ts"
import { SerialQueue } from "../base/work.ts"
import { type DecisionDraft, type DecisionOf, type Entry, isDecision, isMessage } from "../journal/entries.ts"
import type { Mailbox } from "../journal/mailbox.ts"
import type { Journal, Store } from "../journal/store.ts"
import type { Layer, LayerContext } from "../layers/layer.ts"
import { LayerPipeline } from "../layers/pipeline.ts"
import { type ColdPrice, coldPrice } from "../layers/planner/cold-price.ts"
import type { Attachment } from "../messages/attachments.ts"
import { type Block, type Content, isToolResult, isToolUse } from "../messages/blocks.ts"
import { contentOf, type Uuid } from "../messages/messages.ts"
import type { Meter } from "../model/spending/meter.ts"
import { ConversationRecall } from "../recall/conversation-recall.ts"
import type { EmbedFunction } from "../recall/vectors/embedded-passages.ts"
import type { FlagReader, Flags } from "../settings/flags.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import { findModel, type ModelLookup } from "../tokens/models.ts"
import { allowedCompaction } from "../tokens/window.ts"
import type { DeferralPlan } from "../tools/deferred/declare.ts"
import { RECALL_TOOL } from "../tools/session/recall-source.ts"
import type { Pauses } from "../views/cache/pauses.ts"
import type { ContextView } from "../views/context/context.ts"
import type { ViewOptions, Views } from "../views/views.ts"
import type { OpenResult } from "./events.ts"
import { FileSnapshots } from "./file-snapshots.ts"
import type { PausePattern } from "./pauses.ts"
import { type Deferral, type Prompt, PromptRenderer } from "./prompt.ts"
import { ConversationRecord } from "./record.ts"
import { RequestPreparer } from "./request-preparer.ts"
import { ResponseRecorder } from "./response-recorder.ts"
import { CacheWatch, PauseWatch, SleepWatch } from "./watches.ts"
import { type SharedLimits, Window } from "./window.ts"

export interface ConversationDependencies {
  readonly store: Store
  readonly journal: Journal
  readonly views: Views
  readonly viewOptions: ViewOptions
  readonly opened: OpenResult
  readonly model: string
  readonly prompt: Prompt
  /** Prompt for a conversation whose journal has none. */
  readonly firstPrompt: Prompt
  /** Deferred tools. */
  readonly deferral?: Pick<Deferral, keyof DeferralPlan | "isOn"> | undefined
  readonly cwd: string
  readonly title: string | undefined
  /** Purpose of the requests. */
  readonly source: RequestSource
  /** Betas that requests are sent with. `requestBetas`: those that a prepared request contains itself. */
  readonly betas: readonly string[]
  readonly requestBetas: readonly string[]
  readonly settings: EffectiveSettings
  readonly flags: FlagReader
  readonly telemetry: Telemetry
  readonly provider: string
  /** Address of the model's server. */
  readonly address?: string | undefined
  /** Known pause patterns, and storage for those of this conversation. */
  readonly habits?: PausePattern | undefined
  /** Learned limits that the store shares between conversations. */
  readonly limits: SharedLimits
  /** Whether the model reports its requests to telemetry itself. */
  readonly isTraced: boolean
  readonly clock: Clock
  readonly ids: Ids
  readonly layers: readonly Layer[]
  readonly cacheBreakpoints: boolean
  /** Returns the prompt after a boundary, if it may have changed because instruction files are read again. */
  readonly refreshPrompt: (() => Promise<Prompt>) | undefined
  /** Pending notices for the model. Called before each request. */
  readonly due: (context: ContextView) => readonly Attachment[]
  /** Whether other conversations of the same owner may be searched. */
  readonly isShared: boolean
  /** Namespaces of the store with conversations of the project. */
  readonly namespaces?: (() => Promise<readonly string[]>) | undefined
  /** Computes embeddings for semantic search, in addition to full-text search. */
  readonly embed?: EmbedFunction | undefined
  /** Called when the conversation has closed. */
  readonly release?: () => void
  /** Counts the cost of requests, even failed ones. */
  readonly meter?: Meter | undefined
  /** Messages about refused flag values. Each is reported once. */
  readonly refusals: readonly string[]
  /** Whether its views may be unloaded while nobody uses it. False if someone holds references to them, as an agent does. */
  readonly sleeps: boolean
}

/** A client's request about the conversation that is not part of it, such as for its own summary. */
export interface Aside {
  readonly order: readonly Block[]
}

const IDLE_MS = 3_600_000 // no cache lives longer, and no response takes longer

export class Engine {
  readonly parts: Omit<ConversationDependencies, "views" | "viewOptions">
  readonly record: ConversationRecord
  readonly model: ModelLookup
  readonly window: Window
  readonly layers: LayerPipeline
  readonly prompt: PromptRenderer
  readonly preparer: RequestPreparer
  readonly recorder: ResponseRecorder
  readonly pauses: PauseWatch
  readonly #cache: CacheWatch
  readonly #sleeping: SleepWatch | undefined
  /** Pauses that `close` needs, so that it need not load the views. */
  #pausesAsleep: Pauses | undefined
  readonly past: ConversationRecall
  /** Snapshots of files before tools changed them. */
  readonly files: FileSnapshots
  /** A client's request that is not a message. The next request is the current view followed by it. */
  aside: Aside | undefined
  /** Lines of the responses to such requests, JSON-encoded. */
  summaries: readonly string[] = []
  /** Whether the client provides the Recall tool as soon as content has left the context. */
  willRecall = false
  /** Aborts background work when the conversation closes. */
  readonly #closingSignal = new AbortController()
  /** Runs calls one after another, in the order they were made. */
  readonly #calls = new SerialQueue()
  #isCatchingUp = false
  #isUntouched = true
  #closed = false
  #ended: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor({ views, viewOptions, ...parts }: ConversationDependencies) {
    const { model, settings, telemetry, flags } = parts
    const { values } = settings
    const { models } = values
    const { provider, address } = parts
    this.parts = parts
    this.model = findModel(model, models)
    const record = new ConversationRecord({ ...parts, views, viewOptions })
    this.record = record
    const named = { name: model, provider, ...(address ? { address } : {}) }
    const window = new Window({ record, model: named, betas: parts.betas, values, shared: parts.limits })
    this.window = window
    this.files = new FileSnapshots(record.journal)
    const cache = new CacheWatch({ record, window, models })
    this.#cache = cache
    parts.meter?.use({ record, models, limits: window.limits })
    record.events.on("entry", ({ entry }) => {
      parts.meter?.recorded(entry)
      if (entry.type === "user" || entry.type === "assistant") this.#isUntouched = false
    })
    const { boundThinking, toolReferences: byReference } = this.model.facts.accepts
    this.prompt = new PromptRenderer({
      record,
      prompt: parts.prompt,
      first: parts.firstPrompt,
      flags,
      window,
      boundThinking: boundThinking && !values.off,
      refresh: parts.refreshPrompt,
      deferral: parts.deferral && !values.off ? { ...parts.deferral, byReference } : undefined,
    })
    this.layers = new LayerPipeline({
      layers: values.off ? [] : parts.layers,
      telemetry,
      conversation: record.id,
      source: record.source,
      context: (signal) => this.context(signal),
      record,
    })
    this.preparer = new RequestPreparer({
      ...{ record, model, lookup: this.model, window, settings, flags, cache },
      refusals: parts.refusals,
      betas: parts.requestBetas,
      breakpoints: parts.cacheBreakpoints,
      layers: this.layers,
      prompt: this.prompt,
      due: parts.due,
    })
    this.recorder = new ResponseRecorder({
      ...{ record, model, models, window, cache, telemetry, provider },
      isTraced: parts.isTraced,
    })
    this.pauses = new PauseWatch({ record, layers: this.layers, clock: record.clock })
    this.past = new ConversationRecall({
      store: parts.store,
      journal: parts.journal,
      isShared: parts.isShared,
      namespaces: parts.namespaces ?? (async () => []),
      estimate: (text) => this.views.estimator.text(text),
      embed: parts.embed,
    })
    record.events.on("reloaded", () => {
      this.prompt.compareAgain()
      this.preparer.decideAgain()
    })
    if (parts.sleeps)
      this.#sleeping = new SleepWatch({ record, clock: record.clock, sleep: (uses) => this.#sleep(uses) })
  }

  get views(): Views {
    return this.record.views
  }

  /** Flags of this turn. */
  get flags(): Flags {
    return this.parts.flags.current
  }

  /** Namespace of the conversation in the store. */
  get namespace(): string {
    return this.record.journal.address.project
  }

  /** Opens the journal of a sub-agent for reading. */
  openAgentJournal(agent: string): Promise<Journal> {
    return this.parts.store.open({ project: this.namespace, under: this.record.id, id: agent }, { access: "read" })
  }

  /** The mailbox of a team of processes on this project. */
  teamMailbox(team: string): Mailbox {
    return this.parts.store.mailboxes({ project: this.namespace, team })
  }

  /** The journal as layers access it. Searches include entries that this call has not written yet. */
  get #layersJournal(): LayerContext["journal"] {
    const { journal } = this.record
    const { address, location, file, notesPath } = journal
    return {
      ...{ address, location },
      ...(file === undefined ? {} : { file }),
      ...(notesPath === undefined ? {} : { notesPath }),
      find: async (uuid) => {
        await this.record.writeSoFar()
        return journal.find(uuid)
      },
      writeBlob: (name, data) => journal.writeBlob(name, data),
      readBlob: (name) => journal.readBlob(name),
      readNotes: () => journal.readNotes(),
      writeNotes: (text, expected) => journal.writeNotes(text, expected),
    }
  }

  /** Cache lifetime of the next request, as the planner would decide now. `compacted`: size after a compaction that runs first. */
  nextLifetime(compacted?: number): CacheLifetime {
    const { cacheLifetime: setting } = this.parts.settings.values
    return (setting === "auto" ? this.layers.nextLifetime(compacted) : undefined) ?? this.window.lifetime
  }

  /** Cost of the next message if the cache has expired. */
  coldPrice(tokens?: number): ColdPrice | undefined {
    if (this.isOff) return undefined
    const lifetime = this.nextLifetime(tokens)
    return coldPrice(this.context(), { lifetime, tokens, tail: this.layers.upcoming.tail })
  }

  /**
   * Whether the conversation was idle so long that the user may only be reading. After a shorter time it continues as if it had never been
   * closed.
   */
  #wasIdle(): boolean {
    const last = this.views.context.lastResponse
    return last !== undefined && this.record.clock.now().getTime() - Date.parse(last.timestamp) >= IDLE_MS
  }

  /** Whether the model can recall content that leaves the context with the next request. */
  get canRecall(): boolean {
    return this.willRecall || this.views.context.toolNames.includes(RECALL_TOOL)
  }

  get isOff(): boolean {
    return this.parts.settings.values.off
  }

  context(given?: AbortSignal): LayerContext {
    const closing = this.#closingSignal.signal
    const { manual, auto } = allowedCompaction(this.parts.settings.values)
    const signal = given ? AbortSignal.any([given, closing]) : closing
    return {
      conversation: this.record.id,
      model: this.parts.model,
      facts: this.model.facts,
      views: this.views,
      size: this.views.context.size(),
      thresholds: this.window.current,
      thresholdsOf: (asked) => this.window.of(asked),
      fill: this.window.fill(),
      flags: this.flags,
      now: this.record.clock.now(),
      journal: this.#layersJournal,
      compaction: { manual, auto: auto && this.layers.compacts },
      newUuid: () => this.record.ids.uuid(),
      request: async () => {
        const request = await this.preparer.forkRequest() // built first, because the conversation may continue
        await this.record.writeSoFar() // written first, because the model's response may take minutes
        return request
      },
      canRecall: this.canRecall,
      isIdleSinceOpening: this.#isUntouched && this.#wasIdle(),
      prior: this.parts.habits?.prior,
      runInBackground: (layer, work) => this.layers.begin(layer, work),
      signal,
      progress: (progress) => this.record.events.emit("compaction", progress),
    }
  }

  /** Called after a response was recorded. Only main conversations, to which a user may return, have pauses. */
  answered(): void {
    const { sent } = this.preparer
    if (sent && this.record.source === "main") this.pauses.begin(sent.at)
  }

  /** Reads the flags, which apply for a turn. */
  async readFlags(): Promise<void> {
    await this.parts.flags.read([...this.views.context.toolNames, ...this.calledTools()])
  }

  /** Lets the layers decide about results after the newest response. Earlier results were already sent. */
  async decideResults(entries: readonly Entry[]): Promise<void> {
    const messages = entries.filter(isMessage)
    const answered = messages.findLastIndex(({ type }) => type === "assistant")
    for (const message of messages.slice(answered + 1)) {
      const results = message.type === "user" ? contentOf(message).filter(isToolResult) : []
      if (results.length === 0) continue
      await this.parts.flags.readLimits(this.calledTools())
      await this.layers.onToolResults(results)
    }
    await this.preparer.noteResults()
  }

  /** Names of the tools that the last response called. */
  calledTools(): readonly string[] {
    const last = this.views.context.lastResponse
    const calls = last ? contentOf(last).filter(isToolUse) : []
    return calls.map(({ name }) => name)
  }

  /** Applies pending entries to the views, in slices that yield to turns. The first slice begins after this turn. */
  catchUpBetweenTurns(): void {
    if (this.#isCatchingUp || !this.views.hasBacklog) return
    this.#isCatchingUp = true
    const { signal } = this.#closingSignal
    setImmediate()
      .then(() => this.views.catchUp({ signal, yieldsToOthers: true }))
      .catch(() => undefined) // closed; the next opening reads the journal
      .finally(() => {
        this.#isCatchingUp = false
      })
  }

  /** Throws for a text that fits in no request: no layer shortens the newest message, so every later request would be refused. */
  mustFit(content: Content): void {
    const tokens = Math.round(this.views.context.textTokens(content))
    const room = this.window.current.blocking - this.views.context.promptTokens
    if (tokens <= room) return
    throw new InvalidContentError(
      `it has about ${tokens} tokens, and ${this.parts.model} has room for ${Math.max(0, room)}. Write it to a file and name the file, or use a model with a larger window`,
    )
  }

  async mustBeMessage(uuid: Uuid): Promise<void> {
    const entry = await this.record.journal.find(uuid)
    if (!entry || isDecision(entry)) throw new MessageNotFoundError(uuid)
  }

  mustBeOpen(): void {
    if (this.#closed) throw new ClosedError()
  }

  /** Unloads the views between calls, unless something that uses them is running. */
  #sleep(uses: number): Promise<void> {
    return this.inOrder(async () => {
      if (this.layers.isBusy || this.#isCatchingUp || this.#awaitsAnswer()) return
      await this.record.sleep({
        uses,
        letGo: ({ cacheHistory }) => {
          this.#pausesAsleep = cacheHistory.pauses
          this.#cache.letGo(cacheHistory)
          this.preparer.letGo()
        },
      })
    })
  }

  /** Whether a response is expected, which will be compared with the request. */
  #awaitsAnswer(): boolean {
    const { sent } = this.preparer
    const isRecent = sent && this.record.clock.now().getTime() - sent.at.getTime() < IDLE_MS
    return this.#cache.awaitsAnswer && isRecent === true
  }

  inOrder<T>(work: () => Promise<T>): Promise<T> {
    return this.#calls.run(() => {
      this.mustBeOpen()
      return work()
    })
  }

  /** Records decisions about sub-agents. They change no message, so they are not queued behind other calls. */
  async note(decisions: readonly DecisionDraft[]): Promise<void> {
    this.mustBeOpen()
    await this.record.append(decisions)
  }

  /** Sets the agent's permission mode. Changes are recorded in the journal, so that a resumed conversation finds them. */
  setMode(mode: string): Promise<void> {
    this.record.session.mode = mode
    return this.inOrder(() => this.record.recordSession())
  }

  /** Records memories that the agent or the user wrote, for extraction to take into account. */
  noteMemories(written: Omit<DecisionOf<"memory-written">, "subtype">): Promise<void> {
    return this.inOrder(async () => {
      await this.record.append([{ type: "strata", subtype: "memory-written", ...written }])
    })
  }

  /** Ends background work and closes the journal. All acknowledged entries are stored. If the store fails, the next call tries again. */
  close(): Promise<void> {
    this.#closingSignal.abort(new ClosedError())
    this.pauses.end()
    this.#sleeping?.end()
    this.#ended ??= this.inOrder(async () => {
      await this.layers.whenIdle()
      await this.window.limits.settled()
      const pauses = this.record.isAsleep ? this.#pausesAsleep : this.views.cacheHistory.pauses
      if (pauses) await this.parts.habits?.keep(pauses)
      await this.parts.meter?.close().catch(() => undefined) // its records are found at the next opening
      this.#closed = true
      this.past.close()
      this.parts.release?.()
    })
    this.#closing ??= this.#ended
      .then(() => this.record.journal.close())
      .catch((error: unknown) => {
        this.#closing = undefined
        throw error
      })
    return this.#closing
  }
}
