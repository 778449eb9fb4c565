/**
 * Which results of a round are put aside: those over their tool's own limit, and then, while the whole round is over its budget, the
 * largest of the others. Pure, and made once for a result: when it arrives.
 */

export interface ArrivedResult {
  readonly toolUseId: string
  readonly characters: number
  /** Characters its tool may return. */
  readonly limit: number
  /** Its tool keeps results short itself: the budget takes such a result last. */
  readonly limitsItself: boolean
}

export interface RoundToPlan {
  readonly results: readonly ArrivedResult[]
  /** Characters of earlier results in the same round. They are decided already. */
  readonly before: number
  readonly budget: number
  /** The most characters that a result takes once it is put aside. A smaller one stays. */
  readonly previewSize: number
}

export type Placement = "stays" | "over its limit" | "over the budget"

export function planRound({ results, before, budget, previewSize }: RoundToPlan): ReadonlyMap<string, Placement> {
  const shrinks = ({ characters }: ArrivedResult) => characters > previewSize
  const plan = new Map<string, Placement>()
  let total = before
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
