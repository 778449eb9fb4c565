/** What responses cost, and will cost, for the limit of memory work per day. */
import { weighCounts } from "../base/token-counts.ts"
import type { Usage } from "../messages/messages.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import { costOfUsage, tokenCounts } from "../tokens/price.ts"
import type { Spent } from "./background-budget.ts"

/** Dollars per million tokens of a usual model, for models without a known price. */
const USUAL = { input: 3, output: 15, cacheWrite5m: 3.75, cacheWrite1h: 6, cacheRead: 0.3 }

/** A model without a known price counts like a usual one, so that the limit holds there too. */
export function dollarsFor(responses: readonly { readonly usage?: Usage }[], facts: ModelFacts): number {
  return responses.reduce((sum, { usage }) => {
    if (!usage) return sum
    const cost = costOfUsage(facts, usage)
    return sum + (cost.known ? cost.dollars : weighCounts(tokenCounts(usage), USUAL) / 1_000_000)
  }, 0)
}

export const expectedDollars = ({ dollars, weighed }: Spent): number => dollars ?? (weighed * USUAL.input) / 1_000_000
