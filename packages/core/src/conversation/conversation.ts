/**
 * A conversation: one journal, its views, and the three things a loop does with it: add what was said, prepare the next request,
 * record the response. Whatever is acknowledged is in the journal; whatever is sent is a function of the journal.
 */
import type { Clock } from "../base/clock.ts"
import {
  ClosedError,
  CompactionFailedError,
  ConversationExistsError,
  MessageNotFoundError,
  NoCompactionError,
} from "../base/errors.ts"
import { Events } from "../base/events.ts"
import type { FlagReader } from "../base/flags.ts"
import type { Ids } from "../base/ids.ts"
import { compactionAllowed, type EffectiveSettings } from "../base/settings.ts"
import type { Telemetry } from "../base/telemetry.ts"
import { type DecisionDraft, type Draft, type Entry, isBoundaryEntry, isDecision } from "../journal/entries.ts"
import type { Journal, Store } from "../journal/store.ts"
import type { CompactionOrder, CompactionPlan, Refusal } from "../layers/compaction-order.ts"
import type { Layer, LayerContext } from "../layers/layer.ts"
import { LayerPipeline } from "../layers/pipeline.ts"
import type { Attachment } from "../messages/attachments.ts"
import { type Block, type Content, frozenCopy, isToolResult, toBlocks } from "../messages/blocks.ts"
import type { Uuid } from "../messages/messages.ts"
import type { ModelRequest } from "../messages/request.ts"
import type { ModelResponse } from "../model/model.ts"
import type { Accounting } from "../tokens/accounting.ts"
import { findModel, type ModelLookup } from "../tokens/models.ts"
import { thresholdsFor } from "../tokens/thresholds.ts"
import { type Fill, fillOf, type Thresholds } from "../tokens/window.ts"
import { accountSent } from "../views/context/sent-accounting.ts"
import { blockAt, parseAddress } from "../views/record/archive.ts"
import { copyPath, loadViews, type Views, viewOptions } from "../views/views.ts"
import { CacheWatch } from "./cache-watch.ts"
import { checkedContent } from "./checked-content.ts"
import { EntryWriter } from "./entry-writer.ts"
import type { ConversationEvents, Opened } from "./events.ts"
import type { Prompt } from "./prompt.ts"
import { PromptKeeper } from "./prompt-keeper.ts"
import { RequestPreparer } from "./request-preparer.ts"
import { ResponseRecorder } from "./response-recorder.ts"
import { calledTools, promptTools } from "./tool-names.ts"

export interface ConversationParts {
  readonly store: Store
  readonly journal: Journal
  readonly views: Views
  readonly opened: Opened
  readonly model: string
  readonly prompt: Prompt
  readonly cwd: string
  readonly title?: string
  readonly betas: readonly string[]
  readonly settings: EffectiveSettings
  readonly flags: FlagReader
  readonly telemetry: Telemetry
  readonly clock: Clock
  readonly ids: Ids
  readonly layers: readonly Layer[]
  /** What the prompt is to be after a boundary, where it may have changed since: instruction files are read again. */
  readonly refreshPrompt?: () => Promise<Prompt>
  /** Flag values that were refused so far: told once each. */
  readonly refusals: readonly string[]
}

export class Conversation {
  readonly opened: Opened
  readonly #parts: ConversationParts
  readonly #events = new Events<ConversationEvents>()
  readonly #model: ModelLookup
  readonly #thresholds: Thresholds
  readonly #layers: LayerPipeline
  readonly #writer: EntryWriter
  readonly #prompt: PromptKeeper
  readonly #preparer: RequestPreparer
  readonly #recorder: ResponseRecorder
  /** Aborts what goes on in the background when the conversation closes. */
  readonly #closingSignal = new AbortController()
  #views: Views
  /** Calls are carried out one after the other, in the order they were made. */
  #last: Promise<unknown> = Promise.resolve()
  #closed = false
  #closing: Promise<void> | undefined

  constructor(parts: ConversationParts) {
    this.#parts = parts
    this.#views = parts.views
    this.opened = parts.opened
    this.#model = findModel(parts.model, parts.settings.values.models)
    this.#thresholds = thresholdsFor(
      { name: parts.model, values: parts.settings.values, betas: parts.betas },
      this.#model,
    )
    const factsOf = (name: string) => findModel(name, parts.settings.values.models).facts
    const views = () => this.#views
    const append = (drafts: readonly Draft[], seen?: Views) => this.#append(drafts, seen)
    this.#writer = new EntryWriter({
      journal: parts.journal,
      clock: parts.clock,
      ids: parts.ids,
      views,
      sessionFacts: () => this.#sessionFacts({}),
      onWritten: (entry) => this.#written(entry),
    })
    const cache = new CacheWatch({
      views,
      factsOf,
      clock: parts.clock,
      events: this.#events,
    })
    this.#prompt = new PromptKeeper({
      prompt: parts.prompt,
      views,
      flags: parts.flags,
      boundThinking: this.#model.facts.accepts.boundThinking && !parts.settings.values.off,
      append,
      sessionFacts: (prompt) => this.#sessionFacts({ prompt }),
      ...(parts.refreshPrompt ? { refresh: parts.refreshPrompt } : {}),
    })
    this.#layers = new LayerPipeline({
      layers: parts.settings.values.off ? [] : parts.layers,
      telemetry: parts.telemetry,
      context: (signal) => this.#context(signal),
      append,
      onActed: (event) => this.#events.emit("layerActed", event),
      onFailed: (event) => this.#events.emit("layerFailed", event),
    })
    const common = {
      journal: parts.journal,
      maxTokens: Math.min(parts.settings.values.maxOutputTokens, this.#model.facts.maxOutput),
      cache,
      events: this.#events,
      append,
    }
    this.#preparer = new RequestPreparer({
      ...common,
      model: parts.model,
      lookup: this.#model,
      thresholds: this.#thresholds,
      settings: parts.settings,
      refusals: parts.refusals,
      views,
      fill: () => this.fill(),
      layers: this.#layers,
      prompt: this.#prompt,
      recordModel: () => this.#recordModel(),
    })
    this.#recorder = new ResponseRecorder({
      ...common,
      telemetry: parts.telemetry,
      factsOf,
      serverKeeps: () => this.#preparer.serverKeeps,
    })
  }

  get id(): string {
    return this.#parts.journal.address.id
  }

  /** Where the journal lies. */
  get location(): string {
    return this.#parts.journal.location
  }

  get views(): Views {
    return this.#views
  }

  get thresholds(): Thresholds {
    return this.#thresholds
  }

  get settings(): EffectiveSettings {
    return this.#parts.settings
  }

  /** How full the context is. */
  fill(): Fill {
    return fillOf(
      this.#views.context.size().tokens,
      this.#thresholds,
      compactionAllowed(this.#parts.settings.values).auto,
    )
  }

  /** Where the context went, by class. */
  accounting(): Accounting {
    return accountSent(this.#views)
  }

  on<K extends keyof ConversationEvents>(name: K, listener: (event: ConversationEvents[K]) => void): () => void {
    return this.#events.on(name, listener)
  }

  /** Adds a user message: a person's words, or tool results. Resolves with its uuid once it is in the journal. */
  add(message: { readonly role: "user"; readonly content: Content; readonly isMeta?: boolean }): Promise<Uuid> {
    return this.#inOrder(async () => {
      const content = frozenCopy(checkedContent(message))
      const draft: Draft = {
        type: "user",
        message: { role: "user", content },
        ...(message.isMeta ? { isMeta: true } : {}),
      }
      const [entry] = await this.#append([draft])
      const results = toBlocks(content).filter(isToolResult)
      if (results.length > 0) await this.#parts.flags.readLimits(calledTools(this.#views))
      await this.#layers.onToolResults(results)
      return entry!.uuid
    })
  }

  /** Keeps what the user types while the system is busy. It is delivered with the next request, in order, exactly once, also after a crash. */
  async enqueue(content: Content): Promise<Uuid> {
    if (this.#closed) throw new ClosedError()
    const checked = frozenCopy(checkedContent({ role: "user", content }))
    // does not wait for what is under way: it must be safe at once
    const [entry] = await this.#append([{ type: "user", isQueued: true, message: { role: "user", content: checked } }])
    return entry!.uuid
  }

  /** Adds something that is neither a person's words nor the model's: a file, a todo list, a hook's output. */
  attach(attachment: Attachment): Promise<Uuid> {
    const own = frozenCopy(attachment)
    return this.#inOrder(async () => (await this.#append([{ type: "attachment", attachment: own }]))[0]!.uuid)
  }

  /** The next request. It is valid, and the same journal always gives the same bytes. Giving up changes nothing. */
  prepare({ signal }: { readonly signal?: AbortSignal } = {}): Promise<ModelRequest> {
    return this.#inOrder(async () => {
      await this.#readFlags()
      return this.#preparer.prepare(signal)
    })
  }

  /** Compacts now. What was said stays in the journal; the next request begins with a summary and the facts (L4-24). */
  compact(
    order: Omit<CompactionOrder, "trigger"> & Partial<Pick<CompactionOrder, "trigger">> = {},
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    return this.#inOrder(async () => {
      await this.#readFlags()
      const drafts = await this.#layers.compact({ trigger: "manual", ...order }, signal)
      if (!drafts) throw new NoCompactionError()
      // what the prompt is from here on is settled now: instruction files that changed are not to be told twice
      await this.#prompt.settle()
      const failure = drafts.find((draft) => draft.type === "strata" && draft.subtype === "compaction-failed")
      if (failure?.type === "strata" && failure.subtype === "compaction-failed")
        throw new CompactionFailedError(failure.reason, failure.message)
    })
  }

  /** What `compact` would do: what would go, what would stay, tokens and money. Nothing changes. */
  planCompaction(
    order: Omit<CompactionOrder, "trigger"> & Partial<Pick<CompactionOrder, "trigger">> = {},
  ): Promise<CompactionPlan | Refusal> {
    return this.#inOrder(async () => {
      await this.#readFlags()
      const planned = await this.#layers.planCompaction({ trigger: "manual", ...order })
      if (!planned) throw new NoCompactionError()
      return planned
    })
  }

  /** Resolves when the layers have nothing under way in the background. */
  settled(): Promise<void> {
    return this.#layers.settled()
  }

  /** Takes in the model's response. Resolves with its uuid once it is in the journal. */
  record(response: ModelResponse): Promise<Uuid> {
    return this.#inOrder(() => this.#record(response))
  }

  /** Keeps what was streamed of an answer that never came to its end. */
  recordPartial(text: string, model: string): Promise<Uuid> {
    return this.#inOrder(() => this.#recorder.recordPartial({ id: `partial_${this.#parts.ids.uuid()}`, text, model }))
  }

  /** Uses another system prompt, tool list or context from the next request on. Recorded; the server's cache is lost with it. */
  usePrompt(prompt: Prompt): Promise<void> {
    return this.#inOrder(() => this.#prompt.use(prompt))
  }

  setTitle(title: string): Promise<void> {
    return this.#inOrder(async () => {
      await this.#append([this.#sessionFacts({ title })])
    })
  }

  /** Goes on from an earlier message, also from before a boundary. What came after it stays in the journal. */
  rewind(uuid: Uuid): Promise<void> {
    return this.#inOrder(async () => {
      await this.#mustBeMessage(uuid)
      await this.#writer.rewind(uuid, async () => {
        const options = viewOptions(this.#model.facts, this.#parts.settings.values.models)
        this.#views = (await loadViews(this.#parts.journal, options)).views
      })
      this.#prompt.compareAgain()
      this.#preparer.nothingUndecided()
    })
  }

  /** Copies the conversation up to a message into a new one, and resolves with its id. This one stays as it is. */
  branch(uuid: Uuid, id: string = this.#parts.ids.uuid()): Promise<string> {
    return this.#inOrder(async () => {
      await this.#mustBeMessage(uuid)
      const { journal, store } = this.#parts
      const copy = await store.open({ ...journal.address, id }, { access: "write", create: true })
      try {
        if (!copy.opening.created) throw new ConversationExistsError(id, store.description)
        await copyPath(journal, copy, uuid)
        await copy.append([
          this.#writer.place({ type: "strata", subtype: "branched", from: { conversation: this.id, uuid } }, uuid),
        ])
      } finally {
        await copy.close()
      }
      return id
    })
  }

  /** A block by its address, byte for byte as it was added, however long ago. */
  async recall(address: string): Promise<Block | undefined> {
    const parsed = parseAddress(address)
    const entry = parsed && (await this.#parts.journal.find(parsed.uuid))
    return entry && blockAt(entry, parsed)
  }

  /** Every entry of the journal, first to last, with branches that were left. */
  entries(): AsyncIterable<Entry> {
    return this.#parts.journal.entries()
  }

  /** What goes on in the background is given up; what it had written is kept. */
  close(): Promise<void> {
    this.#closingSignal.abort()
    this.#closing ??= this.#inOrder(async () => {
      await this.#layers.settled()
      this.#closed = true
      await this.#parts.journal.close()
    })
    return this.#closing
  }

  async #record(response: ModelResponse): Promise<Uuid> {
    const uuid = await this.#recorder.record(response)
    this.#preparer.nothingUndecided()
    this.#layers.inBackground("afterResponse")
    if (response.stop_reason === "end_turn") this.#layers.inBackground("afterQuery")
    return uuid
  }

  /** Whoever resumes goes on with the model that was asked last, not with the first one (JRN-7). */
  async #recordModel(): Promise<void> {
    const { session } = this.#views.context
    if (session && session.model !== this.#parts.model) await this.#append([this.#sessionFacts({})])
  }

  #sessionFacts(change: { title?: string; prompt?: Uuid }): DecisionDraft {
    const standing = this.#views.context.session
    const title = change.title ?? standing?.title ?? this.#parts.title
    const prompt = change.prompt ?? standing?.prompt
    return {
      type: "strata",
      subtype: "session",
      model: this.#parts.model,
      cwd: this.#parts.cwd,
      ...(standing?.mode === undefined ? {} : { mode: standing.mode }),
      ...(title === undefined ? {} : { title }),
      ...(prompt === undefined ? {} : { prompt }),
    }
  }

  #context(given?: AbortSignal): LayerContext {
    const closing = this.#closingSignal.signal
    const { manual, auto } = compactionAllowed(this.#parts.settings.values)
    const signal = given ? AbortSignal.any([given, closing]) : closing
    return {
      conversation: this.id,
      model: this.#parts.model,
      facts: this.#model.facts,
      views: this.#views,
      size: this.#views.context.size(),
      thresholds: this.#thresholds,
      fill: this.fill(),
      flags: this.#parts.flags.current,
      now: this.#parts.clock.now(),
      journal: this.#parts.journal,
      compaction: { manual, auto: auto && this.#layers.compacts },
      newUuid: () => this.#parts.ids.uuid(),
      request: () => this.#preparer.request(),
      signal,
      progress: (progress) => this.#events.emit("compaction", progress),
    }
  }

  /** Switches and figures hold for a turn. */
  async #readFlags(): Promise<void> {
    await this.#parts.flags.read([...promptTools(this.#views), ...calledTools(this.#views)])
  }

  #append(drafts: readonly Draft[], seen?: Views): Promise<readonly Entry[]> {
    return this.#writer.append(drafts, seen)
  }

  #written(entry: Entry): void {
    if (isBoundaryEntry(entry)) this.#prompt.boundary()
    this.#events.emit("entry", { entry })
  }

  async #mustBeMessage(uuid: Uuid): Promise<void> {
    const entry = await this.#parts.journal.find(uuid)
    if (!entry || isDecision(entry)) throw new MessageNotFoundError(uuid)
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(() => {
      if (this.#closed) throw new ClosedError()
      return work()
    })
    this.#last = run.catch(() => undefined)
    return run
  }
}
