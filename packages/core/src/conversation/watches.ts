/**
 * Follows what the server's cache does for one conversation. It predicts each request, compares each response with the prediction, and
 * emits a report. An unexpected break is also a notice of one line; a drop that Strata decided on is not.
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

// Tells the layers that a pause is about to cost the cache: once, shortly before the server forgets what was sent last. The pause is the
// time between a response and the next request, for a person, a tool, or work in the background.

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

  #await(usedAt: number, lifetime: CacheEntryLifetime): void {
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

// Puts a conversation to sleep that no one uses: its views give their memory back, and are built again when someone asks for them. A
// process with many conversations holds the few that are in use.

const IDLE_MS = 300_000 // most caches are lost by then, so building the views again is the least of what a return costs

export interface SleepWatchParts {
  readonly record: ConversationRecord
  readonly clock: Clock
  /** Lets it sleep, unless the views were used more often than this or something is under way. */
  readonly sleep: (uses: number) => Promise<void>
}

export class SleepWatch {
  readonly #parts: SleepWatchParts
  #cancel: () => void = () => undefined
  #isOver = false

  constructor(parts: SleepWatchParts) {
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
    await sleep(uses).catch(() => undefined) // what cannot be read now is still in memory
    if (!record.isAsleep) this.#await()
  }
}
