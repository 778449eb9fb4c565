/**
 * Tracks the server's cache for one conversation. Predicts each request, compares each response with the prediction, and emits a report. An
 * unexpected cache miss is also a one-line notice; one that Strata caused by a decision is not.
 */
import { type Clock, callAfter } from "../base/clock.ts"
import { cacheLifetime } from "../layers/2-microcompact/clearable-content.ts"
import type { LayerPipeline } from "../layers/pipeline.ts"
import { SUMMARY_EARLY } from "../layers/planner/lifetime.ts"
import type { Block } from "../messages/blocks.ts"
import type { Usage } from "../messages/messages.ts"
import type { ModelRequest } from "../messages/request.ts"
import { CacheForecast } from "../model/cache/forecast.ts"
import { type CacheEntryLifetime, cachedText, LIFETIME_MS, type PromptItem } from "../model/cache/prefix.ts"
import { describeBreak, type ProviderReason } from "../model/cache/verdict.ts"
import type { Settings } from "../settings/settings.ts"
import type { Estimator } from "../tokens/estimate.ts"
import { findModel } from "../tokens/models.ts"
import type { CacheHistory } from "../views/cache/cache-history.ts"
import type { ConversationRecord } from "./record.ts"
import type { Window } from "./window.ts"

/** Number of leading messages that remain unchanged while the revision does. */
interface Settled {
  readonly closed: number
  readonly revision: symbol
}

export interface CacheWatchDependencies {
  readonly record: ConversationRecord
  readonly window: Window
  /** Model facts in the settings. */
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
  /** The last request: its closed messages by number, the others as sent. */
  #last: (Settled & { readonly open: ModelRequest["messages"] }) | undefined

  constructor({ record, window, models }: CacheWatchDependencies) {
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

  /** Whether a request was sent that has no response yet. */
  get awaitsAnswer(): boolean {
    return this.#forecast.isPending
  }

  /** Releases all texts and continues as after reopening the conversation. */
  letGo(history: CacheHistory): void {
    this.#last = undefined
    this.#forecast.prime(history)
  }

  /** Tells the forecast about a keep-warm request. The views already include it. */
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

  /** Number of leading messages that are identical to the last request. */
  #unchanged({ messages }: ModelRequest, { revision }: Settled): number {
    if (this.#last?.revision !== revision) return 0
    const { closed, open } = this.#last
    const changed = open.findIndex((message, at) => messages[closed + at] !== message)
    return closed + (changed < 0 ? open.length : changed)
  }

  /** Compares a response with the prediction. `edits`: the server's edits of its copy. `missed`: the provider's reason for a cache miss. */
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

/** Estimates the size of an item. A tool has no block type, so its text is estimated. */
function sizeOf(item: PromptItem, estimator: Estimator): number {
  const isTool = "name" in item && !("id" in item)
  return isTool ? estimator.text(cachedText(item)) : estimator.block(item as Block)
}

// Informs the layers once, shortly before the server's cache of the last request expires. A pause is the time between a response and the
// next request, for the user, a tool, or background work.

export interface PauseWatchDependencies {
  readonly record: ConversationRecord
  readonly layers: LayerPipeline
  readonly clock: Clock
}

export class PauseWatch {
  readonly #parts: PauseWatchDependencies
  #cancel: (() => void) | undefined

  constructor(parts: PauseWatchDependencies) {
    this.#parts = parts
    parts.record.events.on("entry", ({ entry }) => {
      if (entry.type !== "strata" || entry.subtype !== "spent" || entry.purpose !== "keep-warm") return
      if (this.#cancel) this.#await(Date.parse(entry.timestamp), entry.lifetime ?? "5m")
    })
  }

  /** Called after a response. `sentAt`: time of its request, from which the cache lifetime counts. */
  begin(sentAt: Date): void {
    this.#await(sentAt.getTime(), cacheLifetime(this.#parts.record.views))
  }

  /** Called with the next request, or at the end. */
  end(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #await(usedAt: number, lifetime: CacheEntryLifetime): void {
    const { clock, layers } = this.#parts
    this.end()
    const life = LIFETIME_MS[lifetime]
    const due = usedAt + SUMMARY_EARLY * life - clock.now().getTime()
    this.#cancel = callAfter(clock, Math.max(0, due), () => {
      // after a sleep of the machine, the cache has expired
      if (clock.now().getTime() - usedAt < life) layers.inBackground("beforeExpiry")
    })
  }
}

// Unloads the views of an idle conversation. They are rebuilt on the next access, so that a process with many conversations only holds
// active ones.

const IDLE_MS = 300_000 // most caches have expired by then, so rebuilding the views is the smallest part of the cost

export interface SleepWatchDependencies {
  readonly record: ConversationRecord
  readonly clock: Clock
  /** Unloads the views, unless they were used more often than this or work is running. */
  readonly sleep: (uses: number) => Promise<void>
}

export class SleepWatch {
  readonly #parts: SleepWatchDependencies
  #cancel: () => void = () => undefined
  #isOver = false

  constructor(parts: SleepWatchDependencies) {
    this.#parts = parts
    parts.record.events.on("woken", () => this.#await())
    this.#await()
  }

  end(): void {
    this.#isOver = true
    this.#cancel()
  }

  #await(): void {
    if (this.#isOver) return
    const { record, clock } = this.#parts
    const { uses } = record
    this.#cancel()
    this.#cancel = callAfter(clock, IDLE_MS, () => {
      if (record.uses === uses) void this.#sleep(uses)
      else this.#await()
    })
  }

  async #sleep(uses: number): Promise<void> {
    const { record, sleep } = this.#parts
    await sleep(uses).catch(() => undefined) // after a failed read, the views remain in memory
    if (!record.isAsleep) this.#await()
  }
}
