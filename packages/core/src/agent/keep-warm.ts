/**
 * Keeps the server's cache warm while a person is away or a tool runs for long: the last request is sent once more, without output, shortly
 * before the cache would expire. The planner says how often that pays. What it costs is journaled.
 */
import { type Clock, callAfter } from "../base/clock.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Layer, LayerContext, Outcome } from "../layers/layer.ts"
import { PING_EVERY_MS, pingsFor } from "../layers/planner/keep-warm.ts"
import type { ModelRequest } from "../messages/request.ts"
import { LIFETIME_MS } from "../model/cache/known-entries.ts"
import { InvalidModelRequestError } from "../model/errors.ts"
import type { Model } from "../model/model.ts"
import { summarise } from "../views/ledger/ledger.ts"
import type { Views } from "../views/views.ts"

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
    const start = { usedAt: sent.sentAt, pings: 0, cancel: () => undefined }
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
    const due = pause.usedAt + PING_EVERY_MS - clock.now().getTime()
    pause.cancel = callAfter(clock, Math.max(0, due), () => void this.#ping(pause))
  }

  async #ping(pause: Pause): Promise<void> {
    const now = this.#parts.clock.now().getTime()
    if (now - pause.usedAt >= LIFETIME_MS["5m"]) return // the machine slept: everything would be written again
    const pings = pause.pings
    await this.#parts.conversation.act(LAYER, (context) => this.#send(pause, context)).catch(() => undefined)
    if (this.#pause !== pause || pause.pings === pings) return
    pause.usedAt = now
    this.#await(pause)
  }

  async #send(pause: Pause, context: LayerContext): Promise<Outcome | undefined> {
    const { views } = context
    const isChanged = views !== pause.views || views.cacheHistory.changes.length > 0
    if (isChanged || pause.pings >= pingsFor(context)) return undefined
    if (summarise(views.ledger).dollars >= pause.costLimit) return undefined
    try {
      const response = await this.#parts.model.warm?.(pause.request, { signal: context.signal })
      if (!response) return undefined
      pause.pings++
      const { id: responseId, model, usage } = response
      return { drafts: [{ type: "strata", subtype: "spent", purpose: "keep-warm", model, responseId, usage }] }
    } catch (error) {
      return this.#failed(error, context)
    }
  }

  /** The next request writes the cache again, so one report is enough. A server that does not know such requests is not asked again. */
  #failed(error: unknown, { signal }: LayerContext): Outcome | undefined {
    this.#isRefused ||= error instanceof InvalidModelRequestError
    if (this.#isReported || signal.aborted) return undefined
    this.#isReported = true
    return { drafts: [], failures: [error] }
  }
}
