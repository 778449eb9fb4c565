/**
 * Clears results that fill the window, in one batch, where that is worth it and pays: first those that later work has overtaken, then the
 * oldest. The plan is a value that can be printed: what it would clear, or why it does not.
 */
import { grouped } from "../../base/grouped.ts"
import type { LayerContext } from "../layer.ts"
import { type CacheState, cacheLifetime, cacheState } from "./cache-state.ts"
import { type Change, changeBy, goingAlone, memoriesToClear, NOTHING, type Selection, together } from "./clearing.ts"
import {
  type CachePrices,
  cachePrices,
  compactsItself,
  paybackTurns,
  type RemainingTurns,
  remainingTurns,
  worthOfClearing,
} from "./payback.ts"
import { overtakenBy, prunedIn } from "./prune.ts"
import { type ClearableResult, isFollowed, type Survey, survey } from "./survey.ts"

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
  /** Results that later work has overtaken. Finding them takes a look at every call, so it is done only before something is cleared. */
  readonly overtaken?: Pick<ReadonlySet<string>, "has">
}

type SizePlan =
  | { readonly clears: true; readonly selection: Selection; readonly payback: number; readonly change: Change }
  | { readonly clears: false; readonly why: "little to clear" | "little to save" | "compacted all the same" }
  | { readonly clears: false; readonly why: "does not pay"; readonly payback: number }

export function planBySize(input: SizeInput): SizePlan {
  const { survey: found, figures, cache, compacts, prices, horizon, boundThinking, overtaken } = input
  const keep = figures.keep / found.scale
  const { results, deleted } = found
  if ((results.at(-1)?.upTo.tokens ?? 0) <= keep) return { clears: false, why: "little to clear" }
  const limits = { keep, protect: figures.protect }
  const chosen = overtaken && overtakenFirst(results, { ...limits, overtaken })
  const count = chosen ? 0 : oldestUntilFits(results, limits)
  const batch = chosen ? together(chosen.map(goingAlone)) : (results[count - 1]?.upTo.worthwhile ?? together([]))
  if (batch.saving * found.scale < figures.least) return { clears: false, why: "little to save" }
  const memories = memoriesToClear(found)
  // results deleted in a cache that is written again must be cleared here
  const moved = deleted.slice(0, 1).map(({ before }) => ({ saving: 0, first: before }))
  const going = together([batch, ...memories.map(goingAlone), ...moved])
  const change = changeBy(going, found, boundThinking)
  const removed = change.removed * found.scale
  if (compacts && cache.state === "leaving" && removed <= cache.excess)
    return { clears: false, why: "compacted all the same" }
  const payback = cache.state === "warm" ? paybackTurns(change, prices) : 0
  if (payback > horizon(removed)) return { clears: false, why: "does not pay", payback }
  const worthwhile = chosen ?? results.slice(0, count).filter(({ saving }) => saving > 0)
  const selection = {
    toolUseIds: [...deleted, ...worthwhile].map(({ toolUseId }) => toolUseId),
    memories: memories.map(({ uuid }) => uuid),
  }
  return { clears: true, selection, payback, change }
}

/** All that was overtaken, and then the oldest until the rest fits. */
function overtakenFirst(
  results: readonly ClearableResult[],
  { keep, protect, overtaken }: Pick<SizeFigures, "keep" | "protect"> & Required<Pick<SizeInput, "overtaken">>,
): readonly ClearableResult[] {
  const free = results.slice(0, Math.max(0, results.length - protect)).filter(({ saving }) => saving > 0)
  const chosen = new Set(free.filter(({ toolUseId }) => overtaken.has(toolUseId)))
  let left = (results.at(-1)?.upTo.tokens ?? 0) - [...chosen].reduce((sum, { tokens }) => sum + tokens, 0)
  for (const result of free) {
    if (left <= keep) break
    if (!chosen.has(result)) left -= result.tokens
    chosen.add(result)
  }
  return free.filter((result) => chosen.has(result))
}

/** Of how many results, from the oldest on, those worth clearing go. Found by halving: it is asked on every turn. */
function oldestUntilFits(
  results: readonly ClearableResult[],
  { keep, protect }: Pick<SizeFigures, "keep" | "protect">,
): number {
  const all = results.at(-1)?.upTo.tokens ?? 0
  let [low, high] = [0, Math.max(0, results.length - protect)]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (middle > 0 && all - results[middle - 1]!.upTo.worthwhile.tokens <= keep) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Nothing below the warning threshold, and nothing where the plan says so. `compaction`: what one that is ready saves, by the same prices
 * over as many turns. Where that is more, results are not cleared shortly before it.
 */
export function selectBySize(context: LayerContext, compaction = Number.NEGATIVE_INFINITY): Selection {
  const { flags, facts, fill, thresholds, views } = context
  // also where it is early, once: the turn that reaches the threshold must not read everything. What is new is read between turns
  if (fill.used < thresholds.warning && isFollowed(views)) return NOTHING
  const found = survey(context)
  if (fill.used < thresholds.warning) return NOTHING
  const prices = cachePrices(facts, { tokens: fill.used, lifetime: cacheLifetime(views) })
  const cache = cacheState(context)
  const input: SizeInput = {
    survey: found,
    figures: {
      keep: flags.figures["size-clear-keep"],
      least: flags.figures["size-clear-least"],
      protect: flags.figures["size-clear-protect"],
    },
    cache,
    compacts: compactsItself(context),
    prices,
    horizon: remainingTurns(context),
    boundThinking: facts.accepts.boundThinking,
  }
  const oldest = planBySize(input)
  if (!oldest.clears) return NOTHING
  const scaled = ({ removed, after }: Change) => ({ removed: removed * found.scale, after: after * found.scale })
  const worth = worthOfClearing(scaled(oldest.change), prices, flags.figures["expected-turns"])
  if (cache.state === "warm" && worth <= compaction) return NOTHING
  const overtaken = overtakenBy(prunedIn(context))
  const first = planBySize({ ...input, overtaken })
  const plan = first.clears ? first : oldest
  const because =
    cache.state === "warm"
      ? `writing what follows them again has paid within ${Math.max(1, Math.ceil(plan.payback)) + 1} requests`
      : "what follows them is written again in any case"
  const instead = compaction > Number.NEGATIVE_INFINITY ? ", and a compaction now would save less" : ""
  const old = grouped(Math.round(scaled(plan.change).removed))
  return {
    ...plan.selection,
    overtaken: Object.fromEntries([...overtaken].filter(([id]) => plan.selection.toolUseIds.includes(id))),
    planned: `About ${old} tokens of old results need not be sent again: ${because}${instead}.`,
  }
}
