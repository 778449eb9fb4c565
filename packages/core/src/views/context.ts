/**
 * The context view: the messages the model gets. It is fed entry by entry and keeps what is settled, so the next request costs
 * what is new. Decisions change how a settled block is shown; entries never change.
 */
import { type Block, isThinking, toBlocks, withoutBreakpoint } from "../conversation/blocks.ts"
import { type FlatMessage, Flattener, type Repair } from "../conversation/flatten.ts"
import type { MediaItem } from "../conversation/media.ts"
import { type AssistantMessage, type Boundary, isBoundary, type Message, type Uuid } from "../conversation/messages.ts"
import { type DecisionEntry, type DecisionOf, type Entry, isDecision, type SessionFacts } from "../journal/entries.ts"
import { ContextMeter, type ContextSize } from "../tokens/context-size.ts"
import type { CalibrationState, Estimator, Measure } from "../tokens/estimate.ts"
import { Overlay, type SavedOverlay } from "./overlay.ts"

export interface ContextMessages {
  readonly messages: readonly FlatMessage[]
  /** How many of them, from the first, stay as they are until a decision says otherwise. */
  readonly closed: number
  /** Another number whenever a decision has changed one of those. */
  readonly revision: number
}

export type RenderedPrompt = Extract<DecisionEntry, { subtype: "prompt-rendered" }>

/** The part of the view that a boundary does not reset, as plain data for a checkpoint. */
export interface SavedContext {
  readonly overlay: SavedOverlay
  readonly calibration: CalibrationState
  readonly session?: SessionFacts
  readonly prompt?: RenderedPrompt
  readonly queued: readonly Message[]
}

export class ContextView {
  readonly #estimator: Estimator
  readonly #meter: ContextMeter
  #overlay: Overlay
  #flattener: Flattener
  /** Messages since the last boundary, kept ones included, in the order they are sent. */
  #messages: Message[] = []
  /** Closed messages as they are shown. */
  #shown: FlatMessage[] = []
  #revision = 0
  /** In which closed message a block stands. */
  readonly #closedAt = new WeakMap<Block, number>()
  /** Messages kept across the boundary: they follow the summary. */
  #awaitingSummary: readonly Message[] = []
  /** Typed while the system was busy, in that order; each waits to be delivered. */
  readonly #queued = new Map<Uuid, Message>()
  /** Calls answered synthetically as far as the flattener has been fed: what came before such an answer was flattened without it. */
  #answered = new Set<string>()
  #answeredBefore: ReadonlySet<string>
  #answers: { readonly decision: Uuid; readonly at: number; readonly ids: readonly string[] }[] = []
  /** Decisions about blocks since the view began, so that one can be undone. */
  #decisions: DecisionEntry[] = []
  #base: SavedOverlay
  #session: SessionFacts | undefined
  #prompt: RenderedPrompt | undefined
  #promptMeasure: Measure | undefined
  #newest: Message | undefined

  constructor(estimator: Estimator, saved?: SavedContext) {
    this.#estimator = estimator
    this.#meter = new ContextMeter(estimator)
    this.#overlay = saved ? Overlay.restore(saved.overlay) : new Overlay()
    this.#base = this.#overlay.save()
    this.#session = saved?.session
    if (saved?.prompt) this.#takePrompt(saved.prompt)
    this.#answeredBefore = new Set(this.#overlay.answeredSynthetically)
    this.#answered = new Set(this.#answeredBefore)
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
    if (size.counted > 0 || !this.#promptMeasure) return size
    const prompt = Math.ceil(this.#estimator.tokens(this.#promptMeasure))
    return { tokens: size.tokens + prompt, counted: 0, estimated: size.estimated + prompt }
  }

  /** Messages since the last boundary as they are shown: what accounting counts. */
  storedMessages(): readonly Message[] {
    this.#addKept()
    return this.#messages.map((message) => this.#stored(message))
  }

  /** Those of them behind the newest response. */
  sinceResponse(): readonly Message[] {
    this.#addKept()
    const at = this.#messages.findLastIndex(({ type }) => type === "assistant")
    return this.#messages.slice(at + 1).map((message) => this.#stored(message))
  }

  /** The newest response since the last boundary. */
  get lastResponse(): AssistantMessage | undefined {
    this.#addKept()
    return this.#messages.findLast((message): message is AssistantMessage => message.type === "assistant")
  }

  /** Whether a tool result was cleared. */
  isCleared(toolUseId: string): boolean {
    return this.#overlay.isCleared(toolUseId)
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
    return this.#prompt
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
    const last = this.#flattener.open().messages.at(-1) ?? this.#flattener.closed.at(-1)
    return last?.role === "assistant" && !this.#flattener.awaitsServer
  }

  save(): SavedContext {
    return {
      overlay: this.#overlay.save(),
      calibration: this.#estimator.state(),
      queued: [...this.#queued.values()],
      ...(this.#session ? { session: this.#session } : {}),
      ...(this.#prompt ? { prompt: this.#prompt } : {}),
    }
  }

  #stored(message: Message): Message {
    const standing = this.#overlay.isWithoutThinking(message) ? withoutThinking(message) : message
    return mapBlocks(standing, (block) => this.#overlay.show(block))
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
    const lesson = this.#meter.add(placed)
    if (lesson) this.#estimator.learn(lesson)
    this.#feed(placed)
  }

  #feed(message: Message): void {
    this.#overlay.place(message)
    this.#flattener.add(this.#overlay.isWithoutThinking(message) ? withoutThinking(message) : message)
  }

  #startAnew(boundary: Boundary): void {
    this.#answeredBefore = new Set(this.#overlay.answeredSynthetically)
    this.#answers = []
    this.#addKept()
    const wanted = boundary.compactMetadata?.preservedMessages?.uuids ?? []
    const byId = new Map(this.#messages.map((message) => [message.uuid, message]))
    this.#awaitingSummary = wanted.flatMap((uuid) => byId.get(uuid) ?? []).map(withoutUsage)
    this.#messages = []
    this.#clearDerived()
    this.#meter.reset()
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
      this.#decisions.push(decision)
      this.#decide(decision)
    }
  }

  #deliver(uuid: Uuid): void {
    const message = this.#queued.get(uuid)
    if (!message) return
    this.#queued.delete(uuid)
    this.#addKept()
    this.#add({ ...message, isQueued: false })
  }

  #usePrompt(prompt: RenderedPrompt): void {
    const sameContext = prompt.context === (this.#prompt?.context ?? "")
    this.#takePrompt(prompt)
    if (!sameContext) this.#rebuild()
  }

  #takePrompt(prompt: RenderedPrompt): void {
    const { system, tools, context } = prompt
    const texts = [textIn(system), Array.isArray(tools) && tools.length > 0 ? JSON.stringify(tools) : "", context]
    this.#prompt = prompt
    this.#promptMeasure = this.#estimator.measure(texts.filter(Boolean).map((text) => ({ type: "text", text })))
  }

  /** The messages that a decision touches are shown anew, and the size follows. */
  #decide(decision: DecisionEntry): void {
    const touched = this.#overlay.touchedBy(decision)
    const before = this.#shownSize(touched) + this.#thinkingSize(decision)
    this.#overlay.decide(decision, this.#messages)
    this.#noteAnswers(decision)
    this.#meter.remove(before - this.#shownSize(touched) - this.#thinkingSize(decision))
    for (const block of touched) {
      const at = this.#closedAt.get(block)
      if (at === undefined || at >= this.#shown.length) continue
      this.#shown[at] = this.#show(this.#flattener.closed[at]!)
      this.#revision++
    }
    if (dropsThinking(decision)) this.#rebuild()
  }

  #undo(uuid: Uuid): void {
    const size = this.#sentSize()
    this.#decisions = this.#decisions.filter((decision) => decision.uuid !== uuid)
    this.#answers = this.#answers.filter(({ decision }) => decision !== uuid)
    this.#overlay = Overlay.restore(this.#base)
    for (const decision of this.#decisions) this.#overlay.decide(decision, this.#before(decision))
    this.#rebuild()
    this.#meter.remove(size - this.#sentSize())
  }

  /** The messages that were there when a decision was made. */
  #before(decision: DecisionEntry): readonly Message[] {
    return this.#messages.slice(0, this.#messages.findIndex(({ uuid }) => uuid === decision.parentUuid) + 1)
  }

  /** Flattens everything again: for the few decisions that change which blocks there are. */
  #rebuild(): void {
    this.#clearDerived()
    this.#messages.forEach((message, at) => {
      this.#takeAnswers(at)
      this.#feed(message)
    })
    this.#takeAnswers(this.#messages.length)
  }

  /** Which calls a request answered synthetically, and behind which message that was decided. */
  #noteAnswers(decision: DecisionEntry): void {
    if (decision.subtype !== "repaired") return
    const ids = decision.repairs.flatMap(({ rule, id }) => (rule === "unanswered-tool-use" ? id : []))
    this.#answers.push({ decision: decision.uuid, at: this.#messages.length, ids })
    for (const id of ids) this.#answered.add(id)
  }

  #takeAnswers(place: number): void {
    for (const { at, ids } of this.#answers) if (at === place) for (const id of ids) this.#answered.add(id)
  }

  #clearDerived(): void {
    this.#overlay.forgetPlaces()
    this.#answered = new Set(this.#answeredBefore)
    this.#flattener = this.#newFlattener()
    this.#shown = []
    this.#revision++
  }

  /** A flattener that begins with the context preamble, which stands ahead of every conversation (MSG-8). */
  #newFlattener(): Flattener {
    const flattener = new Flattener({ answeredSynthetically: this.#answered })
    if (this.#prompt?.context) flattener.add(preambleMessage(this.#prompt))
    return flattener
  }

  /** Of the thinking that is sent, for decisions that may take some of it away. */
  #thinkingSize(decision: DecisionEntry): number {
    if (!dropsThinking(decision)) return 0
    const sent = this.#messages.filter((message) => !this.#overlay.isWithoutThinking(message))
    return this.#shownSize(sent.flatMap(blocksOf).filter(isThinking))
  }

  #sentSize(): number {
    const sent = this.#messages.map((message) =>
      this.#overlay.isWithoutThinking(message) ? withoutThinking(message) : message,
    )
    return this.#shownSize(sent.flatMap(blocksOf))
  }

  #shownSize(blocks: readonly Block[]): number {
    return blocks.reduce((sum, block) => sum + this.#estimator.block(this.#overlay.show(block)), 0)
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

function preambleMessage({ uuid, timestamp, context }: RenderedPrompt): Message {
  return { type: "user", uuid, parentUuid: null, timestamp, isMeta: true, message: { role: "user", content: context } }
}

const textIn = (system: unknown): string => (typeof system === "string" ? system : JSON.stringify(system ?? ""))

const dropsThinking = (decision: DecisionEntry): boolean =>
  decision.subtype === "thinking-dropped" ||
  (decision.subtype === "repaired" && decision.repairs.some(({ rule }) => rule === "trailing-thinking"))

const blocksOf = (message: Message): readonly Block[] =>
  message.type === "user" || message.type === "assistant" ? toBlocks(message.message.content) : []

function mapBlocks(message: Message, change: (block: Block) => Block): Message {
  if (message.type !== "user" && message.type !== "assistant") return message
  return { ...message, message: { ...message.message, content: blocksOf(message).map(change) } } as Message
}

/** What the API counted before a boundary is void behind it. */
function withoutUsage(message: Message): Message {
  if (message.type !== "assistant") return message
  const { usage: _, ...rest } = message.message
  return { ...message, message: rest }
}

function withoutThinking(message: Message): Message {
  if (message.type !== "assistant") return message
  return {
    ...message,
    message: { ...message.message, content: blocksOf(message).filter((block) => !isThinking(block)) },
  }
}
