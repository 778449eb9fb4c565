/** Whether the server's cache can still hold what was sent last. */
import { canonicalModelId } from "../../tokens/models.ts"
import { cacheCounts } from "../../views/cache/cache-break.ts"
import type { Views } from "../../views/views.ts"
import type { LayerContext } from "../layer.ts"

export type CacheState =
  | { readonly state: "warm" }
  /** What was sent is gone from it: everything is written again in any case. */
  | { readonly state: "cold"; readonly why: "no response yet" | "idle" | "another model" | "another program" }
  /** It is about to be lost: the context must be compacted unless something is cleared. `excess`: tokens beyond the limit. */
  | { readonly state: "leaving"; readonly excess: number }

/** How long entries of messages live: as the setting says, or as your own loop asks for it. */
export type CacheLifetime = "5m" | "1h"

const MS_PER_MINUTE = 60_000
const LIFE_MINUTES: Readonly<Record<CacheLifetime, number>> = { "5m": 5, "1h": 60 }

type CacheInput = Pick<LayerContext, "model" | "now" | "fill" | "thresholds"> & { readonly views: Views }

export function cacheState({ views, model, now, fill, thresholds }: CacheInput): CacheState {
  const last = views.context.lastResponse
  if (!last) return { state: "cold", why: "no response yet" }
  // another program sent it with a prompt of its own
  if (views.context.session?.origin !== undefined && !views.context.prompt)
    return { state: "cold", why: "another program" }
  const used = lastUse(last, views)
  if (idleMinutes(used, now) > LIFE_MINUTES[used.lifetime]) return { state: "cold", why: "idle" }
  const by = last.message.model
  if (by !== undefined && canonicalModelId(by) !== canonicalModelId(model)) {
    return { state: "cold", why: "another model" }
  }
  const isFull = fill.state === "compact" || fill.state === "blocked"
  // where nothing is compacted by itself, the limit is what can be sent
  const most = Math.min(thresholds.limit, thresholds.blocking)
  return isFull ? { state: "leaving", excess: fill.used - most } : { state: "warm" }
}

/** When the newest response came, or the request that kept its cache warm since, and how long the cache lives from then. */
export function lastUse(last: { readonly timestamp: string }, views: Views) {
  const { warmed } = views.cacheHistory
  return warmed && Date.parse(warmed.at) > Date.parse(last.timestamp)
    ? { timestamp: warmed.at, lifetime: warmed.lifetime }
    : { timestamp: last.timestamp, lifetime: cacheLifetime(views) }
}

/** By the newest usage: an interrupted answer has none. */
export function cacheLifetime({ context }: Views): CacheLifetime {
  const usage = context.recentResponses(1)[0]?.message.usage
  if (!usage) return "5m"
  const { cacheWrite5m, cacheWrite1h } = cacheCounts(usage)
  return cacheWrite1h > 0 && cacheWrite5m === 0 ? "1h" : "5m" // with both, the hour is that of the prompt
}

/** Minutes since the last response; 0 where there was none. */
export function idleMinutes(lastResponse: { readonly timestamp: string } | undefined, now: Date): number {
  return lastResponse ? (now.getTime() - Date.parse(lastResponse.timestamp)) / MS_PER_MINUTE : 0
}
