/**
 * When clearing pays. Taking D tokens out of a warm cache makes the server write the S tokens after them once more, and saves reading D on
 * every turn from then on. With w and r the prices of writing and reading, relative to plain input:
 *
 *     n ≥ S·(w − r) / (D·r) − 1     turns until it has paid; with w 1.25 and r 0.1 that is 11.5·S/D − 1
 */
import { usageTotal } from "../../tokens/context-size.ts"
import type { ModelFacts } from "../../tokens/models.ts"
import type { LayerContext } from "../layer.ts"
import type { CacheLifetime } from "./survey.ts"

/** Relative to the price of uncached input. */
export interface CachePrices {
  readonly write: number
  readonly read: number
}

/** The prices of most models. Used where no price is known, or the model is free. */
const USUAL = { input: 1, cacheWrite5m: 1.25, cacheWrite1h: 2, cacheRead: 0.1 } as const
const RECENT = 11 // responses: the growth of the last ten turns

interface PricedRequest {
  /** Long prompts cost more on some models. */
  readonly tokens: number
  /** Writing for an hour costs more than for five minutes. */
  readonly lifetime: CacheLifetime
}

export function cachePrices({ price, longPrompt }: ModelFacts, { tokens, lifetime }: PricedRequest): CachePrices {
  const current = longPrompt && tokens > longPrompt.above ? longPrompt.price : price
  const { input, cacheWrite5m, cacheWrite1h, cacheRead } = current && current.input > 0 ? current : USUAL
  return { write: (lifetime === "1h" ? cacheWrite1h : cacheWrite5m) / input, read: cacheRead / input }
}

export interface Clearing {
  /** D: tokens taken away. */
  readonly removed: number
  /** S: tokens after the first place that changes. They are written again. */
  readonly after: number
}

export function paybackTurns({ removed, after }: Clearing, { write, read }: CachePrices): number {
  if (removed <= 0) return Number.POSITIVE_INFINITY
  return (after * (write - read)) / (removed * read) - 1
}

/** What it saves in so many turns, in tokens of plain input. */
export const worthOfClearing = ({ removed, after }: Clearing, { write, read }: CachePrices, turns: number): number =>
  turns * read * removed - after * (write - read)

/** In how many turns a clearing that takes so many tokens away can pay. */
export type RemainingTurns = (removed: number) => number

type RemainingInput = Pick<LayerContext, "views" | "flags" | "fill" | "thresholds" | "compaction">

/** As many turns as are expected. A compaction before that ends the saving: it would have taken the cleared results away anyway. */
export function remainingTurns(input: RemainingInput): RemainingTurns {
  const { views, flags, fill, thresholds } = input
  const expected = flags.figures["expected-turns"]
  const growth = growthPerTurn(views.context)
  if (growth === 0 || !compactsItself(input)) return () => expected
  return (removed) => Math.min(expected, Math.max(0, thresholds.autoCompact - fill.used + removed) / growth)
}

/** Tokens. Where the context became smaller, something was cleared: that is no growth. */
export function growthPerTurn(context: LayerContext["views"]["context"]): number {
  const sizes = context.recentResponses(RECENT).map(({ message }) => usageTotal(message.usage!))
  const grown = sizes.slice(1).reduce((sum, before, i) => sum + Math.max(0, sizes[i]! - before), 0)
  return sizes.length > 1 ? grown / (sizes.length - 1) : 0
}

/** Whether a full window is compacted by itself: it may be, some layer can, and it has not stopped after failures. */
export function compactsItself({
  compaction,
  views,
  flags,
}: Pick<LayerContext, "compaction" | "views" | "flags">): boolean {
  return compaction.auto && views.compactions.failures < flags.figures["compact-failures"]
}
