/**
 * The context view: the messages the model gets. `apply` takes one entry after the other and does all the work, so the next request
 * costs what is new. Decisions change how a block is shown; entries never change.
 */

import {
  type DecisionEntry,
  type DecisionOf,
  type Entry,
  isDecision,
  type SessionFacts,
} from "../../journal/entries.ts"
import {
  type Block,
  isThinking,
  isToolResult,
  isToolUse,
  type ToolResult,
  withoutBreakpoint,
} from "../../messages/blocks.ts"
import { Flattener, type Repair } from "../../messages/flatten.ts"
import type { MediaItem } from "../../messages/media.ts"
import {
  type AssistantMessage,
  type Boundary,
  isBoundary,
  isSyntheticError,
  type Message,
  type Uuid,
} from "../../messages/messages.ts"
import { sentBlocks } from "../../messages/sent-blocks.ts"
import { referencesIn } from "../../messages/tool-references.ts"
import { isAsReceived, repairsOf, usable } from "../../messages/usable.ts"
import { ContextMeter, type ContextSize } from "../../tokens/context-size.ts"
import type { CalibrationState, Estimator } from "../../tokens/estimate.ts"
import { type CacheEditState, CacheEdits } from "./cache-edits.ts"
import { blocksOf, mapBlocks, withoutBlocks, withoutThinking, withoutUsage } from "./changed-messages.ts"
import { CurrentPrompt, type RenderedPrompt } from "./current-prompt.ts"
import {
  changesMessages,
  clearedByServer,
  clearedMemories,
  clearsHere,
  dropsThinking,
  editsCache,
} from "./decision-kinds.ts"
import { foldLine, type HiddenMessages, HiddenRanges, hidesRange, type RangeDecision } from "./hidden-ranges.ts"
import { Overlay, type SavedOverlay } from "./overlay.ts"
import { renderClearedMemory } from "./render-decisions.ts"
import { Said } from "./said.ts"
import { ServerKept } from "./server-kept.ts"
import { type ContextMessages, ShownMessages } from "./shown-messages.ts"
import { SyntheticAnswers } from "./synthetic-answers.ts"

export interface ContextOptions {
  /** Whether the model can delete inside its cache. Default true: the view shows what the journal says. */
  readonly editsCaches?: boolean
  /** Whether its server can clear its own copy. Default true: the size leaves out what the server cleared last. */
  readonly serverClears?: boolean
}

/** The part of the view that a boundary does not reset, as plain data for a checkpoint. */
export interface SavedContext {
  readonly overlay: SavedOverlay
  readonly calibration: CalibrationState
  readonly session?: SessionFacts
  readonly prompt?: RenderedPrompt
  readonly queued: readonly Message[]
}

type UndoneDecision = DecisionEntry & { readonly subtype: "undone" }

interface HeldDecision {
  readonly decision: DecisionEntry
  /** It covers the messages up to this number, from `since` on. */
  readonly present: number
  readonly since?: number
}

/** For a forecast. */
const DROPPED: DecisionEntry = {
  type: "strata",
  subtype: "thinking-dropped",
  uuid: "",
  parentUuid: null,
  timestamp: "",
  why: "",
}

export class ContextView {
  /** What the server left whole in its own copy. */
  readonly serverKept = new ServerKept()
  /** What the messages say about mode, date and tools. */
  readonly said = new Said((toolUseId) => this.shows(toolUseId))
  readonly #estimator: Estimator
  readonly #meter: ContextMeter
  readonly #serverClears: boolean
  readonly #cacheEdits: CacheEdits
  readonly #prompt: CurrentPrompt
  readonly #answers: SyntheticAnswers
  readonly #shown = new ShownMessages((block) => this.#overlay.show(block))
  #overlay: Overlay
  #flattener: Flattener
  /** Messages since the last boundary, kept ones included, in the order they are sent. */
  #messages: Message[] = []
  /** What decisions fold or snip of them. */
  #ranges = new HiddenRanges()
  /** First messages of ranges that were hidden and opened again. */
  readonly #opened = new Set<Uuid>()
  /** The messages that are left, with a line for each folded range. */
  #visible: Message[] = []
  /** The repairs that made these messages usable. */
  #repairs: Repair[] = []
  #settledRevision = 0
  /** Only kept messages have come since the boundary, and a summary that follows goes before them. */
  #summaryGoesFirst = false
  /** Typed while the system was busy, in that order. Each waits to be delivered. */
  readonly #queued = new Map<Uuid, Message>()
  /** Decisions since the last boundary, each with how many messages there were, so that one can be undone. */
  #decisions: HeldDecision[] = []
  /** The overlay without these decisions. */
  #base: SavedOverlay
  #holdsReferences = false
  #session: SessionFacts | undefined
  #newest: Message | undefined

  constructor(
    estimator: Estimator,
    saved?: SavedContext,
    { editsCaches = true, serverClears = true }: ContextOptions = {},
  ) {
    this.#estimator = estimator
    this.#serverClears = serverClears
    this.#cacheEdits = new CacheEdits(editsCaches)
    this.#meter = new ContextMeter(estimator)
    this.#overlay = saved ? Overlay.restore(saved.overlay) : new Overlay()
    this.#base = this.#overlay.save()
    this.#session = saved?.session
    this.#prompt = new CurrentPrompt(estimator, saved?.prompt)
    this.#answers = new SyntheticAnswers(this.#overlay.answeredSynthetically)
    this.#flattener = this.#newFlattener()
    for (const message of saved?.queued ?? []) this.#queued.set(message.uuid, message)
  }

  apply(entry: Entry): void {
    if (isDecision(entry)) this.#applyDecision(entry)
    else if (!entry.isSidechain) this.#applyMessage(entry.isQueued ? entry : usable(entry))
  }

  /** The messages as they would be sent now. */
  messages(): ContextMessages {
    return this.#shown.of(this.#flattener)
  }

  get isEmpty(): boolean {
    return this.#flattener.closed.length === 0 && this.#flattener.open().messages.length === 0
  }

  /** Repairs that the view makes and the journal does not record yet. */
  unrecordedRepairs(): readonly Repair[] {
    const repairs = [...this.#repairs, ...this.#flattener.closedRepairs, ...this.#flattener.open().repairs]
    const unrecorded = repairs.filter((repair) => !this.#overlay.isRecorded(repair))
    return [...new Map(unrecorded.map((repair) => [`${repair.rule} ${repair.id}`, repair])).values()]
  }

  /** Blocks of responses that this version does not know and that are sent back, as repairs that would leave them out. */
  receivedBlocks(): readonly Repair[] {
    return this.#visible.flatMap((message) => {
      const refused = this.#overlay.refusedBlocks(message)
      return blocksOf(message).flatMap((block, at): Repair[] =>
        isAsReceived(block) && !refused.has(at) ? [{ rule: "unknown-block", id: `${message.uuid}.${at}` }] : [],
      )
    })
  }

  /** As the API counted it. Before the first count it includes an estimate of system prompt, tools and preamble. */
  size(): ContextSize {
    return this.#withPrompt(this.#meter.size())
  }

  /** The size if messages of so many tokens were taken out. */
  sizeAfter(removed: number): number {
    return this.#withPrompt(this.#meter.size(removed)).tokens
  }

  /** The size if a decision were undone. */
  sizeWithout(uuid: Uuid): number {
    const { overlay, ranges } = this.#replayed(this.#decisionsWithout(uuid).decisions)
    const shown = ranges.shown(this.#messages).filter((message) => message !== undefined)
    for (const message of shown) overlay.place(message)
    const blocks = shown.flatMap((message) => sentBlocks(reduced(message, overlay)))
    const size = blocks.reduce((sum, block) => sum + this.#estimator.block(overlay.show(block)), 0)
    return this.sizeAfter(this.#sentSize(this.#visible) - size)
  }

  #withPrompt(size: ContextSize): ContextSize {
    if (size.counted > 0) return size
    const prompt = this.promptTokens
    return { tokens: size.tokens + prompt, counted: 0, estimated: size.estimated + prompt }
  }

  /** An estimate of what every request carries besides the messages: system prompt, tools, preamble. */
  get promptTokens(): number {
    return this.#prompt.tokens
  }

  /** Of the model's tokenizer. */
  get family(): Estimator["family"] {
    return this.#estimator.family
  }

  /** Calls that a request answered itself. That answer is final. */
  get answeredSynthetically(): ReadonlySet<string> {
    return this.#answers.ids
  }

  /** Messages since the last boundary as the model sees them. */
  storedMessages(): readonly Message[] {
    return this.storedFrom(0)
  }

  /** The same messages as the journal has them: nothing put aside, nothing cleared. */
  journaledMessages(): readonly Message[] {
    return this.#messages
  }

  /** Messages since the last boundary as the model sees them, from the nth on. */
  storedFrom(index: number): readonly Message[] {
    return this.#visible.slice(index).map((message) => this.#stored(message))
  }

  /**
   * How many of them there are up to the end of the newest response. `revision` changes whenever a decision or a boundary has changed
   * one of those; until then a reader can keep what it computed about them.
   */
  get settled(): { readonly count: number; readonly revision: number } {
    const count = endOfResponses(this.#visible)
    return { count, revision: this.#settledRevision }
  }

  /** Those of them after the newest response. */
  sinceResponse(): readonly Message[] {
    return this.storedFrom(this.settled.count)
  }

  /** Responses with usage since the last boundary, newest first, at most so many. */
  recentResponses(most: number): readonly AssistantMessage[] {
    const found = new Map<string, AssistantMessage>()
    for (let at = this.#messages.length - 1; at >= 0 && found.size < most; at--) {
      const message = this.#messages[at]!
      if (message.type !== "assistant" || !message.message.usage || isSyntheticError(message)) continue
      const id = message.message.id ?? message.uuid
      if (!found.has(id)) found.set(id, message) // the last part of a response has its whole usage
    }
    return [...found.values()]
  }

  /** The newest response since the last boundary. An error shown in place of a response does not count. */
  get lastResponse(): AssistantMessage | undefined {
    return this.#messages.findLast(
      (message): message is AssistantMessage => message.type === "assistant" && !isSyntheticError(message),
    )
  }

  /** Whether the model no longer sees a tool result: cleared here, or deleted in its cache. */
  isCleared(toolUseId: string): boolean {
    return this.#overlay.isCleared(toolUseId) || this.#cacheEdits.hides(toolUseId)
  }

  /** Whether the model sees a tool result whole: neither put aside nor cleared. */
  isWhole(toolUseId: string): boolean {
    return !this.#overlay.isReplaced(toolUseId) && !this.#cacheEdits.hides(toolUseId)
  }

  /** Whether the model sees neither a result nor a residue of it: cleared without one, or deleted in the server's copy. */
  isLostToView(toolUseId: string): boolean {
    if (this.#overlay.isCleared(toolUseId)) return !this.#overlay.hasResidue(toolUseId)
    return this.#cacheEdits.hides(toolUseId) || (this.#serverClears && this.serverKept.mayHaveCleared(toolUseId))
  }

  /** The result of a call as its tool gave it, also where something else is shown. */
  originalResult(toolUseId: string): ToolResult | undefined {
    return this.#overlay.resultsOf([toolUseId]).find(isToolResult)
  }

  /**
   * Whether the model has the result of a call whole in front of it: it is sent, neither put aside nor cleared, and the server has left
   * it in its copy. A call of the newest response counts before its result is there.
   */
  shows(toolUseId: string): boolean {
    if (this.#overlay.resultAddress(toolUseId) === undefined) return this.#isCalledLast(toolUseId)
    return this.isWhole(toolUseId) && !(this.#serverClears && this.serverKept.mayHaveCleared(toolUseId))
  }

  /** Whether a result that is sent whole is deleted in the server's cache. */
  isDeletedInCache(toolUseId: string): boolean {
    return this.#cacheEdits.deleted.has(toolUseId)
  }

  isClearedMemory(uuid: Uuid): boolean {
    return this.#overlay.isClearedMemory(uuid)
  }

  /** The deletions inside the server's cache. */
  get cacheEdits(): CacheEditState {
    return this.#cacheEdits.state(endOfResponses(this.#messages))
  }

  /** Whether a message in view may have loaded a tool by reference. */
  get holdsReferences(): boolean {
    return this.#holdsReferences
  }

  /** Whether the last message, as it would be sent now, is the user's. */
  get endsWithUser(): boolean {
    return this.#flattener.endsWithUser
  }

  /** Results after the newest response without a decision, message by message. A process may have died before it decided. */
  undecidedResults(): readonly (readonly ToolResult[])[] {
    const isUndecided = ({ tool_use_id: id }: ToolResult) =>
      this.#overlay.isUndecided(id) && !this.#cacheEdits.hides(id)
    return this.#visible
      .slice(this.settled.count)
      .map((message) => blocksOf(message).filter(isToolResult))
      .filter((results) => results.length > 0 && results.every(isUndecided))
  }

  /** The address of the result that is shown for a call: the first of several. */
  resultAddress(toolUseId: string): string | undefined {
    return this.#overlay.resultAddress(toolUseId)
  }

  /** Folded and snipped ranges since the last boundary, in the order of the messages. */
  get hiddenRanges(): readonly HiddenMessages[] {
    return this.#ranges.inForce(this.#messages)
  }

  /** Messages since the last boundary as they were added, hidden ones included. */
  get rawMessages(): readonly Message[] {
    return this.#messages
  }

  /** Whether a range that begins with this message was hidden and opened again. */
  wasOpened(from: Uuid): boolean {
    return this.#opened.has(from)
  }

  get media(): readonly MediaItem[] {
    return this.#overlay.media
  }

  get withheldAddresses(): ReadonlySet<string> {
    return this.#overlay.withheldAddresses
  }

  get session(): SessionFacts | undefined {
    return this.#session
  }

  get prompt(): RenderedPrompt | undefined {
    return this.#prompt.rendered
  }

  /** Of the tools that the prompt offers. */
  get toolNames(): readonly string[] {
    return this.#prompt.toolNames
  }

  /** The newest message, which the next one follows. */
  get newest(): Message | undefined {
    return this.#newest
  }

  /** What was typed while the system was busy and is not delivered yet. */
  get queued(): readonly Message[] {
    return [...this.#queued.values()]
  }

  /** Whether the assistant spoke last, so that there is nothing for it to answer. A paused turn waits for the server instead. */
  awaitsUser(): boolean {
    return !this.isEmpty && !this.#flattener.endsWithUser && !this.#flattener.awaitsServer
  }

  save(): SavedContext {
    return {
      overlay: this.#overlay.save(),
      calibration: this.#estimator.state(),
      queued: this.queued,
      ...(this.#session ? { session: this.#session } : {}),
      ...(this.#prompt.rendered ? { prompt: this.#prompt.rendered } : {}),
    }
  }

  #applyMessage(message: Message): void {
    this.#newest = message
    if (message.isQueued) this.#queued.set(message.uuid, message)
    else if (isBoundary(message)) this.#startAt(message)
    else if (this.#summaryGoesFirst && isSummary(message)) this.#insertSummary(message)
    else this.#append(message)
  }

  /**
   * A boundary starts the context with the messages it keeps. They are there at once, because an imported journal may end here or go on
   * without a summary.
   */
  #startAt(boundary: Boundary): void {
    const wanted = boundary.compactMetadata?.preservedMessages?.uuids ?? []
    // the line of a folded range can be kept: it is then a message like any other
    const byId = new Map([...this.#messages, ...this.#visible].map((message) => [message.uuid, message]))
    const kept = wanted.flatMap((uuid) => byId.get(uuid) ?? []).map(withoutUsage)
    this.#overlay.clearAtBoundary(this.#cacheEdits.deleted, kept)
    this.#overlay.forgetCallsBut(kept)
    this.#base = this.#overlay.save()
    this.#startWith(kept)
    this.#summaryGoesFirst = kept.length > 0 && !keptComeFirst(boundary)
  }

  /** The decisions since the boundary are applied again, because they hold for a number of messages. */
  #insertSummary(summary: Message): void {
    const [kept, decisions] = [this.#messages, this.#decisions]
    this.#startWith([summary, ...kept])
    for (const { decision } of decisions) this.#applyDecision(decision)
  }

  #startWith(messages: readonly Message[]): void {
    this.#overlay = Overlay.restore(this.#base)
    this.#answers.boundary(this.#overlay.answeredSynthetically)
    this.#cacheEdits.clear()
    this.#decisions = []
    this.#messages = []
    this.#ranges = new HiddenRanges()
    this.#opened.clear()
    this.#visible = []
    this.#repairs = []
    this.serverKept.forget()
    this.said.forget()
    this.#holdsReferences = false
    this.#clearDerived()
    this.#meter.reset()
    for (const message of messages) this.#append(message)
  }

  #append(message: Message): void {
    this.#summaryGoesFirst = false
    // blocks are known by identity from here on, so they get their final form first
    const placed = mapBlocks(message, withoutBreakpoint)
    this.#messages.push(placed)
    this.#visible.push(placed)
    this.#repairs.push(...repairsOf(placed))
    this.serverKept.add(placed)
    this.said.add(placed)
    this.#holdsReferences ||= holdsReference(placed)
    this.#overlay.place(placed)
    const lesson = this.#meter.add(this.#stored(placed))
    if (lesson) this.#estimator.learn(lesson)
    this.#flattener.add(this.#reduced(placed))
    this.#flushCacheEdits()
  }

  #applyDecision(decision: DecisionEntry): void {
    if (decision.subtype === "session") this.#session = sessionFacts(decision)
    else if (decision.subtype === "prompt-rendered") this.#usePrompt(decision)
    else if (decision.subtype === "delivered") this.#deliver(decision.queued)
    else if (decision.subtype === "undone") this.#undo(decision)
    else {
      this.serverKept.decide(decision)
      this.#followServer(decision)
      this.#decisions.push({ decision, present: this.#messages.length })
      if (hidesRange(decision)) this.#hide(decision)
      else this.#decide(decision)
    }
  }

  /**
   * What the server had cleared comes back for a model whose server cannot clear. It also comes back where results cleared here leave the
   * server too little to clear.
   */
  #followServer(decision: DecisionEntry): void {
    if (decision.subtype === "server-edited") this.#meter.takenByServer(clearedByServer(decision))
    if (!this.#serverClears || clearsHere(decision) || hidesRange(decision)) this.#meter.comesBack()
  }

  #isCalledLast(toolUseId: string): boolean {
    const last = this.lastResponse
    return (
      last !== undefined &&
      !this.#ranges.hides(last) &&
      blocksOf(last).some((block) => isToolUse(block) && block.id === toolUseId)
    )
  }

  #deliver(uuid: Uuid): void {
    const message = this.#queued.get(uuid)
    if (!message) return
    this.#queued.delete(uuid)
    this.#append(usable({ ...message, isQueued: false }))
  }

  #usePrompt(prompt: RenderedPrompt): void {
    if (this.#prompt.take(prompt)) this.#rebuild()
  }

  /** Shows the messages that a decision touches again, and corrects the size. */
  #decide(decision: DecisionEntry): void {
    const touched = this.#touchedBy(decision)
    const size = () => this.#seenSize(touched) + this.#thinkingSize(decision) + this.#memorySize(decision)
    const before = size()
    this.#overlay.decide(decision, this.#messages)
    this.#cacheEdits.decide(decision, this.#messages.length)
    this.#answers.decide(decision, this.#messages.length)
    this.#meter.remove(before - size())
    if (!this.#areSinceResponse(touched)) this.#settledRevision++
    if (changesMessages(decision)) this.#rebuild()
    else if (editsCache(decision)) this.#flushCacheEdits()
    else this.#shown.update(touched, this.#flattener)
  }

  #touchedBy(decision: DecisionEntry): readonly Block[] {
    const dropsEdits = decision.subtype === "cache-edits-dropped"
    return dropsEdits ? this.#overlay.resultsOf(this.#cacheEdits.deleted) : this.#overlay.touchedBy(decision)
  }

  #areSinceResponse(blocks: readonly Block[]): boolean {
    if (blocks.length === 0) return true
    const newest = new Set(this.#visible.slice(this.settled.count).flatMap(blocksOf))
    return blocks.every((block) => newest.has(block))
  }

  /** Takes a range out of the view, or puts a line in its place. */
  #hide(decision: RangeDecision): void {
    const before = this.#visible
    this.#ranges.decide(decision, this.#messages)
    this.#visible = this.#left()
    const now = new Set(this.#visible)
    const gone = this.#sentSize(before.filter((message) => !now.has(message)))
    const line = decision.subtype === "folded" && now.has(foldLine(decision)) ? foldLine(decision) : undefined
    const thinking = decision.thinking ? this.#allThinkingSize() : 0
    this.#overlay.decide(decision, this.#messages)
    this.#meter.remove(gone + thinking - (line ? this.#sentSize([line]) : 0))
    this.#rebuild()
    this.#followVisible()
  }

  #left(): Message[] {
    return this.#ranges.shown(this.#messages).filter((message) => message !== undefined)
  }

  /** What is read off the messages that are left, read again. */
  #followVisible(): void {
    this.said.forget()
    for (const message of this.#visible) this.said.add(message)
    this.#holdsReferences = this.#visible.some(holdsReference)
    this.serverKept.forget()
    const decisions = this.#decisions.values()
    let next = decisions.next()
    const decideUpTo = (place: number) => {
      for (; !next.done && next.value.present <= place; next = decisions.next())
        this.serverKept.decide(next.value.decision)
    }
    this.#messages.forEach((message, at) => {
      decideUpTo(at)
      if (!this.#ranges.hides(message)) this.serverKept.add(message)
    })
    decideUpTo(this.#messages.length)
  }

  #undo(undone: UndoneDecision): void {
    const size = this.#sentSize(this.#visible)
    const { target, decisions } = this.#decisionsWithout(undone.decision, undone)
    this.#decisions = decisions
    this.#answers.undo(undone.decision)
    this.#cacheEdits.clear()
    for (const { decision, present } of decisions) this.#cacheEdits.decide(decision, present)
    const replayed = this.#replayed(decisions)
    this.#overlay = replayed.overlay
    this.#ranges = replayed.ranges
    this.#visible = this.#left()
    this.#rebuild()
    if (target && hidesRange(target)) {
      this.#opened.add(target.from)
      this.#meter.comesBack()
      this.#followVisible()
    }
    this.#meter.remove(size - this.#sentSize(this.#visible))
  }

  /** Where a range is opened again, thinking since then goes: it is bound to the view without that range. */
  #decisionsWithout(uuid: Uuid, undone?: UndoneDecision): { target?: DecisionEntry; decisions: HeldDecision[] } {
    const found = this.#decisions.find(({ decision }) => decision.uuid === uuid)
    const decisions = this.#decisions.filter((held) => held !== found)
    if (!found) return { decisions }
    const { decision: target, present: since } = found
    if (hidesRange(target) && target.thinking)
      decisions.push({ decision: undone ?? DROPPED, present: this.#messages.length, since })
    return { target, decisions }
  }

  #replayed(decisions: readonly HeldDecision[]): { readonly overlay: Overlay; readonly ranges: HiddenRanges } {
    const overlay = Overlay.restore(this.#base)
    const ranges = new HiddenRanges()
    for (const { decision, present, since = 0 } of decisions) {
      const held = this.#messages.slice(since, present)
      overlay.decide(decision, held)
      if (hidesRange(decision)) ranges.decide(decision, held)
    }
    return { overlay, ranges }
  }

  /** Flattens everything again, for the few decisions that change which blocks there are. */
  #rebuild(): void {
    this.#clearDerived()
    const shown = this.#ranges.shown(this.#messages)
    const feed = (place: number) => this.#cacheEdits.feed(this.#flattener, place, this.#isSent)
    feed(0)
    shown.forEach((message, at) => {
      this.#answers.take(at)
      if (message) {
        this.#overlay.place(message)
        this.#flattener.add(this.#reduced(message))
      }
      feed(at + 1)
    })
    this.#answers.take(this.#messages.length)
  }

  #flushCacheEdits(): void {
    this.#cacheEdits.flush(this.#flattener, this.#isSent)
  }

  /** Whether a result is sent: it is not in a hidden range. */
  readonly #isSent = (toolUseId: string): boolean =>
    this.#ranges.isEmpty || this.#overlay.resultAddress(toolUseId) !== undefined

  #clearDerived(): void {
    this.#overlay.forgetPlaces()
    this.#answers.startOver()
    this.#flattener = this.#newFlattener()
    this.#cacheEdits.startFeeding()
    this.#shown.clear()
    this.#settledRevision++
  }

  /** A flattener that begins with the context preamble. */
  #newFlattener(): Flattener {
    const flattener = new Flattener({ answeredSynthetically: this.#answers.ids })
    const { preamble } = this.#prompt
    if (preamble) flattener.add(preamble)
    return flattener
  }

  #stored(message: Message): Message {
    return mapBlocks(this.#reduced(message), (block) => this.#see(block))
  }

  /** The block as the model sees it. */
  #see(block: Block): Block {
    return this.#cacheEdits.see(block, this.#overlay)
  }

  #reduced(message: Message): Message {
    return reduced(message, this.#overlay)
  }

  /** Of the thinking that is sent, for a decision that may drop some of it. */
  #thinkingSize(decision: DecisionEntry): number {
    return dropsThinking(decision) ? this.#allThinkingSize() : 0
  }

  #allThinkingSize(): number {
    const sent = this.#visible.filter((message) => !this.#overlay.isWithoutThinking(message))
    return this.#seenSize(sent.flatMap(blocksOf).filter(isThinking))
  }

  /** Of the memories that a decision is about. */
  #memorySize(decision: DecisionEntry): number {
    const uuids = new Set(clearedMemories(decision))
    if (uuids.size === 0) return 0
    const memories = this.#visible.filter(({ uuid }) => uuids.has(uuid))
    return this.#seenSize(memories.flatMap((message) => sentBlocks(this.#reduced(message))))
  }

  #sentSize(messages: readonly Message[]): number {
    return this.#seenSize(messages.flatMap((message) => sentBlocks(this.#reduced(message))))
  }

  #seenSize(blocks: readonly Block[]): number {
    return blocks.reduce((sum, block) => sum + this.#estimator.block(this.#see(block)), 0)
  }
}

/** The message without what decisions about whole messages take out of it. */
function reduced(message: Message, overlay: Overlay): Message {
  if (message.type === "attachment")
    return overlay.isClearedMemory(message.uuid) ? renderClearedMemory(message) : message
  const taken = withoutBlocks(message, overlay.refusedBlocks(message))
  return overlay.isWithoutThinking(message) ? withoutThinking(taken) : taken
}

function sessionFacts({ title, mode, model, cwd, prompt }: DecisionOf<"session">): SessionFacts {
  return {
    ...(title === undefined ? {} : { title }),
    ...(mode === undefined ? {} : { mode }),
    model,
    cwd,
    ...(prompt === undefined ? {} : { prompt }),
  }
}

const holdsReference = (message: Message): boolean => blocksOf(message).some((block) => referencesIn(block).length > 0)

/** The place after the newest response. */
const endOfResponses = (messages: readonly Message[]): number =>
  messages.findLastIndex(({ type }) => type === "assistant") + 1

const isSummary = (message: Message): boolean => message.type === "user" && message.isCompactSummary === true

/** Kept messages that are anchored at the boundary itself come before the summary. All others follow it. */
const keptComeFirst = ({ uuid, compactMetadata }: Boundary): boolean =>
  compactMetadata?.preservedMessages?.anchorUuid === uuid
