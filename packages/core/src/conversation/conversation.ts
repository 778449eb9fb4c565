/**
 * A conversation. A turn consists of three calls: `add` the user's message, `prepare` the request, `record` the response. `record.ts`
 * stores their decisions; the other calls are delegated to files in this folder.
 */
import type { Entry, EntryDraft } from "../journal/entries.ts"
import type { RangePlan } from "../layers/fold/plan.ts"
import type { CompactionPlan, CompactionRefusal, PreparedState } from "../layers/layer.ts"
import type { ColdPrice } from "../layers/planner/cold-price.ts"
import type { Attachment } from "../messages/attachments.ts"
import type { Block, Content } from "../messages/blocks.ts"
import type { ClientMessage } from "../messages/message-identity.ts"
import type { Message, Uuid } from "../messages/messages.ts"
import type { ModelRequest } from "../messages/request.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import {
  breakdownPercentages,
  type ContextBreakdown,
  type ContextShares,
  contextShares,
} from "../tokens/context-breakdown.ts"
import type { Thresholds, WindowUsage } from "../tokens/window.ts"
import { accountContext } from "../views/context/context.ts"
import { type CacheReport, cacheReport } from "../views/reports/cache-report.ts"
import { type LedgerReport, ledgerReport } from "../views/reports/ledger-report.ts"
import {
  type ArtifactsReport,
  artifactsReport,
  type UserMessagesReport,
  userMessagesReport,
  type WorkStateReport,
  workStateReport,
} from "../views/reports/record-reports.ts"
import { branch, rewind } from "./branch.ts"
import { type ClearingReport, type ClearingRequest, clearResults } from "./clear-results.ts"
import { type CompactionRequest, compact, planCompaction, planWithSummary } from "./compact.ts"
import { attach } from "./editor.ts"
import { type ConversationDependencies, Engine } from "./engine.ts"
import type { ConversationEvents, OpenResult } from "./events.ts"
import { answerAside } from "./follow/client-summary.ts"
import { type SyncMessagesOptions, type SyncMessagesReport, syncMessages } from "./follow/follow.ts"
import {
  asPlainJson,
  checkedCopy,
  type ExternalMessage,
  type IncomingContent,
  type IncomingResponse,
  messageDrafts,
  withUserText,
} from "./incoming.ts"
import { mustAnswerCalls } from "./open-calls.ts"
import type { RestorePlan } from "./plan-restore.ts"
import type { Prompt } from "./prompt.ts"
import { changeRange, type FoldRequest, type RangeChange, type SnipRequest } from "./ranges.ts"
import { type NotedRefusal, noteRefusal } from "./refused-content.ts"
import type { PrepareOptions } from "./request-preparer.ts"
import { planConversationRestore, type RestoreReport, restoreAndRecord } from "./restore-files.ts"
import { type UndoReport, type UndoRequest, undo } from "./undo.ts"

const engines = new WeakMap<Conversation, Engine>()

/** The engine of a conversation, for internal code such as agents that need more than the public API. */
export function engineOf(conversation: Conversation): Engine {
  return engines.get(conversation)!
}

export class Conversation implements AsyncDisposable {
  readonly openResult: OpenResult
  readonly #engine: Engine

  /** @internal Use `openConversation`. */
  constructor(parts: ConversationDependencies) {
    this.openResult = parts.opened
    this.#engine = new Engine(parts)
    engines.set(this, this.#engine)
  }

  get id(): string {
    return this.#engine.record.id
  }

  /** Location of the journal. */
  get location(): string {
    return this.#engine.record.journal.location
  }

  get thresholds(): Thresholds {
    return this.#engine.window.current
  }

  get settings(): EffectiveSettings {
    return this.#engine.parts.settings
  }

  /** How much of the context window is used. */
  windowUsage(): WindowUsage {
    return this.#engine.window.fill()
  }

  /** Breakdown of the context by kind of content and by tool. `percent`: share of each part. `shares`: all tools and all repeated reads. */
  accounting(): ContextBreakdown & {
    readonly percent: Readonly<Record<string, number>>
    readonly shares: ContextShares
  } {
    const accounting = accountContext(this.#engine.views)
    return { ...accounting, percent: breakdownPercentages(accounting), shares: contextShares(accounting) }
  }

  /** Cost of the conversation: tokens and dollars by model and purpose, and the savings of each layer. */
  ledger(): LedgerReport {
    return ledgerReport(this.#engine.views)
  }

  /** History of the server's cache: where it broke, why, and what that cost. */
  cacheHistory(): CacheReport {
    return cacheReport(this.#engine.views)
  }

  /** All messages of the user, verbatim, and the standing rules among them. */
  userMessages(): UserMessagesReport {
    return userMessagesReport(this.#engine.views)
  }

  /** Files that were read, created, changed and deleted, and commands with their results. */
  artifacts(): ArtifactsReport {
    return artifactsReport(this.#engine.views)
  }

  /** Open work: todos, the plan, the last request and whether it was answered. */
  workState(): WorkStateReport {
    return workStateReport(this.#engine.views)
  }

  /**
   * Cost of the next message if the server's cache has expired. `undefined` if it may not have expired, the next request compacts anyway,
   * or the price is unknown. `tokens`: cost for another size, such as after a compaction.
   */
  coldPrice(tokens?: number): ColdPrice | undefined {
    return this.#engine.coldPrice(tokens)
  }

  /** State of the summary that is prepared in the background for the next compaction. */
  get preparedCompaction(): PreparedState {
    return this.#engine.layers.upcoming.state
  }

  /** Discards the prepared summary. Its cost is still counted. Returns whether there was one. */
  discardPreparedSummary(): boolean {
    return this.#engine.layers.dropPrepared()
  }

  on<K extends keyof ConversationEvents>(name: K, listener: (event: ConversationEvents[K]) => void): () => void {
    return this.#engine.record.events.on(name, listener)
  }

  /** Adds text, blocks, one message, or several. Resolves with the uuid of the last one, once all are in the journal. */
  async add(incoming: IncomingContent): Promise<Uuid> {
    const drafts = messageDrafts(incoming) // copied synchronously, because the caller may change its objects
    return this.#engine.inOrder(async () => {
      const newest = drafts.at(-1)!
      if (newest.type === "user") this.#engine.mustFit(newest.message.content)
      mustAnswerCalls(this.#engine.views.context.journaledMessages(), drafts)
      return this.#engine.record.together(async () => {
        const entries = await this.#engine.record.decide(withUserText(drafts, this.#engine.views))
        await this.#engine.decideResults(entries)
        return entries.at(-1)!.uuid
      })
    })
  }

  /**
   * Updates the conversation with the complete message list of a client that resends it in each request. A list that diverges creates a
   * branch. Afterwards `prepare` the request, and `record` the response.
   */
  async syncMessages(
    messages: readonly (ClientMessage | ExternalMessage)[],
    options: SyncMessagesOptions = {},
  ): Promise<SyncMessagesReport> {
    return syncMessages(this.#engine, messages, options)
  }

  /**
   * Queues a message that the user typed while the model works. It is sent with the next request, in order, exactly once, even after a
   * crash.
   */
  async enqueue(content: Content, written?: string): Promise<Uuid> {
    this.#engine.mustBeOpen()
    const checked = checkedCopy(content, "user")
    this.#engine.mustFit(checked)
    // not queued behind other calls, so that it is stored at once
    const userPart = written === undefined ? {} : { written }
    const draft: EntryDraft = { type: "user", isQueued: true, message: { role: "user", content: checked }, ...userPart }
    return (await this.#engine.record.append([draft]))[0]!.uuid
  }

  /**
   * Adds context that neither the user nor the model wrote: a file, a todo list, a hook's output, the editor state. The editor state is
   * added once per change.
   */
  async attach(attachment: Attachment): Promise<Uuid> {
    return attach(this.#engine, asPlainJson(attachment, "attachment"))
  }

  /**
   * Prepares the next request: valid, within the window, with cache breakpoints. The same journal always gives the same bytes. An abort
   * changes nothing.
   */
  prepare(options: PrepareOptions = {}): Promise<ModelRequest> {
    return this.#engine.inOrder(async () => {
      options.signal?.throwIfAborted()
      this.#engine.pauses.end()
      await this.#engine.readFlags()
      const { aside, preparer, record } = this.#engine
      return aside ? preparer.aside(aside.order) : record.together(() => preparer.prepare(options), { again: true })
    })
  }

  /** Compacts now. The journal keeps everything; the next request begins with a summary and facts from the journal. */
  compact(order: CompactionRequest = {}, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    return compact(this.#engine, order, signal)
  }

  /**
   * Handles an error that a custom loop received instead of a response. `too-long`: the limit named by the API is learned and applies from
   * now on; compact with `overflowed` and prepare again. `thinking`: the API refused earlier thinking, which is no longer sent; prepare
   * again. `undefined`: another error.
   */
  handleModelError(error: unknown): Promise<NotedRefusal | undefined> {
    return noteRefusal(this.#engine, error)
  }

  /** Forgets the learned limit of this model. Resolves with whether there was one. */
  forgetLimit(): Promise<boolean> {
    const { limits, model } = this.#engine.window
    return this.#engine.inOrder(() => limits.forget(model))
  }

  /**
   * Plans a compaction: what is removed, what remains, tokens and cost. Nothing changes. `withSummary` requests the summary from the model,
   * which costs a call; `compact({ written })` then uses exactly that summary.
   */
  planCompaction(
    order: CompactionRequest = {},
    { withSummary = false, signal }: { readonly withSummary?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<CompactionPlan | CompactionRefusal> {
    return withSummary ? planWithSummary(this.#engine, order, signal) : planCompaction(this.#engine, order)
  }

  /** Folds a range of messages to one line each, or the oldest exchanges until the context has a given size. `unfold` restores a range. */
  fold(request: FoldRequest): Promise<RangePlan> {
    return this.#changeRange({ action: "fold", ...request })
  }

  /** Stops sending a range of messages. They remain in the journal, and the user's messages among them in `userMessages()`. */
  snip(request: SnipRequest): Promise<RangePlan> {
    return this.#changeRange({ action: "snip", ...request })
  }

  /** Restores a folded or snipped range, by the handle of any message in it. */
  unfold(handle: string, { dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<RangePlan> {
    return this.#changeRange({ action: "open", handle, dryRun })
  }

  #changeRange(change: RangeChange): Promise<RangePlan> {
    return this.#engine.inOrder(() => changeRange(this.#engine, change))
  }

  /** Resolves when the layers have no background work. */
  whenIdle(): Promise<void> {
    return this.#engine.layers.whenIdle()
  }

  /** Records the model's response. Resolves with its uuid once it is in the journal. */
  async record(response: IncomingResponse): Promise<Uuid> {
    const taken = this.#engine.recorder.read(response) // copied synchronously, as in `add`
    return this.#engine.inOrder(async () => {
      if (this.#engine.aside) return answerAside(this.#engine, taken)
      const { uuid, stopReason } = await this.#engine.record.together(() =>
        this.#engine.recorder.take(taken, this.#engine.preparer.sent),
      )
      this.#engine.preparer.forgetUndecided()
      this.#engine.catchUpBetweenTurns()
      this.#engine.layers.inBackground("afterResponse")
      if (stopReason === "end_turn") this.#engine.layers.inBackground("afterQuery")
      this.#engine.answered()
      return uuid
    })
  }

  /** Records the streamed part of a response that never ended. */
  recordPartial(text: string, model: string): Promise<Uuid> {
    return this.#engine.inOrder(() =>
      this.#engine.recorder.takePartial({ id: `partial_${this.#engine.record.ids.uuid()}`, text, model }),
    )
  }

  /**
   * Replaces the system prompt, tool list or context from the next request on. The change is recorded and invalidates the server's cache.
   */
  usePrompt(prompt: Prompt): Promise<void> {
    return this.#engine.inOrder(() => this.#engine.prompt.use(prompt))
  }

  setTitle(title: string): Promise<void> {
    return this.#engine.inOrder(async () => {
      const { record } = this.#engine
      await record.append([record.session.draft(record.views.context, { title })])
    })
  }

  /** The current session notes. `undefined` until there are some. */
  notes(): Promise<string | undefined> {
    return this.#engine.record.journal.readNotes()
  }

  /** Clears old tool results or images now: down to a size, or those of one tool. Their handles remain valid, and `undo` restores them. */
  clearResults(request: ClearingRequest): Promise<ClearingReport> {
    return this.#engine.inOrder(() => clearResults(this.#engine, request))
  }

  /**
   * Undoes the last compaction, or the last manual clearing, folding or snipping. The next request equals the one before it, byte for byte,
   * followed by later messages unless they are dropped.
   */
  undo(request: UndoRequest = {}): Promise<UndoReport> {
    return this.#engine.inOrder(() => undo(this.#engine, request))
  }

  /**
   * Continues from an earlier message, even from before a boundary. Later messages remain in the journal. The last message of a
   * compaction's tail is preceded by the summary; an earlier message by the original messages, because the summary covers later ones.
   */
  rewind(uuid: Uuid): Promise<void> {
    return this.#engine.inOrder(() => rewind(this.#engine, uuid))
  }

  /**
   * Plans to restore files that agents changed after a message. Nothing changes. Call it before `rewind`, and pass the plan to
   * `restoreFiles` afterwards.
   */
  planRestore(uuid: Uuid): Promise<RestorePlan> {
    return this.#engine.inOrder(() => planConversationRestore(this.#engine, uuid))
  }

  /**
   * Restores files as planned, and records it so that the model knows. A file that someone else changed since is left unchanged, unless
   * `overwrite` is set. Nothing outside the project's directory is written.
   */
  restoreFiles(
    plan: RestorePlan,
    { overwrite = false }: { readonly overwrite?: boolean } = {},
  ): Promise<RestoreReport> {
    return this.#engine.inOrder(() => restoreAndRecord(this.#engine, { plan, overwrite }))
  }

  /**
   * Copies the conversation up to a message into a new one and resolves with its id. This conversation is unchanged. A copy for an agent is
   * nested under it.
   */
  branch(uuid: Uuid, to: string | { readonly agent: string } = this.#engine.record.ids.uuid()): Promise<string> {
    const place = typeof to === "string" ? { id: to } : { id: to.agent, under: this.id }
    return this.#engine.inOrder(() => branch(this.#engine, { uuid, to: place }))
  }

  /**
   * Finds a block by its handle, byte for byte as it was added, however long ago, or a complete message. Accepts short handles and complete
   * uuids. `<agent>/<handle>` finds content of a sub-agent's conversation. If two have the same handle, returns the newer one.
   */
  recall(handle: `${string}.${number}`): Promise<Block | undefined>
  recall(handle: string): Promise<Block | Message | undefined>
  async recall(handle: string): Promise<Block | Message | undefined> {
    const [newest] = await this.#engine.past.find(handle)
    return newest?.block ?? newest?.message
  }

  /** All entries of the journal in order, including abandoned branches. */
  entries(): AsyncIterable<Entry> {
    return this.#engine.record.journal.entries()
  }

  /** Ends background work and closes the journal. All acknowledged entries are stored. */
  close(): Promise<void> {
    return this.#engine.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
