/**
 * L2-10: when clearing pays. Taking D tokens out of a warm cache makes the S tokens behind them be written again, once, and saves
 * reading D on every turn from then on. With w and r the prices of writing and reading, relative to plain input:
 *
 *     n ≥ S·(w − r) / (D·r) − 1     turns until it has paid; with w 1.25 and r 0.1 that is 11.5·S/D − 1
 */
import type { ModelFacts } from "../../tokens/model-facts.ts"
import type { CacheLifetime } from "./cache-state.ts"

/** Relative to the price of uncached input. */
export interface CachePrices {
  readonly write: number
  readonly read: number
}

/** Of most models; assumed where no price is known, or nothing is paid. */
const USUAL = { input: 1, cacheWrite5m: 1.25, cacheWrite1h: 2, cacheRead: 0.1 } as const

export interface PricedRequest {
  /** Long prompts cost more on some models. */
  readonly tokens: number
  /** Writing for an hour costs more than for five minutes. */
  readonly lifetime: CacheLifetime
}

export function cachePrices({ price, longPrompt }: ModelFacts, { tokens, lifetime }: PricedRequest): CachePrices {
  const standing = longPrompt && tokens > longPrompt.above ? longPrompt.price : price
  const { input, cacheWrite5m, cacheWrite1h, cacheRead } = standing && standing.input > 0 ? standing : USUAL
  return { write: (lifetime === "1h" ? cacheWrite1h : cacheWrite5m) / input, read: cacheRead / input }
}

export interface Clearing {
  /** D: tokens taken away. */
  readonly removed: number
  /** S: tokens behind the first place that changes, which are written again. */
  readonly behind: number
}

export function paybackTurns({ removed, behind }: Clearing, { write, read }: CachePrices): number {
  if (removed <= 0) return Number.POSITIVE_INFINITY
  return (behind * (write - read)) / (removed * read) - 1
}

/** What a clearing costs more than doing nothing, by the end of so many later turns, in tokens of plain input. Below 0 it has paid. */
export function extraCost({ removed, behind }: Clearing, { write, read }: CachePrices, turns: number): number {
  return behind * (write - read) - removed * read * (turns + 1) // the request that clears saves its first read
}
