/**
 * L2-5, L2-10: whether the server may clear more than it has cleared already. Each time it does, its cache breaks at the first call that it
 * had left. Where most of a context cannot be cleared, the trigger stays passed for good: then every call would break it for a result or
 * two. So it goes on only for a batch that is worth it and pays, or where the context is about to be full.
 */
import type { Turn } from "../layer.ts"
import { USUALLY_LEFT } from "./by-api.ts"
import { cacheState } from "./cache-state.ts"
import { changeBy } from "./changes.ts"
import { cachePrices, paybackTurns } from "./payback.ts"
import { survey } from "./survey.ts"

export async function serverMovesOn(turn: Turn): Promise<boolean> {
  const { views, flags, facts, fill } = turn
  const found = survey(views)
  const old = new Set(views.context.serverKept.allBut(USUALLY_LEFT))
  const going = found.results.filter(({ toolUseId }) => old.has(toolUseId))
  const change = changeBy({ going, moved: [] }, found, false) // thinking stays bound: nothing changes here
  if (change.removed * found.scale < (await flags.figure("size-clear-least"))) return false
  if (fill.state !== "fine" || cacheState(turn).state === "cold") return true
  return paybackTurns(change, cachePrices(facts, fill.used)) <= (await flags.figure("expected-turns"))
}
