/** Turns usage into money. If the price is unknown, the cost is unknown, never zero. */
import { addCounts, inputTokens, type TokenCounts, weighCounts } from "../base/token-counts.ts"
import type { Usage } from "../messages/messages.ts"
import type { ModelFacts, Price } from "./model-facts.ts"

/** Dollars, or why they are unknown. */
export type Cost = { readonly known: true; readonly dollars: number } | { readonly known: false; readonly why: string }

/** The tokens billed for a response: all its passes, if the server reports them. */
export function tokenCounts(usage: Usage): TokenCounts {
  return billedPasses(usage).reduce(addCounts)
}

/** The passes of a response. Each is priced by its own size. */
function billedPasses(usage: Usage): readonly TokenCounts[] {
  const passes = usage.iterations && usage.iterations.length > 0 ? usage.iterations : [usage]
  return passes.map(countsOf)
}

function countsOf(usage: Omit<Usage, "iterations">): TokenCounts {
  const written = usage.cache_creation_input_tokens ?? 0
  const for1h = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0
  return {
    input: usage.input_tokens,
    output: usage.output_tokens,
    cacheWrite5m: Math.max(0, written - for1h),
    cacheWrite1h: for1h,
    cacheRead: usage.cache_read_input_tokens ?? 0,
  }
}

/** The price of one request. Long prompts cost more on some models. */
export function priceFor(facts: ModelFacts, counts: TokenCounts): Price | undefined {
  const long = facts.longPrompt
  return long && inputTokens(counts) > long.above ? long.price : facts.price
}

/** The cost of a response: each pass at the price for its own size. */
export function costOfUsage(facts: ModelFacts, usage: Usage): Cost {
  const costs = billedPasses(usage).map((counts) => costOf(facts, counts))
  const dollars = costs.reduce((sum, cost) => sum + (cost.known ? cost.dollars : 0), 0)
  return costs.find((cost) => !cost.known) ?? { known: true, dollars }
}

export function costOf(facts: ModelFacts, counts: TokenCounts): Cost {
  const price = priceFor(facts, counts)
  if (!price) return { known: false, why: `the price of ${facts.id} is unknown` }
  return { known: true, dollars: weighCounts(counts, price) / 1_000_000 }
}
