/**
 * The context view: the messages the model gets. `apply` takes one entry after the other and does all the work, so the next request
 * costs what is new. Decisions change how a block is shown; entries never change.
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
import { beginningWith, loadedTools, type RenderedPrompt, signedIn, unsigned } from "./request.ts"
import type { CacheEditState, Said, ServerKept } from "./server-side.ts"
import { blocksOf, type ContextMessages, endOfResponses, type HiddenMessages, reduced } from "./shown.ts"

export class ContextView {
  readonly #state: ContextState
  /** Settled messages as the model sees them, those that someone has asked for. They hold for one revision. */
  #stored: { readonly messages: Message[]; readonly revision?: symbol } = { messages: [] }

  constructor(estimator: Estimator, saved?: SavedContext, options: ContextOptions = {}) {
    this.#state = new ContextState(estimator, saved, options)
  }

  apply(entry: Entry): void {
    this.#state.apply(entry)
  }

  /** What the server left whole in its own copy. */
  get serverKept(): ServerKept {
    return this.#state.serverKept
  }

  /** What the messages say about mode, date and tools. */
  get said(): Said {
    return this.#state.said
  }

  /** The messages as they would be sent now. */
  messages(): ContextMessages {
    const { signed, shown, flattener } = this.#state
    return shown.of(flattener, signed && [beginningWith(signed)])
  }

  /** The messages before one of them, or all, as a request of their own would send them. */
  messagesBefore(uuid: Uuid | undefined): readonly FlatMessage[] {
    return this.#state.before(uuid)
  }

  /** The summary that the API signed, where requests begin with it. */
  get signed(): SignedSummary | undefined {
    return this.#state.signed
  }

  /** The model whose signed summaries requests can carry. */
  get signedFor(): string | undefined {
    return this.#state.signedFor
  }

  get isEmpty(): boolean {
    return this.#state.flattener.closed.length === 0 && this.#state.flattener.open().messages.length === 0
  }

  /** Repairs that the view makes and the journal does not record yet. */
  unrecordedRepairs(): readonly Repair[] {
    const repairs = [
      ...this.#state.repairs,
      ...this.#state.flattener.closedRepairs,
      ...this.#state.flattener.open().repairs,
    ]
    const [first] = this.#state.messages
    if (signedIn(first) && !this.#state.signed) repairs.push(unsigned(first!))
    const unrecorded = repairs.filter((repair) => !this.#state.overlay.isRecorded(repair))
    return [...new Map(unrecorded.map((repair) => [`${repair.rule} ${repair.id}`, repair])).values()]
  }

  /** What came from the API and is sent back although it may not take it: blocks that this version does not know, and a signed summary. As repairs that would leave it out. */
  receivedBlocks(): readonly Repair[] {
    const signed = this.signed ? [unsigned(this.#state.messages[0]!)] : []
    const blocks = this.#state.visible.flatMap((message) => {
      const refused = this.#state.overlay.refusedBlocks(message)
      return blocksOf(message).flatMap((block, at): Repair[] =>
        isAsReceived(block) && !refused.has(at) ? [{ rule: "unknown-block", id: `${message.uuid}.${at}` }] : [],
      )
    })
    return [...signed, ...blocks]
  }

  /** As the API counted it. Before the first count it includes an estimate of system prompt, tools and preamble. */
  size(): ContextSize {
    return this.#withPrompt(this.#state.meter.size())
  }

  /** The size if messages of so many tokens were taken out. */
  sizeAfter(removed: number): number {
    return this.#withPrompt(this.#state.meter.size(removed)).tokens
  }

  /** The size if a decision were undone. */
  sizeWithout(uuid: Uuid): number {
    const { held, messages } = this.#state
    const { overlay, ranges } = held.without(uuid, { present: messages.length }).held.replay(messages)
    const shown = ranges.shown(this.#state.messages).filter((message) => message !== undefined)
    for (const message of shown) overlay.place(message)
    const blocks = shown.flatMap((message) => sentBlocks(reduced(message, overlay)))
    const { estimator, sizes, visible } = this.#state
    const size = estimator.blocks(blocks.map((block) => overlay.show(block)))
    return this.sizeAfter(estimator.tokens(sizes.ofMessages(visible)) - size)
  }

  #withPrompt(size: ContextSize): ContextSize {
    if (size.counted > 0) return size
    const prompt = this.promptTokens
    return { tokens: size.tokens + prompt, counted: 0, estimated: size.estimated + prompt }
  }

  /** An estimate of what every request carries besides the messages: system prompt, tools, preamble. */
  get promptTokens(): number {
    return this.#state.prompt.tokens
  }

  /** An estimate for the texts of a message. Results and media are not counted: layers shorten them. */
  textTokens(content: Content): number {
    const texts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content.filter(isText)
    return texts.reduce((sum, block) => sum + this.#state.estimator.block(block), 0)
  }

  /** Of the model's tokenizer. */
  get family(): Estimator["family"] {
    return this.#state.estimator.family
  }

  /** Calls that a request answered itself. That answer is final. */
  get answeredSynthetically(): ReadonlySet<string> {
    return this.#state.answers.ids
  }

  /** Messages since the last boundary as the model sees them. */
  storedMessages(): readonly Message[] {
    return this.storedFrom(0)
  }

  /** The same messages as the journal has them: nothing put aside, nothing cleared. */
  journaledMessages(): readonly Message[] {
    return this.#state.messages
  }

  /** Messages since the last boundary as the model sees them, from the nth on. */
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
   * How many of them there are up to the end of the newest response. `revision` changes whenever a decision or a boundary has changed
   * one of those; until then a reader can keep what it computed about them. Views that are loaded again begin with another one.
   */
  get settled(): { readonly count: number; readonly revision: symbol } {
    const count = endOfResponses(this.#state.visible)
    return { count, revision: this.#state.settledRevision }
  }

  /** Those of them after the newest response. */
  sinceResponse(): readonly Message[] {
    return this.storedFrom(this.settled.count)
  }

  /** Responses with usage since the last boundary, newest first, at most so many. */
  recentResponses(max: number): readonly AssistantMessage[] {
    const found = new Map<string, AssistantMessage>()
    for (let at = this.#state.messages.length - 1; at >= 0 && found.size < max; at--) {
      const message = this.#state.messages[at]!
      if (message.type !== "assistant" || !message.message.usage || isSyntheticError(message)) continue
      const id = message.message.id ?? message.uuid
      if (!found.has(id)) found.set(id, message) // the last part of a response has its whole usage
    }
    return [...found.values()]
  }

  /** The newest response since the last boundary. An error shown in place of a response does not count. */
  get lastResponse(): AssistantMessage | undefined {
    return this.#state.lastResponse
  }

  /** Whether the model no longer sees a tool result: cleared here, or deleted in its cache. */
  isCleared(toolUseId: string): boolean {
    return this.#state.overlay.isCleared(toolUseId) || this.#state.cacheEdits.hides(toolUseId)
  }

  /** Whether the model sees neither a result nor a residue of it: cleared without one, or deleted in the server's copy. */
  isLostToView(toolUseId: string): boolean {
    if (this.#state.overlay.isCleared(toolUseId)) return !this.#state.overlay.hasStub(toolUseId)
    return (
      this.#state.cacheEdits.hides(toolUseId) ||
      (this.#state.serverClears && this.#state.serverKept.mayHaveCleared(toolUseId))
    )
  }

  /** The result of a call as its tool gave it, also where something else is shown. */
  originalResult(toolUseId: string): ToolResult | undefined {
    return this.#state.overlay.resultsOf([toolUseId]).find(isToolResult)
  }

  /** Whether the model sees a tool result whole: neither put aside nor cleared. */
  isWhole(toolUseId: string): boolean {
    return this.#state.isWhole(toolUseId)
  }

  /** Whether the model has the result of a call whole in front of it, and the server has left it in its copy. */
  shows(toolUseId: string): boolean {
    return this.#state.shows(toolUseId)
  }

  /** Whether a result that is sent whole is deleted in the server's cache. */
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

  /** Whether a caller that keeps its own list sent some of the messages. */
  get isFollowed(): boolean {
    return this.#state.isFollowed
  }

  /** Whether the last message, as it would be sent now, is the user's. */
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

  /** Messages since the last boundary as they were added, hidden ones included. */
  get rawMessages(): readonly Message[] {
    return this.#state.messages
  }

  /** Whether a range that begins with this message was hidden and opened again. */
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

  /** Of the tools that the prompt offers. */
  get toolNames(): readonly string[] {
    return this.#state.prompt.toolNames
  }

  /** The newest message, which the next one follows. */
  get newest(): Message | undefined {
    return this.#state.newest
  }

  /** What was typed while the system was busy and is not delivered yet. */
  get queued(): readonly Message[] {
    return [...this.#state.queued.values()]
  }

  /** Whether the assistant spoke last, so that there is nothing for it to answer. A paused turn waits for the server instead. */
  awaitsUser(): boolean {
    const { flattener, messages } = this.#state
    const isForTheModel = messages.at(-1)?.asSent === true // a caller's last message that the model goes on with
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

// Which images and documents the next request cannot carry, as decisions. Withholding one that was sent before changes the messages
// before later thinking. Where thinking is bound to them, it is dropped too.

export function withheldMedia(context: ContextView, boundThinking: boolean): readonly DecisionDraft[] {
  const { media, withheldAddresses } = context
  const blocks = media.length === 0 ? [] : planWithholding(media, withheldAddresses, MEDIA_LIMITS)
  return decisionsFor(blocks, context, boundThinking)
}

interface Refused {
  /** Those that no answer has followed yet, those before them, or all. */
  readonly which: "new" | "old" | "all"
  readonly why: string
  readonly boundThinking: boolean
}

/** Withholds what the API refused after it was sent. It does not say which block it means. */
export function refusedMedia(context: ContextView, { which, why, boundThinking }: Refused): readonly DecisionDraft[] {
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

// What fills the context, counted on what the next request would carry.

interface Sent {
  readonly context: ContextView
  readonly estimator: BlockTokens
}

export const accountSent = (views: Sent): ContextBreakdown => runSync(accountSentSteps(views))

/** The same in steps. */
export function* accountSentSteps({ context, estimator }: Sent): CooperativeTask<ContextBreakdown> {
  const messages = context.storedMessages()
  const { answeredSynthetically } = context
  const deferredTools = deferredIn(context)
  const sent = flatten(messages, { answeredSynthetically }).messages
  yield
  return {
    ...(yield* breakdownTask(messages, estimator, { sent })),
    ...(deferredTools ? { deferredTools } : {}),
  }
}

/** By the last list in view, without those loaded since. A tool that is declared is not on the list. */
function deferredIn(context: ContextView): DeferredAccount | undefined {
  const { deferred } = context.said
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
