/**
 * The context view: the messages that the model receives. `apply` takes one entry at a time and does all the work, so the next request
 * costs only what is new. Decisions change how a block is shown; entries never change.
 */

import { type CooperativeTask, runSync } from "../../base/work.ts"
import type { DecisionDraft, Entry, SessionFacts } from "../../journal/entries.ts"
import {
  type Content,
  declaredTools,
  isText,
  isThinking,
  isToolResult,
  type ToolResult,
  toolName,
} from "../../messages/blocks.ts"
import { type FlatMessage, flatten } from "../../messages/flatten.ts"
import { MEDIA_LIMITS, type MediaItem, planWithholding, type WithheldMedia } from "../../messages/media.ts"
import {
  type AssistantMessage,
  isSyntheticError,
  type Message,
  type Repair,
  type SignedSummary,
  sentBlocks,
  type Uuid,
} from "../../messages/messages.ts"
import type { ToolDefinition } from "../../messages/request.ts"
import { isAsReceived } from "../../messages/usable.ts"
import { breakdownTask, type ContextBreakdown, type DeferredAccount } from "../../tokens/context-breakdown.ts"
import type { ContextSize } from "../../tokens/context-size.ts"
import type { BlockTokens, Estimator } from "../../tokens/estimate.ts"
import { parseAddress } from "../record/decisions.ts"
import { type ContextOptions, ContextState, type SavedContext } from "./context-state.ts"
import {
  blocksOf,
  type ContextMessages,
  endOfResponses,
  type HiddenMessages,
  withoutDecided,
} from "./rendered-messages.ts"
import { findSignedSummary, loadedTools, type RenderedPrompt, signedMessage, unsignedRepair } from "./request.ts"
import type { AnnouncedState, CacheEditState, ServerCopy } from "./server-side.ts"

export class ContextView {
  readonly #state: ContextState
  /** Cache of settled messages as the model sees them. Valid for one revision. */
  #stored: { readonly messages: Message[]; readonly revision?: symbol } = { messages: [] }

  constructor(estimator: Estimator, saved?: SavedContext, options: ContextOptions = {}) {
    this.#state = new ContextState(estimator, saved, options)
  }

  apply(entry: Entry): void {
    this.#state.apply(entry)
  }

  /** Which results are complete in the server's own copy. */
  get serverCopy(): ServerCopy {
    return this.#state.serverCopy
  }

  /** Mode, date and tools as the messages announce them. */
  get announced(): AnnouncedState {
    return this.#state.announced
  }

  messages(): ContextMessages {
    const { signed, shown, flattener } = this.#state
    return shown.of(flattener, signed && [signedMessage(signed)])
  }

  /** The messages before one of them, or all, as a request of their own would contain them. */
  messagesBefore(uuid: Uuid | undefined): readonly FlatMessage[] {
    return this.#state.before(uuid)
  }

  /** The signed summary of the API with which requests start, if there is one. */
  get signed(): SignedSummary | undefined {
    return this.#state.signed
  }

  /** The model whose signed summaries requests can contain. */
  get signedFor(): string | undefined {
    return this.#state.signedFor
  }

  get isEmpty(): boolean {
    return this.#state.flattener.closed.length === 0 && this.#state.flattener.open().messages.length === 0
  }

  /** Repairs of the view that the journal does not record yet. */
  unrecordedRepairs(): readonly Repair[] {
    const repairs = [
      ...this.#state.repairs,
      ...this.#state.flattener.closedRepairs,
      ...this.#state.flattener.open().repairs,
    ]
    const [first] = this.#state.messages
    if (findSignedSummary(first) && !this.#state.signed) repairs.push(unsignedRepair(first!))
    const unrecorded = repairs.filter((repair) => !this.#state.overlay.isRecorded(repair))
    return [...new Map(unrecorded.map((repair) => [`${repair.rule} ${repair.id}`, repair])).values()]
  }

  /**
   * Content of the API that is sent back although it may be refused: blocks that this version does not know, and a signed summary.
   * Returned as the repairs that would drop it.
   */
  receivedBlocks(): readonly Repair[] {
    const signed = this.signed ? [unsignedRepair(this.#state.messages[0]!)] : []
    const blocks = this.#state.visible.flatMap((message) => {
      const refused = this.#state.overlay.refusedBlocks(message)
      return blocksOf(message).flatMap((block, at): Repair[] =>
        isAsReceived(block) && !refused.has(at) ? [{ rule: "unknown-block", id: `${message.uuid}.${at}` }] : [],
      )
    })
    return [...signed, ...blocks]
  }

  /** The size as counted by the API. Before the first count it includes an estimate of system prompt, tools and preamble. */
  size(): ContextSize {
    return this.#withPrompt(this.#state.meter.size())
  }

  /** The size if messages with this many tokens were removed. */
  sizeAfter(removed: number): number {
    return this.#withPrompt(this.#state.meter.size(removed)).tokens
  }

  sizeWithout(uuid: Uuid): number {
    const { held, messages } = this.#state
    const { overlay, ranges } = held.without(uuid, { present: messages.length }).held.replay(messages)
    const shown = ranges.shown(this.#state.messages).filter((message) => message !== undefined)
    for (const message of shown) overlay.place(message)
    const blocks = shown.flatMap((message) => sentBlocks(withoutDecided(message, overlay)))
    const { estimator, sizes, visible } = this.#state
    const size = estimator.blocks(blocks.map((block) => overlay.show(block)))
    return this.sizeAfter(estimator.tokens(sizes.ofMessages(visible)) - size)
  }

  #withPrompt(size: ContextSize): ContextSize {
    if (size.counted > 0) return size
    const prompt = this.promptTokens
    return { tokens: size.tokens + prompt, counted: 0, estimated: size.estimated + prompt }
  }

  /** Estimated tokens of the parts that every request contains besides the messages: system prompt, tools, preamble. */
  get promptTokens(): number {
    return this.#state.prompt.tokens
  }

  /** Estimated tokens of a message's texts. Results and media are excluded, because layers shorten them. */
  textTokens(content: Content): number {
    const texts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content.filter(isText)
    return texts.reduce((sum, block) => sum + this.#state.estimator.block(block), 0)
  }

  get family(): Estimator["family"] {
    return this.#state.estimator.family
  }

  /** Ids of calls for which a request contained a synthetic result, which is final. */
  get answeredSynthetically(): ReadonlySet<string> {
    return this.#state.answers.ids
  }

  /** Messages since the last boundary as the model sees them. */
  storedMessages(): readonly Message[] {
    return this.storedFrom(0)
  }

  /** The same messages as in the journal: nothing offloaded, nothing cleared. */
  journaledMessages(): readonly Message[] {
    return this.#state.messages
  }

  /** Messages since the last boundary as the model sees them, starting at an index. */
  storedFrom(index: number): readonly Message[] {
    const { count } = this.settled
    const newest = this.#state.visible.slice(Math.max(index, count)).map((message) => this.#state.stored(message))
    return index >= count ? newest : this.#settledMessages(count).slice(index, count).concat(newest)
  }

  #settledMessages(count: number): readonly Message[] {
    const { settledRevision: revision, visible } = this.#state
    if (this.#stored.revision !== revision) this.#stored = { messages: [], revision }
    const { messages } = this.#stored
    for (let at = messages.length; at < count; at++) messages.push(this.#state.stored(visible[at]!))
    return messages
  }

  /**
   * The number of messages up to the end of the newest response. `revision` changes whenever a decision or a boundary has changed one
   * of them; until then a reader can cache what it computed about them. A reloaded view has another revision.
   */
  get settled(): { readonly count: number; readonly revision: symbol } {
    const count = endOfResponses(this.#state.visible)
    return { count, revision: this.#state.settledRevision }
  }

  sinceResponse(): readonly Message[] {
    return this.storedFrom(this.settled.count)
  }

  /** Responses with usage since the last boundary, newest first, at most `max`. */
  recentResponses(max: number): readonly AssistantMessage[] {
    const found = new Map<string, AssistantMessage>()
    for (let at = this.#state.messages.length - 1; at >= 0 && found.size < max; at--) {
      const message = this.#state.messages[at]!
      if (message.type !== "assistant" || !message.message.usage || isSyntheticError(message)) continue
      const id = message.message.id ?? message.uuid
      if (!found.has(id)) found.set(id, message) // the last part of a response has its complete usage
    }
    return [...found.values()]
  }

  /** The newest response since the last boundary. An error shown in place of a response does not count. */
  get lastResponse(): AssistantMessage | undefined {
    return this.#state.lastResponse
  }

  /** Whether the model no longer sees a tool result: cleared in the messages, or deleted in its cache. */
  isCleared(toolUseId: string): boolean {
    return this.#state.overlay.isCleared(toolUseId) || this.#state.cacheEdits.hides(toolUseId)
  }

  /** Whether the model sees neither a result nor a stub of it: cleared without one, or deleted in the server's copy. */
  isLostToView(toolUseId: string): boolean {
    if (this.#state.overlay.isCleared(toolUseId)) return !this.#state.overlay.hasStub(toolUseId)
    return (
      this.#state.cacheEdits.hides(toolUseId) ||
      (this.#state.serverClears && this.#state.serverCopy.mayHaveCleared(toolUseId))
    )
  }

  /** The result of a call as the tool returned it, even if something else is shown. */
  originalResult(toolUseId: string): ToolResult | undefined {
    return this.#state.overlay.resultsOf([toolUseId]).find(isToolResult)
  }

  /** Whether the model sees a complete tool result: neither offloaded nor cleared. */
  isWhole(toolUseId: string): boolean {
    return this.#state.isWhole(toolUseId)
  }

  /** Whether the complete result of a call is in context, and also in the server's copy. */
  shows(toolUseId: string): boolean {
    return this.#state.shows(toolUseId)
  }

  /** Whether a result that is sent in full is deleted in the server's cache. */
  isDeletedInCache(toolUseId: string): boolean {
    return this.#state.cacheEdits.deleted.has(toolUseId)
  }

  isClearedMemory(uuid: Uuid): boolean {
    return this.#state.overlay.isClearedMemory(uuid)
  }

  /** The deletions inside the server's cache. */
  get cacheEdits(): CacheEditState {
    return this.#state.cacheEdits.state(endOfResponses(this.#state.messages))
  }

  /** Whether a message in view may have loaded a tool by reference. */
  get holdsReferences(): boolean {
    return this.#state.holdsReferences
  }

  /** Whether a client that resends its own message list sent some of the messages. */
  get isFollowed(): boolean {
    return this.#state.isFollowed
  }

  /** Whether the last message of a request sent now would be the user's. */
  get endsWithUser(): boolean {
    return this.#state.flattener.endsWithUser
  }

  /** Results after the newest response without a decision, message by message. A process may have died before it decided. */
  undecidedResults(): readonly (readonly ToolResult[])[] {
    const isUndecided = ({ tool_use_id: id }: ToolResult) =>
      this.#state.overlay.isUndecided(id) && !this.#state.cacheEdits.hides(id)
    return this.#state.visible
      .slice(this.settled.count)
      .map((message) => blocksOf(message).filter(isToolResult))
      .filter((results) => results.length > 0 && results.every(isUndecided))
  }

  /** The address of the result that is shown for a call: the first of several. */
  resultAddress(toolUseId: string): string | undefined {
    return this.#state.overlay.resultAddress(toolUseId)
  }

  /** Folded and snipped ranges since the last boundary, in the order of the messages. */
  get hiddenRanges(): readonly HiddenMessages[] {
    return this.#state.ranges.inForce(this.#state.messages)
  }

  /** Messages since the last boundary as they were added, including hidden ones. */
  get rawMessages(): readonly Message[] {
    return this.#state.messages
  }

  /** Whether a range that starts with this message was hidden and opened again. */
  wasOpened(from: Uuid): boolean {
    return this.#state.opened.has(from)
  }

  get media(): readonly MediaItem[] {
    return this.#state.overlay.media
  }

  get withheldAddresses(): ReadonlySet<string> {
    return this.#state.overlay.withheldAddresses
  }

  get session(): SessionFacts | undefined {
    return this.#state.session
  }

  get prompt(): RenderedPrompt | undefined {
    return this.#state.prompt.rendered
  }

  /** Names of the tools that the prompt declares. */
  get toolNames(): readonly string[] {
    return this.#state.prompt.toolNames
  }

  /** The newest message, which the next one follows. */
  get newest(): Message | undefined {
    return this.#state.newest
  }

  /** Messages typed while the agent was busy that are not delivered yet. */
  get queued(): readonly Message[] {
    return [...this.#state.queued.values()]
  }

  /** Whether the assistant spoke last and waits for the user. A paused turn waits for the server instead. */
  awaitsUser(): boolean {
    const { flattener, messages } = this.#state
    const isForTheModel = messages.at(-1)?.asSent === true // the last message of a client, which the model continues
    return !this.isEmpty && !flattener.endsWithUser && !flattener.awaitsServer && !isForTheModel
  }

  save(): SavedContext {
    return {
      overlay: this.#state.overlay.save(),
      calibration: this.#state.estimator.state(),
      queued: this.queued,
      ...(this.#state.session ? { session: this.#state.session } : {}),
      ...(this.#state.prompt.rendered ? { prompt: this.#state.prompt.rendered } : {}),
      ...(this.#state.prompt.size ? { promptSize: this.#state.prompt.size } : {}),
    }
  }
}

// Which images and documents the next request cannot contain, as decisions. Withholding one that was sent before changes the messages
// before later thinking. If thinking is bound to them, it is dropped too.

export function withheldMedia(context: ContextView, boundThinking: boolean): readonly DecisionDraft[] {
  const { media, withheldAddresses } = context
  const blocks = media.length === 0 ? [] : planWithholding(media, withheldAddresses, MEDIA_LIMITS)
  return decisionsFor(blocks, context, boundThinking)
}

interface RefusedMediaOptions {
  /** Which media to withhold: `new` ones without a response after them, `old` ones before those, or all. */
  readonly which: "new" | "old" | "all"
  readonly why: string
  readonly boundThinking: boolean
}

/** Withholds media that the API refused after they were sent. The API does not say which block it means. */
export function refusedMedia(
  context: ContextView,
  { which, why, boundThinking }: RefusedMediaOptions,
): readonly DecisionDraft[] {
  const messages = context.storedMessages()
  const answered = messages.findLastIndex(({ type }) => type === "assistant") + 1
  const meant = { all: messages, new: messages.slice(answered), old: messages.slice(0, answered) }[which]
  const uuids = new Set<string | undefined>(meant.map(({ uuid }) => uuid))
  const blocks = context.media
    .filter(({ address }) => !context.withheldAddresses.has(address))
    .filter(({ address }) => uuids.has(parseAddress(address)?.uuid))
    .map(({ address }) => ({ address, why }))
  return decisionsFor(blocks, context, boundThinking)
}

function decisionsFor(
  blocks: readonly WithheldMedia[],
  context: ContextView,
  boundThinking: boolean,
): readonly DecisionDraft[] {
  if (blocks.length === 0) return []
  const withheld: DecisionDraft = { type: "strata", subtype: "media-withheld", blocks }
  const addresses = blocks.map(({ address }) => address)
  return boundThinking && wereBeforeThinking(context, addresses) ? [withheld, THINKING_DROPPED] : [withheld]
}

const THINKING_DROPPED: DecisionDraft = {
  type: "strata",
  subtype: "thinking-dropped",
  why: "images or documents before it are no longer sent",
}

function wereBeforeThinking(context: ContextView, addresses: readonly string[]): boolean {
  const uuids = new Set(addresses.map((address) => parseAddress(address)?.uuid))
  const messages = context.storedMessages()
  const first = messages.findIndex(({ uuid }) => uuids.has(uuid))
  return first >= 0 && messages.slice(first).some((message) => blocksOf(message).some(isThinking))
}

// What fills the context, measured on the next request.

interface AccountingInput {
  readonly context: ContextView
  readonly estimator: BlockTokens
}

export const accountContext = (views: AccountingInput): ContextBreakdown => runSync(accountContextTask(views))

export function* accountContextTask({ context, estimator }: AccountingInput): CooperativeTask<ContextBreakdown> {
  const messages = context.storedMessages()
  const { answeredSynthetically } = context
  const deferredTools = accountDeferredTools(context)
  const sent = flatten(messages, { answeredSynthetically }).messages
  yield
  return {
    ...(yield* breakdownTask(messages, estimator, { sent })),
    ...(deferredTools ? { deferredTools } : {}),
  }
}

/** Accounts deferred tools by the last list in view, without tools loaded since. A declared tool is not on the list. */
function accountDeferredTools(context: ContextView): DeferredAccount | undefined {
  const { deferred } = context.announced
  if (!deferred) return undefined
  const listed = deferred.groups.reduce((sum, { names, more = 0 }) => sum + names.length + more, 0)
  const { tools } = context.prompt ?? {}
  const declared = new Set(
    declaredTools(Array.isArray(tools) ? (tools as readonly ToolDefinition[]) : []).map(toolName),
  )
  const { referenced, announced } = loadedTools(context.storedMessages())
  const loaded = [...new Set([...referenced, ...announced])].filter((name) => !declared.has(name))
  const count = Math.max(0, listed - loaded.length)
  return count === 0 ? undefined : { count, tokens: Math.round((deferred.tokens * count) / listed) }
}
