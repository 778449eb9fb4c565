/**
 * The context view: the messages the model gets. It is fed entry by entry and keeps what is settled, so the next request costs
 * what is new. Decisions change how a settled block is shown; entries never change.
 */

import {
  type DecisionEntry,
  type DecisionOf,
  type Entry,
  isDecision,
  type SessionFacts,
} from "../../journal/entries.ts"
import { type Block, isThinking, isToolResult, type ToolResult, withoutBreakpoint } from "../../messages/blocks.ts"
import { type FlatMessage, Flattener, type Repair } from "../../messages/flatten.ts"
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
import { ContextMeter, type ContextSize } from "../../tokens/context-size.ts"
import type { CalibrationState, Estimator } from "../../tokens/estimate.ts"
import { blocksOf, mapBlocks, withoutThinking, withoutUsage } from "./changed-messages.ts"
import {
  changesMessages,
  clearedByServer,
  clearedMemories,
  clearsHere,
  dropsThinking,
  editsCache,
} from "./decision-kinds.ts"
import { MadeUpAnswers } from "./made-up-answers.ts"
import { Overlay, type SavedOverlay } from "./overlay.ts"
import { PinnedEdits } from "./pinned-edits.ts"
import { renderClearedMemory } from "./render-decisions.ts"
import { ServerKept } from "./server-kept.ts"
import { type RenderedPrompt, StandingPrompt } from "./standing-prompt.ts"

export interface ContextMessages {
  readonly messages: readonly FlatMessage[]
  /** How many of them, from the first, stay as they are until a decision says otherwise. */
  readonly closed: number
  /** Another number whenever a decision has changed one of those. */
  readonly revision: number
}

export interface CacheEdits {
  readonly toolUseIds: readonly string[]
  readonly answered: boolean
  /** Earlier ones were given up, and no response has come since. */
  readonly justDropped: boolean
}

export interface ContextOptions {
  /** Whether the model can delete inside its cache. Default true: what the journal says is shown. */
  readonly editsCaches?: boolean
  /** Whether its server can clear from its own copy. Default true: what it cleared last is not counted. */
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

export class ContextView {
  /** What the server cleared from its own copy, and what it left. */
  readonly serverKept = new ServerKept()
  readonly #estimator: Estimator
  readonly #meter: ContextMeter
  readonly #editsCaches: boolean
  readonly #serverClears: boolean
  readonly #pinned = new PinnedEdits()
  readonly #prompt: StandingPrompt
  readonly #answers: MadeUpAnswers
  #overlay: Overlay
  #flattener: Flattener
  /** Messages since the last boundary, kept ones included, in the order they are sent. */
  #messages: Message[] = []
  /** Closed messages as they are shown. */
  #shown: FlatMessage[] = []
  #revision = 0
  #settledRevision = 0
  /** In which closed message a block stands. */
  readonly #closedAt = new WeakMap<Block, number>()
  /** Messages kept across the boundary: they follow the summary. */
  #awaitingSummary: readonly Message[] = []
  /** Typed while the system was busy, in that order; each waits to be delivered. */
  readonly #queued = new Map<Uuid, Message>()
  /** Decisions about blocks since the view or its last boundary began, each with how many messages there were, so that one can be undone. */
  #decisions: { readonly decision: DecisionEntry; readonly present: number }[] = []
  #base: SavedOverlay
  #session: SessionFacts | undefined
  #newest: Message | undefined

  constructor(
    estimator: Estimator,
    saved?: SavedContext,
    { editsCaches = true, serverClears = true }: ContextOptions = {},
  ) {
    this.#estimator = estimator
    this.#editsCaches = editsCaches
    this.#serverClears = serverClears
    this.#meter = new ContextMeter(estimator)
    this.#overlay = saved ? Overlay.restore(saved.overlay, { editsCaches }) : new Overlay({ editsCaches })
    this.#base = this.#overlay.save()
    this.#session = saved?.session
    this.#prompt = new StandingPrompt(estimator, saved?.prompt)
    this.#answers = new MadeUpAnswers(this.#overlay.answeredSynthetically)
    this.#flattener = this.#newFlattener()
    for (const message of saved?.queued ?? []) this.#queued.set(message.uuid, message)
  }

  apply(entry: Entry): void {
    if (isDecision(entry)) this.#applyDecision(entry)
    else if (!entry.isSidechain) this.#applyMessage(entry)
  }

  /** The messages as they would be sent now. */
  messages(): ContextMessages {
    this.#addKept()
    this.#showClosed()
    const open = this.#flattener.open().messages.map((message) => this.#show(message))
    return { messages: this.#shown.concat(open), closed: this.#shown.length, revision: this.#revision }
  }

  get isEmpty(): boolean {
    this.#addKept()
    return this.#flattener.closed.length === 0 && this.#flattener.open().messages.length === 0
  }

  /** Repairs that the view makes and the journal does not know yet. */
  unrecordedRepairs(): readonly Repair[] {
    this.#addKept()
    const repairs = [...this.#flattener.closedRepairs, ...this.#flattener.open().repairs]
    const unrecorded = repairs.filter((repair) => !this.#overlay.isRecorded(repair))
    return [...new Map(unrecorded.map((repair) => [`${repair.rule} ${repair.id}`, repair])).values()]
  }

  /** As the API counted it; before the first count the system prompt, the tools and the preamble are estimated along. */
  size(): ContextSize {
    this.#addKept()
    const size = this.#meter.size()
    if (size.counted > 0) return size
    const prompt = this.promptTokens
    return { tokens: size.tokens + prompt, counted: 0, estimated: size.estimated + prompt }
  }

  /** What every request carries besides the messages, estimated: system prompt, tools, preamble. */
  get promptTokens(): number {
    return this.#prompt.tokens
  }

  /** Calls that a request answered synthetically; that answer stands for ever. */
  get answeredSynthetically(): ReadonlySet<string> {
    return this.#answers.ids
  }

  /** Messages since the last boundary as the model sees them. */
  storedMessages(): readonly Message[] {
    return this.storedFrom(0)
  }

  /** The same from the nth on. */
  storedFrom(index: number): readonly Message[] {
    this.#addKept()
    return this.#messages.slice(index).map((message) => this.#stored(message))
  }

  /**
   * How many of them stand before the end of the newest response, and a number that is another one whenever a decision or a boundary
   * has changed one of those: until then what is known about them can be kept.
   */
  get settled(): { readonly count: number; readonly revision: number } {
    this.#addKept()
    const count = this.#messages.findLastIndex(({ type }) => type === "assistant") + 1
    return { count, revision: this.#settledRevision }
  }

  /** Those of them behind the newest response. */
  sinceResponse(): readonly Message[] {
    return this.storedFrom(this.settled.count)
  }

  /** Responses with their usage since the last boundary, the newest first, at most so many. */
  recentResponses(most: number): readonly AssistantMessage[] {
    this.#addKept()
    const found = new Map<string, AssistantMessage>()
    for (let at = this.#messages.length - 1; at >= 0 && found.size < most; at--) {
      const message = this.#messages[at]!
      if (message.type !== "assistant" || !message.message.usage || isSyntheticError(message)) continue
      const id = message.message.id ?? message.uuid
      if (!found.has(id)) found.set(id, message) // of the pieces of a response the last has the whole usage
    }
    return [...found.values()]
  }

  /** The newest response since the last boundary: what was shown in place of one, because of an error, is none. */
  get lastResponse(): AssistantMessage | undefined {
    this.#addKept()
    return this.#messages.findLast(
      (message): message is AssistantMessage => message.type === "assistant" && !isSyntheticError(message),
    )
  }

  /** Whether the model no longer sees a tool result: cleared here, or deleted in its cache. */
  isCleared(toolUseId: string): boolean {
    return this.#overlay.isCleared(toolUseId)
  }

  /** Whether a result that is sent whole is deleted in the server's cache. */
  isDeletedInCache(toolUseId: string): boolean {
    return this.#overlay.isDeletedInCache(toolUseId)
  }

  isClearedMemory(uuid: Uuid): boolean {
    return this.#overlay.isClearedMemory(uuid)
  }

  /** Results that are deleted inside the server's cache, and whether a response has come since the first of them was. */
  get cacheEdits(): CacheEdits {
    const inForce = this.#overlay.cacheEdits
    const { count } = this.settled
    return {
      toolUseIds: [...inForce.values()].flat(),
      answered: this.#pinned.earliest(inForce) < count,
      justDropped: this.#pinned.droppedAt >= count,
    }
  }

  /** Whether the last message, as it would be sent now, is the user's. */
  get endsWithUser(): boolean {
    this.#addKept()
    return this.#flattener.endsWithUser
  }

  /** Results behind the newest response that nothing was decided about, message by message: a process may have died before it was. */
  undecidedResults(): readonly (readonly ToolResult[])[] {
    return this.#messages
      .slice(this.settled.count)
      .map((message) => blocksOf(message).filter(isToolResult))
      .filter(
        (results) => results.length > 0 && results.every((result) => this.#overlay.isUndecided(result.tool_use_id)),
      )
  }

  /** Where the result that is shown for a call stands: of several the first. */
  resultAddress(toolUseId: string): string | undefined {
    return this.#overlay.resultAddress(toolUseId)
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

  /** The newest message: what the next one follows. */
  get newest(): Message | undefined {
    return this.#newest
  }

  /** What was typed while the system was busy and has not been delivered yet. */
  get queued(): readonly Message[] {
    return [...this.#queued.values()]
  }

  /** Whether the assistant spoke last, so that there is nothing for it to answer. A paused turn waits for the server instead. */
  awaitsUser(): boolean {
    this.#addKept()
    return !this.isEmpty && !this.#flattener.endsWithUser && !this.#flattener.awaitsServer
  }

  save(): SavedContext {
    return {
      overlay: this.#overlay.save(),
      calibration: this.#estimator.state(),
      queued: [...this.#queued.values()],
      ...(this.#session ? { session: this.#session } : {}),
      ...(this.#prompt.rendered ? { prompt: this.#prompt.rendered } : {}),
    }
  }

  #stored(message: Message): Message {
    return mapBlocks(this.#standing(message), (block) => this.#overlay.see(block))
  }

  /** The message with what decisions leave of it; what they say about single blocks is in the overlay. */
  #standing(message: Message): Message {
    if (message.type === "attachment")
      return this.#overlay.isClearedMemory(message.uuid) ? renderClearedMemory(message) : message
    return this.#overlay.isWithoutThinking(message) ? withoutThinking(message) : message
  }

  #applyMessage(message: Message): void {
    this.#newest = message
    if (message.isQueued) this.#queued.set(message.uuid, message)
    else if (isBoundary(message)) this.#startAnew(message)
    else {
      const isSummary = message.type === "user" && message.isCompactSummary === true
      if (!isSummary) this.#addKept()
      this.#add(message)
      this.#addKept()
    }
  }

  #add(message: Message): void {
    // blocks are known by identity from here on, so they get their final form first
    const placed = mapBlocks(message, withoutBreakpoint)
    this.#messages.push(placed)
    this.serverKept.add(placed)
    this.#overlay.place(placed)
    const lesson = this.#meter.add(this.#stored(placed))
    if (lesson) this.#estimator.learn(lesson)
    this.#feed(placed, this.#messages.length)
  }

  /** `fed`: how many messages that makes. */
  #feed(message: Message, fed: number): void {
    this.#flattener.add(this.#standing(message))
    this.#feedEdits(fed)
  }

  #feedEdits(fed: number): void {
    if (this.#editsCaches) this.#pinned.feed(this.#flattener, fed, this.#overlay.cacheEdits)
  }

  #startAnew(boundary: Boundary): void {
    this.#addKept()
    const wanted = boundary.compactMetadata?.preservedMessages?.uuids ?? []
    const byId = new Map(this.#messages.map((message) => [message.uuid, message]))
    this.#awaitingSummary = wanted.flatMap((uuid) => byId.get(uuid) ?? []).map(withoutUsage)
    this.#overlay.settleCacheEdits(this.#awaitingSummary)
    this.#overlay.forgetCallsBut(this.#awaitingSummary)
    this.#answers.boundary(this.#overlay.answeredSynthetically)
    this.#pinned.forget()
    this.#base = this.#overlay.save()
    this.#decisions = []
    this.#messages = []
    this.serverKept.forget()
    this.#clearDerived()
    this.#meter.reset()
    if (standsBeforeSummary(boundary)) this.#addKept()
  }

  #addKept(): void {
    const kept = this.#awaitingSummary
    if (kept.length === 0) return
    this.#awaitingSummary = []
    for (const message of kept) this.#add(message)
  }

  #applyDecision(decision: DecisionEntry): void {
    if (decision.subtype === "session") this.#session = sessionFacts(decision)
    else if (decision.subtype === "prompt-rendered") this.#usePrompt(decision)
    else if (decision.subtype === "delivered") this.#deliver(decision.queued)
    else if (decision.subtype === "undone") this.#undo(decision.decision)
    else {
      this.serverKept.decide(decision)
      this.#followServer(decision)
      this.#decisions.push({ decision, present: this.#messages.length })
      this.#decide(decision)
    }
  }

  /** What the server had cleared is whole again for a model whose server cannot, and where results cleared here leave it too little to clear. */
  #followServer(decision: DecisionEntry): void {
    if (decision.subtype === "server-edited") this.#meter.takenByServer(clearedByServer(decision))
    if (!this.#serverClears || clearsHere(decision)) this.#meter.comesBack()
  }

  #deliver(uuid: Uuid): void {
    const message = this.#queued.get(uuid)
    if (!message) return
    this.#queued.delete(uuid)
    this.#addKept()
    this.#add({ ...message, isQueued: false })
  }

  #usePrompt(prompt: RenderedPrompt): void {
    if (this.#prompt.take(prompt)) this.#rebuild()
  }

  /** The messages that a decision touches are shown anew, and the size follows. */
  #decide(decision: DecisionEntry): void {
    const touched = this.#overlay.touchedBy(decision)
    const size = () => this.#seenSize(touched) + this.#thinkingSize(decision) + this.#memorySize(decision)
    const before = size()
    this.#overlay.decide(decision, this.#messages)
    this.#answers.decide(decision, this.#messages.length)
    this.#meter.remove(before - size())
    if (!this.#standsInTail(touched)) this.#settledRevision++
    if (decision.subtype === "cache-edits-dropped") this.#pinned.drop(this.#messages.length)
    if (changesMessages(decision)) this.#rebuild()
    else if (editsCache(decision)) this.#pinEdits(decision)
    else this.#showAnew(touched)
  }

  #pinEdits({ uuid }: DecisionEntry): void {
    this.#pinned.pin(uuid, this.#messages.length)
    this.#feedEdits(this.#messages.length)
  }

  #standsInTail(blocks: readonly Block[]): boolean {
    if (blocks.length === 0) return true
    const tail = new Set(this.#messages.slice(this.settled.count).flatMap(blocksOf))
    return blocks.every((block) => tail.has(block))
  }

  #showAnew(blocks: readonly Block[]): void {
    for (const block of blocks) {
      const at = this.#closedAt.get(block)
      if (at === undefined || at >= this.#shown.length) continue
      this.#shown[at] = this.#show(this.#flattener.closed[at]!)
      this.#revision++
    }
  }

  #undo(uuid: Uuid): void {
    const size = this.#sentSize()
    this.#decisions = this.#decisions.filter(({ decision }) => decision.uuid !== uuid)
    this.#answers.undo(uuid)
    this.#overlay = Overlay.restore(this.#base, { editsCaches: this.#editsCaches })
    for (const { decision, present } of this.#decisions)
      this.#overlay.decide(decision, this.#messages.slice(0, present))
    this.#rebuild()
    this.#meter.remove(size - this.#sentSize())
  }

  /** Flattens everything again: for the few decisions that change which blocks there are. */
  #rebuild(): void {
    this.#clearDerived()
    this.#feedEdits(0)
    this.#messages.forEach((message, at) => {
      this.#answers.take(at)
      this.#overlay.place(message)
      this.#feed(message, at + 1)
    })
    this.#answers.take(this.#messages.length)
  }

  #clearDerived(): void {
    this.#overlay.forgetPlaces()
    this.#answers.startOver()
    this.#flattener = this.#newFlattener()
    this.#pinned.startOver()
    this.#shown = []
    this.#revision++
    this.#settledRevision++
  }

  /** A flattener that begins with the context preamble, which stands ahead of every conversation (MSG-8). */
  #newFlattener(): Flattener {
    const flattener = new Flattener({ answeredSynthetically: this.#answers.ids })
    const { preamble } = this.#prompt
    if (preamble) flattener.add(preamble)
    return flattener
  }

  /** Of the thinking that is sent, for decisions that may take some of it away. */
  #thinkingSize(decision: DecisionEntry): number {
    if (!dropsThinking(decision)) return 0
    const sent = this.#messages.filter((message) => !this.#overlay.isWithoutThinking(message))
    return this.#seenSize(sent.flatMap(blocksOf).filter(isThinking))
  }

  /** Of the memories that a decision is about. */
  #memorySize(decision: DecisionEntry): number {
    const uuids = new Set(clearedMemories(decision))
    if (uuids.size === 0) return 0
    const memories = this.#messages.filter(({ uuid }) => uuids.has(uuid))
    return this.#seenSize(memories.flatMap((message) => sentBlocks(this.#standing(message))))
  }

  #sentSize(): number {
    return this.#seenSize(this.#messages.flatMap((message) => sentBlocks(this.#standing(message))))
  }

  #seenSize(blocks: readonly Block[]): number {
    return blocks.reduce((sum, block) => sum + this.#estimator.block(this.#overlay.see(block)), 0)
  }

  /** Takes in what was closed since the last time. */
  #showClosed(): void {
    const { closed } = this.#flattener
    for (let at = this.#shown.length; at < closed.length; at++) {
      for (const block of closed[at]!.content) this.#closedAt.set(block, at)
      this.#shown.push(this.#show(closed[at]!))
    }
  }

  #show(message: FlatMessage): FlatMessage {
    const content = message.content.map((block) => this.#overlay.show(block))
    return content.every((block, i) => block === message.content[i]) ? message : { role: message.role, content }
  }
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

/** L4-18: kept messages that hang on the boundary itself come before the summary; otherwise they follow it. */
const standsBeforeSummary = ({ uuid, compactMetadata }: Boundary) =>
  compactMetadata?.preservedMessages?.anchorUuid === uuid
