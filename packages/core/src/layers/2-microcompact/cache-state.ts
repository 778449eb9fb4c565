/** Whether the server's cache can still hold what was sent last. */
import { canonicalModelId } from "../../tokens/models.ts"
import { cacheCounts } from "../../views/cache/cache-break.ts"
import type { Turn } from "../layer.ts"
import { idleMinutes } from "./by-time.ts"

export type CacheState =
  | { readonly state: "warm" }
  /** What was sent is not there any more: everything is written again, whatever we do. */
  | { readonly state: "cold"; readonly why: "no response yet" | "idle" | "another model" }
  /** It is about to be lost: the context must be compacted unless something is cleared. `excess`: tokens beyond what may stay. */
  | { readonly state: "leaving"; readonly excess: number }

/** How long entries live: five minutes at the breakpoints we place, an hour where a loop of one's own asks for it. */
export type CacheLifetime = "5m" | "1h"

const LIFE_MINUTES: Readonly<Record<CacheLifetime, number>> = { "5m": 5, "1h": 60 }

type Question = Pick<Turn, "views" | "model" | "now" | "fill" | "thresholds">

export function cacheState({ views, model, now, fill, thresholds }: Question): CacheState {
  const last = views.context.lastResponse
  if (!last) return { state: "cold", why: "no response yet" }
  if (idleMinutes(last, now) > LIFE_MINUTES[cacheLifetime(views)]) return { state: "cold", why: "idle" }
  const by = last.message.model
  if (by !== undefined && canonicalModelId(by) !== canonicalModelId(model)) {
    return { state: "cold", why: "another model" }
  }
  const isFull = fill.state === "compact" || fill.state === "blocked"
  // where nothing is compacted by itself, as much may stay as can be sent
  const most = Math.min(thresholds.limit, thresholds.blocking)
  return isFull ? { state: "leaving", excess: fill.used - most } : { state: "warm" }
}

/** By the newest usage: an answer that was broken off has none. */
export function cacheLifetime({ context }: Turn["views"]): CacheLifetime {
  const usage = context.recentResponses(1)[0]?.message.usage
  return usage && cacheCounts(usage).cacheWrite1h > 0 ? "1h" : "5m"
}
