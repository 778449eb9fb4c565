/** Sums of costs and losses. */
import type { TokenCounts } from "@strata/core"
import { NO_TOKENS } from "@strata/core/base"
import type { SpentLine } from "./digest.ts"
import type { LookSpent, LostCaches, SpentOn } from "./report-data.ts"

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** A sum that grows in place: a report adds tens of thousands of lines to several of them. */
export type RunningSpent = Mutable<Omit<LookSpent, "tokens">> & { readonly tokens: Mutable<TokenCounts> }

export const nothingSpent = (): RunningSpent => ({
  requests: 0,
  tokens: { ...NO_TOKENS },
  dollars: 0,
  unpriced: 0,
  estimated: 0,
})

export function spend(sum: RunningSpent, { requests, counts, dollars, unpriced, estimated }: SpentLine): void {
  sum.requests += requests
  sum.tokens.input += counts.input
  sum.tokens.output += counts.output
  sum.tokens.cacheWrite5m += counts.cacheWrite5m
  sum.tokens.cacheWrite1h += counts.cacheWrite1h
  sum.tokens.cacheRead += counts.cacheRead
  sum.dollars += dollars
  sum.unpriced += unpriced
  sum.estimated += estimated
}

/** Costs by name. */
export class Named {
  readonly #all = new Map<string, { readonly spent: RunningSpent; conversations: number }>()

  add(name: string, line: SpentLine): void {
    spend(this.#of(name).spent, line)
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
    const known = this.#all.get(name)
    if (known) return known
    const one = { spent: nothingSpent(), conversations: 0 }
    this.#all.set(name, one)
    return one
  }
}

export const NO_LOSS: LostCaches = { count: 0, tokens: 0, dollars: 0, unpriced: 0, share: 0 }

export const together = (a: LostCaches = NO_LOSS, b: Omit<LostCaches, "share">): LostCaches => ({
  count: a.count + b.count,
  tokens: a.tokens + b.tokens,
  dollars: a.dollars + b.dollars,
  unpriced: a.unpriced + b.unpriced,
  share: 0,
})
