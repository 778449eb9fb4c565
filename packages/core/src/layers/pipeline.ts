/**
 * Runs the layers, the cheapest first. What a layer decides is journaled before the next one looks; a layer that fails is reported and
 * passed over, so none can break the conversation or another layer.
 */
import { reasonOf } from "../base/errors.ts"
import type { FailureReason, Telemetry } from "../base/telemetry.ts"
import type { Draft } from "../journal/entries.ts"
import type { ToolResult } from "../messages/blocks.ts"
import type { RequestExtras } from "../messages/request.ts"
import { mergeExtras } from "../views/context/request.ts"
import type { Views } from "../views/views.ts"
import type { CompactionOrder, PlannedCompaction } from "./compaction-order.ts"
import type { Layer, Turn } from "./layer.ts"

export interface PipelineParts {
  readonly layers: readonly Layer[]
  readonly telemetry: Telemetry
  /** The conversation as it stands now. */
  readonly turn: (signal?: AbortSignal) => Turn
  /** `seen`: the views they were decided by, where the conversation may have gone back since. */
  readonly append: (drafts: readonly Draft[], seen?: Views) => Promise<unknown>
  readonly onActed: (event: LayerActed) => void
  readonly onFailed: (event: { readonly layer: string; readonly reason: string }) => void
}

export interface LayerActed {
  readonly layer: string
  /** One line for a person, where there is anything to say. */
  readonly message: string | undefined
  readonly tokensBefore: number
  readonly tokensAfter: number
}

export class LayerPipeline {
  readonly #parts: PipelineParts
  /** Work that goes on by itself. */
  readonly #background = new Set<Promise<void>>()

  constructor(parts: PipelineParts) {
    this.#parts = parts
  }

  /** What a layer decides about results that came together is written together: after a crash all of it is there or nothing (L1-4). */
  async onToolResults(results: readonly ToolResult[]): Promise<void> {
    for (const layer of this.#parts.layers) {
      const drafts: Draft[] = []
      for (const result of results) {
        await this.#guarded(layer, async () =>
          drafts.push(...((await layer.onToolResult?.(result, this.#parts.turn(), results)) ?? [])),
        )
      }
      await this.#guarded(layer, () => this.#carryOut(layer, drafts))
    }
  }

  async beforeRequest(signal?: AbortSignal): Promise<void> {
    for (const layer of this.#parts.layers) {
      if (signal?.aborted) return // whoever gave up is told so; what a layer left undone for it is no failure
      await this.#guarded(layer, async () => {
        const turn = this.#parts.turn(signal)
        const drafts = await layer.beforeRequest?.(turn).catch(unlessAborted(turn.signal))
        await this.#carryOut(layer, drafts ?? [])
      })
    }
  }

  /** What the layers want the request to carry, put together. */
  async requestExtras(): Promise<RequestExtras> {
    const extras: RequestExtras[] = []
    for (const layer of this.#parts.layers) {
      await this.#guarded(layer, async () => extras.push((await layer.requestExtras?.(this.#parts.turn())) ?? {}))
    }
    return mergeExtras(extras)
  }

  /** Whatever takes long goes on by itself; what it decides is journaled when it is there. */
  inBackground(moment: "afterResponse" | "afterQuery"): void {
    for (const layer of this.#parts.layers) {
      const work = this.#guarded(layer, async () => {
        const turn = this.#parts.turn()
        await this.#carryOut(layer, (await layer[moment]?.(turn)) ?? [], turn.views)
      }).finally(() => this.#background.delete(work))
      this.#background.add(work)
    }
  }

  /** Resolves when nothing goes on in the background any more. */
  async settled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background)
  }

  /** Whether any of the layers can compact. */
  get compacts(): boolean {
    return this.#parts.layers.some((layer) => layer.compact !== undefined)
  }

  /** Compacts because someone asked for it. Unlike what layers do by themselves, a failure is the caller's to hear. */
  async compact(order: CompactionOrder, signal?: AbortSignal): Promise<readonly Draft[] | undefined> {
    const layer = this.#parts.layers.find((each) => each.compact !== undefined)
    const turn = this.#parts.turn(signal)
    const drafts = await layer?.compact?.(turn, order)
    if (layer && drafts) await this.#carryOut(layer, drafts)
    if (!drafts?.some(isEnd)) turn.signal.throwIfAborted() // given up: only what it cost was journaled
    return drafts
  }

  async planCompaction(order: CompactionOrder, signal?: AbortSignal): Promise<PlannedCompaction | undefined> {
    const layer = this.#parts.layers.find((each) => each.planCompaction !== undefined)
    return layer?.planCompaction?.(this.#parts.turn(signal), order)
  }

  /** Journals what a layer decided, and tells what it saved. */
  async #carryOut(layer: Layer, drafts: readonly Draft[], seen?: Views): Promise<void> {
    if (drafts.length === 0) return
    const { conversation, views } = this.#parts.turn()
    const trigger = [...new Set(drafts.map((draft) => ("subtype" in draft ? draft.subtype : draft.type)))].join(" ")
    await this.#parts.telemetry.layer({ conversation, layer: layer.name, trigger }, async (finish) => {
      const tokensBefore = views.context.size().tokens
      await this.#parts.append(drafts, seen).catch((error: unknown) => {
        layer.lost?.(drafts)
        throw error
      })
      const tokensAfter = views.context.size().tokens
      await layer.acted?.(drafts, this.#parts.turn())
      const failure = failureIn(drafts)
      finish({ tokensBefore, tokensAfter, ...(failure ? { failure } : {}) })
      const message = layer.describe?.(drafts, { saved: Math.max(0, tokensBefore - tokensAfter) })
      this.#parts.onActed({ layer: layer.name, message, tokensBefore, tokensAfter })
    })
  }

  async #guarded(layer: Layer, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#parts.onFailed({ layer: layer.name, reason: reasonOf(error) })
    }
  }
}

const unlessAborted = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) throw error
  return []
}

/** Whether a compaction came to an end of its own, good or bad. */
const isEnd = (draft: Draft) =>
  draft.type === "strata" && (draft.subtype === "compacted" || draft.subtype === "compaction-failed")

/** TEL-1: why an attempt that was journaled came to nothing. */
function failureIn(drafts: readonly Draft[]): FailureReason | undefined {
  const failed = drafts.find((draft) => draft.type === "strata" && draft.subtype === "compaction-failed")
  return failed?.type === "strata" && failed.subtype === "compaction-failed" ? failed.reason : undefined
}
