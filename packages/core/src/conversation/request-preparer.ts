/**
 * Makes the next request of a conversation: everything that must be decided before it leaves is decided and recorded first, in this
 * order, and then the request is built from the views alone. It is checked before anybody sees it.
 */
import { ContextFullError, EmptyConversationError } from "../base/errors.ts"
import type { Events } from "../base/events.ts"
import type { EffectiveSettings } from "../base/settings.ts"
import type { Draft, Entry } from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import type { LayerPipeline } from "../layers/pipeline.ts"
import type { ToolResult } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import { RequestValidator } from "../messages/validate/validator.ts"
import { callsKeptBy } from "../model/context-management.ts"
import { type ModelLookup, sentModelName } from "../tokens/models.ts"
import type { Fill, Thresholds } from "../tokens/window.ts"
import { buildRequest } from "../views/context/request.ts"
import { withheldMedia } from "../views/context/withheld-media.ts"
import type { Views } from "../views/views.ts"
import type { CacheWatch } from "./cache-watch.ts"
import type { ConversationEvents } from "./events.ts"
import type { PromptKeeper } from "./prompt-keeper.ts"

export interface RequestPreparerParts {
  /** As people name it. */
  readonly model: string
  readonly lookup: ModelLookup
  readonly maxTokens: number
  readonly thresholds: Thresholds
  readonly settings: EffectiveSettings
  /** Flag values that were refused so far: told once each. */
  readonly refusals: readonly string[]
  readonly journal: Journal
  readonly views: () => Views
  readonly fill: () => Fill
  readonly layers: LayerPipeline
  readonly prompt: PromptKeeper
  readonly cache: CacheWatch
  readonly events: Events<ConversationEvents>
  readonly append: (drafts: readonly Draft[]) => Promise<readonly Entry[]>
  /** Records which model is asked, where it is not the one that stands. */
  readonly recordModel: () => Promise<void>
}

/** Said in the user's place where the assistant spoke last and is to go on. */
const GO_ON = "Continue from where you left off."

export class RequestPreparer {
  readonly #parts: RequestPreparerParts
  readonly #validator = new RequestValidator()
  readonly #noticed = new Set<string>()
  /** Results whose process died before the layers had seen them (L1-4). */
  #undecided: readonly (readonly ToolResult[])[]
  #serverKeeps: string | undefined

  constructor(parts: RequestPreparerParts) {
    this.#parts = parts
    this.#undecided = parts.views().context.undecidedResults()
  }

  /** The first call whose result the server leaves alone where it clears the last request (L2-5). */
  get serverKeeps(): string | undefined {
    return this.#serverKeeps
  }

  /** What stands has been sent as it is, or was left behind: nothing is decided about it any more. */
  nothingUndecided(): void {
    this.#undecided = []
  }

  async prepare(signal?: AbortSignal): Promise<ModelRequest> {
    const { layers, prompt, settings, journal, cache, events, lookup } = this.#parts
    for (const notice of this.#standingNotices()) this.#notice(notice)
    await this.#deliverQueued()
    for (const results of this.#undecided) await layers.onToolResults(results)
    this.nothingUndecided()
    await prompt.settle() // what it takes is part of the size that the layers look at
    await layers.beforeRequest(signal)
    signal?.throwIfAborted()
    await prompt.settle() // behind a boundary it may be another one
    await this.#parts.recordModel()
    if (this.#context.isEmpty) throw new EmptyConversationError()
    await this.#askToGoOn()
    if (!settings.values.off) await this.#withholdMedia()
    await this.#recordRepairs()

    const size = this.#context.size()
    const fill = this.#parts.fill()
    if (fill.state === "blocked") throw this.#isFull(size.tokens)
    const { request, closed, revision } = this.#build()
    this.#validator.check({ request, model: lookup.facts, settled: { closed, revision } })
    await this.#noteSentResults()
    await journal.sync()
    cache.sent(request, { closed, revision })
    this.#serverKeeps = this.#context.serverKept.firstOf(callsKeptBy(request))
    events.emit("prepared", { request, size, fill })
    return request
  }

  /** The request as the views have it now. */
  async request(): Promise<ModelRequest> {
    return this.#build().request
  }

  get #context(): Views["context"] {
    return this.#parts.views().context
  }

  #build() {
    const { messages, closed, revision } = this.#context.messages()
    const { system, tools } = this.#context.prompt ?? {}
    const request = buildRequest({
      model: sentModelName(this.#parts.model),
      maxTokens: this.#parts.maxTokens,
      system,
      tools,
      messages,
      extras: this.#parts.layers.requestExtras(),
    })
    return { request, closed, revision }
  }

  async #deliverQueued(): Promise<void> {
    for (const { uuid } of this.#context.queued)
      await this.#parts.append([{ type: "strata", subtype: "delivered", queued: uuid }])
  }

  async #askToGoOn(): Promise<void> {
    if (!this.#context.awaitsUser()) return
    const content = [{ type: "text", text: GO_ON } as const]
    await this.#parts.append([{ type: "user", isMeta: true, message: { role: "user", content } }])
  }

  async #withholdMedia(): Promise<void> {
    const drafts = withheldMedia(this.#context, this.#parts.lookup.facts.accepts.boundThinking)
    if (drafts.length > 0) await this.#parts.append(drafts)
  }

  async #recordRepairs(): Promise<void> {
    const repairs = this.#context.unrecordedRepairs()
    if (repairs.length === 0) return
    await this.#parts.append([{ type: "strata", subtype: "repaired", repairs }])
    this.#parts.events.emit("repaired", { repairs })
  }

  /** What leaves undecided stays as it is, also where the answer never comes and another process goes on with other settings (L1-4). */
  async #noteSentResults(): Promise<void> {
    const results = this.#context.undecidedResults().flat()
    if (results.length === 0) return
    const toolUseIds = results.map(({ tool_use_id }) => tool_use_id)
    await this.#parts.append([{ type: "strata", subtype: "tool-results-sent", toolUseIds }])
  }

  #isFull(used: number): ContextFullError {
    const { thresholds, lookup } = this.#parts
    return new ContextFullError({ used, limit: thresholds.blocking, model: lookup.facts.id })
  }

  #standingNotices(): readonly string[] {
    const { lookup, thresholds, refusals } = this.#parts
    return [...(lookup.known ? [] : [lookup.notice]), ...thresholds.notices, ...refusals]
  }

  #notice(message: string): void {
    if (this.#noticed.has(message)) return
    this.#noticed.add(message)
    this.#parts.events.emit("notice", { message })
  }
}
