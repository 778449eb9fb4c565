/** Whether the server's cache can still hold what was sent last. */
import type { AssistantMessage } from "../../conversation/messages.ts"
import { canonicalModelId } from "../../tokens/models.ts"
import { cacheCounts } from "../../views/cache-break.ts"
import type { Turn } from "../layer.ts"
import { idleMinutes } from "./by-time.ts"

export type CacheState =
  | { readonly state: "warm" }
  /** What was sent is not there any more: everything is written again, whatever we do. */
  | { readonly state: "cold"; readonly why: "no response yet" | "idle" | "another model" }
  /** It is about to be lost: the context must be compacted unless something is cleared. */
  | { readonly state: "leaving" }

const CACHE_LIFE_MINUTES = 5 // of the breakpoints we place
const LONG_CACHE_LIFE_MINUTES = 60 // of those that a loop of one's own may place

export function cacheState({ views, model, now, fill }: Pick<Turn, "views" | "model" | "now" | "fill">): CacheState {
  const last = views.context.lastResponse
  if (!last) return { state: "cold", why: "no response yet" }
  if (idleMinutes(last, now) > lifeMinutes(last)) return { state: "cold", why: "idle" }
  const by = last.message.model
  if (by !== undefined && canonicalModelId(by) !== canonicalModelId(model)) {
    return { state: "cold", why: "another model" }
  }
  return fill.state === "compact" || fill.state === "blocked" ? { state: "leaving" } : { state: "warm" }
}

function lifeMinutes({ message: { usage } }: AssistantMessage): number {
  return usage && cacheCounts(usage).cacheWrite1h > 0 ? LONG_CACHE_LIFE_MINUTES : CACHE_LIFE_MINUTES
}
