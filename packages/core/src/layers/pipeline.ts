/**
 * Runs the layers, the cheapest first: `tool-result-storage.ts` when a result arrives, `microcompaction.ts` before a request, and
 * `compaction.ts` if it is still too large. What a layer decides is journaled before the next one looks. A layer that fails is reported and
 * skipped, so it cannot break the conversation or another layer.
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
  /** The id of the conversation. */
  readonly conversation: string
  /** What the conversation's requests are for. */
  readonly source: RequestSource
  /** The conversation as it is now. */
  readonly context: (signal?: AbortSignal) => LayerContext
  readonly record: PipelineRecord
}

/** Where the pipeline writes what the layers decide, and reports it. */
export interface PipelineRecord {
  /** For work in the background. `seen`: the views that the drafts were decided by. The conversation may have gone back since. */
  append(drafts: readonly EntryDraft[], how: { readonly seen: Views }): Promise<unknown>
  /** For the work of a call. */
  decide(drafts: readonly EntryDraft[]): Promise<unknown>
  /** Calls back when what was decided is in the journal, or is lost. At once, if it is there already. */
  whenWritten(after: { written(): Promise<void>; lost(): void }): Promise<void>
  readonly events: Pick<Events<LayerEvents>, "emit">
}

export interface LayerEvents {
  /** A layer acted. `message` is one line for a person, if there is something to say. A compaction reports through `compaction` events instead. */
  layerActed: LayerActed
  /** A layer failed. The conversation continues without what it would have done. */
  layerFailed: LayerFailed
}

/** What a layer did. */
export interface LayerActed {
  readonly layer: LayerName
  /** One line for a person. Absent where there is nothing to say, or where progress events have said it. */
  readonly message: string | undefined
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** A layer that failed. The conversation goes on without its work. */
export interface LayerFailed {
  readonly layer: LayerName
  readonly reason: string
}

interface BackgroundWork {
  readonly layer: LayerName
  /** It never rejects. */
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
      if (signal?.aborted) break // the caller gave up and knows it: what a layer left undone is no failure
      await this.#guarded(layer, async (finish) => {
        const context = this.#parts.context(signal)
        const outcome = await layer[moment]?.(context).catch(unlessAborted(context.signal))
        await this.#carryOut({ layer, outcome, finish })
        hasDecided ||= outcome !== undefined && outcome.drafts.length > 0
      })
    }
    return hasDecided
  }

  /** What layers do while the model answers. */
  whileAnswered(): void {
    for (const layer of this.#having("whileAnswered")) layer.whileAnswered?.(this.#parts.context())
  }

  /** How long the next request asks the server to keep what it caches, where a layer chooses that. */
  nextLifetime(compacted?: number): CacheLifetime | undefined {
    const layer = this.#parts.layers.find(({ nextLifetime }) => nextLifetime)
    return layer?.nextLifetime?.(this.#parts.context(), compacted)
  }

  /** What the layers want the request to carry, merged. */
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

  /** Starts what the layers do in the background. What they decide is journaled when they are done. */
  inBackground(moment: "afterResponse" | "afterQuery" | "beforeExpiry"): void {
    for (const layer of this.#having(moment)) this.begin(layer, async (context) => layer[moment]?.(context))
  }

  /** Starts work of a layer in the background. A failure is reported. */
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

  /** Runs work of a layer that someone asked for. What it decides is journaled when it is done. A failure reaches the caller. */
  async act(layer: Layer, work: (context: LayerContext) => Promise<LayerResult | undefined>): Promise<void> {
    const stopping = new AbortController()
    const context = this.#parts.context(stopping.signal)
    const done = this.#traced(layer, async (finish) =>
      this.#carryOut({ layer, outcome: await work(context), seen: context.views, finish, trigger: "manual" }),
    )
    this.#follow({ layer: layer.name, done: done.catch(() => undefined), stopping })
    await done
  }

  /** The layers that work in the background now. */
  workingLayers(): readonly LayerName[] {
    return [...new Set([...this.#background].map(({ layer }) => layer))]
  }

  /** Stops what a layer does in the background. What it has cost stays counted, and it works again when it is due. */
  async stop(name: LayerName): Promise<void> {
    const works = [...this.#background].filter(({ layer }) => layer === name)
    for (const { stopping } of works) stopping.abort()
    await Promise.all(works.map(({ done }) => done))
  }

  /** Whether anything runs in the background. */
  get isBusy(): boolean {
    return this.#background.size > 0
  }

  /** Resolves when nothing runs in the background any more. */
  async whenIdle(): Promise<void> {
    while (this.#background.size > 0) await Promise.all([...this.#background].map(({ done }) => done))
  }

  /** Compacts because someone asked for it. A failure reaches the caller. Without a layer that compacts: `undefined`. */
  async compact(order: ResolvedCompactionRequest, signal?: AbortSignal): Promise<readonly EntryDraft[] | undefined> {
    const layer = this.#compactor
    if (!layer) return undefined
    const context = this.#parts.context(signal)
    const outcome = await this.#traced(layer, async (finish) => {
      const compacted = await layer.compact(context, order)
      await this.#carryOut({ layer, outcome: compacted, finish, trigger: triggerOf(order) })
      return compacted
    })
    if (!outcome.drafts.some(isEnd)) context.signal.throwIfAborted() // given up: only what it cost was journaled
    return outcome.drafts
  }

  async planCompaction(
    order: ResolvedCompactionRequest,
    signal?: AbortSignal,
  ): Promise<CompactionPlan | CompactionRefusal | undefined> {
    return this.#compactor?.plan(this.#parts.context(signal), order)
  }

  /** The compaction that comes next, as far as a layer can say. */
  get upcoming(): UpcomingCompaction {
    return this.#compactor?.upcoming?.(this.#parts.context()) ?? { state: "not-begun", isNow: false }
  }

  dropPrepared(): boolean {
    return this.#compactor?.drop?.(this.#parts.context()) ?? false
  }

  /** A compaction was undone. */
  compactionUndone(): void {
    this.#compactor?.undone?.()
  }

  /** The others have nothing to do then, and a turn asks often. */
  #having(hook: Hook): readonly Layer[] {
    const known = this.#byHook.get(hook) ?? this.#parts.layers.filter((layer) => layer[hook] !== undefined)
    this.#byHook.set(hook, known)
    return known
  }

  /** Journals what a layer decided, and reports what it saved. */
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
        this.#failed(layer, error) // the call has gone on, and what it wrote counts
      })
    if (seen)
      await follow() // written by itself: what a call has not written yet does not matter
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
  /** The views that it was decided by. */
  readonly seen?: Views
  readonly finish: Finish
  /** What set it off, where the drafts do not say it. */
  readonly trigger?: LayerTrigger
}

const triggerOf = ({ trigger, overflowed }: ResolvedCompactionRequest): LayerTrigger =>
  overflowed ? "reactive" : trigger

const unlessAborted = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) throw error
  return undefined
}

/** Whether a compaction came to an end of its own, good or bad. */
const isEnd = (draft: EntryDraft) =>
  draft.type === "strata" && (draft.subtype === "compacted" || draft.subtype === "compaction-failed")

/** For telemetry: why an attempt that was journaled came to nothing. */
function failureIn(drafts: readonly EntryDraft[]): CompactionFailureReason | undefined {
  return drafts.find((draft) => draft.type === "strata" && draft.subtype === "compaction-failed")?.reason
}

/** Which layers act in a conversation, by what its requests are for. */
/** Sources of requests that a layer makes itself. A layer that acted inside one would start work about its own work. */
const LAYER_SOURCES: ReadonlySet<RequestSource> = new Set([
  ...(["notes", "compaction", "by-hand", "memory", "dream", "progress", "keep-warm"] as const),
])

/** Layers that ask a model, or replace the conversation by what a model wrote. */
const MODEL_LAYERS: ReadonlySet<LayerName> = new Set(["session-memory", "compaction", "auto-memory", "dreaming"])

const mayAct = (layer: LayerName, source: RequestSource): boolean =>
  !(MODEL_LAYERS.has(layer) && LAYER_SOURCES.has(source))

// A fold over the messages of a view that reads each message once. It keeps its state up to the newest response and reads only what is
// new, until a decision or a boundary changes earlier messages. So a look before every request costs what is new.

export interface MessageReducer<S> {
  start(): S
  /** Takes a message into the state, in place. */
  add(state: S, message: Message): void
  /** Returns a function that brings the state back to what it is now, in place. */
  snapshot(state: S): () => void
}

export class IncrementalReducer<S> {
  readonly #fold: MessageReducer<S>
  #state: S
  /** Takes what follows the newest response out of the state. */
  #forgetNewest: () => void = () => undefined
  #taken = 0
  #revision: symbol | undefined

  constructor(fold: MessageReducer<S>) {
    this.#fold = fold
    this.#state = fold.start()
  }

  /** The state after all messages of the view. It holds until the next call. */
  over(context: ContextView): S {
    const { count, revision } = context.settled
    this.#forgetNewest()
    if (revision !== this.#revision || count < this.#taken) {
      this.#state = this.#fold.start()
      this.#taken = 0
      this.#revision = revision
    }
    const fresh = context.storedFrom(this.#taken)
    const settled = count - this.#taken
    for (const message of fresh.slice(0, settled)) this.#fold.add(this.#state, message)
    this.#taken = count
    this.#forgetNewest = this.#fold.snapshot(this.#state)
    for (const message of fresh.slice(settled)) this.#fold.add(this.#state, message)
    return this.#state
  }
}
