/**
 * Follows what the server's cache does for one conversation (CACHE-4, CACHE-7): predicts each request, judges each response, and tells
 * listeners. A person hears of breaks that nobody meant, in one line each; of drops that were decided here they hear nothing.
 */
import type { Clock } from "../base/clock.ts"
import type { Events } from "../base/events.ts"
import type { Block } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import { cachedText, type PromptItem } from "../model/cache/cached-text.ts"
import { describeBreak } from "../model/cache/describe-break.ts"
import { CacheForecast } from "../model/cache/forecast.ts"
import type { ModelResponse } from "../model/model.ts"
import type { Estimator } from "../tokens/estimate.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import type { Views } from "../views/views.ts"
import type { ConversationEvents } from "./events.ts"

export interface CacheWatchParts {
  /** As they stand: going back to an earlier message makes new ones. */
  readonly views: () => Views
  readonly factsOf: (model: string) => ModelFacts
  readonly clock: Clock
  readonly events: Events<ConversationEvents>
}

export class CacheWatch {
  readonly #parts: CacheWatchParts
  readonly #forecast: CacheForecast
  /** What was settled when the last request was sent. */
  #last: { readonly closed: number; readonly revision: number; readonly views: Views } | undefined

  constructor(parts: CacheWatchParts) {
    this.#parts = parts
    this.#forecast = new CacheForecast({
      factsOf: parts.factsOf,
      estimate: (item) => sizeOf(item, parts.views().estimator),
    })
    this.#forecast.prime(parts.views().cacheHistory)
  }

  /** `settled`: how many of the messages, from the first, stay as they are as long as the revision does. */
  sent(request: ModelRequest, settled: { readonly closed: number; readonly revision: number }): void {
    const { cacheHistory, context } = this.#parts.views()
    const isSame = this.#last?.views === this.#parts.views() && this.#last.revision === settled.revision
    const unchanged = isSame ? this.#last!.closed : 0
    this.#last = { ...settled, views: this.#parts.views() }
    this.#forecast.sent(request, {
      at: this.#parts.clock.now(),
      announced: cacheHistory.changes,
      size: context.size().tokens,
      unchanged,
    })
  }

  settled({ usage, context_management }: ModelResponse): void {
    if (!usage) return
    const serverEdits = context_management?.applied_edits ?? []
    const report = this.#forecast.settled(usage, { at: this.#parts.clock.now(), serverEdits })
    if (!report) return
    this.#parts.events.emit("cache", report)
    if (report.verdict.kind === "break") this.#parts.events.emit("notice", { message: describeBreak(report.verdict) })
  }
}

/** A tool has no kind of its own to be estimated by: its text is. */
function sizeOf(item: PromptItem, estimator: Estimator): number {
  const isTool = "name" in item && !("id" in item)
  return isTool ? estimator.text(cachedText(item)) : estimator.block(item as Block)
}
