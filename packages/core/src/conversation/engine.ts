/**
 * What a conversation works with: its record, layers, prompt, requests and responses, put together once. Calls run here one after another,
 * in the order they were made.
 */

import { setImmediate } from "node:timers/promises"
import type { Clock, Ids } from "../base/clock.ts"
import type { CacheLifetime, RequestSource } from "../base/enums.ts"
import { ClosedError, InvalidContentError, MessageNotFoundError } from "../base/errors.ts"
import type { Telemetry } from "../base/telemetry.ts"
import { runCooperatively, SerialQueue } from "../base/work.ts"
import { type DecisionOf, type Entry, isDecision, isMessage } from "../journal/entries.ts"
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
import type { FlagReader } from "../settings/flags.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import { findModel, type ModelLookup } from "../tokens/models.ts"
import { allowedCompaction } from "../tokens/window.ts"
import type { DeferralPlan } from "../tools/deferred/declare.ts"
import { RECALL_TOOL } from "../tools/session/recall-source.ts"
import type { Pauses } from "../views/cache/pauses.ts"
import type { ContextView } from "../views/context/context.ts"
import type { ViewOptions, Views } from "../views/views.ts"
import type { OpenResult } from "./events.ts"
import { FileKeeper } from "./file-keeper.ts"
import type { Habits } from "./pauses.ts"
import { type Deferral, type Prompt, PromptKeeper } from "./prompt.ts"
import { ConversationRecord } from "./record.ts"
import { RequestPreparer } from "./request-preparer.ts"
import { ResponseRecorder } from "./response-recorder.ts"
import { CacheWatch, PauseWatch, SleepWatch } from "./watches.ts"
import { type SharedLimits, Window } from "./window.ts"

export interface ConversationParts {
  readonly store: Store
  readonly journal: Journal
  readonly views: Views
  readonly viewOptions: ViewOptions
  readonly opened: OpenResult
  readonly model: string
  readonly prompt: Prompt
  /** For a conversation without a prompt in its journal. */
  readonly firstPrompt: Prompt
  /** The tools that may wait to be loaded. */
  readonly deferral?: Pick<Deferral, keyof DeferralPlan | "isOn"> | undefined
  readonly cwd: string
  readonly title: string | undefined
  /** What the requests are for. */
  readonly source: RequestSource
  /** Those that requests are sent with, and those of them that a prepared request carries itself. */
  readonly betas: readonly string[]
  readonly requestBetas: readonly string[]
  readonly settings: EffectiveSettings
  readonly flags: FlagReader
  readonly telemetry: Telemetry
  readonly provider: string
  /** Where the model's requests go. */
  readonly address?: string | undefined
  /** What is known about pauses, and where those of this conversation are kept for later ones. */
  readonly habits?: Habits | undefined
  /** Limits that the store keeps for all conversations. */
  readonly limits: SharedLimits
  /** The model reports its requests to telemetry itself. */
  readonly isTraced: boolean
  readonly clock: Clock
  readonly ids: Ids
  readonly layers: readonly Layer[]
  readonly cacheBreakpoints: boolean
  /** The prompt after a boundary, if it may have changed: instruction files are read again. */
  readonly refreshPrompt: (() => Promise<Prompt>) | undefined
  /** What the messages in view do not say and the model must know. Asked before each request. */
  readonly due: (context: ContextView) => readonly Attachment[]
  /** Whether other conversations of the same owner may be looked into. */
  readonly isShared: boolean
  /** The places of the store with conversations of the project. */
  readonly places?: (() => Promise<readonly string[]>) | undefined
  /** Searches the past beside our own search. */
  readonly embed?: EmbedFunction | undefined
  /** Called when the conversation has closed. */
  readonly release?: () => void
  /** Counts what requests cost, however they end. */
  readonly meter?: Meter | undefined
  /** Flag values refused so far. Each is reported once. */
  readonly refusals: readonly string[]
  /** Whether its views may give their memory back while no one uses it. Not where someone holds on to them, as an agent does. */
  readonly sleeps: boolean
}

/** What a caller asks about the conversation, outside it. */
export interface Aside {
  readonly order: readonly Block[]
}

const IDLE_MS = 3_600_000 // no cache lives longer, and no answer takes longer

export class Engine {
  readonly parts: Omit<ConversationParts, "views" | "viewOptions">
  readonly record: ConversationRecord
  readonly model: ModelLookup
  readonly window: Window
  readonly layers: LayerPipeline
  readonly prompt: PromptKeeper
  readonly preparer: RequestPreparer
  readonly recorder: ResponseRecorder
  readonly pauses: PauseWatch
  readonly #cache: CacheWatch
  readonly #sleeping: SleepWatch | undefined
  /** What `close` needs of the views, so that it wakes no one. */
  #pausesAsleep: Pauses | undefined
  readonly past: ConversationRecall
  /** What files held before tools changed them. */
  readonly files: FileKeeper
  /** A caller's order that is no message. The next request is our view with the order after it. */
  aside: Aside | undefined
  /** Lines of the answers to such orders, as JSON has them. */
  summaries: readonly string[] = []
  /** A caller gives the model the tool Recall as soon as something has left the context. */
  willRecall = false
  /** Aborts background work when the conversation closes. */
  readonly #closingSignal = new AbortController()
  /** Calls are carried out one after another, in the order they were made. */
  readonly #calls = new SerialQueue()
  #isCatchingUp = false
  #isUntouched = true
  #closed = false
  #ended: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor({ views, viewOptions, ...parts }: ConversationParts) {
    const { model, settings, cwd, title, telemetry, flags } = parts
    const { values } = settings
    const { models } = values
    const { provider, address } = parts
    this.parts = parts
    this.model = findModel(model, models)
    const record = new ConversationRecord({ ...parts, views, viewOptions, session: { model, cwd, title } })
    this.record = record
    const named = { name: model, provider, ...(address ? { address } : {}) }
    const window = new Window({ record, model: named, betas: parts.betas, values, shared: parts.limits })
    this.window = window
    this.files = new FileKeeper(record.journal)
    const cache = new CacheWatch({ record, window, models })
    this.#cache = cache
    parts.meter?.use({ record, models, limits: window.limits })
    record.events.on("entry", ({ entry }) => {
      parts.meter?.recorded(entry)
      if (entry.type === "user" || entry.type === "assistant") this.#isUntouched = false
    })
    const { boundThinking, toolReferences: byReference } = this.model.facts.accepts
    this.prompt = new PromptKeeper({
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
      namespaces: parts.places ?? (async () => []),
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

  /** What layers ask of the journal. A search finds also what this call has not written yet. */
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

  /** How long the server is asked to keep what the next request caches, as the planner would decide now. `compacted`: the size after a compaction first. */
  nextLifetime(compacted?: number): CacheLifetime {
    const { cacheLifetime: setting } = this.parts.settings.values
    return (setting === "auto" ? this.layers.nextLifetime(compacted) : undefined) ?? this.window.lifetime
  }

  /** What the next message costs where the cache is gone. */
  coldPrice(tokens?: number): ColdPrice | undefined {
    if (this.isOff) return undefined
    const lifetime = this.nextLifetime(tokens)
    return coldPrice(this.context(), { lifetime, tokens, tail: this.layers.upcoming.tail })
  }

  /** Long enough that it may have been opened only to look at it. Sooner, it goes on as if it had never been closed. */
  #wasIdle(): boolean {
    const last = this.views.context.lastResponse
    return last !== undefined && this.record.clock.now().getTime() - Date.parse(last.timestamp) >= IDLE_MS
  }

  /** Whether the model can look up what leaves the context with the next request. */
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
      flags: this.parts.flags.current,
      now: this.record.clock.now(),
      journal: this.#layersJournal,
      compaction: { manual, auto: auto && this.layers.compacts },
      newUuid: () => this.record.ids.uuid(),
      request: async () => {
        const request = await this.preparer.forkRequest() // of this moment: the conversation may go on
        await this.record.writeSoFar() // what is asked of a model may take minutes
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

  /** A response is in the journal. Only a conversation that someone may come back to has pauses. */
  answered(): void {
    const { sent } = this.preparer
    if (sent && this.record.source === "main") this.pauses.begin(sent.at)
  }

  /** Switches and figures hold for a turn. */
  async readFlags(): Promise<void> {
    await this.parts.flags.read([...this.views.context.toolNames, ...this.calledTools()])
  }

  /** Lets the layers decide about results after the newest answer. Earlier ones were sent before they got here. */
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

  /** Tools that the last response called. */
  calledTools(): readonly string[] {
    const last = this.views.context.lastResponse
    const calls = last ? contentOf(last).filter(isToolUse) : []
    return calls.map(({ name }) => name)
  }

  /** Applies entries that wait in the views, in slices that give way to the turns. The first begins after this one. */
  catchUpBetweenTurns(): void {
    if (this.#isCatchingUp || !this.views.hasBacklog) return
    this.#isCatchingUp = true
    const { signal } = this.#closingSignal
    setImmediate()
      .then(() => runCooperatively(this.views.catchUpTask(), { signal, yieldsToOthers: true }))
      .catch(() => undefined) // closed: the next opening reads the journal
      .finally(() => {
        this.#isCatchingUp = false
      })
  }

  /** Refuses a text that no request can carry, because no layer shortens the newest message: every later request would be refused. */
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

  /** Only between calls, and while nothing that has seen the views works with them. */
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

  /** What comes back is compared with what was sent. */
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

  /** The agent's permission mode. It is journaled where it changes, so a resume finds it. */
  setMode(mode: string): Promise<void> {
    this.record.session.mode = mode
    return this.inOrder(() => this.record.recordSession())
  }

  /** Memories that the agent or the person wrote. Extraction takes this into account. */
  noteMemories(written: Omit<DecisionOf<"memory-written">, "subtype">): Promise<void> {
    return this.inOrder(async () => {
      await this.record.append([{ type: "strata", subtype: "memory-written", ...written }])
    })
  }

  /** Keeps a text with the conversation and resolves with its path. Nothing if the store keeps no files: no tool could read it. */
  async keepText(name: string, text: string): Promise<string | undefined> {
    const { journal } = this.record
    return journal.file === undefined ? undefined : (await journal.writeBlob(name, text)).path
  }

  /** Ends background work and closes the journal. Everything acknowledged is kept. If the store fails, the next call tries again. */
  close(): Promise<void> {
    this.#closingSignal.abort(new ClosedError())
    this.pauses.end()
    this.#sleeping?.end()
    this.#ended ??= this.inOrder(async () => {
      await this.layers.whenIdle()
      await this.window.limits.settled()
      const pauses = this.record.isAsleep ? this.#pausesAsleep : this.views.cacheHistory.pauses
      if (pauses) await this.parts.habits?.keep(pauses)
      await this.parts.meter?.close().catch(() => undefined) // what it kept is found at the next opening
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
