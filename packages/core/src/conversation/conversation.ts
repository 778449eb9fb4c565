/**
 * A conversation. A turn is three calls: `add` what was said, `prepare` the request, `record` the answer. What they decide is kept by
 * `record.ts`; each of the other calls is a line here and a file beside it.
 */
import type { DecisionDraft, Entry, EntryDraft } from "../journal/entries.ts"
import type { Mailbox } from "../journal/mailbox.ts"
import type { PermitAttempt, PermitRequest } from "../journal/permit.ts"
import type { Journal } from "../journal/store.ts"
import { listExchanges, type PlannedRange, type RangePlan } from "../layers/fold/plan.ts"
import type { CompactionPlan, CompactionRefusal, LayerName, PreparedState } from "../layers/layer.ts"
import type { ColdPrice } from "../layers/planner/cold-price.ts"
import { type PlannerReport, plannerReport } from "../layers/planner/lifetime.ts"
import type { Attachment } from "../messages/attachments.ts"
import type { Block, Content } from "../messages/blocks.ts"
import type { ClientMessage } from "../messages/message-identity.ts"
import type { Message, Uuid } from "../messages/messages.ts"
import type { ModelRequest } from "../messages/request.ts"
import type { Flags } from "../settings/flags.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import {
  breakdownPercentages,
  type ContextBreakdown,
  type ContextShares,
  contextShares,
} from "../tokens/context-breakdown.ts"
import type { Thresholds, WindowUsage } from "../tokens/window.ts"
import type { RecallSource } from "../tools/session/recall-source.ts"
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
import type { Views } from "../views/views.ts"
import { branch, rewind } from "./branch.ts"
import { type ClearingReport, type ClearingRequest, clearResults } from "./clear-results.ts"
import { type CompactionRequest, compact, planCompaction, planWithSummary } from "./compact.ts"
import { attach } from "./editor.ts"
import { type ConversationParts, Engine } from "./engine.ts"
import type { ConversationEvents, OpenResult } from "./events.ts"
import { answerAside } from "./follow/aside.ts"
import { follow, type SyncMessagesOptions, type SyncMessagesReport } from "./follow/follow.ts"
import {
  asPlainJson,
  checkedCopy,
  type Incoming,
  type IncomingResponse,
  messageDrafts,
  type OtherMessage,
  withUsersWords,
} from "./incoming.ts"
import { mustAnswerCalls } from "./open-calls.ts"
import type { RestorePlan } from "./plan-restore.ts"
import type { Prompt } from "./prompt.ts"
import { changeRange, type FoldRequest, type RangeChange, type SnipRequest } from "./ranges.ts"
import { type NotedRefusal, noteRefusal } from "./refused-content.ts"
import type { PrepareOptions } from "./request-preparer.ts"
import { plannedRestore, type RestoreReport, restored } from "./restore-files.ts"
import { type UndoReport, type UndoRequest, undo } from "./undo.ts"

const engines = new WeakMap<Conversation, Engine>()

/** What a conversation works with, for the floors above: agents do more with it than users. */
export function engineOf(conversation: Conversation): Engine {
  return engines.get(conversation)!
}

export class Conversation implements AsyncDisposable {
  readonly openResult: OpenResult
  readonly #engine: Engine

  /** @internal Use `openConversation`. */
  constructor(parts: ConversationParts) {
    this.openResult = parts.opened
    this.#engine = new Engine(parts)
    engines.set(this, this.#engine)
  }

  get id(): string {
    return this.#engine.record.id
  }

  /** Where the journal is. */
  get location(): string {
    return this.#engine.record.journal.location
  }

  /** @internal The file of its journal, where the store keeps files. */
  get journalFile(): string | undefined {
    return this.#engine.record.journal.file
  }

  /** @internal Use `ledger()`, `accounting()` and the other methods that return plain values. */
  get views(): Views {
    return this.#engine.record.views
  }

  /** @internal Whether it sleeps, once the calls made so far are done. */
  isAsleep(): Promise<boolean> {
    return this.#engine.inOrder(async () => this.#engine.record.isAsleep)
  }

  get thresholds(): Thresholds {
    return this.#engine.window.current
  }

  get settings(): EffectiveSettings {
    return this.#engine.parts.settings
  }

  /** @internal The switches and figures of this turn. */
  get flags(): Flags {
    return this.#engine.parts.flags.current
  }

  /** How full the context is. */
  windowUsage(): WindowUsage {
    return this.#engine.window.fill()
  }

  /** Where the context went, by class and by tool. `percent` has each part as a share of the whole, `shares` all tools and all repeated reads. */
  accounting(): ContextBreakdown & {
    readonly percent: Readonly<Record<string, number>>
    readonly shares: ContextShares
  } {
    const accounting = accountContext(this.views)
    return { ...accounting, percent: breakdownPercentages(accounting), shares: contextShares(accounting) }
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
  userMessages(): UserMessagesReport {
    return userMessagesReport(this.views)
  }

  /** Files read, created, changed and deleted, and commands with how they ended. */
  artifacts(): ArtifactsReport {
    return artifactsReport(this.views)
  }

  /** What is open: todos, the plan, the last request and whether it was answered. */
  workState(): WorkStateReport {
    return workStateReport(this.views)
  }

  /** @internal What the planner thinks now. */
  planner(): PlannerReport {
    return plannerReport(this.#engine.context(), this.#engine.layers.upcoming.tail)
  }

  /**
   * What the next message costs where the server's cache no longer has the conversation. `undefined`: it may have it, the next request
   * compacts by itself, or the price is unknown. `tokens`: for another size, such as a compaction would leave.
   */
  coldPrice(tokens?: number): ColdPrice | undefined {
    return this.#engine.coldPrice(tokens)
  }

  /** Whether the summary of the next compaction is being written in the background, or is ready. */
  get preparedCompaction(): PreparedState {
    return this.#engine.layers.upcoming.state
  }

  /** Drops that summary. What it has cost stays counted. Returns whether there was one. */
  discardPreparedSummary(): boolean {
    return this.#engine.layers.dropPrepared()
  }

  on<K extends keyof ConversationEvents>(name: K, listener: (event: ConversationEvents[K]) => void): () => void {
    return this.#engine.record.events.on(name, listener)
  }

  /** Adds text, blocks, one message, or many. Resolves with the uuid of the last one, once all are in the journal. */
  async add(incoming: Incoming): Promise<Uuid> {
    const drafts = messageDrafts(incoming) // copied at once: the caller may change its objects while it waits
    return this.#engine.inOrder(async () => {
      const newest = drafts.at(-1)!
      if (newest.type === "user") this.#engine.mustFit(newest.message.content)
      mustAnswerCalls(this.views.context.journaledMessages(), drafts)
      return this.#engine.record.together(async () => {
        const entries = await this.#engine.record.decide(withUsersWords(drafts, this.views))
        await this.#engine.decideResults(entries)
        return entries.at(-1)!.uuid
      })
    })
  }

  /**
   * Brings the conversation up to date with a list of messages as a request has them, for a caller that sends all of them each time. A list
   * that goes another way is a branch. Then `prepare` the request in its place, and `record` the answer.
   */
  async syncMessages(
    messages: readonly (ClientMessage | OtherMessage)[],
    options: SyncMessagesOptions = {},
  ): Promise<SyncMessagesReport> {
    return follow(this.#engine, messages, options)
  }

  /** Keeps what the user types while the model works. It is sent with the next request, in order, exactly once, even after a crash. */
  async enqueue(content: Content, written?: string): Promise<Uuid> {
    this.#engine.mustBeOpen()
    const checked = checkedCopy(content, "user")
    this.#engine.mustFit(checked)
    // does not wait for other calls: it must be safe at once
    const said = written === undefined ? {} : { written }
    const draft: EntryDraft = { type: "user", isQueued: true, message: { role: "user", content: checked }, ...said }
    return (await this.#engine.record.append([draft]))[0]!.uuid
  }

  /**
   * Adds context that neither the person nor the model wrote: a file, a todo list, a hook's output, what an editor shows. What the editor
   * shows is added once for each change.
   */
  async attach(attachment: Attachment): Promise<Uuid> {
    return attach(this.#engine, asPlainJson(attachment, "attachment"))
  }

  /** The next request: valid, within the window, with cache breakpoints. The same journal always gives the same bytes. An abort changes nothing. */
  prepare(options: PrepareOptions = {}): Promise<ModelRequest> {
    return this.#engine.inOrder(async () => {
      options.signal?.throwIfAborted()
      this.#engine.pauses.end()
      await this.#engine.readFlags()
      const { aside, preparer, record } = this.#engine
      return aside ? preparer.aside(aside.order) : record.together(() => preparer.prepare(options), { again: true })
    })
  }

  /** Compacts now. Everything stays in the journal; the next request begins with a summary and facts from the journal. */
  compact(order: CompactionRequest = {}, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    return compact(this.#engine, order, signal)
  }

  /**
   * Takes what your own loop got in place of an answer. `too-long`: the limit that the API names is learnt and is the window from then on;
   * compact with `overflowed` and prepare again. `thinking`: the API does not take the thinking so far, so it is no longer sent; prepare
   * again. `undefined`: it is about something else.
   */
  handleModelError(error: unknown): Promise<NotedRefusal | undefined> {
    return noteRefusal(this.#engine, error)
  }

  /** Forgets the limit that this model's server has shown. Resolves with whether there was one. */
  forgetLimit(): Promise<boolean> {
    const { limits, model } = this.#engine.window
    return this.#engine.inOrder(() => limits.forget(model))
  }

  /**
   * What `compact` would do: what goes, what stays, tokens and money. Nothing changes. `withSummary` asks the model for the summary, which
   * costs a call; `compact({ written })` then takes exactly that one.
   */
  planCompaction(
    order: CompactionRequest = {},
    { withSummary = false, signal }: { readonly withSummary?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<CompactionPlan | CompactionRefusal> {
    return withSummary ? planWithSummary(this.#engine, order, signal) : planCompaction(this.#engine, order)
  }

  /** Sends a range of messages as one line each, or the oldest exchanges until the context has a size. `unfold` opens a range again. */
  fold(request: FoldRequest): Promise<RangePlan> {
    return this.#changeRange({ action: "fold", ...request })
  }

  /** Stops sending a range of messages. They stay in the journal, and what the user said in them stays in `userMessages()`. */
  snip(request: SnipRequest): Promise<RangePlan> {
    return this.#changeRange({ action: "snip", ...request })
  }

  /** Sends a folded or snipped range again, by the handle of any message in it. */
  unfold(handle: string, { dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<RangePlan> {
    return this.#changeRange({ action: "open", handle, dryRun })
  }

  /** @internal The finished exchanges that can be folded or snipped, oldest first. */
  exchanges(): readonly PlannedRange[] {
    return listExchanges(this.#engine.context())
  }

  #changeRange(change: RangeChange): Promise<RangePlan> {
    return this.#engine.inOrder(() => changeRange(this.#engine, change))
  }

  /** @internal The layers that work in the background now. */
  layersAtWork(): readonly LayerName[] {
    return this.#engine.layers.workingLayers()
  }

  /** @internal Stops what a layer does in the background. It works again when it is due. */
  stopLayer(layer: LayerName): Promise<void> {
    return this.#engine.layers.stop(layer)
  }

  /** Resolves when the layers have no background work left. */
  whenIdle(): Promise<void> {
    return this.#engine.layers.whenIdle()
  }

  /** Records the model's response. Resolves with its uuid once it is in the journal. */
  async record(response: IncomingResponse): Promise<Uuid> {
    const taken = this.#engine.recorder.read(response) // copied at once, as in `add`
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

  /** Keeps what was streamed of an answer that never ended. */
  recordPartial(text: string, model: string): Promise<Uuid> {
    return this.#engine.inOrder(() =>
      this.#engine.recorder.takePartial({ id: `partial_${this.#engine.record.ids.uuid()}`, text, model }),
    )
  }

  /** Uses another system prompt, tool list or context from the next request on. The change is recorded and costs the server's cache. */
  usePrompt(prompt: Prompt): Promise<void> {
    return this.#engine.inOrder(() => this.#engine.prompt.use(prompt))
  }

  setTitle(title: string): Promise<void> {
    return this.#engine.inOrder(async () => {
      const { record } = this.#engine
      await record.append([record.session.draft(record.views.context, { title })])
    })
  }

  /** @internal Decisions about the agents that work for this conversation. They change no message, so they wait for no other call. */
  async note(decisions: readonly DecisionDraft[]): Promise<void> {
    this.#engine.mustBeOpen()
    await this.#engine.record.append(decisions)
  }

  /** The session notes as they are now. Nothing until there are some. */
  notes(): Promise<string | undefined> {
    return this.#engine.record.journal.readNotes()
  }

  /** @internal Where the store keeps it: a project, and whose it is. */
  get place(): string {
    return this.#engine.record.journal.address.project
  }

  /** @internal Opens the journal of an agent that works for this conversation, for reading. */
  openAgentJournal(agent: string): Promise<Journal> {
    return this.#engine.parts.store.open({ project: this.place, under: this.id, id: agent }, { access: "read" })
  }

  /** @internal The mailbox of a team of processes on this project, if the store has mailboxes. */
  teamMailbox(team: string): Mailbox | undefined {
    return this.#engine.parts.store.mailboxes({ project: this.place, team })
  }

  /** @internal A permit to be one of the agents that work for the project at once. */
  agentPermit(wanted: PermitRequest): Promise<PermitAttempt> {
    return this.#engine.parts.store.permit({ project: this.place, name: "agents" }).take(wanted)
  }

  /** Clears old tool results or images now: down to a size, or those of one tool. Their handles stay, and `undo` brings them back. */
  clearResults(request: ClearingRequest): Promise<ClearingReport> {
    return this.#engine.inOrder(() => clearResults(this.#engine, request))
  }

  /**
   * Takes back the last compaction, or what was last cleared, folded or snipped by hand. The next request is the one from before, byte for
   * byte, followed by what came later unless that is dropped.
   */
  undo(request: UndoRequest = {}): Promise<UndoReport> {
    return this.#engine.inOrder(() => undo(this.#engine, request))
  }

  /**
   * Continues from an earlier message, even from before a boundary. What came after it stays in the journal. The last message that a
   * compaction kept has its summary before it; an earlier one has the messages themselves, because the summary says what came after it.
   */
  rewind(uuid: Uuid): Promise<void> {
    return this.#engine.inOrder(() => rewind(this.#engine, uuid))
  }

  /**
   * The files that agents changed after a message, and what putting them back would do. Nothing changes. Ask before `rewind`, and pass the
   * plan to `restoreFiles` after it.
   */
  planRestore(uuid: Uuid): Promise<RestorePlan> {
    return this.#engine.inOrder(() => plannedRestore(this.#engine, uuid))
  }

  /**
   * Puts files back as planned, and records it so that the model knows. A file that someone else changed since stays, unless `overwrite` is
   * set. Nothing outside the project's directory is written.
   */
  restoreFiles(
    plan: RestorePlan,
    { overwrite = false }: { readonly overwrite?: boolean } = {},
  ): Promise<RestoreReport> {
    return this.#engine.inOrder(() => restored(this.#engine, { plan, overwrite }))
  }

  /**
   * Copies the conversation up to a message into a new one and resolves with its id. This one stays unchanged. The copy for an agent is
   * kept under this conversation.
   */
  branch(uuid: Uuid, to: string | { readonly agent: string } = this.#engine.record.ids.uuid()): Promise<string> {
    const place = typeof to === "string" ? { id: to } : { id: to.agent, under: this.id }
    return this.#engine.inOrder(() => branch(this.#engine, { uuid, to: place }))
  }

  /**
   * A block by its handle, byte for byte as it was added, however long ago, or a whole message. Takes short handles and whole uuids.
   * `<agent>/<handle>` finds what a sub-agent's conversation holds. Where two have the same handle, it is the newer one.
   */
  recall(handle: `${string}.${number}`): Promise<Block | undefined>
  recall(handle: string): Promise<Block | Message | undefined>
  async recall(handle: string): Promise<Block | Message | undefined> {
    const [newest] = await this.#engine.past.find(handle)
    return newest?.block ?? newest?.message
  }

  /** @internal What the Recall tool asks. */
  get past(): RecallSource {
    return this.#engine.past
  }

  /** Every entry of the journal, first to last, including branches that were left. */
  entries(): AsyncIterable<Entry> {
    return this.#engine.record.journal.entries()
  }

  /** Ends background work and closes the journal. Everything acknowledged is kept. */
  close(): Promise<void> {
    return this.#engine.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
