/**
 * L2-5, L2-10: whether the server may clear more than it has cleared already. Each time it does, its cache breaks. Where most of a context
 * cannot be cleared, the trigger stays passed for good: then every call would break it for a result or two. So it goes on only for a batch
 * that is worth it and pays, or where the context is about to be full.
 */
import type { Turn } from "../layer.ts"
import { USUALLY_LEFT } from "./by-api.ts"
import { cacheLifetime, cacheState } from "./cache-state.ts"
import { cachePrices, paybackTurns } from "./payback.ts"
import { remainingTurns } from "./remaining-turns.ts"
import { survey } from "./survey.ts"

export async function serverMovesOn(turn: Turn): Promise<boolean> {
  const { views, flags, facts, fill } = turn
  const { results, scale } = survey(turn)
  const old = new Set(views.context.serverKept.allBut(USUALLY_LEFT))
  const saving = results.reduce((sum, each) => sum + (old.has(each.toolUseId) ? each.saving : 0), 0)
  const removed = saving * scale
  if (removed < (await flags.figure("size-clear-least"))) return false
  if (fill.state !== "fine" || cacheState(turn).state === "cold") return true
  // what stands before the place is in the cache, but further back than the server looks for it: only the prompt is read again
  const behind = Math.max(0, fill.used - views.context.promptTokens - removed)
  const prices = cachePrices(facts, { tokens: fill.used, lifetime: cacheLifetime(views) })
  return paybackTurns({ removed, behind }, prices) <= (await remainingTurns(turn))(removed)
}
