/**
 * Follows what the server's cache does for one conversation. It predicts each request, compares each response with the prediction, and
 * emits a report. An unexpected break is also a notice of one line; a drop that Strata decided on is not.
 */
import type { Block } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import { cachedText, type PromptItem } from "../model/cache/cached-text.ts"
import { describeBreak } from "../model/cache/describe-break.ts"
import { CacheForecast, type ForecastOptions } from "../model/cache/forecast.ts"
import type { ModelResponse } from "../model/model.ts"
import type { Estimator } from "../tokens/estimate.ts"
import type { Views } from "../views/views.ts"
import type { ConversationRecord } from "./record.ts"

export class CacheWatch {
  readonly #record: ConversationRecord
  readonly #forecast: CacheForecast
  /** What was settled at the last request. */
  #last: { readonly closed: number; readonly revision: number; readonly views: Views } | undefined

  constructor(record: ConversationRecord, options: Omit<ForecastOptions, "estimate">) {
    this.#record = record
    this.#forecast = new CacheForecast({ ...options, estimate: (item) => sizeOf(item, record.views.estimator) })
    this.#forecast.prime(record.views.cacheHistory)
    record.events.on("entry", ({ entry }) => {
      if (entry.type === "strata" && entry.subtype === "spent" && entry.purpose === "keep-warm")
        this.#forecast.warmed(new Date(entry.timestamp))
    })
  }

  /** `settled`: how many messages, from the first, stay unchanged while the revision does. */
  sent(request: ModelRequest, settled: { readonly closed: number; readonly revision: number }): void {
    const { views, clock } = this.#record
    const { cacheHistory, context } = views
    const isSame = this.#last?.views === views && this.#last.revision === settled.revision
    const unchanged = isSame ? this.#last!.closed : 0
    this.#last = { ...settled, views }
    this.#forecast.sent(request, {
      at: clock.now(),
      announced: cacheHistory.changes,
      size: context.size().tokens,
      unchanged,
    })
  }

  settled({ usage, context_management }: Pick<ModelResponse, "usage" | "context_management">): void {
    const { events, clock } = this.#record
    const serverEdits = context_management?.applied_edits ?? []
    const report = this.#forecast.settled(usage, { at: clock.now(), serverEdits })
    if (!report) return
    events.emit("cache", report)
    if (report.verdict.kind === "break") events.emit("notice", { message: describeBreak(report.verdict) })
  }
}

/** A tool has no block type, so its text is estimated. */
function sizeOf(item: PromptItem, estimator: Estimator): number {
  const isTool = "name" in item && !("id" in item)
  return isTool ? estimator.text(cachedText(item)) : estimator.block(item as Block)
}
