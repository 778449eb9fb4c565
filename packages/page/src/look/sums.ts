/** Sums of costs and losses. */
import { addCounts, NO_TOKENS } from "@strata/core/internal/base/token-counts"
import type { SpentLine } from "./digest.ts"
import type { LookSpent, LostCaches, SpentOn } from "./report-data.ts"

export const NOTHING: LookSpent = { requests: 0, tokens: NO_TOKENS, dollars: 0, unpriced: 0, estimated: 0 }

/** Costs by name. */
export class Named {
  readonly #all = new Map<string, { spent: LookSpent; conversations: number }>()

  add(name: string, line: SpentLine): void {
    const one = this.#of(name)
    one.spent = plus(one.spent, line)
  }

  counted(name: string): void {
    this.#of(name).conversations++
  }

  rows(total: LookSpent): readonly SpentOn[] {
    return [...this.#all]
      .map(([name, { spent, conversations }]) => ({
        ...{ name, ...spent, conversations },
        share: total.dollars === 0 ? 0 : spent.dollars / total.dollars,
      }))
      .sort((a, b) => b.dollars - a.dollars || b.conversations - a.conversations || (a.name < b.name ? -1 : 1))
  }

  #of(name: string) {
    const one = this.#all.get(name) ?? { spent: NOTHING, conversations: 0 }
    this.#all.set(name, one)
    return one
  }
}

export const plus = (a: LookSpent, b: SpentLine): LookSpent => ({
  requests: a.requests + b.requests,
  tokens: addCounts(a.tokens, b.counts),
  dollars: a.dollars + b.dollars,
  unpriced: a.unpriced + b.unpriced,
  estimated: a.estimated + b.estimated,
})

export const NO_LOSS: LostCaches = { count: 0, tokens: 0, dollars: 0, unpriced: 0, share: 0 }

export const together = (a: LostCaches = NO_LOSS, b: Omit<LostCaches, "share">): LostCaches => ({
  count: a.count + b.count,
  tokens: a.tokens + b.tokens,
  dollars: a.dollars + b.dollars,
  unpriced: a.unpriced + b.unpriced,
  share: 0,
})
