/**
 * L2-10: in how many turns a clearing can pay. As many as are expected; but where the window is full before that, a compaction takes along
 * what was cleared, and nothing is saved behind it.
 */
import { usageTotal } from "../../tokens/context-size.ts"
import type { Turn } from "../layer.ts"
import { compactsItself } from "./compacts-itself.ts"

const RECENT = 11 // responses: the growth of the last ten turns

/** The answer for a clearing that takes so many tokens away. */
export type RemainingTurns = (removed: number) => number

type Standing = Pick<Turn, "views" | "flags" | "fill" | "thresholds" | "compaction">

export async function remainingTurns(turn: Standing): Promise<RemainingTurns> {
  const { views, flags, fill, thresholds } = turn
  const expected = await flags.figure("expected-turns")
  const growth = growthPerTurn(views.context)
  if (growth === 0 || !(await compactsItself(turn))) return () => expected
  return (removed) => Math.min(expected, Math.max(0, thresholds.autoCompact - fill.used + removed) / growth)
}

/** Tokens. Where the context became smaller, something was cleared: that is no growth. */
function growthPerTurn(context: Turn["views"]["context"]): number {
  const sizes = context.recentResponses(RECENT).map(({ message }) => usageTotal(message.usage!))
  const grown = sizes.slice(1).reduce((sum, before, i) => sum + Math.max(0, sizes[i]! - before), 0)
  return sizes.length > 1 ? grown / (sizes.length - 1) : 0
}
