/**
 * Clears the selected results: builds the decisions for the journal and computes their effect on a request. The effect is how many tokens
 * are removed, how many come after the first change, and whether thinking is dropped too because it is bound to what comes before it.
 */
import { formatNumber } from "../../base/text.ts"
import type { DecisionDraft, OvertakenBy, ShortenedResult } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import { cacheCounts, isBreak } from "../../views/cache/pauses.ts"
import { previewText } from "../../views/context/render-decisions.ts"
import type { Views } from "../../views/views.ts"
import type { LayerContext } from "../layer.ts"
import {
  type CachePrices,
  type CacheState,
  type ClearableContent,
  type ClearableResult,
  type ClearingCandidate,
  type ClearingSize,
  cacheLifetime,
  cachePrices,
  cacheState,
  compactsItself,
  idleMinutes,
  isTracked,
  listClearableContent,
  paybackTurns,
  type RemainingTurns,
  remainingTurns,
  worthOfClearing,
} from "./clearable-content.ts"
import { isRepeatedLater, overtakenBy, prunedIn } from "./prune.ts"
import { stubsOf } from "./stubs.ts"

/** Content to remove from the view. */
export interface Selection {
  readonly toolUseIds: readonly string[]
  readonly memories: readonly Uuid[]
  /** Reason why the clearing pays off, in one sentence. */
  readonly planned?: string
  /** By call id: the later work that made a result obsolete. */
  readonly overtaken?: Readonly<Record<string, OvertakenBy>>
  /** Long results that are only shortened. */
  readonly shortened?: readonly ShortenedResult[]
}

export const NOTHING: Selection = { toolUseIds: [], memories: [] }

/**
 * Builds the decisions that clear these results. Results deleted in the server's cache are cleared with them: that cache ends at the first
 * change, and they would come back. Thinking that comes after the change and is bound to it is dropped completely.
 */
export function clearing(
  context: LayerContext,
  { toolUseIds, memories, planned, overtaken = {}, shortened = [] }: Selection,
  { why, lost = "", found: given }: ClearingOptions,
): DecisionDraft[] {
  const { views, facts } = context
  const deleted = views.context.cacheEdits.toolUseIds
  const selection = { toolUseIds: [...new Set([...deleted, ...toolUseIds])], memories }
  if (selection.toolUseIds.length + shortened.length === 0) return []
  const found = given ?? listClearableContent(context)
  const going = combineSizes([locate(selection, found), ...shortened.map((each) => shortening(each, found, views))])
  const { removed, after, dropsThinking } = clearingChange(going, found, facts.accepts.boundThinking)
  const cache = cacheState(context)
  const saves = removed * found.scale
  const rewrites = cache.state === "cold" ? 0 : Math.round(after * found.scale)
  const avoidsCompaction = cache.state === "leaving" && saves > cache.excess && compactsItself(context)
  const effect = { saves: Math.round(saves), rewrites, ...(avoidsCompaction ? { spares: "compaction" as const } : {}) }
  const stubs = stubsOf({
    messages: views.context.storedMessages(),
    estimator: views.estimator,
    original: (id) => views.context.originalResult(id),
    toolUseIds: selection.toolUseIds.filter((id) => !overtaken[id] || !isRepeatedLater(overtaken[id])),
  })
  return [
    ...(deleted.length > 0
      ? [cacheEditsDropped(toolUseIds.length + shortened.length > 0 ? OTHERS_CLEARED : lost)]
      : []),
    {
      type: "strata",
      subtype: "tool-results-cleared",
      toolUseIds: selection.toolUseIds,
      why,
      ...(planned === undefined ? {} : { planned }),
      ...(Object.keys(stubs).length > 0 ? { residues: stubs } : {}),
      ...(Object.keys(overtaken).length > 0 ? { overtaken } : {}),
      ...(shortened.length > 0 ? { shortened } : {}),
      effect,
      ...(memories.length > 0 ? { attachments: memories } : {}),
    },
    ...(dropsThinking ? [THINKING_DROPPED] : []),
  ]
}

interface ClearingOptions {
  readonly why: "idle" | "size" | "asked"
  /** Reason why the cache in which results were deleted is lost. */
  readonly lost?: string
  /** The clearable content, if it is not only what the layer clears automatically. */
  readonly found?: ClearableContent
}

/** Reason in the journal for the end of deletions in the server's cache. */
export const OTHERS_CLEARED = "other results were cleared"
const cacheEditsDropped = (why: string): DecisionDraft => ({ type: "strata", subtype: "cache-edits-dropped", why })
const THINKING_DROPPED: DecisionDraft = {
  type: "strata",
  subtype: "thinking-dropped",
  why: "tool results before it were cleared",
}

/** Effect of a selection on the request. */
interface SelectionSize {
  /** Tokens. Results deleted in the server's cache save nothing: the model no longer saw them. */
  readonly saving: number
  /** Position of the first change. Results deleted in the server's cache count, because they change here too. */
  readonly first: number
}

export interface ClearingChange extends ClearingSize {
  readonly dropsThinking: boolean
}

/** Recalled memories that are cleared together with results: those before the newest result, which stays. */
export function memoriesToClear({ results, memories }: ClearableContent): ClearableContent["memories"] {
  const newest = results.at(-1)?.before ?? 0
  return memories.filter(({ saving, before }) => saving > 0 && before < newest)
}

export function locate({ toolUseIds, memories }: Selection, found: ClearableContent): SelectionSize {
  const ids = new Set(toolUseIds)
  const uuids = new Set(memories)
  return combineSizes([
    ...found.results.filter(({ toolUseId }) => ids.has(toolUseId)).map(sizeOfItem),
    ...found.memories.filter(({ uuid }) => uuids.has(uuid)).map(sizeOfItem),
    ...found.deleted.filter(({ toolUseId }) => ids.has(toolUseId)).map(({ before }) => ({ saving: 0, first: before })),
  ])
}

/** Effect of shortening a result: the removed share of its characters is the removed share of its tokens. */
function shortening(
  { toolUseId, head, tail }: ShortenedResult,
  { results }: ClearableContent,
  { context }: Views,
): SelectionSize {
  const result = results.find((each) => each.toolUseId === toolUseId)
  const original = context.originalResult(toolUseId)
  const length = original ? previewText(original).length : 0
  return result && length > 0
    ? { saving: result.tokens * (1 - Math.min(1, (head + tail) / length)), first: result.before }
    : combineSizes([])
}

export const sizeOfItem = ({
  saving,
  before,
}: {
  readonly saving: number
  readonly before: number
}): SelectionSize => ({
  saving,
  first: before,
})

export function combineSizes(parts: readonly SelectionSize[]): SelectionSize {
  let saving = 0
  let first = Number.POSITIVE_INFINITY
  for (const part of parts) {
    saving += part.saving
    first = Math.min(first, part.first)
  }
  return { saving, first }
}

export function clearingChange(
  { saving, first }: SelectionSize,
  found: ClearableContent,
  boundThinking: boolean,
): ClearingChange {
  const last = found.thinking.at(-1)
  const dropsThinking = boundThinking && (last?.before ?? 0) > first
  const removed = saving + (dropsThinking ? last!.upTo : 0)
  const changedAt = dropsThinking ? Math.min(first, found.thinking[0]!.before) : first
  return { removed, after: Math.max(0, found.tokens - changedAt - removed), dropsThinking }
}

// After a long pause the server's cache is gone, so clearing costs nothing: all clearable results go but the newest few.

const MIN_WHEN_COLD = 5_000 // tokens: for less, results are not taken from the view

/** Selects ids to clear, oldest first. A result that is smaller than the marker that would replace it stays. */
export function selectOld(results: readonly ClearingCandidate[], keep: number): readonly string[] {
  const old = results.slice(0, Math.max(0, results.length - Math.max(1, keep)))
  return old.filter(({ saving }) => saving > 0).map(({ toolUseId }) => toolUseId)
}

export function selectByTime(context: LayerContext): Selection {
  const { views, flags, now } = context
  const isLongPause = idleMinutes(views.context.lastResponse, now) > flags.figures["idle-gap"]
  if (!isLongPause && !isCacheGone(context)) return NOTHING
  const found = listClearableContent(context)
  const toolUseIds = selectOld(found.results, flags.figures["idle-keep"])
  if (!isLongPause && savingOf(found, toolUseIds) < MIN_WHEN_COLD) return NOTHING
  return { toolUseIds, memories: memoriesToClear(found).map(({ uuid }) => uuid) }
}

/** With the planner, a lost cache is reason enough: what is cleared now is not written again. */
const isCacheGone = (context: LayerContext): boolean =>
  context.flags.planner !== "off" &&
  context.views.context.lastResponse !== undefined &&
  cacheState(context).state === "cold"

function savingOf({ results }: ClearableContent, toolUseIds: readonly string[]): number {
  const ids = new Set(toolUseIds)
  return results.reduce((sum, { toolUseId, saving }) => sum + (ids.has(toolUseId) ? saving : 0), 0)
}

// Clears results that fill the window, in one batch, where that is worth it and pays: first those that later work has overtaken, then the
// oldest. The plan is a value that can be printed: what it would clear, or why it does not.

export interface SizeFigures {
  /** Tokens of clearable results that may stay. */
  readonly keep: number
  /** Minimum number of tokens that a clearing must save. */
  readonly min: number
  /** Number of newest results that always stay. */
  readonly protect: number
}

export interface SizeInput {
  readonly survey: ClearableContent
  readonly figures: SizeFigures
  readonly cache: CacheState
  /** Whether a full window is compacted automatically. */
  readonly compacts: boolean
  readonly prices: CachePrices
  /** Number of turns within which the clearing must pay off. */
  readonly horizon: RemainingTurns
  /** Whether clearing drops the thinking after it. */
  readonly boundThinking: boolean
  /**
   * Results that later work has made obsolete. Finding them requires a scan of all calls, so it is done only before something is cleared.
   */
  readonly overtaken?: Pick<ReadonlySet<string>, "has">
}

type SizePlan =
  | { readonly clears: true; readonly selection: Selection; readonly payback: number; readonly change: ClearingChange }
  | { readonly clears: false; readonly reason: "little to clear" | "little to save" | "compacted all the same" }
  | { readonly clears: false; readonly reason: "does not pay"; readonly payback: number }

export function planBySize(input: SizeInput): SizePlan {
  const { survey: found, figures, cache, compacts, prices, horizon, boundThinking, overtaken } = input
  const keep = figures.keep / found.scale
  const { results, deleted } = found
  if ((results.at(-1)?.upTo.tokens ?? 0) <= keep) return { clears: false, reason: "little to clear" }
  const limits = { keep, protect: figures.protect }
  const chosen = overtaken && selectOvertakenFirst(results, { ...limits, overtaken })
  const count = chosen ? 0 : oldestUntilFits(results, limits)
  const batch = chosen
    ? combineSizes(chosen.map(sizeOfItem))
    : (results[count - 1]?.upTo.worthwhile ?? combineSizes([]))
  if (batch.saving * found.scale < figures.min) return { clears: false, reason: "little to save" }
  const memories = memoriesToClear(found)
  // results deleted in a cache that is written again must be cleared here
  const moved = deleted.slice(0, 1).map(({ before }) => ({ saving: 0, first: before }))
  const going = combineSizes([batch, ...memories.map(sizeOfItem), ...moved])
  const change = clearingChange(going, found, boundThinking)
  const removed = change.removed * found.scale
  if (compacts && cache.state === "leaving" && removed <= cache.excess)
    return { clears: false, reason: "compacted all the same" }
  const payback = cache.state === "warm" ? paybackTurns(change, prices) : 0
  if (payback > horizon(removed)) return { clears: false, reason: "does not pay", payback }
  const worthwhile = chosen ?? results.slice(0, count).filter(({ saving }) => saving > 0)
  const selection = {
    toolUseIds: [...deleted, ...worthwhile].map(({ toolUseId }) => toolUseId),
    memories: memories.map(({ uuid }) => uuid),
  }
  return { clears: true, selection, payback, change }
}

/** Selects all obsolete results, then the oldest others until the rest fits. */
function selectOvertakenFirst(
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

/**
 * Number of results, counted from the oldest, that must be considered so that clearing the worthwhile ones is enough. Binary search,
 * because it runs on every turn.
 */
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
 * Selects nothing below the warning threshold or if clearing does not pay off. `compaction`: what a ready compaction saves over the same
 * number of turns. If that is more, results are not cleared shortly before it.
 */
export function selectBySize(context: LayerContext, compaction = Number.NEGATIVE_INFINITY): Selection {
  const { flags, facts, fill, thresholds, views } = context
  // also where it is early, once: the turn that reaches the threshold must not read everything. What is new is read between turns
  if (fill.used < thresholds.warning && isTracked(views)) return NOTHING
  const found = listClearableContent(context)
  if (fill.used < thresholds.warning) return NOTHING
  const prices = cachePrices(facts, { tokens: fill.used, lifetime: cacheLifetime(views) })
  const cache = cacheState(context)
  const input: SizeInput = {
    survey: found,
    figures: {
      keep: flags.figures["size-clear-keep"],
      min: flags.figures["size-clear-min"],
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
  const scaled = ({ removed, after }: ClearingChange) => ({
    removed: removed * found.scale,
    after: after * found.scale,
  })
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
  const old = formatNumber(Math.round(scaled(plan.change).removed))
  return {
    ...plan.selection,
    overtaken: Object.fromEntries([...overtaken].filter(([id]) => plan.selection.toolUseIds.includes(id))),
    planned: `About ${old} tokens of old results need not be sent again: ${because}${instead}.`,
  }
}

// If the model supports it, old results are deleted inside the server's cache. Nothing changes here and nothing is written again. The
// request asks for the deletion, and repeats that at the same position as long as the cache lives.

interface CacheEditFigures {
  /** Number of results visible to the model at which a deletion starts. */
  readonly active: number
  /** Number of newest results that stay. */
  readonly keep: number
}

/** Selects ids to delete, oldest first. A result that is smaller than a marker stays, since it may have to be cleared here later. */
export function planByCacheEdit(results: readonly ClearingCandidate[], figures: CacheEditFigures): readonly string[] {
  const active = results.filter(({ saving }) => saving > 0)
  if (active.length < figures.active) return []
  return active.slice(0, Math.max(0, active.length - Math.max(1, figures.keep))).map(({ toolUseId }) => toolUseId)
}

/** Nothing is deleted in a cold cache or one that is just being written again. The request asks for deletions in its last user message. */
export function cacheEditDecisions(context: LayerContext): DecisionDraft[] {
  const { views, flags } = context
  const { endsWithUser, cacheEdits } = views.context
  if (cacheState(context).state === "cold" || cacheEdits.justDropped || !endsWithUser) return []
  const found = listClearableContent(context)
  const figures = { active: flags.figures["cache-edit-active"], keep: flags.figures["cache-edit-keep"] }
  const toolUseIds = planByCacheEdit(found.results, figures)
  if (toolUseIds.length === 0) return []
  const { removed } = clearingChange(locate({ toolUseIds, memories: [] }, found), found, false)
  const effect = { saves: Math.round(removed * found.scale), rewrites: 0 }
  return [{ type: "strata", subtype: "tool-results-cleared", toolUseIds, why: "cache-edit", effect }]
}

/**
 * Reason why the cache in which results were deleted is lost, so that the deletions must not be requested again; `undefined` while the
 * cache holds.
 */
export function cacheLossReason(context: LayerContext): string | undefined {
  const { views, facts } = context
  const { toolUseIds, answered } = views.context.cacheEdits
  if (toolUseIds.length === 0) return undefined
  if (!facts.accepts.cacheEditing) return "the model does not edit its cache"
  const cache = cacheState(context)
  if (cache.state === "cold") return cache.reason
  return answered && hasCacheBreak(context) ? "less was read from the cache than before" : undefined
}

/**
 * Whether the last response read less from the cache than it should have. Tokens that the server deleted since the previous response do not
 * count.
 */
function hasCacheBreak({ views }: LayerContext): boolean {
  const [last, before] = views.context.recentResponses(2).map(({ message }) => message.usage)
  if (!last || !before) return false
  const deleted = (last.cache_deleted_input_tokens ?? 0) - (before.cache_deleted_input_tokens ?? 0)
  return isBreak(cacheCounts(before).cacheRead - Math.max(0, deleted), cacheCounts(last).cacheRead)
}
