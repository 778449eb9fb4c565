/**
 * The context that results from the entries so far: the messages since the last boundary, and the decisions about them. `apply` does
 * all the work; `ContextView` reads the result.
 */

import { type DecisionEntry, type Entry, isDecision, type SessionFacts } from "../../journal/entries.ts"
import { type Block, isToolUse, withoutBreakpoint } from "../../messages/blocks.ts"
import { type FlatMessage, Flattener } from "../../messages/flatten.ts"
import {
  type AssistantMessage,
  type Boundary,
  isBoundary,
  isSummary,
  isSyntheticError,
  type Message,
  type Repair,
  type SignedSummary,
  type Uuid,
} from "../../messages/messages.ts"
import { repairsOf, usable } from "../../messages/usable.ts"
import { ContextMeter } from "../../tokens/context-size.ts"
import type { CalibrationState, Estimator } from "../../tokens/estimate.ts"
import {
  changesMessages,
  clearedByServer,
  clearsInMessages,
  editsCache,
  Overlay,
  type SavedOverlay,
  sessionFacts,
} from "./overlay.ts"
import {
  areSinceResponse,
  blocksOf,
  foldLine,
  HeldDecisions,
  HiddenRanges,
  hidesRange,
  holdsReference,
  mapBlocks,
  type RangeDecision,
  RenderedMessages,
  SyntheticAnswers,
  type UndoneDecision,
  withoutDecided,
  withoutUsage,
} from "./rendered-messages.ts"
import {
  CurrentPrompt,
  findSignedSummary,
  type PromptSize,
  type RenderedPrompt,
  signedMessage,
  unsignedRepair,
  withoutSignedText,
} from "./request.ts"
import { AnnouncedState, CacheEdits, ServerCopy, VisibleSizes } from "./server-side.ts"

export interface ContextOptions {
  /** Whether the model can delete inside its cache. Default true: the view shows the state of the journal. */
  readonly editsCaches?: boolean
  /** Whether its server can clear its own copy. Default true: the size excludes what the server cleared last. */
  readonly serverClears?: boolean
  /** The model whose signed summaries requests can contain. Default: none, so their texts are sent. */
  readonly signedFor?: string | undefined
}

/** The part of the view that a boundary does not reset, as plain data for a checkpoint. */
export interface SavedContext {
  readonly overlay: SavedOverlay
  readonly calibration: CalibrationState
  readonly session?: SessionFacts
  readonly prompt?: RenderedPrompt
  readonly promptSize?: PromptSize
  readonly queued: readonly Message[]
}

export class ContextState {
  readonly serverCopy = new ServerCopy()
  readonly announced = new AnnouncedState((toolUseId) => this.shows(toolUseId))
  readonly estimator: Estimator
  readonly sizes: VisibleSizes
  readonly meter: ContextMeter
  readonly serverClears: boolean
  readonly signedFor: string | undefined
  readonly cacheEdits: CacheEdits
  readonly prompt: CurrentPrompt
  readonly answers: SyntheticAnswers
  readonly shown = new RenderedMessages((block) => this.overlay.show(block))
  overlay: Overlay
  flattener: Flattener
  /** Messages since the last boundary in the order in which they are sent, including the tail. */
  messages: Message[] = []
  ranges = new HiddenRanges()
  /** First messages of ranges that were hidden and opened again. */
  readonly opened = new Set<Uuid>()
  visible: Message[] = []
  repairs: Repair[] = []
  settledRevision = Symbol()
  /** Whether only messages of the tail have come since the boundary, so that a summary goes before them. */
  summaryGoesFirst = false
  /** Number of messages that the boundary preserved, and how many of them come before the summary. */
  #kept = 0
  #head = 0
  /** Messages typed while the agent was busy, in order. They wait for delivery. */
  readonly queued = new Map<Uuid, Message>()
  held: HeldDecisions
  holdsReferences = false
  /** Whether a client that resends its own message list sent some of the messages. */
  isFollowed = false
  session: SessionFacts | undefined
  newest: Message | undefined

  constructor(
    estimator: Estimator,
    saved?: SavedContext,
    { editsCaches = true, serverClears = true, signedFor }: ContextOptions = {},
  ) {
    this.estimator = estimator
    this.serverClears = serverClears
    this.signedFor = signedFor
    this.cacheEdits = new CacheEdits(editsCaches)
    this.sizes = new VisibleSizes(estimator, this)
    this.meter = new ContextMeter(estimator)
    this.overlay = saved ? Overlay.restore(saved.overlay) : new Overlay()
    this.held = new HeldDecisions(this.overlay.save())
    this.session = saved?.session
    this.prompt = new CurrentPrompt(estimator, saved?.prompt, saved?.promptSize)
    this.answers = new SyntheticAnswers(this.overlay.answeredSynthetically)
    this.flattener = this.#newFlattener()
    for (const message of saved?.queued ?? []) this.queued.set(message.uuid, message)
  }

  apply(entry: Entry): void {
    if (isDecision(entry)) this.#applyDecision(entry)
    else if (!entry.isSidechain) this.#applyMessage(entry.isQueued ? entry : usable(entry))
  }

  /** The newest response since the last boundary. An error shown in place of a response does not count. */
  get lastResponse(): AssistantMessage | undefined {
    return this.messages.findLast(
      (message): message is AssistantMessage => message.type === "assistant" && !isSyntheticError(message),
    )
  }

  /** Whether the model sees a complete tool result: neither offloaded nor cleared. */
  isWhole(toolUseId: string): boolean {
    return !this.overlay.isReplaced(toolUseId) && !this.cacheEdits.hides(toolUseId)
  }

  /**
   * Whether the complete result of a call is in context: it is sent, neither offloaded nor cleared, and also complete in the server's
   * copy. True for a call of the newest response even before its result arrives.
   */
  shows(toolUseId: string): boolean {
    if (this.overlay.resultAddress(toolUseId) === undefined) return this.#isCalledLast(toolUseId)
    return this.isWhole(toolUseId) && !(this.serverClears && this.serverCopy.mayHaveCleared(toolUseId))
  }

  #isCalledLast(toolUseId: string): boolean {
    const last = this.lastResponse
    return (
      last !== undefined &&
      !this.ranges.hides(last) &&
      blocksOf(last).some((block) => isToolUse(block) && block.id === toolUseId)
    )
  }

  #applyMessage(message: Message): void {
    this.newest = message
    if (message.isQueued) this.queued.set(message.uuid, message)
    else if (isBoundary(message)) this.#startAt(message)
    else if (this.summaryGoesFirst && isSummary(message)) this.#insertSummary(message)
    else this.#append(message)
  }

  /**
   * Starts the context with the messages that a boundary preserves. They are shown at once, because an imported journal may end here or
   * continue without a summary.
   */
  #startAt(boundary: Boundary): void {
    const wanted = boundary.compactMetadata?.preservedMessages?.uuids ?? []
    // the tail may contain the line of a folded range: it is then a message like any other
    const byId = new Map([...this.messages, ...this.visible].map((message) => [message.uuid, message]))
    const kept = wanted.flatMap((uuid) => byId.get(uuid) ?? []).map(withoutUsage)
    this.overlay.clearAtBoundary(this.cacheEdits.deleted, kept)
    this.overlay.forgetCallsBut(kept)
    this.held = new HeldDecisions(this.overlay.save())
    this.#kept = kept.length
    const head = new Set(boundary.compactMetadata?.headMessages ?? [])
    this.#head = kept.filter(({ uuid }) => head.has(uuid)).length
    this.#startWith(kept)
    this.summaryGoesFirst = kept.length > 0 && !isHeadAnchored(boundary)
  }

  /** Inserts the summary and applies the decisions since the boundary again, because they refer to positions of messages. */
  #insertSummary(summary: Message): void {
    const [kept, decisions] = [this.messages, this.held.list]
    this.#startWith([...kept.slice(0, this.#head), summary, ...kept.slice(this.#head)])
    for (const { decision } of decisions) this.#applyDecision(decision)
  }

  #startWith(messages: readonly Message[]): void {
    this.held = this.held.emptied()
    this.overlay = this.held.replay([]).overlay
    this.answers.boundary(this.overlay.answeredSynthetically)
    this.cacheEdits.clear()
    this.messages = []
    this.ranges = new HiddenRanges()
    this.opened.clear()
    this.visible = []
    this.repairs = []
    this.serverCopy.forget()
    this.announced.forget()
    this.holdsReferences = false
    this.#clearDerived()
    this.meter.reset()
    for (const message of messages) this.#append(message)
  }

  #append(message: Message): void {
    this.summaryGoesFirst = false
    // blocks are known by identity from here on, so they get their final form first
    const placed = mapBlocks(message, withoutBreakpoint)
    this.messages.push(placed)
    this.visible.push(placed)
    this.repairs.push(...repairsOf(placed))
    this.serverCopy.add(placed)
    this.announced.add(placed)
    this.holdsReferences ||= holdsReference(placed)
    this.isFollowed ||= placed.asSent === true
    this.overlay.place(placed)
    const lesson = this.meter.add(this.stored(placed))
    if (lesson) this.estimator.learn(lesson)
    if (placed.type === "assistant") this.#settleSizes()
    if (this.messages.length === 1 && this.signed)
      this.#rebuild() // it comes before the preamble
    else this.#flatten(placed, { at: this.messages.length - 1, into: this.flattener })
    this.#flushCacheEdits()
  }

  #applyDecision(decision: DecisionEntry): void {
    if (decision.subtype === "session") this.session = sessionFacts(decision)
    else if (decision.subtype === "prompt-rendered") this.#usePrompt(decision)
    else if (decision.subtype === "delivered") this.#deliver(decision.queued)
    else if (decision.subtype === "undone") this.#undo(decision)
    else if (decision.subtype === "imported") this.meter.forgetCounts()
    else {
      this.serverCopy.decide(decision)
      this.#followServer(decision)
      this.held.add(decision, this.messages.length)
      if (hidesRange(decision)) this.#hide(decision)
      else this.#decide(decision)
    }
  }

  /**
   * Follows edits of the server. Results that it cleared reappear for a model whose server cannot clear, and if clearing in the
   * messages leaves the server too little to clear.
   */
  #followServer(decision: DecisionEntry): void {
    if (decision.subtype === "server-edited") {
      this.meter.removedByServer(clearedByServer(decision))
      this.#settleSizes()
    }
    if (!this.serverClears || clearsInMessages(decision) || hidesRange(decision)) this.meter.restoredNextRequest()
  }

  /**
   * Calibrates estimates when the API has counted the complete context. Without a prompt in the journal, the count cannot be
   * attributed.
   */
  #settleSizes(): void {
    const { countedTotal: counted, total } = this.meter
    if (counted > 0 && this.prompt.rendered) this.prompt.settle(counted, total)
  }

  #deliver(uuid: Uuid): void {
    const message = this.queued.get(uuid)
    if (!message) return
    this.queued.delete(uuid)
    this.#append(usable({ ...message, isQueued: false }))
  }

  #usePrompt(prompt: RenderedPrompt): void {
    if (this.prompt.take(prompt)) this.#rebuild()
  }

  /** Renders the messages that a decision affects again, and corrects the size. */
  #decide(decision: DecisionEntry): void {
    const touched = this.#touchedBy(decision)
    const size = () => this.estimator.sum([this.sizes.ofBlocks(touched), this.sizes.ofConcerned(decision)])
    const before = size()
    this.overlay.decide(decision, this.messages)
    this.cacheEdits.decide(decision, this.messages.length)
    this.answers.decide(decision, this.messages.length)
    this.meter.replace(before, size())
    if (!areSinceResponse(this.visible, touched)) this.settledRevision = Symbol()
    if (changesMessages(decision)) this.#rebuild()
    else if (editsCache(decision)) this.#flushCacheEdits()
    else this.shown.update(touched, this.flattener)
  }

  #touchedBy(decision: DecisionEntry): readonly Block[] {
    const dropsEdits = decision.subtype === "cache-edits-dropped"
    return dropsEdits ? this.overlay.resultsOf(this.cacheEdits.deleted) : this.overlay.touchedBy(decision)
  }

  #hide(decision: RangeDecision): void {
    const before = this.visible
    this.ranges.decide(decision, this.messages)
    this.visible = this.#left()
    const now = new Set(this.visible)
    const gone = this.sizes.ofMessages(before.filter((message) => !now.has(message)))
    const line = decision.subtype === "folded" && now.has(foldLine(decision)) ? foldLine(decision) : undefined
    const thinking = decision.thinking ? [this.sizes.ofThinking()] : []
    this.overlay.decide(decision, this.messages)
    this.meter.replace(this.estimator.sum([gone, ...thinking]), this.sizes.ofMessages(line ? [line] : []))
    this.#rebuild()
    this.#followVisible()
  }

  #left(): Message[] {
    return this.ranges.shown(this.messages).filter((message) => message !== undefined)
  }

  /** Recomputes everything that depends on the visible messages. */
  #followVisible(): void {
    this.announced.forget()
    for (const message of this.visible) this.announced.add(message)
    this.holdsReferences = this.visible.some(holdsReference)
    this.serverCopy.forget()
    const decisions = this.held.list.values()
    let next = decisions.next()
    const decideUpTo = (place: number) => {
      for (; !next.done && next.value.present <= place; next = decisions.next())
        this.serverCopy.decide(next.value.decision)
    }
    this.messages.forEach((message, at) => {
      decideUpTo(at)
      if (!this.ranges.hides(message)) this.serverCopy.add(message)
    })
    decideUpTo(this.messages.length)
  }

  #undo(undone: UndoneDecision): void {
    const size = this.sizes.ofMessages(this.visible)
    const { target, held } = this.held.without(undone.decision, { present: this.messages.length, undone })
    this.held = held
    this.answers.undo(undone.decision)
    this.cacheEdits.clear()
    for (const { decision, present } of held.list) this.cacheEdits.decide(decision, present)
    const replayed = held.replay(this.messages)
    this.overlay = replayed.overlay
    this.ranges = replayed.ranges
    this.visible = this.#left()
    this.#rebuild()
    if (target && hidesRange(target)) {
      this.opened.add(target.from)
      this.meter.restoredNextRequest()
      this.#followVisible()
    }
    this.meter.replace(size, this.sizes.ofMessages(this.visible))
  }

  /** Flattens everything again, for the few decisions that change which blocks exist. */
  #rebuild(): void {
    this.#clearDerived()
    const shown = this.ranges.shown(this.messages)
    const feed = (place: number) => this.cacheEdits.feed(this.flattener, place, this.#isSent)
    feed(0)
    shown.forEach((message, at) => {
      this.answers.take(at)
      if (message) this.overlay.place(message)
      this.#flatten(message, { at, into: this.flattener })
      feed(at + 1)
    })
    this.answers.take(this.messages.length)
  }

  /** The signed summary at the start of this context, if it can be sent. */
  get signed(): SignedSummary | undefined {
    const [summary] = this.messages
    const signed = findSignedSummary(summary)
    if (!signed || signed.model !== this.signedFor || this.overlay.isRecorded(unsignedRepair(summary!)))
      return undefined
    return signed
  }

  /** The messages before one of them, as they would be sent without the rest. */
  before(uuid: Uuid | undefined): readonly FlatMessage[] {
    const { signed } = this
    const end = uuid === undefined ? this.messages.length : this.messages.findIndex((message) => message.uuid === uuid)
    const into = this.#newFlattener()
    for (const [at, message] of this.ranges.shown(this.messages).slice(0, Math.max(0, end)).entries())
      this.#flatten(message, { at, into })
    const messages = this.shown.all(into.result().messages)
    return signed ? [signedMessage(signed), ...messages] : messages
  }

  /**
   * Adds a message. After a signed summary come the messages that the boundary preserved, then the preamble and the text around the
   * summary.
   */
  #flatten(message: Message | undefined, { at, into }: { readonly at: number; readonly into: Flattener }): void {
    const { signed } = this
    if (message && !(signed && at === 0)) into.add(this.#reduced(message))
    if (!signed || at !== this.#kept) return
    if (this.prompt.preamble) into.add(this.prompt.preamble)
    into.add(withoutSignedText(this.messages[0]!, signed))
  }

  #flushCacheEdits(): void {
    this.cacheEdits.flush(this.flattener, this.#isSent)
  }

  /** Whether a result is sent, because it is not in a hidden range. */
  readonly #isSent = (toolUseId: string): boolean =>
    this.ranges.isEmpty || this.overlay.resultAddress(toolUseId) !== undefined

  #clearDerived(): void {
    this.overlay.forgetPlaces()
    this.answers.startOver()
    this.flattener = this.#newFlattener()
    this.cacheEdits.startFeeding()
    this.shown.clear()
    this.settledRevision = Symbol()
  }

  /** A flattener that starts with the context preamble, unless a signed summary comes first. */
  #newFlattener(): Flattener {
    const followsSummary = this.signed !== undefined
    const flattener = new Flattener({ answeredSynthetically: this.answers.ids, followsSummary })
    const { preamble } = this.prompt
    if (preamble && !followsSummary) flattener.add(preamble)
    return flattener
  }

  stored(message: Message): Message {
    return mapBlocks(this.#reduced(message), (block) => this.cacheEdits.see(block, this.overlay))
  }

  #reduced(message: Message): Message {
    return withoutDecided(message, this.overlay)
  }
}

/** Whether the tail comes before the summary: only if it is anchored at the boundary itself. */
const isHeadAnchored = ({ uuid, compactMetadata }: Boundary): boolean =>
  compactMetadata?.preservedMessages?.anchorUuid === uuid
