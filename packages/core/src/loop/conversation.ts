/**
 * A conversation: one journal, its views, and the three things a loop does with it: add what was said, prepare the next request,
 * record the response. Whatever is acknowledged is in the journal; whatever is sent is a function of the journal.
 */
import type { Clock } from "../base/clock.ts"
import {
  ClosedError,
  CompactionFailedError,
  ContextFullError,
  ConversationExistsError,
  EmptyConversationError,
  InvalidContentError,
  MessageNotFoundError,
  NoCompactionError,
} from "../base/errors.ts"
import { Events } from "../base/events.ts"
import type { Flags } from "../base/flags.ts"
import type { Ids } from "../base/ids.ts"
import { compactionAllowed, type EffectiveSettings } from "../base/settings.ts"
import type { Telemetry } from "../base/telemetry.ts"
import type { Attachment } from "../conversation/attachments.ts"
import {
  type Block,
  type Content,
  frozenCopy,
  isToolResult,
  type ToolResult,
  toBlocks,
} from "../conversation/blocks.ts"
import { planWithholding } from "../conversation/media.ts"
import { MEDIA_LIMITS } from "../conversation/media-limits.ts"
import type { Uuid } from "../conversation/messages.ts"
import type { ModelRequest } from "../conversation/request.ts"
import { RequestValidator } from "../conversation/validate/validator.ts"
import { type DecisionDraft, type Draft, type Entry, isBoundaryEntry, isDecision } from "../journal/entries.ts"
import type { Journal, Store } from "../journal/store.ts"
import { clearedCalls, leftByServer } from "../layers/2-microcompact/by-api.ts"
import type { CompactionOrder, PlannedCompaction } from "../layers/compaction-order.ts"
import type { Layer, Turn } from "../layers/layer.ts"
import { LayerPipeline } from "../layers/pipeline.ts"
import type { ModelResponse } from "../model/model.ts"
import type { Accounting } from "../tokens/accounting.ts"
import { findModel, type ModelLookup, sentModelName } from "../tokens/models.ts"
import { costOf, tokenCounts } from "../tokens/price.ts"
import { type Fill, fillOf, type Thresholds } from "../tokens/window.ts"
import { blockAt, parseAddress } from "../views/archive.ts"
import { buildRequest } from "../views/request.ts"
import { accountSent } from "../views/sent-accounting.ts"
import { copyPath, loadViews, type Views, viewOptions } from "../views/views.ts"
import { CacheWatch } from "./cache-watch.ts"
import { checkedContent } from "./checked-content.ts"
import { EntryWriter } from "./entry-writer.ts"
import type { ConversationEvents, Opened } from "./events.ts"
import type { Prompt } from "./prompt.ts"
import { PromptKeeper } from "./prompt-keeper.ts"
import { thresholdsFor } from "./thresholds.ts"

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
  readonly flags: Flags
  readonly telemetry: Telemetry
  readonly clock: Clock
  readonly ids: Ids
  readonly layers: readonly Layer[]
  /** What the prompt is to be after a boundary, where it may have changed since: instruction files are read again. */
  readonly refreshPrompt?: () => Promise<Prompt>
  /** Flag values that were refused so far: told once each. */
  readonly refusals: readonly string[]
}

/** Said in the user's place where the assistant spoke last and is to go on. */
const GO_ON = "Continue from where you left off."

export class Conversation {
  readonly opened: Opened
  readonly #parts: ConversationParts
  readonly #events = new Events<ConversationEvents>()
  readonly #validator = new RequestValidator()
  readonly #model: ModelLookup
  readonly #thresholds: Thresholds
  readonly #layers: LayerPipeline
  readonly #cache: CacheWatch
  readonly #writer: EntryWriter
  readonly #prompt: PromptKeeper
  /** Aborts what goes on in the background when the conversation closes. */
  readonly #closingSignal = new AbortController()
  readonly #noticed = new Set<string>()
  #views: Views
  /** Results whose process died before the layers had seen them (L1-4). */
  #undecided: readonly (readonly ToolResult[])[]
  /** Calls are carried out one after the other, in the order they were made. */
  #last: Promise<unknown> = Promise.resolve()
  /** The first call whose result the server leaves alone where it clears the last request (L2-5). */
  #serverKeeps: string | undefined
  #closed = false
  #closing: Promise<void> | undefined

  constructor(parts: ConversationParts) {
    this.#parts = parts
    this.#views = parts.views
    this.#undecided = parts.views.context.undecidedResults()
    this.opened = parts.opened
    this.#model = findModel(parts.model, parts.settings.values.models)
    this.#thresholds = thresholdsFor(
      { name: parts.model, values: parts.settings.values, betas: parts.betas },
      this.#model,
    )
    this.#writer = new EntryWriter({
      journal: parts.journal,
      clock: parts.clock,
      ids: parts.ids,
      views: () => this.#views,
      sessionFacts: () => this.#sessionFacts({}),
      onWritten: (entry) => this.#written(entry),
    })
    this.#cache = new CacheWatch({
      views: () => this.#views,
      factsOf: (name) => findModel(name, parts.settings.values.models).facts,
      clock: parts.clock,
      events: this.#events,
    })
    this.#prompt = new PromptKeeper({
      prompt: parts.prompt,
      views: () => this.#views,
      flags: parts.flags,
      boundThinking: this.#model.facts.accepts.boundThinking && !parts.settings.values.off,
      append: (drafts) => this.#append(drafts),
      sessionFacts: (prompt) => this.#sessionFacts({ prompt }),
      ...(parts.refreshPrompt ? { refresh: parts.refreshPrompt } : {}),
    })
    this.#layers = new LayerPipeline({
      layers: parts.settings.values.off ? [] : parts.layers,
      telemetry: parts.telemetry,
      turn: (signal) => this.#turn(signal),
      append: (drafts) => this.#append(drafts),
      onActed: (event) => this.#events.emit("layerActed", event),
      onFailed: (event) => this.#events.emit("layerFailed", event),
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
      await this.#layers.onToolResults(toBlocks(content).filter(isToolResult))
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
    return this.#inOrder(() => this.#prepare(signal))
  }

  /** Compacts now. What was said stays in the journal; the next request begins with a summary and the facts (L4-24). */
  compact(
    order: Omit<CompactionOrder, "trigger"> & Partial<Pick<CompactionOrder, "trigger">> = {},
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    return this.#inOrder(async () => {
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
  ): Promise<PlannedCompaction> {
    return this.#inOrder(async () => {
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
    return this.#inOrder(async () => {
      const id = `partial_${this.#parts.ids.uuid()}`
      const message = {
        id,
        role: "assistant" as const,
        model,
        content: [{ type: "text" as const, text }],
        stop_reason: null,
      }
      return (await this.#append([{ type: "assistant", message }]))[0]!.uuid
    })
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
      this.#undecided = []
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

  async #prepare(signal?: AbortSignal): Promise<ModelRequest> {
    for (const notice of this.#standingNotices()) this.#notice(notice)
    for (const { uuid } of this.#views.context.queued)
      await this.#append([{ type: "strata", subtype: "delivered", queued: uuid }])
    for (const results of this.#undecided) await this.#layers.onToolResults(results)
    this.#undecided = []
    await this.#prompt.settle() // what it takes is part of the size that the layers look at
    await this.#layers.beforeRequest(signal)
    signal?.throwIfAborted()
    await this.#prompt.settle() // behind a boundary it may be another one
    if (this.#views.context.isEmpty) throw new EmptyConversationError()
    if (this.#views.context.awaitsUser()) {
      await this.#append([
        { type: "user", isMeta: true, message: { role: "user", content: [{ type: "text", text: GO_ON }] } },
      ])
    }
    if (!this.#parts.settings.values.off) await this.#withholdMedia()
    await this.#recordRepairs()

    const size = this.#views.context.size()
    const fill = this.fill()
    if (fill.state === "blocked") {
      throw new ContextFullError({ used: size.tokens, limit: this.#thresholds.blocking, model: this.#model.facts.id })
    }
    const { request, closed, revision } = await this.#build()
    this.#validator.check({ request, model: this.#model.facts, settled: { closed, revision } })
    await this.#parts.journal.sync()
    this.#cache.sent(request, { closed, revision })
    this.#serverKeeps = this.#views.context.serverKept.firstOf(leftByServer(request))
    this.#events.emit("prepared", { request, size, fill })
    return request
  }

  /** The request as the views have it now. */
  async #build() {
    const { messages, closed, revision } = this.#views.context.messages()
    const { system, tools } = this.#views.context.prompt ?? {}
    const request = buildRequest({
      model: sentModelName(this.#parts.model),
      maxTokens: this.#maxTokens(),
      system,
      tools,
      messages,
      extras: await this.#layers.requestExtras(),
    })
    return { request, closed, revision }
  }

  async #record(response: ModelResponse): Promise<Uuid> {
    const { id, model, content, stop_reason, stop_sequence = null, usage } = response
    if (!Array.isArray(content)) throw new InvalidContentError("the response has no list of content blocks")
    const message = {
      id,
      type: "message",
      role: "assistant" as const,
      model,
      content: frozenCopy(content as Block[]),
      stop_reason,
      stop_sequence,
      usage,
    }
    this.#undecided = [] // they have been sent as they are
    const [entry] = await this.#append([{ type: "assistant", message }])
    const edits = response.context_management?.applied_edits ?? []
    if (edits.length > 0) {
      const keptFrom = clearedCalls(edits) ? this.#serverKeeps : undefined
      await this.#append([{ type: "strata", subtype: "server-edited", edits, ...(keptFrom ? { keptFrom } : {}) }])
    }
    await this.#parts.journal.sync()
    const counts = usage ? tokenCounts(usage) : undefined
    const { facts } = findModel(model, this.#parts.settings.values.models)
    const stopReason = stop_reason ?? undefined
    this.#parts.telemetry.recorded(
      { conversation: this.id, model, maxTokens: this.#maxTokens(), purpose: "main" },
      { responseId: id, responseModel: model, ...(stopReason ? { stopReason } : {}), ...(counts ? { counts } : {}) },
    )
    this.#events.emit("recorded", {
      counts,
      cost: counts ? costOf(facts, counts) : { known: false, why: "no usage was reported" },
      stopReason,
    })
    this.#cache.settled(response)
    this.#layers.inBackground("afterResponse")
    if (stop_reason === "end_turn") this.#layers.inBackground("afterQuery")
    return entry!.uuid
  }

  #maxTokens(): number {
    return Math.min(this.#parts.settings.values.maxOutputTokens, this.#model.facts.maxOutput)
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

  async #withholdMedia(): Promise<void> {
    const { media, withheldAddresses } = this.#views.context
    if (media.length === 0) return
    const blocks = planWithholding(media, withheldAddresses, MEDIA_LIMITS)
    if (blocks.length > 0) await this.#append([{ type: "strata", subtype: "media-withheld", blocks }])
  }

  async #recordRepairs(): Promise<void> {
    const repairs = this.#views.context.unrecordedRepairs()
    if (repairs.length === 0) return
    await this.#append([{ type: "strata", subtype: "repaired", repairs }])
    this.#events.emit("repaired", { repairs })
  }

  #turn(given?: AbortSignal): Turn {
    const closing = this.#closingSignal.signal
    const signal = given ? AbortSignal.any([given, closing]) : closing
    return {
      conversation: this.id,
      model: this.#parts.model,
      facts: this.#model.facts,
      views: this.#views,
      size: this.#views.context.size(),
      thresholds: this.#thresholds,
      fill: this.fill(),
      flags: this.#parts.flags,
      now: this.#parts.clock.now(),
      journal: this.#parts.journal,
      compaction: compactionAllowed(this.#parts.settings.values),
      newUuid: () => this.#parts.ids.uuid(),
      request: async () => (await this.#build()).request,
      signal,
      progress: (progress) => this.#events.emit("compaction", progress),
    }
  }

  #append(drafts: readonly Draft[]): Promise<readonly Entry[]> {
    return this.#writer.append(drafts)
  }

  #written(entry: Entry): void {
    if (isBoundaryEntry(entry)) this.#prompt.boundary()
    this.#events.emit("entry", { entry })
  }

  async #mustBeMessage(uuid: Uuid): Promise<void> {
    const entry = await this.#parts.journal.find(uuid)
    if (!entry || isDecision(entry)) throw new MessageNotFoundError(uuid)
  }

  #standingNotices(): string[] {
    return [...(this.#model.known ? [] : [this.#model.notice]), ...this.#thresholds.notices, ...this.#parts.refusals]
  }

  #notice(message: string): void {
    if (this.#noticed.has(message)) return
    this.#noticed.add(message)
    this.#events.emit("notice", { message })
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
