/**
 * Where the model can, old results are deleted inside the server's cache. Nothing changes here and nothing is written again. The request
 * asks for the deletion, and asks again at the same place for as long as that cache lives.
 */
import type { DecisionDraft } from "../../journal/entries.ts"
import { cacheCounts, isBreak } from "../../views/cache/cache-break.ts"
import type { LayerContext } from "../layer.ts"
import { cacheState } from "./cache-state.ts"
import { changeBy, locate } from "./clearing.ts"
import { type Candidate, survey } from "./survey.ts"

interface CacheEditFigures {
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

/** A cold cache, or one that is just being written again, holds nothing to delete. The request asks for deletions in its last user message. */
export function deletions(context: LayerContext): DecisionDraft[] {
  const { views, flags } = context
  const { endsWithUser, cacheEdits } = views.context
  if (cacheState(context).state === "cold" || cacheEdits.justDropped || !endsWithUser) return []
  const found = survey(context)
  const figures = { active: flags.figures["cache-edit-active"], keep: flags.figures["cache-edit-keep"] }
  const toolUseIds = planByCacheEdit(found.results, figures)
  if (toolUseIds.length === 0) return []
  const { removed } = changeBy(locate({ toolUseIds, memories: [] }, found), found, false)
  const effect = { saves: Math.round(removed * found.scale), rewrites: 0 }
  return [{ type: "strata", subtype: "tool-results-cleared", toolUseIds, why: "cache-edit", effect }]
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
