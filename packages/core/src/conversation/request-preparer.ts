/**
 * Prepares the next request of a conversation. All decisions are made and recorded first. Then the request is built from the views alone,
 * and validated.
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
import type { PromptRenderer } from "./prompt.ts"
import type { ConversationRecord } from "./record.ts"
import type { CacheWatch } from "./watches.ts"
import type { Window } from "./window.ts"

export interface PrepareOptions {
  readonly signal?: AbortSignal
  /** Whether to wait until everything in the request is on disk. Default: `record` waits for it. */
  readonly durable?: boolean
}

export interface RequestPreparerDependencies {
  readonly record: ConversationRecord
  /** Model name as passed by the caller. */
  readonly model: string
  readonly lookup: ModelLookup
  readonly window: Window
  readonly settings: EffectiveSettings
  /** Messages about refused flag values. Each is reported once. */
  readonly refusals: readonly string[]
  /** Betas of every request. */
  readonly betas: readonly string[]
  readonly flags: Pick<FlagReader, "current">
  /** Whether requests contain cache breakpoints. */
  readonly breakpoints: boolean
  readonly layers: LayerPipeline
  readonly prompt: PromptRenderer
  readonly cache: CacheWatch
  /** Pending notices for the model: the mode, the date. */
  readonly due: (context: ContextView) => readonly Attachment[]
}

/** Facts about the last prepared request. */
export interface LastRequest {
  /** Time when it was ready to be sent. */
  readonly at: Date
  /** The first call whose result the server preserves when it clears the request. */
  readonly serverKeeps: string | undefined
}

/** Sent instead of a user message if the last message is the assistant's and it should continue. */
const CONTINUE_TEXT = "Continue from where you left off."

export class RequestPreparer {
  readonly #parts: RequestPreparerDependencies
  #validator = new RequestValidator()
  readonly #references: ReferenceResolver
  readonly #noticed = new Set<string>()
  /** Results that no layer has seen, because the process died before. */
  #undecided: readonly (readonly ToolResult[])[]
  #sent: LastRequest | undefined
  /** Decided with the first request, because a later change would invalidate the server's cache of the messages. */
  #summarizes: boolean | undefined

  constructor(parts: RequestPreparerDependencies) {
    this.#parts = parts
    this.#references = new ReferenceResolver(parts.lookup.facts.accepts.toolReferences)
    this.#undecided = parts.record.views.context.undecidedResults()
  }

  get sent(): LastRequest | undefined {
    return this.#sent
  }

  /** Called when all results have been sent, or were abandoned by a rewind, so that layers no longer decide about them. */
  forgetUndecided(): void {
    this.#undecided = []
  }

  /** Collects undecided results again, after decisions could not be written. */
  decideAgain(): void {
    this.#undecided = this.#context.undecidedResults()
  }

  /** Releases all texts. The next request is validated from its first message. */
  letGo(): void {
    this.#validator = new RequestValidator()
  }

  async prepare({ signal, durable = false }: PrepareOptions = {}): Promise<ModelRequest> {
    const { layers, prompt, record } = this.#parts
    for (const notice of this.#notices()) this.#notice(notice)
    await this.#deliverQueued()
    for (const results of this.#undecided) await layers.onToolResults(results)
    this.forgetUndecided()
    await prompt.settle() // its size is an input of the layers
    const { isLonger } = await this.#complete(signal)
    if (isLonger && this.#isBlocked) await this.#complete(signal)
    while (this.#isBlocked && (await layers.whenBlocked(signal))) await this.#complete(signal)

    const size = this.#context.size()
    const fill = this.#parts.window.fill()
    if (this.#isBlocked) throw this.#isFull(size.tokens)
    await this.noteResults()
    await record.written()
    record.beginFlush() // the disk is flushed while the request is built and answered
    const { placed, serverKeeps } = this.#buildChecked()
    if (durable) await record.durable()
    record.events.emit("prepared", { request: placed, size, fill })
    this.#sent = { at: record.clock.now(), serverKeeps }
    layers.whileAnswered()
    return placed
  }

  /** Runs the layers and adds what the request still needs. `isLonger`: the layers have not seen all of it. */
  async #complete(signal: AbortSignal | undefined): Promise<{ readonly isLonger: boolean }> {
    const { layers, prompt, settings, record } = this.#parts
    await layers.beforeRequest(signal)
    signal?.throwIfAborted()
    await prompt.settle() // it may have changed after a boundary
    await record.recordSession()
    if (this.#context.isEmpty) throw new EmptyConversationError()
    const last = this.#context.newest?.uuid
    await this.#askToContinue()
    await this.#attachDue()
    if (!settings.values.off) await this.#withholdMedia()
    await this.#recordRepairs()
    return { isLonger: this.#context.newest?.uuid !== last }
  }

  /** The current view followed by a client's request for its own summary. Nothing is decided, and no cache entry is written. */
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

  /** The next request, validated and with its breakpoints. */
  #buildChecked(): { readonly placed: ModelRequest; readonly serverKeeps: string | undefined } {
    const { settings, cache, lookup, breakpoints, window } = this.#parts
    const { request, closed, revision } = this.#build("conversation")
    this.#validator.check({
      request,
      model: lookup.facts,
      settled: { closed, revision },
      isFollowed: this.#context.isFollowed,
      ...(settings.values.off ? { media: "unchecked" as const } : {}), // then no media are withheld either
    })
    cache.sent(request, { closed, revision })
    const serverKeeps = this.#context.serverCopy.firstOf(callsKeptBy(request))
    const isPlaced = breakpoints && !settings.values.off
    const placed = isPlaced ? placeBreakpoints(request, { bare: true, lifetime: window.lifetime }) : request
    return { placed, serverKeeps }
  }

  /** The base of a fork: the request for the current views, without breakpoints. */
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

  async #askToContinue(): Promise<void> {
    if (!this.#context.awaitsUser()) return
    const content = [{ type: "text", text: CONTINUE_TEXT } as const]
    await this.#parts.record.decide([{ type: "user", isMeta: true, message: { role: "user", content } }])
  }

  /** Attaches pending notices. Nothing may follow a paused turn, which the server continues. */
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

  /**
   * Records results that no layer has changed, so that they remain unchanged even if another process resumes with other settings before a
   * response.
   */
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

/** The entries that record repairs. Thinking that was bound to repaired content is dropped with it. */
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
