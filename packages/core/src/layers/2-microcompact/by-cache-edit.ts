/**
 * Where the model can, old results are deleted inside the server's cache. Nothing changes here and nothing is written again. The request
 * asks for the deletion, and asks again at the same place for as long as that cache lives.
 */
import { cacheCounts, isBreak } from "../../views/cache/cache-break.ts"
import type { LayerContext } from "../layer.ts"
import { cacheState } from "./cache-state.ts"
import type { Candidate } from "./survey.ts"

export interface CacheEditFigures {
  /** This many results that the model still sees start a deletion. */
  readonly active: number
  /** How many of the newest stay. */
  readonly keep: number
}

/** Ids to delete, oldest first. A result that is smaller than a marker stays, since it may have to be cleared here later. */
export function planByCacheEdit(results: readonly Candidate[], figures: CacheEditFigures): readonly string[] {
  const active = results.filter(({ saving }) => saving > 0)
  if (active.length < figures.active) return []
  return active.slice(0, Math.max(0, active.length - Math.max(1, figures.keep))).map(({ toolUseId }) => toolUseId)
}

/** Why the cache that results were deleted in is gone, so that the deletions must not be asked for again; `undefined` while they hold. */
export function whyLost(context: LayerContext): string | undefined {
  const { views, facts } = context
  const { toolUseIds, answered } = views.context.cacheEdits
  if (toolUseIds.length === 0) return undefined
  if (!facts.accepts.cacheEditing) return "the model does not edit its cache"
  const cache = cacheState(context)
  if (cache.state === "cold") return cache.why
  return answered && readsFell(context) ? "less was read from the cache than before" : undefined
}

/** What the server has deleted since the response before is no longer read. That is no loss. */
function readsFell({ views }: LayerContext): boolean {
  const [last, before] = views.context.recentResponses(2).map(({ message }) => message.usage)
  if (!last || !before) return false
  const deleted = (last.cache_deleted_input_tokens ?? 0) - (before.cache_deleted_input_tokens ?? 0)
  return isBreak(cacheCounts(before).cacheRead - Math.max(0, deleted), cacheCounts(last).cacheRead)
}
