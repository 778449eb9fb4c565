/** What the planner thinks now, as plain values: when it compacts, how far that is, and what happens to the cache in a pause. */
import type { PlannerMode } from "../../base/vocabulary.ts"
import { LIFETIME_MS } from "../../model/cache/known-entries.ts"
import { cacheLifetime, cacheState, lastUse } from "../2-microcompact/cache-state.ts"
import type { LayerContext } from "../layer.ts"
import { amountOf, compactsNow, costsMoney } from "./compact-now.ts"
import { pingsFor } from "./keep-warm.ts"
import { outlookOf } from "./outlook.ts"

export interface PlannerReport {
  readonly mode: PlannerMode
  /** It compacts once sending the old part again has cost `due`. Absent where it never compacts. */
  readonly compaction?: { readonly spent: string; readonly due: string } | undefined
  /** `until`: when the server forgets what was sent last. */
  readonly cache: { readonly state: "cold" } | { readonly state: "warm"; readonly until: Date }
  /** How often the cache is kept warm in a pause, where someone waits for it. */
  readonly pings: number
}

export function plannerReport(context: LayerContext): PlannerReport {
  const { planner: mode } = context.flags
  const { views } = context
  const last = views.context.lastResponse
  const isCold = cacheState(context).state === "cold" || !last
  const cache = isCold
    ? { state: "cold" as const }
    : { state: "warm" as const, until: expiry(lastUse(last, views), views) }
  if (mode === "off" || !context.compaction.auto || !costsMoney(context))
    return { mode, cache, pings: pingsFor(context) }
  const { rent, due } = compactsNow(outlookOf(context), mode)
  const compaction = { spent: amountOf(rent, context), due: amountOf(due, context) }
  return { mode, compaction, cache, pings: pingsFor(context) }
}

const expiry = ({ timestamp }: { readonly timestamp: string }, views: LayerContext["views"]): Date =>
  new Date(Date.parse(timestamp) + LIFETIME_MS[cacheLifetime(views)])
