/**
 * Keeps the server's cache warm while the user is away or a tool runs for long: repeats the last request without output shortly before the
 * cache would expire. The planner decides how often that pays. The cost is recorded in the journal.  To extend the cache by five minutes,
 * the last request is repeated. For an hour, the response is appended: it is not cached yet, so the server writes it, and an entry written
 * there for an hour includes everything before it.
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

export interface CacheKeeperDependencies {
  readonly conversation: Conversation
  readonly model: Model
  readonly clock: Clock
}

/** A request that got a response. */
export interface AnsweredRequest {
  readonly request: ModelRequest
  /** Time of sending, from which the cache lifetime counts. */
  readonly sentAt: number
  /** Cost limit for the complete conversation, in dollars. */
  readonly costLimit: number
}

/** The pause between a response and the next request. */
interface Pause extends AnsweredRequest {
  /** The views at the time of sending. A rewind creates new views. */
  readonly views: Views
  usedAt: number
  /** Cache lifetime from `usedAt`. */
  lifetime: CacheEntryLifetime
  pings: number
  cancel: () => void
}

export class CacheKeeper {
  readonly #parts: CacheKeeperDependencies
  #pause: Pause | undefined
  #isRefused = false
  #isReported = false

  constructor(parts: CacheKeeperDependencies) {
    this.#parts = parts
  }

  /** Called after a response: a pause begins. */
  answered(sent: AnsweredRequest): void {
    this.stop()
    const { conversation, model } = this.#parts
    if (this.#isRefused || !model.warm || conversation.settings.values.off) return
    const start = { usedAt: sent.sentAt, lifetime: "5m" as const, pings: 0, cancel: () => undefined }
    this.#pause = { ...sent, ...start, views: engineOf(conversation).views }
    this.#schedulePing(this.#pause)
  }

  /** Ends the pause. A ping in flight is still recorded. */
  stop(): void {
    this.#pause?.cancel()
    this.#pause = undefined
  }

  #schedulePing(pause: Pause): void {
    const { clock } = this.#parts
    const due = pause.usedAt + dueAfterMs(pause.lifetime) - clock.now().getTime()
    pause.cancel = callAfter(clock, Math.max(0, due), () => void this.#ping(pause))
  }

  async #ping(pause: Pause): Promise<void> {
    const now = this.#parts.clock.now().getTime()
    if (now - pause.usedAt >= LIFETIME_MS[pause.lifetime]) return // after a sleep of the machine, the complete cache would be written again
    const pings = pause.pings
    await engineOf(this.#parts.conversation)
      .layers.act(LAYER, (context) => this.#send(pause, context))
      .catch(() => undefined)
    if (this.#pause !== pause || pause.pings === pings) return
    pause.usedAt = now
    this.#schedulePing(pause)
  }

  async #send(pause: Pause, context: LayerContext): Promise<LayerResult | undefined> {
    const { views } = context
    // a prepared summary will replace the cached prefix
    const isPrepared = this.#parts.conversation.preparedCompaction !== "not-begun"
    const isChanged = isPrepared || views !== pause.views || views.cacheHistory.changes.length > 0
    const lifetime = isChanged ? undefined : nextPing(context, pause.pings)
    if (!lifetime || summarise(views.ledger).dollars >= pause.costLimit) return undefined
    try {
      const answered = lifetime === "1h" ? await withResponse(context) : undefined
      const { request, ...how } = answered ?? this.#repeatRequest(pause)
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

  #repeatRequest({ request }: Pause): WarmRequest {
    return { request, lifetime: engineOf(this.#parts.conversation).window.lifetime }
  }

  /**
   * Reports the first failure only, because the next request writes the cache again. A server that refuses such requests gets no more of
   * them.
   */
  #failed(error: unknown, { signal }: LayerContext): LayerResult | undefined {
    this.#isRefused ||= error instanceof InvalidModelRequestError
    if (this.#isReported || signal.aborted) return undefined
    this.#isReported = true
    return { drafts: [], failures: [error] }
  }
}

type WarmRequest = Pick<WarmOptions, "lifetime" | "writesCache" | "sharedMessages"> & { readonly request: ModelRequest }

const NOTHING_TO_DO = "Nothing to do: this request only keeps the cache."

/**
 * A request with the breakpoint after the response. The directive after it is only there because a request must end with a user message.
 * `undefined` if the response has so many blocks that the server's lookback would miss the cached prefix.
 */
async function withResponse(context: LayerContext): Promise<WarmRequest | undefined> {
  const request = await context.request()
  const { openCalls } = positionOf(context.views.context.storedMessages())
  const { messages, shared } = forkMessages({ ...request, openCalls, directive: NOTHING_TO_DO })
  if (toBlocks(messages[shared]?.content ?? []).length >= LOOK_BACK) return undefined
  return { request: { ...request, messages }, lifetime: "1h", writesCache: false, sharedMessages: shared + 1 }
}
