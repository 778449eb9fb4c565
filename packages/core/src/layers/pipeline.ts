/**
 * Runs the layers, the cheapest first: `tool-result-storage.ts` when a result arrives, `microcompaction.ts` before a request, and
 * `compaction.ts` if the request is still too large. The decisions of a layer are journaled before the next layer runs. A layer that fails
 * is reported and skipped, so it cannot break the conversation or another layer.
 */

import type { CacheLifetime, RequestSource } from "../base/enums.ts"
import { errorReason } from "../base/errors.ts"
import type { CompactionFailureReason, LayerOutcome, Telemetry } from "../base/telemetry.ts"
import type { Events } from "../base/work.ts"
import type { EntryDraft } from "../journal/entries.ts"
import type { ToolResult } from "../messages/blocks.ts"
import type { Message } from "../messages/messages.ts"
import type { RequestExtras } from "../messages/request.ts"
import type { ContextView } from "../views/context/context.ts"
import { mergeExtras } from "../views/context/request.ts"
import type { Views } from "../views/views.ts"
import {
  type CompactionPlan,
  type CompactionRefusal,
  type Compactor,
  isCompactor,
  type Layer,
  type LayerContext,
  type LayerName,
  type LayerResult,
  type LayerTrigger,
  type RequestSender,
  type ResolvedCompactionRequest,
  reportAction,
  type UpcomingCompaction,
  withSource,
} from "./layer.ts"

export interface PipelineDependencies {
  readonly layers: readonly Layer[]
  readonly telemetry: Telemetry
  /** Id of the conversation. */
  readonly conversation: string
  /** Purpose of the conversation's requests. */
  readonly source: RequestSource
  /** Returns the current state of the conversation. */
  readonly context: (signal?: AbortSignal) => LayerContext
  readonly record: PipelineRecord
}

/** Writes decisions of layers and reports them. */
export interface PipelineRecord {
  /** Writes decisions of background work. `seen`: the views on which they are based. The conversation may have gone back since. */
  append(drafts: readonly EntryDraft[], options: { readonly seen: Views }): Promise<unknown>
  /** Writes decisions of the current call. */
  decide(drafts: readonly EntryDraft[]): Promise<unknown>
  /** Calls back when the decisions are in the journal, or are lost; immediately if they are already there. */
  whenWritten(after: { written(): Promise<void>; lost(): void }): Promise<void>
  readonly events: Pick<Events<LayerEvents>, "emit">
}

export interface LayerEvents {
  /** A layer acted. A compaction reports through `compaction` events instead. */
  layerActed: LayerActed
  /** A layer failed. The conversation continues without its work. */
  layerFailed: LayerFailed
}

/** Report about the action of a layer. */
export interface LayerActed {
  readonly layer: LayerName
  /** One line for the user. Absent if there is nothing to report, or progress events have reported it. */
  readonly message: string | undefined
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** Report about a layer that failed. The conversation continues without its work. */
export interface LayerFailed {
  readonly layer: LayerName
  readonly reason: string
}

interface BackgroundWork {
  readonly layer: LayerName
  /** Never rejects. */
  readonly done: Promise<unknown>
  readonly stopping: AbortController
}

export class LayerPipeline {
  readonly #parts: PipelineDependencies
  readonly #compactor: Compactor | undefined
  readonly #byHook = new Map<Hook, readonly Layer[]>()
  readonly #background = new Set<BackgroundWork>()

  constructor(parts: PipelineDependencies) {
    this.#parts = { ...parts, layers: parts.layers.filter(({ name }) => mayAct(name, parts.source)) }
    this.#compactor = this.#parts.layers.find(isCompactor)
  }

  /** Whether any of the layers can compact. */
  get compacts(): boolean {
    return this.#compactor !== undefined
  }

  async onToolResults(results: readonly ToolResult[]): Promise<void> {
    if (results.length === 0) return
    for (const layer of this.#having("onToolResults"))
      await this.#guarded(layer, async (finish) =>
        this.#carryOut({ layer, outcome: await layer.onToolResults?.(this.#parts.context(), results), finish }),
      )
  }

  async beforeRequest(signal?: AbortSignal): Promise<void> {
    await this.#actInTurn("beforeRequest", signal)
  }

  /** Whether a layer has made room. */
  async whenBlocked(signal?: AbortSignal): Promise<boolean> {
    return this.#actInTurn("whenBlocked", signal)
  }

  /** Whether a layer has decided anything. */
  async #actInTurn(moment: "beforeRequest" | "whenBlocked", signal: AbortSignal | undefined): Promise<boolean> {
    let hasDecided = false
    for (const layer of this.#having(moment)) {
      if (signal?.aborted) break // the caller canceled: unfinished work of a layer is no failure
      await this.#guarded(layer, async (finish) => {
        const context = this.#parts.context(signal)
        const outcome = await layer[moment]?.(context).catch(unlessAborted(context.signal))
        await this.#carryOut({ layer, outcome, finish })
        hasDecided ||= outcome !== undefined && outcome.drafts.length > 0
      })
    }
    return hasDecided
  }

  /** Runs the layers' work while the model answers. */
  whileAnswered(): void {
    for (const layer of this.#having("whileAnswered")) layer.whileAnswered?.(this.#parts.context())
  }

  /** The cache lifetime that the next request asks for, if a layer chooses it. */
  nextLifetime(compacted?: number): CacheLifetime | undefined {
    const layer = this.#parts.layers.find(({ nextLifetime }) => nextLifetime)
    return layer?.nextLifetime?.(this.#parts.context(), compacted)
  }

  /** The request parts of all layers, merged. */
  requestExtras(sender: RequestSender): RequestExtras {
    const extras: RequestExtras[] = []
    for (const layer of this.#having("requestExtras")) {
      try {
        extras.push(layer.requestExtras?.(this.#parts.context(), sender) ?? {})
      } catch (error) {
        this.#failed(layer, error)
      }
    }
    return mergeExtras(extras)
  }

  /** Starts background work of the layers. Decisions are journaled when it is done. */
  inBackground(moment: "afterResponse" | "afterQuery" | "beforeExpiry"): void {
    for (const layer of this.#having(moment)) this.begin(layer, async (context) => layer[moment]?.(context))
  }

  /** Starts background work of a layer. A failure is reported. */
  begin(layer: Layer, work: (context: LayerContext) => Promise<LayerResult | undefined>): void {
    const stopping = new AbortController()
    const done = this.#guarded(layer, async (finish) => {
      const context = this.#parts.context(stopping.signal)
      const outcome = await work(context).catch(unlessAborted(stopping.signal))
      await this.#carryOut({ layer, outcome, seen: context.views, finish })
    })
    this.#follow({ layer: layer.name, done, stopping })
  }

  #follow(work: BackgroundWork): void {
    this.#background.add(work)
    void work.done.finally(() => this.#background.delete(work))
  }

  /** Runs work of a layer on request. Decisions are journaled when it is done. A failure reaches the caller. */
  async act(layer: Layer, work: (context: LayerContext) => Promise<LayerResult | undefined>): Promise<void> {
    const stopping = new AbortController()
    const context = this.#parts.context(stopping.signal)
    const done = this.#traced(layer, async (finish) =>
      this.#carryOut({ layer, outcome: await work(context), seen: context.views, finish, trigger: "manual" }),
    )
    this.#follow({ layer: layer.name, done: done.catch(() => undefined), stopping })
    await done
  }

  /** The layers with running background work. */
  workingLayers(): readonly LayerName[] {
    return [...new Set([...this.#background].map(({ layer }) => layer))]
  }

  /** Stops background work of a layer. Its cost stays counted, and it runs again when it is due. */
  async stop(name: LayerName): Promise<void> {
    const works = [...this.#background].filter(({ layer }) => layer === name)
    for (const { stopping } of works) stopping.abort()
    await Promise.all(works.map(({ done }) => done))
  }

  /** Whether background work is running. */
  get isBusy(): boolean {
    return this.#background.size > 0
  }

  /** Resolves when no background work is running. */
  async whenIdle(): Promise<void> {
    while (this.#background.size > 0) await Promise.all([...this.#background].map(({ done }) => done))
  }

  /** Compacts on request. A failure reaches the caller. Returns `undefined` without a layer that compacts. */
  async compact(order: ResolvedCompactionRequest, signal?: AbortSignal): Promise<readonly EntryDraft[] | undefined> {
    const layer = this.#compactor
    if (!layer) return undefined
    const context = this.#parts.context(signal)
    const outcome = await this.#traced(layer, async (finish) => {
      const compacted = await layer.compact(context, order)
      await this.#carryOut({ layer, outcome: compacted, finish, trigger: triggerOf(order) })
      return compacted
    })
    if (!outcome.drafts.some(isEnd)) context.signal.throwIfAborted() // canceled: only its cost was journaled
    return outcome.drafts
  }

  async planCompaction(
    order: ResolvedCompactionRequest,
    signal?: AbortSignal,
  ): Promise<CompactionPlan | CompactionRefusal | undefined> {
    return this.#compactor?.plan(this.#parts.context(signal), order)
  }

  /** Forecast of the next compaction. */
  get upcoming(): UpcomingCompaction {
    return this.#compactor?.upcoming?.(this.#parts.context()) ?? { state: "not-begun", isNow: false }
  }

  dropPrepared(): boolean {
    return this.#compactor?.drop?.(this.#parts.context()) ?? false
  }

  /** Tells the compacting layer that a compaction was undone. */
  compactionUndone(): void {
    this.#compactor?.undone?.()
  }

  /** The layers that implement a hook, cached because a turn asks often. */
  #having(hook: Hook): readonly Layer[] {
    const known = this.#byHook.get(hook) ?? this.#parts.layers.filter((layer) => layer[hook] !== undefined)
    this.#byHook.set(hook, known)
    return known
  }

  /** Journals the decisions of a layer and reports the savings. */
  async #carryOut({ layer, outcome, seen, finish, trigger }: LayerWork): Promise<void> {
    for (const failure of outcome?.failures ?? []) this.#failed(layer, failure)
    if (!outcome || (outcome.drafts.length === 0 && !outcome.counts)) return
    const { message, counts = {} } = outcome
    const { source, record } = this.#parts
    const drafts = withSource(outcome.drafts, source)
    const { views } = this.#parts.context()
    const tokensBefore = views.context.size().tokens
    if (drafts.length > 0)
      await (seen ? record.append(drafts, { seen }) : record.decide(drafts)).catch((error: unknown) => {
        outcome.lost?.()
        throw error
      })
    const tokensAfter = views.context.size().tokens
    const failure = failureIn(drafts)
    const report = reportAction(drafts, { source, trigger: outcome.trigger ?? trigger })
    const saved = Math.max(0, tokensBefore - tokensAfter)
    const notice = typeof message === "function" ? message({ saved }) : message
    const follow = async () => {
      await outcome.journaled?.(this.#parts.context())
      record.events.emit("layerActed", { layer: layer.name, message: notice, tokensBefore, tokensAfter })
    }
    let isLater = false
    const followLater = () =>
      follow().catch((error: unknown) => {
        if (!isLater) throw error
        this.#failed(layer, error) // the call has already continued, and its entries are valid
      })
    if (seen)
      await follow() // written separately: pending entries of a call do not matter
    else await record.whenWritten({ written: followLater, lost: () => outcome.lost?.() })
    isLater = true
    const facts = { ...report.facts, ...outcome.facts }
    finish({ ...report, facts, tokensBefore, tokensAfter, counts, ...(failure ? { failure } : {}) })
  }

  #traced<T>(layer: Layer, work: (finish: Finish) => Promise<T>): Promise<T> {
    const { telemetry, conversation } = this.#parts
    return telemetry.layer({ conversation, layer: layer.name }, work)
  }

  async #guarded(layer: Layer, work: (finish: Finish) => Promise<unknown>): Promise<void> {
    try {
      await this.#traced(layer, work)
    } catch (error) {
      this.#failed(layer, error)
    }
  }

  #failed(layer: Layer, error: unknown): void {
    this.#parts.record.events.emit("layerFailed", { layer: layer.name, reason: errorReason(error) })
  }
}

type Hook =
  | "onToolResults"
  | "beforeRequest"
  | "whenBlocked"
  | "requestExtras"
  | "whileAnswered"
  | "afterResponse"
  | "afterQuery"
  | "beforeExpiry"

type Finish = (outcome: LayerOutcome) => void

interface LayerWork {
  readonly layer: Layer
  readonly outcome: LayerResult | undefined
  /** The views on which the decisions are based. */
  readonly seen?: Views
  readonly finish: Finish
  /** The trigger, if the drafts do not determine it. */
  readonly trigger?: LayerTrigger
}

const triggerOf = ({ trigger, overflowed }: ResolvedCompactionRequest): LayerTrigger =>
  overflowed ? "reactive" : trigger

const unlessAborted = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) throw error
  return undefined
}

/** Whether a compaction ended by itself, successfully or not. */
const isEnd = (draft: EntryDraft) =>
  draft.type === "strata" && (draft.subtype === "compacted" || draft.subtype === "compaction-failed")

/** Telemetry: the reason of a journaled failure. */
function failureIn(drafts: readonly EntryDraft[]): CompactionFailureReason | undefined {
  return drafts.find((draft) => draft.type === "strata" && draft.subtype === "compaction-failed")?.reason
}

/** Purposes of requests that layers send themselves. A layer that acted in such a conversation would start work about its own work. */
const LAYER_SOURCES: ReadonlySet<RequestSource> = new Set([
  ...(["notes", "compaction", "by-hand", "memory", "dream", "progress", "keep-warm"] as const),
])

/** Layers that ask a model, or replace the conversation by a model's text. */
const MODEL_LAYERS: ReadonlySet<LayerName> = new Set(["session-memory", "compaction", "auto-memory", "dreaming"])

const mayAct = (layer: LayerName, source: RequestSource): boolean =>
  !(MODEL_LAYERS.has(layer) && LAYER_SOURCES.has(source))

// An incremental reduction over the messages of a view that reads each message once. It preserves its state up to the newest response and
// reads only new messages, until a decision or a boundary changes earlier ones. So a check before every request costs only what is new.

export interface MessageReducer<S> {
  start(): S
  /** Adds a message to the state, in place. */
  add(state: S, message: Message): void
  /** Returns a function that restores the current state, in place. */
  snapshot(state: S): () => void
}

export class IncrementalReducer<S> {
  readonly #fold: MessageReducer<S>
  #state: S
  /** Removes messages after the newest response from the state. */
  #forgetNewest: () => void = () => undefined
  #taken = 0
  #revision: symbol | undefined

  constructor(fold: MessageReducer<S>) {
    this.#fold = fold
    this.#state = fold.start()
  }

  /** The state after all messages of the view. Valid until the next call. */
  over(context: ContextView): S {
    const { count, revision } = context.settled
    this.#forgetNewest()
    if (revision !== this.#revision || count < this.#taken) {
      this.#state = this.#fold.start()
      this.#taken = 0
      this.#revision = revision
    }
    const newMessages = context.storedFrom(this.#taken)
    const settled = count - this.#taken
    for (const message of newMessages.slice(0, settled)) this.#fold.add(this.#state, message)
    this.#taken = count
    this.#forgetNewest = this.#fold.snapshot(this.#state)
    for (const message of newMessages.slice(settled)) this.#fold.add(this.#state, message)
    return this.#state
  }
}
