/**
 * Follows what the server's cache does for one conversation. It predicts each request, compares each response with the prediction, and
 * emits a report. An unexpected break is also a notice of one line; a drop that Strata decided on is not.
 */
import type { Block } from "../messages/blocks.ts"
import type { Usage } from "../messages/messages.ts"
import type { ModelRequest } from "../messages/request.ts"
import { cachedText, type PromptItem } from "../model/cache/cached-text.ts"
import { describeBreak } from "../model/cache/describe-break.ts"
import { CacheForecast } from "../model/cache/forecast.ts"
import type { ProviderReason } from "../model/cache/verdict.ts"
import type { Settings } from "../settings/settings.ts"
import type { Estimator } from "../tokens/estimate.ts"
import { findModel } from "../tokens/models.ts"
import type { CacheHistory } from "../views/cache/cache-history.ts"
import type { ConversationRecord } from "./record.ts"
import type { Window } from "./window.ts"

/** How many messages, from the first, stay unchanged while the revision does. */
interface Settled {
  readonly closed: number
  readonly revision: symbol
}

export interface CacheWatchParts {
  readonly record: ConversationRecord
  readonly window: Window
  /** Figures of the settings. */
  readonly models: Settings["models"]
}

interface Answer {
  readonly usage: Usage
  readonly edits: readonly unknown[]
  readonly missed: ProviderReason | undefined
}

export class CacheWatch {
  readonly #record: ConversationRecord
  readonly #forecast: CacheForecast
  /** The last request: its settled messages by their number, the others as they were. */
  #last: (Settled & { readonly open: ModelRequest["messages"] }) | undefined

  constructor({ record, window, models }: CacheWatchParts) {
    this.#record = record
    this.#forecast = new CacheForecast({
      factsOf: (model) => findModel(model, models).facts,
      estimate: (item) => sizeOf(item, record.views.estimator),
      cacheLifetime: () => window.lifetime,
    })
    this.#forecast.prime(record.views.cacheHistory)
    record.events.on("entry", ({ entry }) => {
      if (entry.type === "strata" && entry.subtype === "spent" && entry.purpose === "keep-warm" && !entry.estimated)
        this.#warmed()
    })
  }

  /** Whether a request was sent and not answered. */
  get awaitsAnswer(): boolean {
    return this.#forecast.isPending
  }

  /** Keeps no text: it continues as after reopening the conversation. */
  letGo(history: CacheHistory): void {
    this.#last = undefined
    this.#forecast.prime(history)
  }

  /** The views have followed. */
  #warmed(): void {
    const { warmed } = this.#record.views.cacheHistory
    if (warmed) this.#forecast.warmed({ ...warmed, at: new Date(warmed.at) })
  }

  sent(request: ModelRequest, settled: Settled): void {
    const { views, clock } = this.#record
    const { cacheHistory, context } = views
    const unchanged = this.#unchanged(request, settled)
    this.#last = { ...settled, open: request.messages.slice(settled.closed) }
    this.#forecast.sent(request, {
      at: clock.now(),
      announced: cacheHistory.changes,
      size: context.size().tokens,
      unchanged,
    })
  }

  /** How many messages, from the first, are those of the last request. */
  #unchanged({ messages }: ModelRequest, { revision }: Settled): number {
    if (this.#last?.revision !== revision) return 0
    const { closed, open } = this.#last
    const changed = open.findIndex((message, at) => messages[closed + at] !== message)
    return closed + (changed < 0 ? open.length : changed)
  }

  /** `edits`: of the server, in its copy. `missed`: what the provider says about its cache. */
  settled({ usage, edits, missed }: Answer): void {
    const { events, clock } = this.#record
    const report = this.#forecast.settled(usage, {
      ...{ at: clock.now(), serverEdits: edits },
      ...(missed ? { provider: missed } : {}),
    })
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
