/**
 * Tells the layers that a pause is about to cost the cache: once, shortly before the server forgets what was sent last. The pause is the
 * time between a response and the next request, for a person, a tool, or work in the background.
 */
import { type Clock, callAfter } from "../base/clock.ts"
import { cacheLifetime } from "../layers/2-microcompact/cache-state.ts"
import type { LayerPipeline } from "../layers/pipeline.ts"
import { SUMMARY_EARLY } from "../layers/planner/keep-warm.ts"
import { LIFETIME_MS, type Lifetime } from "../model/cache/known-entries.ts"
import type { ConversationRecord } from "./record.ts"

export interface PauseWatchParts {
  readonly record: ConversationRecord
  readonly layers: LayerPipeline
  readonly clock: Clock
}

export class PauseWatch {
  readonly #parts: PauseWatchParts
  #cancel: (() => void) | undefined

  constructor(parts: PauseWatchParts) {
    this.#parts = parts
    parts.record.events.on("entry", ({ entry }) => {
      if (entry.type !== "strata" || entry.subtype !== "spent" || entry.purpose !== "keep-warm") return
      if (this.#cancel) this.#await(Date.parse(entry.timestamp), entry.lifetime ?? "5m")
    })
  }

  /** A response came. `sentAt`: when its request was sent, because the cache counts from then. */
  begin(sentAt: Date): void {
    this.#await(sentAt.getTime(), cacheLifetime(this.#parts.record.views))
  }

  /** The next request, or the end. */
  end(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #await(usedAt: number, lifetime: Lifetime): void {
    const { clock, layers } = this.#parts
    this.end()
    const life = LIFETIME_MS[lifetime]
    const due = usedAt + SUMMARY_EARLY * life - clock.now().getTime()
    this.#cancel = callAfter(clock, Math.max(0, due), () => {
      // the machine may have slept: then the cache is gone
      if (clock.now().getTime() - usedAt < life) layers.inBackground("beforeExpiry")
    })
  }
}
