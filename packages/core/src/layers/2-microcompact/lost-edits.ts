/** L2-3: whether the cache that results were deleted in is gone, so that the deletions must not be asked for again. */
import { cacheCounts, isBreak } from "../../views/cache/cache-break.ts"
import type { Turn } from "../layer.ts"
import { cacheState } from "./cache-state.ts"

/** Why they are lost; `undefined` while they hold, or where there are none. */
export function whyLost(turn: Turn): string | undefined {
  const { views, facts } = turn
  const { toolUseIds, answered } = views.context.cacheEdits
  if (toolUseIds.length === 0) return undefined
  if (!facts.accepts.cacheEditing) return "the model does not edit its cache"
  const cache = cacheState(turn)
  if (cache.state === "cold") return cache.why
  return answered && readsFell(turn) ? "less was read from the cache than before" : undefined
}

/** CACHE-4, L2-4: what the server has deleted since the response before is no longer read, and that is no loss. */
function readsFell({ views }: Turn): boolean {
  const [last, before] = views.context.recentResponses(2).map(({ message }) => message.usage)
  if (!last || !before) return false
  const deleted = (last.cache_deleted_input_tokens ?? 0) - (before.cache_deleted_input_tokens ?? 0)
  return isBreak(cacheCounts(before).cacheRead - Math.max(0, deleted), cacheCounts(last).cacheRead)
}
