/**
 * Which results of a round are put aside (L1-1, L1-3): those over their tool's own limit, and then, while the round as a whole is over
 * its budget, the largest of the others. Pure, and made once for a result: when it arrives.
 */

export interface ArrivedResult {
  readonly toolUseId: string
  readonly characters: number
  /** Of its tool. */
  readonly limit: number
  /** Its tool keeps results short itself: the budget takes it last. */
  readonly limitsItself: boolean
}

export interface RoundToPlan {
  readonly results: readonly ArrivedResult[]
  /** Characters of results that stand in the same round already; nothing about those changes any more. */
  readonly standing: number
  readonly budget: number
  /** What a result takes at most that is put aside: a smaller one stays. */
  readonly previewSize: number
}

export type Placement = "stays" | "over its limit" | "over the budget"

export function planRound({ results, standing, budget, previewSize }: RoundToPlan): ReadonlyMap<string, Placement> {
  const shrinks = ({ characters }: ArrivedResult) => characters > previewSize
  const plan = new Map<string, Placement>()
  let total = standing
  for (const result of results) {
    const isOver = result.characters > result.limit && shrinks(result)
    plan.set(result.toolUseId, isOver ? "over its limit" : "stays")
    total += isOver ? previewSize : result.characters
  }
  const candidates = results.filter((result) => plan.get(result.toolUseId) === "stays" && shrinks(result))
  for (const { toolUseId, characters } of candidates.toSorted(largestFirst)) {
    if (total <= budget) break
    plan.set(toolUseId, "over the budget")
    total -= characters - previewSize
  }
  return plan
}

function largestFirst(a: ArrivedResult, b: ArrivedResult): number {
  return Number(a.limitsItself) - Number(b.limitsItself) || b.characters - a.characters
}
