/** After a long pause the server's cache is gone, so clearing costs nothing: all clearable results go but the newest few. */
import type { LayerContext } from "../layer.ts"
import { cacheState, idleMinutes } from "./cache-state.ts"
import { memoriesToClear, NOTHING, type Selection } from "./clearing.ts"
import { type Candidate, type Survey, survey } from "./survey.ts"

const LEAST_WHEN_COLD = 5_000 // tokens: for less, results are not taken from the view

/** Ids to clear, oldest first. A result that is smaller than the marker in its place stays. */
export function planByTime(results: readonly Candidate[], keep: number): readonly string[] {
  const old = results.slice(0, Math.max(0, results.length - Math.max(1, keep)))
  return old.filter(({ saving }) => saving > 0).map(({ toolUseId }) => toolUseId)
}

export function selectByTime(context: LayerContext): Selection {
  const { views, flags, now } = context
  const isLongPause = idleMinutes(views.context.lastResponse, now) > flags.figures["idle-gap"]
  if (!isLongPause && !isGone(context)) return NOTHING
  const found = survey(context)
  const toolUseIds = planByTime(found.results, flags.figures["idle-keep"])
  if (!isLongPause && savedBy(found, toolUseIds) < LEAST_WHEN_COLD) return NOTHING
  return { toolUseIds, memories: memoriesToClear(found).map(({ uuid }) => uuid) }
}

/** For the planner a cache that is gone is enough: what is cleared now is not written again. */
const isGone = (context: LayerContext): boolean =>
  context.flags.planner !== "off" &&
  context.views.context.lastResponse !== undefined &&
  cacheState(context).state === "cold"

function savedBy({ results }: Survey, toolUseIds: readonly string[]): number {
  const ids = new Set(toolUseIds)
  return results.reduce((sum, { toolUseId, saving }) => sum + (ids.has(toolUseId) ? saving : 0), 0)
}
