/**
 * Prepares the next request of a conversation. Everything that must be decided before it leaves is decided and recorded first. Then the
 * request is built from the views alone, and validated before the caller gets it.
 */
import { ContextFullError, EmptyConversationError } from "../base/errors.ts"
import type { DecisionDraft } from "../journal/entries.ts"
import type { RequestSender } from "../layers/layer.ts"
import type { LayerPipeline } from "../layers/pipeline.ts"
import type { Attachment } from "../messages/attachments.ts"
import type { Block, ToolResult } from "../messages/blocks.ts"
import type { Repair } from "../messages/messages.ts"
import type { ModelRequest } from "../messages/request.ts"
import { RequestValidator } from "../messages/validate/validator.ts"
import { placeBreakpoints } from "../model/cache/breakpoints.ts"
import type { FlagReader } from "../settings/flags.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import { type ModelLookup, requestModelName } from "../tokens/models.ts"
import { type ContextView, withheldMedia } from "../views/context/context.ts"
import {
  buildRequest,
  mergeExtras,
  ReferenceResolver,
  SIGNED_SUMMARIES,
  summarizedThinking,
} from "../views/context/request.ts"
import { callsKeptBy } from "../views/context/server-side.ts"
import type { Views } from "../views/views.ts"
import type { PromptKeeper } from "./prompt.ts"
import type { ConversationRecord } from "./record.ts"
import type { CacheWatch } from "./watches.ts"
import type { Window } from "./window.ts"

export interface PrepareOptions {
  readonly signal?: AbortSignal
  /** Waits until everything that the request says is on disk. Default: `record` waits for it. */
  readonly durable?: boolean
}

export interface RequestPreparerParts {
  readonly record: ConversationRecord
  /** The model as the caller named it. */
  readonly model: string
  readonly lookup: ModelLookup
  readonly window: Window
  readonly settings: EffectiveSettings
  /** Flag values refused so far. Each is reported once. */
  readonly refusals: readonly string[]
  /** Betas that every request carries. */
  readonly betas: readonly string[]
  readonly flags: Pick<FlagReader, "current">
  /** Whether requests leave with cache breakpoints. */
  readonly breakpoints: boolean
  readonly layers: LayerPipeline
  readonly prompt: PromptKeeper
  readonly cache: CacheWatch
  /** What the messages in view do not say and the model must know: the mode, the date. */
  readonly due: (context: ContextView) => readonly Attachment[]
}

/** The request that was prepared last. */
export interface Sent {
  /** When it was ready to be sent. */
  readonly at: Date
  /** The first call whose result the server leaves alone where it clears the request. */
  readonly serverKeeps: string | undefined
}

/** Sent in the user's place when the assistant spoke last and should continue. */
const GO_ON = "Continue from where you left off."

export class RequestPreparer {
  readonly #parts: RequestPreparerParts
  #validator = new RequestValidator()
  readonly #references: ReferenceResolver
  readonly #noticed = new Set<string>()
  /** Results that no layer has seen, because the process died first. */
  #undecided: readonly (readonly ToolResult[])[]
  #sent: Sent | undefined
  /** Decided with the first request: another value later would cost the server's cache of the messages. */
  #summarizes: boolean | undefined

  constructor(parts: RequestPreparerParts) {
    this.#parts = parts
    this.#references = new ReferenceResolver(parts.lookup.facts.accepts.toolReferences)
    this.#undecided = parts.record.views.context.undecidedResults()
  }

  get sent(): Sent | undefined {
    return this.#sent
  }

  /** Everything so far has been sent, or was left by a rewind: nothing is decided about it any more. */
  forgetUndecided(): void {
    this.#undecided = []
  }

  /** Looks again at what no layer has decided about: what was decided could not be written. */
  decideAgain(): void {
    this.#undecided = this.#context.undecidedResults()
  }

  /** Keeps no text: the next request is checked from its first message on. */
  letGo(): void {
    this.#validator = new RequestValidator()
  }

  async prepare({ signal, durable = false }: PrepareOptions = {}): Promise<ModelRequest> {
    const { layers, prompt, record } = this.#parts
    for (const notice of this.#notices()) this.#notice(notice)
    await this.#deliverQueued()
    for (const results of this.#undecided) await layers.onToolResults(results)
    this.forgetUndecided()
    await prompt.settle() // its size is part of what the layers look at
    const { isLonger } = await this.#complete(signal)
    if (isLonger && this.#isBlocked) await this.#complete(signal)
    while (this.#isBlocked && (await layers.whenBlocked(signal))) await this.#complete(signal)

    const size = this.#context.size()
    const fill = this.#parts.window.fill()
    if (this.#isBlocked) throw this.#isFull(size.tokens)
    await this.noteResults()
    await record.written()
    record.beginFlush() // the disk works while the request is built and answered
    const { placed, serverKeeps } = this.#checked()
    if (durable) await record.durable()
    record.events.emit("prepared", { request: placed, size, fill })
    this.#sent = { at: record.clock.now(), serverKeeps }
    layers.whileAnswered()
    return placed
  }

  /** The layers act, and what the request still needs is added. `isLonger`: the layers have not seen all of it. */
  async #complete(signal: AbortSignal | undefined): Promise<{ readonly isLonger: boolean }> {
    const { layers, prompt, settings, record } = this.#parts
    await layers.beforeRequest(signal)
    signal?.throwIfAborted()
    await prompt.settle() // after a boundary it may be another one
    await record.recordSession()
    if (this.#context.isEmpty) throw new EmptyConversationError()
    const last = this.#context.newest?.uuid
    await this.#askToGoOn()
    await this.#attachDue()
    if (!settings.values.off) await this.#withholdMedia()
    await this.#recordRepairs()
    return { isLonger: this.#context.newest?.uuid !== last }
  }

  /** What the view is, with a caller's order after it. Nothing is decided, and the cache gets no entry for it. */
  aside(order: readonly Block[]): ModelRequest {
    const { request } = this.#build("fork")
    const { messages, ...rest } = request
    const last = messages.at(-1)
    const asked = { role: "user" as const, content: [...order] }
    const withOrder =
      last?.role === "user"
        ? [...messages.slice(0, -1), { ...last, content: [...(last.content as Block[]), ...order] }]
        : [...messages.filter((message, at) => at < messages.length - 1 || message.role === "assistant"), asked]
    const whole = { ...rest, messages: withOrder } as ModelRequest
    this.#sent = { at: this.#parts.record.clock.now(), serverKeeps: this.#sent?.serverKeeps }
    return this.#parts.breakpoints ? placeBreakpoints(whole, { writesCache: false }) : whole
  }

  /** The next request, valid and with its breakpoints. */
  #checked(): { readonly placed: ModelRequest; readonly serverKeeps: string | undefined } {
    const { settings, cache, lookup, breakpoints, window } = this.#parts
    const { request, closed, revision } = this.#build("conversation")
    this.#validator.check({
      request,
      model: lookup.facts,
      settled: { closed, revision },
      isFollowed: this.#context.isFollowed,
      ...(settings.values.off ? { media: "unchecked" as const } : {}), // then nothing is withheld either
    })
    cache.sent(request, { closed, revision })
    const serverKeeps = this.#context.serverCopy.firstOf(callsKeptBy(request))
    const isPlaced = breakpoints && !settings.values.off
    const placed = isPlaced ? placeBreakpoints(request, { bare: true, lifetime: window.lifetime }) : request
    return { placed, serverKeeps }
  }

  /** What a fork starts from: the request as the views have it now, without breakpoints. */
  async forkRequest(): Promise<ModelRequest> {
    return this.#build("fork").request
  }

  get #isBlocked(): boolean {
    return this.#parts.window.fill().state === "blocked"
  }

  get #context(): Views["context"] {
    return this.#parts.record.views.context
  }

  #build(sender: RequestSender) {
    const { messages, closed, revision } = this.#context.messages()
    const { system, tools } = this.#context.prompt ?? {}
    const sent = this.#context.holdsReferences ? this.#references.resolve(messages, tools) : messages
    this.#summarizes ??= this.#parts.flags.current.on["summarized-thinking"]
    const thinking = this.#summarizes ? summarizedThinking(undefined, this.#parts.lookup.facts.accepts) : undefined
    const request = buildRequest({
      model: requestModelName(this.#parts.model),
      maxTokens: this.#parts.window.current.maxOutput,
      system,
      tools,
      messages: sent,
      ...(thinking ? { thinking } : {}),
      extras: mergeExtras([
        { betas: this.#parts.betas },
        this.#parts.layers.requestExtras(sender),
        this.#context.signed ? { betas: [SIGNED_SUMMARIES] } : {},
      ]),
    })
    return { request, closed, revision }
  }

  async #deliverQueued(): Promise<void> {
    for (const { uuid } of this.#context.queued)
      await this.#parts.record.decide([{ type: "strata", subtype: "delivered", queued: uuid }])
  }

  async #askToGoOn(): Promise<void> {
    if (!this.#context.awaitsUser()) return
    const content = [{ type: "text", text: GO_ON } as const]
    await this.#parts.record.decide([{ type: "user", isMeta: true, message: { role: "user", content } }])
  }

  /** Nothing may follow a paused turn: the server continues it. */
  async #attachDue(): Promise<void> {
    if (!this.#context.endsWithUser) return
    for (const attachment of this.#parts.due(this.#context))
      await this.#parts.record.decide([{ type: "attachment", attachment }])
  }

  async #withholdMedia(): Promise<void> {
    const drafts = withheldMedia(this.#context, this.#parts.lookup.facts.accepts.boundThinking)
    if (drafts.length > 0) await this.#parts.record.decide(drafts)
  }

  async #recordRepairs(): Promise<void> {
    const repairs = this.#context.unrecordedRepairs()
    if (repairs.length === 0) return
    const unsigns = repairs.some(({ rule }) => rule === "unsigned-summary")
    const dropsThinking = unsigns && this.#parts.lookup.facts.accepts.boundThinking
    await this.#parts.record.decide(repairDrafts(repairs, { dropsThinking }))
    this.#parts.record.events.emit("repaired", { repairs })
  }

  /** A result that no layer has changed stays as it is, even if another process resumes with other settings before it is answered. */
  async noteResults(): Promise<void> {
    const results = this.#context.undecidedResults().flat()
    if (results.length === 0) return
    const toolUseIds = results.map(({ tool_use_id }) => tool_use_id)
    await this.#parts.record.decide([{ type: "strata", subtype: "tool-results-sent", toolUseIds }])
  }

  #isFull(used: number): ContextFullError {
    const { window, lookup } = this.#parts
    return new ContextFullError({ used, limit: window.current.blocking, model: lookup.facts.id })
  }

  #notices(): readonly string[] {
    const { lookup, window, refusals } = this.#parts
    return [...(lookup.known ? [] : [lookup.notice]), ...window.current.notices, ...refusals]
  }

  #notice(message: string): void {
    if (this.#noticed.has(message)) return
    this.#noticed.add(message)
    this.#parts.record.events.emit("notice", { message })
  }
}

/** The entries that record repairs. */
/** Thinking goes with what it was bound to. */
export function repairDrafts(
  repairs: readonly Repair[],
  { dropsThinking }: { readonly dropsThinking: boolean },
): DecisionDraft[] {
  const why = "a block before it is no longer sent"
  return [
    { type: "strata", subtype: "repaired", repairs },
    ...(dropsThinking ? [{ type: "strata" as const, subtype: "thinking-dropped" as const, why }] : []),
  ]
}
