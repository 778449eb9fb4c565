/**
 * L2-6: results that fill the window are cleared, oldest first and in one batch, where that is worth it and pays (L2-10). The plan is
 * an answer that can be printed: what it would clear, or why it does not.
 */
import type { CacheState } from "./cache-state.ts"
import { type CachePrices, type Clearing, paybackTurns } from "./payback.ts"
import type { ClearableResult, Survey } from "./survey.ts"

export interface SizeFigures {
  /** Tokens of clearable results that may stay. */
  readonly keep: number
  /** Less than this is not worth clearing. */
  readonly least: number
  /** So many of the newest are left alone. */
  readonly protect: number
  /** Turns over which it must pay. */
  readonly horizon: number
}

export interface SizeQuestion {
  readonly survey: Survey
  readonly figures: SizeFigures
  readonly cache: CacheState
  readonly prices: CachePrices
  /** Clearing takes thinking behind it along (CACHE-6). */
  readonly boundThinking: boolean
}

export type SizePlan =
  | {
      readonly clears: true
      readonly toolUseIds: readonly string[]
      readonly payback: number
      readonly change: Clearing
    }
  | { readonly clears: false; readonly why: "little to clear" | "little to save" }
  | { readonly clears: false; readonly why: "does not pay"; readonly payback: number }

export function planBySize({ survey, figures, cache, prices, boundThinking }: SizeQuestion): SizePlan {
  if (sum(survey.results, "tokens") <= figures.keep) return { clears: false, why: "little to clear" }
  const batch = oldestUntilFits(survey.results, figures)
  if (sum(batch, "saving") < figures.least) return { clears: false, why: "little to save" }
  const change = changeBy(batch, survey, boundThinking)
  const payback = cache.state === "warm" ? paybackTurns(change, prices) : 0
  if (payback > figures.horizon) return { clears: false, why: "does not pay", payback }
  return { clears: true, toolUseIds: batch.map(({ toolUseId }) => toolUseId), payback, change }
}

function oldestUntilFits(results: readonly ClearableResult[], { keep, protect }: SizeFigures): ClearableResult[] {
  const batch: ClearableResult[] = []
  let left = sum(results, "tokens")
  for (const result of results.slice(0, Math.max(0, results.length - protect))) {
    if (left <= keep) break
    if (result.saving <= 0) continue
    batch.push(result)
    left -= result.tokens
  }
  return batch
}

/** What the batch takes away, and how much stands behind the first place it changes. */
function changeBy(batch: readonly ClearableResult[], { thinking, tokens }: Survey, boundThinking: boolean): Clearing {
  const first = Math.min(...batch.map(({ before }) => before))
  const dropped = boundThinking && thinking.some(({ before }) => before > first) ? thinking : []
  const removed = sum(batch, "saving") + dropped.reduce((total, each) => total + each.tokens, 0)
  const changedAt = Math.min(first, ...dropped.map(({ before }) => before))
  return { removed, behind: Math.max(0, tokens - changedAt - removed) }
}

const sum = (results: readonly ClearableResult[], of: "tokens" | "saving") =>
  results.reduce((total, result) => total + result[of], 0)
