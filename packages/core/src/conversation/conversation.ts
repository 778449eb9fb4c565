/**
 * A conversation: one journal, its views, and the three things a loop does with it. `add` what was said, `prepare` the next request,
 * `record` the response. What is acknowledged is in the journal; what is sent is a function of the journal.
 */
import type { Clock } from "../base/clock.ts"
import {
  ClosedError,
  CompactionFailedError,
  ConversationExistsError,
  MessageNotFoundError,
  NoCompactionError,
  RangeRefusedError,
} from "../base/errors.ts"
import type { FlagReader, Flags } from "../base/flags.ts"
import type { Ids } from "../base/ids.ts"
import { maskSecrets } from "../base/secrets/find-secrets.ts"
import { compactionAllowed, type EffectiveSettings } from "../base/settings.ts"
import type { Telemetry } from "../base/telemetry.ts"
import { type DecisionDraft, type DecisionOf, type Draft, type Entry, isDecision } from "../journal/entries.ts"
import type { Mailbox } from "../journal/mailbox.ts"
import { newestFirst } from "../journal/newest-first.ts"
import type { Journal, Store } from "../journal/store.ts"
import type { CompactionOrder, CompactionPlan, Refusal } from "../layers/compaction-order.ts"
import { foldAfterRefusal } from "../layers/fold/fold.ts"
import { exchangesOf, type PlannedRange, type RangePlan } from "../layers/fold/plan.ts"
import type { Layer, LayerContext, Outcome } from "../layers/layer.ts"
import { LayerPipeline } from "../layers/pipeline.ts"
import { withWholeRange } from "../layers/range-handles.ts"
import type { Attachment } from "../messages/attachments.ts"
import { type Block, type Content, isToolResult, isToolUse, type ToolResult } from "../messages/blocks.ts"
import { contentOf, type Message, type Uuid } from "../messages/messages.ts"
import type { ModelRequest } from "../messages/request.ts"
import { ConversationRecall } from "../recall/conversation-recall.ts"
import { type Accounting, percentages } from "../tokens/accounting.ts"
import { findModel, type ModelLookup } from "../tokens/models.ts"
import { thresholdsFor } from "../tokens/thresholds.ts"
import { type Fill, fillOf, type Thresholds } from "../tokens/window.ts"
import type { DeferralPlan } from "../tools/deferred/declare.ts"
import type { RecallSource } from "../tools/session/recall-source.ts"
import type { ContextView } from "../views/context/context.ts"
import { accountSent } from "../views/context/sent-accounting.ts"
import { refusedMedia } from "../views/context/withheld-media.ts"
import { copyPath, loadViews } from "../views/load.ts"
import { type CacheReport, cacheReport } from "../views/reports/cache-report.ts"
import { type LedgerReport, ledgerReport } from "../views/reports/ledger-report.ts"
import {
  type ArtifactsReport,
  artifactsReport,
  type FrontierReport,
  frontierReport,
  type WordsReport,
  wordsReport,
} from "../views/reports/record-reports.ts"
import { type ViewOptions, type Views, viewOptions } from "../views/views.ts"
import { CacheWatch } from "./cache-watch.ts"
import { type ClearingReport, type ClearingRequest, clearResults } from "./clear-results.ts"
import type { ConversationEvents, Opened } from "./events.ts"
import { asPlainJson, checkedCopy, type Incoming, type IncomingResponse, messageDrafts } from "./incoming.ts"
import type { Prompt } from "./prompt.ts"
import { type Deferral, PromptKeeper } from "./prompt-keeper.ts"
import { changeRange, type FoldRequest, type RangeChange, type SnipRequest } from "./ranges.ts"
import { ConversationRecord } from "./record.ts"
import { RequestPreparer } from "./request-preparer.ts"
import { ResponseRecorder } from "./response-recorder.ts"
import { Review, summaryOnly } from "./review.ts"
import { type UndoReport, type UndoRequest, undo } from "./undo.ts"

export interface ConversationParts {
  readonly store: Store
  readonly journal: Journal
  readonly views: Views
  readonly opened: Opened
  readonly model: string
  readonly prompt: Prompt
  /** For a conversation without a prompt in its journal. */
  readonly firstPrompt: Prompt
  /** The tools that may wait to be loaded. */
  readonly deferral?: Pick<Deferral, keyof DeferralPlan | "isOn"> | undefined
  readonly cwd: string
  readonly title: string | undefined
  readonly betas: readonly string[]
  readonly settings: EffectiveSettings
  readonly flags: FlagReader
  readonly telemetry: Telemetry
  readonly provider: string
  /** The model reports its requests to telemetry itself. */
  readonly isTraced: boolean
  readonly clock: Clock
  readonly ids: Ids
  readonly layers: readonly Layer[]
  readonly cacheBreakpoints: boolean
  /** The prompt after a boundary, if it may have changed: instruction files are read again. */
  readonly refreshPrompt: (() => Promise<Prompt>) | undefined
  /** Directories with conversations of the project, if the store keeps files. */
  readonly projectJournals?: (() => Promise<readonly string[]>) | undefined
  /** Called when the conversation has closed. */
  readonly release?: () => void
  /** Flag values refused so far. Each is reported once. */
  readonly refusals: readonly string[]
}

/** What a compaction is asked for. Default: everything, because a person wants it. */
export type CompactionRequest = Partial<CompactionOrder>

const OFF = "Everything is switched off (STRATA_OFF), so the view is the whole journal. Nothing was changed."

export class Conversation implements AsyncDisposable {
  readonly opened: Opened
  readonly #parts: ConversationParts
  readonly #record: ConversationRecord
  readonly #model: ModelLookup
  readonly #thresholds: Thresholds
  readonly #layers: LayerPipeline
  readonly #prompt: PromptKeeper
  readonly #preparer: RequestPreparer
  readonly #recorder: ResponseRecorder
  readonly #past: ConversationRecall
  /** Aborts background work when the conversation closes. */
  readonly #closingSignal = new AbortController()
  /** Calls are carried out one after another, in the order they were made. */
  #last: Promise<unknown> = Promise.resolve()
  #closed = false
  #due: (context: ContextView) => readonly Attachment[] = () => []
  #closing: Promise<void> | undefined

  constructor(parts: ConversationParts) {
    const { model, settings, cwd, title } = parts
    const { values } = settings
    this.#parts = parts
    this.opened = parts.opened
    this.#model = findModel(model, values.models)
    this.#thresholds = thresholdsFor({ name: model, values, betas: parts.betas }, this.#model)
    const record = new ConversationRecord({ ...parts, session: { model, cwd, title } })
    this.#record = record
    const factsOf = (name: string) => findModel(name, values.models).facts
    const cache = new CacheWatch(record, factsOf)
    const maxTokens = Math.min(values.maxOutputTokens, this.#model.facts.maxOutput)
    this.#prompt = new PromptKeeper({
      record,
      prompt: parts.prompt,
      first: parts.firstPrompt,
      flags: parts.flags,
      boundThinking: this.#model.facts.accepts.boundThinking && !values.off,
      refresh: parts.refreshPrompt,
      ...(parts.deferral && !values.off
        ? {
            deferral: {
              ...parts.deferral,
              byReference: this.#model.facts.accepts.toolReferences,
              window: this.#thresholds.window,
            },
          }
        : {}),
    })
    this.#layers = new LayerPipeline({
      layers: values.off ? [] : parts.layers,
      telemetry: parts.telemetry,
      conversation: record.id,
      context: (signal) => this.#context(signal),
      append: (drafts, seen) => record.append(drafts, seen),
      onActed: (event) => record.events.emit("layerActed", event),
      onFailed: (event) => record.events.emit("layerFailed", event),
    })
    this.#preparer = new RequestPreparer({
      record,
      model,
      lookup: this.#model,
      maxTokens,
      thresholds: this.#thresholds,
      settings,
      refusals: parts.refusals,
      breakpoints: parts.cacheBreakpoints,
      fill: () => this.fill(),
      layers: this.#layers,
      prompt: this.#prompt,
      cache,
      due: (context) => this.#due(context),
    })
    this.#past = new ConversationRecall({
      store: parts.store,
      journal: parts.journal,
      directories: parts.projectJournals ?? (async () => []),
      mask: maskSecrets,
      estimate: (text) => this.views.estimator.text(text),
    })
    this.#recorder = new ResponseRecorder({
      ...{ record, model, maxTokens, cache, factsOf },
      provider: parts.provider,
      telemetry: parts.isTraced ? undefined : parts.telemetry,
      preparedAt: () => this.#preparer.preparedAt,
    })
  }

  get id(): string {
    return this.#record.id
  }

  /** Where the journal is. */
  get location(): string {
    return this.#record.journal.location
  }

  /** @internal Use `ledger()`, `accounting()` and the other methods that return plain values. */
  get views(): Views {
    return this.#record.views
  }

  get thresholds(): Thresholds {
    return this.#thresholds
  }

  get settings(): EffectiveSettings {
    return this.#parts.settings
  }

  /** @internal The switches and figures of this turn. */
  get flags(): Flags {
    return this.#parts.flags.current
  }

  /** How full the context is. */
  fill(): Fill {
    return fillOf(
      this.views.context.size().tokens,
      this.#thresholds,
      compactionAllowed(this.#parts.settings.values).auto,
    )
  }

  /** Where the context went, by class and by tool. `percent` has each part as a share of the whole. */
  accounting(): Accounting & { readonly percent: Readonly<Record<string, number>> } {
    const accounting = accountSent(this.views)
    return { ...accounting, percent: percentages(accounting) }
  }

  /** What it cost: tokens and money by model and purpose, and what each layer saved. */
  ledger(): LedgerReport {
    return ledgerReport(this.views)
  }

  /** How the server's cache served the conversation: where it broke, why, and what that cost. */
  cacheHistory(): CacheReport {
    return cacheReport(this.views)
  }

  /** Every message of the person, verbatim, and the standing rules among them. */
  words(): WordsReport {
    return wordsReport(this.views)
  }

  /** Files read, created, changed and deleted, and commands with how they ended. */
  artifacts(): ArtifactsReport {
    return artifactsReport(this.views)
  }

  /** What is open: todos, the plan, the last request and whether it was answered. */
  frontier(): FrontierReport {
    return frontierReport(this.views)
  }

  on<K extends keyof ConversationEvents>(name: K, listener: (event: ConversationEvents[K]) => void): () => void {
    return this.#record.events.on(name, listener)
  }

  /** Adds text, blocks, one message, or many. Resolves with the uuid of the last one, once all are in the journal. */
  async add(incoming: Incoming): Promise<Uuid> {
    const drafts = messageDrafts(incoming) // copied at once: the caller may change its objects while it waits
    return this.#inOrder(async () => {
      const entries = await this.#record.append(drafts)
      for (const results of unanswered(entries as readonly Message[])) {
        await this.#parts.flags.readLimits(this.#calledTools())
        await this.#layers.onToolResults(results)
      }
      return entries.at(-1)!.uuid
    })
  }

  /** Keeps what the user types while the model works. It is sent with the next request, in order, exactly once, even after a crash. */
  async enqueue(content: Content): Promise<Uuid> {
    if (this.#closed) throw new ClosedError()
    const checked = checkedCopy(content, "user")
    // does not wait for other calls: it must be safe at once
    const draft: Draft = { type: "user", isQueued: true, message: { role: "user", content: checked } }
    return (await this.#record.append([draft]))[0]!.uuid
  }

  /** Adds context that neither the person nor the model wrote: a file, a todo list, a hook's output. */
  async attach(attachment: Attachment): Promise<Uuid> {
    const own = asPlainJson(attachment, "attachment")
    return this.#inOrder(async () => (await this.#record.append([{ type: "attachment", attachment: own }]))[0]!.uuid)
  }

  /** The next request: valid, within the window, with cache breakpoints. The same journal always gives the same bytes. An abort changes nothing. */
  prepare({ signal }: { readonly signal?: AbortSignal } = {}): Promise<ModelRequest> {
    return this.#inOrder(async () => {
      signal?.throwIfAborted()
      await this.#readFlags()
      return this.#preparer.prepare(signal)
    })
  }

  /** Compacts now. Everything stays in the journal; the next request begins with a summary and facts from the journal. */
  compact(order: CompactionRequest = {}, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    return this.#inOrder(async () => {
      await this.#readFlags()
      const reviewing = new Review(order.review)
      const drafts = await this.#layers.compact(this.#order({ ...order, ...reviewing.asOption }), signal)
      if (!drafts) throw new NoCompactionError()
      reviewing.throwIfCancelled()
      // the prompt after the boundary is settled now, so changed instruction files are not sent twice
      await this.#prompt.settle()
      const failure = drafts.find((draft) => draft.type === "strata" && draft.subtype === "compaction-failed")
      if (failure) throw new CompactionFailedError(failure.reason, failure.message)
    })
  }

  /**
   * What `compact` would do: what goes, what stays, tokens and money. Nothing changes. `withSummary` asks the model for the summary, which
   * costs a call; `compact({ written })` then takes exactly that one.
   */
  async planCompaction(
    order: CompactionRequest = {},
    { withSummary = false, signal }: { readonly withSummary?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<CompactionPlan | Refusal> {
    if (withSummary && !order.written) {
      const planned = await this.planCompaction(order)
      if (planned.kind === "refused" || planned.summary.is === "written") return planned
      const written = await summaryOnly((review) => this.compact({ ...order, review }, signal ? { signal } : {}))
      return this.planCompaction({ ...order, written: { ...written, last: planned.summarised.last } })
    }
    return this.#inOrder(async () => {
      await this.#readFlags()
      const planned = await this.#layers.planCompaction(this.#order(order))
      if (!planned) throw new NoCompactionError()
      return planned
    })
  }

  /** Sends a range of messages as one line each, or the oldest exchanges until the context has a size. `unfold` opens a range again. */
  fold(request: FoldRequest): Promise<RangePlan> {
    return this.#changeRange({ action: "fold", ...request })
  }

  /** Stops sending a range of messages. They stay in the journal, and what the user said in them stays in `words()`. */
  snip(request: SnipRequest): Promise<RangePlan> {
    return this.#changeRange({ action: "snip", ...request })
  }

  /** Sends a folded or snipped range again, by the handle of any message in it. */
  unfold(handle: string, { dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<RangePlan> {
    return this.#changeRange({ action: "open", handle, dryRun })
  }

  /** @internal Folds old exchanges after the API refused a request as too long. Resolves with whether that made room. */
  async foldAfterRefusal(): Promise<boolean> {
    return this.#inOrder(async () => {
      const outcome = this.#parts.settings.values.off ? undefined : foldAfterRefusal(this.#context())
      if (outcome) await this.#layers.act({ name: "fold" }, async () => outcome)
      return outcome !== undefined
    })
  }

  /** @internal The finished exchanges that can be folded or snipped, oldest first. */
  exchanges(): readonly PlannedRange[] {
    return exchangesOf(this.#context())
  }

  #changeRange(change: RangeChange): Promise<RangePlan> {
    return this.#inOrder(async () => {
      if (this.#parts.settings.values.off) throw new RangeRefusedError(OFF)
      await this.#readFlags()
      const { plan, drafts } = changeRange(this.#context(), change)
      await this.#layers.act({ name: "fold" }, async () => ({ drafts }))
      return plan
    })
  }

  /** @internal Runs work of a layer that someone asked for, and journals what it decides. */
  act(layer: Layer, work: (context: LayerContext) => Promise<Outcome | undefined>): Promise<void> {
    return this.#layers.act(layer, work)
  }

  /** Resolves when the layers have no background work left. */
  settled(): Promise<void> {
    return this.#layers.settled()
  }

  /** Records the model's response. Resolves with its uuid once it is in the journal. */
  async record(response: IncomingResponse): Promise<Uuid> {
    const taken = this.#recorder.read(response) // copied at once, as in `add`
    return this.#inOrder(async () => {
      const { uuid, stopReason } = await this.#recorder.take(taken, this.#preparer.serverKeeps)
      this.#preparer.forgetUndecided()
      this.#layers.inBackground("afterResponse")
      if (stopReason === "end_turn") this.#layers.inBackground("afterQuery")
      return uuid
    })
  }

  /** Keeps what was streamed of an answer that never ended. */
  recordPartial(text: string, model: string): Promise<Uuid> {
    return this.#inOrder(() => this.#recorder.takePartial({ id: `partial_${this.#record.ids.uuid()}`, text, model }))
  }

  /** @internal Sends a text in place of images and documents: the unanswered ones, or all. Resolves with how many that changed. */
  withholdMedia(which: "new" | "all", why: string): Promise<number> {
    return this.#inOrder(async () => {
      if (this.#parts.settings.values.off) return 0
      const { context } = this.views
      const drafts = refusedMedia(context, { which, why, boundThinking: this.#model.facts.accepts.boundThinking })
      await this.#record.append(drafts)
      return drafts.reduce((sum, draft) => sum + (draft.subtype === "media-withheld" ? draft.blocks.length : 0), 0)
    })
  }

  /** @internal Leaves out the blocks that a response brought and this version does not know. Resolves with how many. */
  leaveOutReceived(): Promise<number> {
    return this.#inOrder(async () => {
      const repairs = this.views.context.receivedBlocks()
      if (repairs.length === 0 || this.#parts.settings.values.off) return 0
      const why = "the API refused a block before it"
      await this.#record.append([
        { type: "strata", subtype: "repaired", repairs },
        ...(this.#model.facts.accepts.boundThinking
          ? [{ type: "strata" as const, subtype: "thinking-dropped" as const, why }]
          : []),
      ])
      this.#record.events.emit("repaired", { repairs })
      return repairs.length
    })
  }

  /** Uses another system prompt, tool list or context from the next request on. The change is recorded and costs the server's cache. */
  usePrompt(prompt: Prompt): Promise<void> {
    return this.#inOrder(() => this.#prompt.use(prompt))
  }

  setTitle(title: string): Promise<void> {
    return this.#inOrder(async () => {
      await this.#record.append([this.#record.sessionFacts({ title })])
    })
  }

  /** @internal The agent's permission mode. It is journaled where it changes, so a resume finds it. */
  setMode(mode: string): Promise<void> {
    this.#record.setMode(mode)
    return this.#inOrder(() => this.#record.recordSession())
  }

  /** @internal Memories that the agent or the person wrote. Extraction takes this into account. */
  noteMemories(written: Omit<DecisionOf<"memory-written">, "subtype">): Promise<void> {
    return this.#inOrder(async () => {
      await this.#record.append([{ type: "strata", subtype: "memory-written", ...written }])
    })
  }

  /** @internal What a fork starts from: the request as the journal has it now. Nothing is decided and nothing is written. */
  currentRequest(): Promise<ModelRequest> {
    return this.#preparer.forkRequest()
  }

  /** @internal Decisions about the agents that work for this conversation. They change no message, so they wait for no other call. */
  async note(decisions: readonly DecisionDraft[]): Promise<void> {
    if (this.#closed) throw new ClosedError()
    await this.#record.append(decisions)
  }

  /** @internal Keeps a text with the conversation and resolves with where it is: a path, if the store keeps files. */
  async keepText(name: string, text: string): Promise<string> {
    return (await this.#record.journal.writeBlob(name, text)).location
  }

  /** @internal Every entry of the journal, last to first. */
  newestEntries(): AsyncIterable<Entry> {
    return newestFirst(this.#record.journal)
  }

  /** @internal Opens the journal of an agent that works for this conversation, for reading. */
  openAgentJournal(agent: string): Promise<Journal> {
    const { project } = this.#record.journal.address
    return this.#parts.store.open({ project, under: this.id, id: agent }, { access: "read" })
  }

  /** @internal The mailbox of a team of processes on this project, if the store has mailboxes. */
  teamMailbox(team: string): Mailbox | undefined {
    const { project } = this.#record.journal.address
    return this.#parts.store.mailboxes?.({ project, team })
  }

  /** @internal Asked before each request for what the messages in view do not say and the model must know. */
  attachWhatIsDue(due: (context: ContextView) => readonly Attachment[]): void {
    this.#due = due
  }

  /** Clears old tool results or images now: down to a size, or those of one tool. Their handles stay, and `undo` brings them back. */
  clearResults(request: ClearingRequest): Promise<ClearingReport> {
    return this.#inOrder(async () => {
      await this.#readFlags()
      const { off: isOff } = this.#parts.settings.values
      const parts = { record: this.#record, options: this.#viewOptions, layers: this.#layers, isOff }
      return clearResults({ ...parts, context: this.#context() }, request)
    })
  }

  /**
   * Takes back the last compaction, or what was last cleared, folded or snipped by hand. The next request is the one from before, byte for
   * byte, followed by what came later unless that is dropped.
   */
  undo(request: UndoRequest = {}): Promise<UndoReport> {
    return this.#inOrder(async () => {
      const record = this.#record
      const { title } = this.views.context.session ?? {}
      const { boundThinking } = this.#model.facts.accepts
      const report = await undo({ record, options: this.#viewOptions, boundThinking }, request)
      if (request.dryRun) return report
      this.#preparer.forgetUndecided()
      if (report.kind === "compaction") {
        this.#prompt.forgetBoundary()
        this.#layers.compactionUndone()
      } else this.#prompt.compareAgain()
      await record.followUndo(title)
      return report
    })
  }

  /** Continues from an earlier message, even from before a boundary. What came after it stays in the journal. */
  rewind(uuid: Uuid): Promise<void> {
    return this.#inOrder(async () => {
      await this.#mustBeMessage(uuid)
      await this.#record.rewind(uuid, async () => (await loadViews(this.#record.journal, this.#viewOptions)).views)
      this.#prompt.compareAgain()
      this.#preparer.forgetUndecided()
      await this.#record.recordSession() // a rewind does not bring back the mode of that time
    })
  }

  /**
   * Copies the conversation up to a message into a new one and resolves with its id. This one stays unchanged. The copy for an agent is
   * kept under this conversation.
   */
  branch(uuid: Uuid, to: string | { readonly agent: string } = this.#record.ids.uuid()): Promise<string> {
    const id = typeof to === "string" ? to : to.agent
    return this.#inOrder(async () => {
      await this.#mustBeMessage(uuid)
      const { store } = this.#parts
      const { journal } = this.#record
      const address = { ...journal.address, id, ...(typeof to === "string" ? {} : { under: this.id }) }
      const copy = await store.open(address, { access: "write", create: true })
      try {
        if (!copy.opening.created) throw new ConversationExistsError(id, store.description)
        await copyPath(journal, copy, uuid)
        await copy.append([
          this.#record.place({ type: "strata", subtype: "branched", from: { conversation: this.id, uuid } }, uuid),
        ])
      } finally {
        await copy.close()
      }
      return id
    })
  }

  /**
   * A block by its handle, byte for byte as it was added, however long ago, or a whole message. Takes short handles and whole uuids.
   * `<agent>/<handle>` finds what a sub-agent's conversation holds. Where two have the same handle, it is the newer one.
   */
  recall(handle: `${string}.${number}`): Promise<Block | undefined>
  recall(handle: string): Promise<Block | Message | undefined>
  async recall(handle: string): Promise<Block | Message | undefined> {
    const [newest] = await this.#past.find(handle)
    return newest?.block ?? newest?.message
  }

  /** @internal What the Recall tool asks. */
  get past(): RecallSource {
    return this.#past
  }

  /** Every entry of the journal, first to last, including branches that were left. */
  entries(): AsyncIterable<Entry> {
    return this.#record.journal.entries()
  }

  /** Ends background work and closes the journal. Everything acknowledged is kept. */
  close(): Promise<void> {
    this.#closingSignal.abort()
    this.#closing ??= this.#inOrder(async () => {
      await this.#layers.settled()
      this.#closed = true
      this.#past.close()
      this.#parts.release?.()
      await this.#record.journal.close()
    })
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #order(request: CompactionRequest): CompactionOrder {
    return withWholeRange({ trigger: "manual", ...request }, this.views.context.storedMessages())
  }

  get #viewOptions(): ViewOptions {
    return viewOptions(this.#model.facts, this.#parts.settings.values.models)
  }

  #context(given?: AbortSignal): LayerContext {
    const closing = this.#closingSignal.signal
    const { manual, auto } = compactionAllowed(this.#parts.settings.values)
    const signal = given ? AbortSignal.any([given, closing]) : closing
    return {
      conversation: this.id,
      model: this.#parts.model,
      facts: this.#model.facts,
      views: this.views,
      size: this.views.context.size(),
      thresholds: this.#thresholds,
      fill: this.fill(),
      flags: this.#parts.flags.current,
      now: this.#record.clock.now(),
      journal: this.#record.journal,
      compaction: { manual, auto: auto && this.#layers.compacts },
      newUuid: () => this.#record.ids.uuid(),
      request: () => this.#preparer.forkRequest(),
      signal,
      progress: (progress) => this.#record.events.emit("compaction", progress),
    }
  }

  /** Switches and figures hold for a turn. */
  async #readFlags(): Promise<void> {
    await this.#parts.flags.read([...this.views.context.toolNames, ...this.#calledTools()])
  }

  /** Tools that the last response called. */
  #calledTools(): readonly string[] {
    const last = this.views.context.lastResponse
    const calls = last ? contentOf(last).filter(isToolUse) : []
    return calls.map(({ name }) => name)
  }

  async #mustBeMessage(uuid: Uuid): Promise<void> {
    const entry = await this.#record.journal.find(uuid)
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

/** The results of each message after the newest answer: those that layers decide about. Earlier ones were sent before they got here. */
function unanswered(messages: readonly Message[]): readonly (readonly ToolResult[])[] {
  const answered = messages.findLastIndex(({ type }) => type === "assistant")
  return messages
    .slice(answered + 1)
    .map((message) => (message.type === "user" ? contentOf(message).filter(isToolResult) : []))
    .filter((results) => results.length > 0)
}
