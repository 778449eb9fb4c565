/** What requests cost, and will cost, for the limits of background work. */
import { NO_TOKENS, type TokenCounts, weighCounts } from "../base/token-counts.ts"
import type { Usage } from "../messages/messages.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import { costOf, costOfUsage, tokenCounts } from "../tokens/price.ts"

/** Dollars per million tokens of a usual model, for models without a known price. */
const USUAL = { input: 3, output: 15, cacheWrite5m: 3.75, cacheWrite1h: 6, cacheRead: 0.3 }

/** A model without a known price counts like a usual one, so that the limit holds there too. */
export const usualDollars = (counts: TokenCounts): number => weighCounts(counts, USUAL) / 1_000_000

export function dollarsFor(responses: readonly { readonly usage?: Usage }[], facts: ModelFacts): number {
  return responses.reduce((sum, { usage }) => {
    if (!usage) return sum
    const cost = costOfUsage(facts, usage)
    return sum + (cost.known ? cost.dollars : usualDollars(tokenCounts(usage)))
  }, 0)
}

/** Work of several requests that a model will be asked for. */
export interface ExpectedWork {
  /** Tokens that the server has in its cache. Default: none. */
  readonly cached?: number
  /** Tokens that it has not. If there are several requests, the first one writes them to the cache. */
  readonly fresh: number
  /** Tokens of all answers. */
  readonly answer: number
  readonly requests: number
}

export function expectedDollars({ cached = 0, fresh, answer, requests }: ExpectedWork, facts: ModelFacts): number {
  const cacheRead = requests * cached + (requests - 1) * fresh
  const counts = { ...NO_TOKENS, cacheRead, [requests > 1 ? "cacheWrite5m" : "input"]: fresh, output: answer }
  const cost = costOf(facts, counts)
  return cost.known ? cost.dollars : usualDollars(counts)
}
