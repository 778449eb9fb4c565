/**
 * Keeps the server's cache warm while a person is away or a tool runs for long: the conversation is sent once more, without output, shortly
 * before the cache would expire. The planner says how often that pays. What it costs is journaled.
 *
 * For five more minutes, that is the last request as it was. For an hour, the answer is sent with it: it is not cached yet, so the server
 * writes it, and what it writes there for an hour holds everything before it too.
 */
import { type Clock, callAfter } from "../../base/clock.ts"
import { type Conversation, engineOf } from "../../conversation/conversation.ts"
import { forkMessages } from "../../forks/fork.ts"
import type { Layer, LayerContext, LayerResult } from "../../layers/layer.ts"
import { positionOf } from "../../layers/layer.ts"
import { dueAfterMs, nextPing } from "../../layers/planner/lifetime.ts"
import { toBlocks } from "../../messages/blocks.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { type CacheEntryLifetime, LIFETIME_MS, LOOK_BACK } from "../../model/cache/prefix.ts"
import { InvalidModelRequestError } from "../../model/errors.ts"
import type { Model, WarmOptions } from "../../model/model.ts"
import { summarise } from "../../views/ledger/ledger.ts"
import type { Views } from "../../views/views.ts"

const LAYER: Layer = { name: "keep-warm" }

export interface KeepWarmParts {
  readonly conversation: Conversation
  readonly model: Model
  readonly clock: Clock
}

/** A request that was answered. */
export interface AnsweredRequest {
  readonly request: ModelRequest
  /** When it was sent: the cache counts from then. */
  readonly sentAt: number
  /** Dollars for the whole conversation. */
  readonly costLimit: number
}

/** The time between an answer and the next request. */
interface Pause extends AnsweredRequest {
  /** The views it was sent from. A rewind makes new ones. */
  readonly views: Views
  usedAt: number
  /** How long the server keeps the cache from then. */
  lifetime: CacheEntryLifetime
  pings: number
  cancel: () => void
}

export class CacheKeeper {
  readonly #parts: KeepWarmParts
  #pause: Pause | undefined
  #isRefused = false
  #isReported = false

  constructor(parts: KeepWarmParts) {
    this.#parts = parts
  }

  /** A pause begins. */
  answered(sent: AnsweredRequest): void {
    this.stop()
    const { conversation, model } = this.#parts
    if (this.#isRefused || !model.warm || conversation.settings.values.off) return
    const start = { usedAt: sent.sentAt, lifetime: "5m" as const, pings: 0, cancel: () => undefined }
    this.#pause = { ...sent, ...start, views: conversation.views }
    this.#await(this.#pause)
  }

  /** The pause is over. A ping under way is still journaled. */
  stop(): void {
    this.#pause?.cancel()
    this.#pause = undefined
  }

  #await(pause: Pause): void {
    const { clock } = this.#parts
    const due = pause.usedAt + dueAfterMs(pause.lifetime) - clock.now().getTime()
    pause.cancel = callAfter(clock, Math.max(0, due), () => void this.#ping(pause))
  }

  async #ping(pause: Pause): Promise<void> {
    const now = this.#parts.clock.now().getTime()
    if (now - pause.usedAt >= LIFETIME_MS[pause.lifetime]) return // the machine slept: everything would be written again
    const pings = pause.pings
    await engineOf(this.#parts.conversation)
      .layers.act(LAYER, (context) => this.#send(pause, context))
      .catch(() => undefined)
    if (this.#pause !== pause || pause.pings === pings) return
    pause.usedAt = now
    this.#await(pause)
  }

  async #send(pause: Pause, context: LayerContext): Promise<LayerResult | undefined> {
    const { views } = context
    // a prepared summary takes the place of what the cache holds
    const isPrepared = this.#parts.conversation.preparedCompaction !== "not-begun"
    const isChanged = isPrepared || views !== pause.views || views.cacheHistory.changes.length > 0
    const lifetime = isChanged ? undefined : nextPing(context, pause.pings)
    if (!lifetime || summarise(views.ledger).dollars >= pause.costLimit) return undefined
    try {
      const answered = lifetime === "1h" ? await withAnswer(context) : undefined
      const { request, ...how } = answered ?? this.#asItWas(pause)
      const response = await this.#parts.model.warm?.(request, { signal: context.signal, ...how })
      if (!response) return undefined
      pause.pings++
      pause.lifetime = answered ? "1h" : "5m"
      const { id: responseId, model, usage } = response
      const spent = {
        subtype: "spent",
        purpose: "keep-warm",
        model,
        responseId,
        usage,
        lifetime: pause.lifetime,
      } as const
      return { drafts: [{ type: "strata", ...spent }], trigger: "auto" }
    } catch (error) {
      return this.#failed(error, context)
    }
  }

  #asItWas({ request }: Pause): Warming {
    return { request, lifetime: engineOf(this.#parts.conversation).window.lifetime }
  }

  /** The next request writes the cache again, so one report is enough. A server that does not know such requests is not asked again. */
  #failed(error: unknown, { signal }: LayerContext): LayerResult | undefined {
    this.#isRefused ||= error instanceof InvalidModelRequestError
    if (this.#isReported || signal.aborted) return undefined
    this.#isReported = true
    return { drafts: [], failures: [error] }
  }
}

type Warming = Pick<WarmOptions, "lifetime" | "writesCache" | "sharedMessages"> & { readonly request: ModelRequest }

const NOTHING_TO_DO = "Nothing to do: this request only keeps the cache."

/**
 * The breakpoint is after the answer. What follows it is only there because a request must end with a user message. `undefined` for an
 * answer of so many blocks that the server would not look back to what is cached.
 */
async function withAnswer(context: LayerContext): Promise<Warming | undefined> {
  const request = await context.request()
  const { openCalls } = positionOf(context.views.context.storedMessages())
  const { messages, shared } = forkMessages({ ...request, openCalls, directive: NOTHING_TO_DO })
  if (toBlocks(messages[shared]?.content ?? []).length >= LOOK_BACK) return undefined
  return { request: { ...request, messages }, lifetime: "1h", writesCache: false, sharedMessages: shared + 1 }
}
