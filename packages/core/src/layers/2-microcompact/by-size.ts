/**
 * Clears results that fill the window, oldest first and in one batch, where that is worth it and pays. The plan is a value that can be
 * printed: what it would clear, or why it does not.
 */
import type { CacheState } from "./cache-state.ts"
import { type Change, changeBy, memoriesToClear, type Selection } from "./changes.ts"
import { type CachePrices, paybackTurns, type RemainingTurns } from "./payback.ts"
import type { ClearableResult, Survey } from "./survey.ts"

export interface SizeFigures {
  /** Tokens of clearable results that may stay. */
  readonly keep: number
  /** Less than this is not worth clearing. */
  readonly least: number
  /** How many of the newest always stay. */
  readonly protect: number
}

export interface SizeInput {
  readonly survey: Survey
  readonly figures: SizeFigures
  readonly cache: CacheState
  /** Whether a full window is compacted by itself. */
  readonly compacts: boolean
  readonly prices: CachePrices
  /** Turns over which it must pay. */
  readonly horizon: RemainingTurns
  /** Clearing drops the thinking after it. */
  readonly boundThinking: boolean
}

export type SizePlan =
  | { readonly clears: true; readonly selection: Selection; readonly payback: number; readonly change: Change }
  | { readonly clears: false; readonly why: "little to clear" | "little to save" | "compacted all the same" }
  | { readonly clears: false; readonly why: "does not pay"; readonly payback: number }

export function planBySize(input: SizeInput): SizePlan {
  const { survey, figures, cache, compacts, prices, horizon, boundThinking } = input
  const keep = figures.keep / survey.scale
  if (sum(survey.results, "tokens") <= keep) return { clears: false, why: "little to clear" }
  const batch = oldestUntilFits(survey.results, { keep, protect: figures.protect })
  if (sum(batch, "saving") * survey.scale < figures.least) return { clears: false, why: "little to save" }
  const memories = memoriesToClear(survey)
  // results deleted in a cache that is written again must be cleared here
  const change = changeBy({ going: [...batch, ...memories], moved: survey.deleted }, survey, boundThinking)
  const removed = change.removed * survey.scale
  if (compacts && cache.state === "leaving" && removed <= cache.excess)
    return { clears: false, why: "compacted all the same" }
  const payback = cache.state === "warm" ? paybackTurns(change, prices) : 0
  if (payback > horizon(removed)) return { clears: false, why: "does not pay", payback }
  const selection = {
    toolUseIds: [...survey.deleted, ...batch].map(({ toolUseId }) => toolUseId),
    memories: memories.map(({ uuid }) => uuid),
  }
  return { clears: true, selection, payback, change }
}

function oldestUntilFits(
  results: readonly ClearableResult[],
  { keep, protect }: Pick<SizeFigures, "keep" | "protect">,
): ClearableResult[] {
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

function sum(results: readonly ClearableResult[], of: "tokens" | "saving"): number {
  let total = 0
  for (const result of results) total += result[of]
  return total
}
