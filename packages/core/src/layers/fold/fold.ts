/**
 * Folding: while it is on, a full window is answered by folding the oldest exchanges into a line each, down to half the threshold, and
 * compaction waits. Where that is not enough, or would soon have to be done again, nothing is folded and compaction runs.
 */
import { grouped } from "../../base/grouped.ts"
import { counted } from "../../base/numbers.ts"
import { cacheLifetime } from "../2-microcompact/cache-state.ts"
import { cachePrices, compactsItself, paybackTurns, remainingTurns } from "../2-microcompact/payback.ts"
import type { Layer, LayerContext, Outcome } from "../layer.ts"
import { decisionsFor, planDownTo, type RangePlan } from "./plan.ts"

const TARGET_SHARE = 0.5 // of the threshold: folding rewrites the cache, so it makes room for many turns at once

export function folding(): Layer {
  return {
    name: "fold",

    async beforeRequest(context) {
      const plan = planFor(context)
      return plan && outcomeOf(context, plan, "the window was filling up")
    },
  }
}

/** What folding does when the API has refused a request as too long. It aims low, and what is left must fit the limit that was learnt. */
export function foldAfterRefusal(context: LayerContext): Outcome | undefined {
  const { flags, fill, thresholds } = context
  if (!flags.on.folding) return undefined
  const target = Math.min(fill.used, thresholds.autoCompact) * TARGET_SHARE
  const plan = planDownTo(context, target, flags.figures["fold-keep"])
  const most = Math.max(target, Math.min(fill.used * TARGET_SHARE, thresholds.blocking - 1))
  if (plan.action === "refused" || plan.tokensAfter > most) return undefined
  return outcomeOf(context, plan, "the API refused the request as too long")
}

function outcomeOf(context: LayerContext, plan: RangePlan, why: string): Outcome {
  return {
    drafts: decisionsFor(context, plan, { by: "user", why }),
    message: ({ saved }) =>
      `Folded ${counted(plan.ranges.length, "old exchange")} into one line each: ${grouped(saved)} tokens fewer. /unfold HANDLE opens one again.`,
  }
}

/** What folding would do now; `undefined` where it leaves the window to compaction. */
function planFor(context: LayerContext): RangePlan | undefined {
  const { flags, fill, thresholds } = context
  if (!flags.on.folding || fill.used < thresholds.autoCompact) return undefined
  const target = thresholds.autoCompact * TARGET_SHARE
  const plan = planDownTo(context, target, flags.figures["fold-keep"])
  if (plan.action === "refused" || plan.tokensAfter >= thresholds.autoCompact) return undefined
  return plan.tokensAfter <= target || !compactsItself(context) || pays(context, plan) ? plan : undefined
}

/** Whether the cache that it rewrites is paid back before the window is full again. */
function pays(context: LayerContext, { tokensBefore, tokensAfter, rewrites }: RangePlan): boolean {
  const { facts, fill, views } = context
  const removed = tokensBefore - tokensAfter
  const prices = cachePrices(facts, { tokens: fill.used, lifetime: cacheLifetime(views) })
  return paybackTurns({ removed, after: rewrites }, prices) <= remainingTurns(context)(removed)
}
