/** Usage as money (TOK-7). A model without a known price costs an unknown amount, never nothing. */
import { addCounts, inputTokens, type TokenCounts, weighCounts } from "../base/token-counts.ts"
import type { Usage } from "../messages/messages.ts"
import type { ModelFacts, Price } from "./model-facts.ts"

export type Cost = { readonly known: true; readonly dollars: number } | { readonly known: false; readonly why: string }

/** What is billed for a response: all passes behind it where the server reports them. */
export function tokenCounts(usage: Usage): TokenCounts {
  return billedPasses(usage).reduce(addCounts)
}

/** The passes behind a response: each is priced by its own size. */
export function billedPasses(usage: Usage): readonly TokenCounts[] {
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

/** The price of one request: long prompts cost more on some models. */
export function priceFor(facts: ModelFacts, counts: TokenCounts): Price | undefined {
  const long = facts.longPrompt
  return long && inputTokens(counts) > long.above ? long.price : facts.price
}

/** What a response cost: every pass behind it at the price of its own size. */
export function costOfUsage(facts: ModelFacts, usage: Usage): Cost {
  const costs = billedPasses(usage).map((counts) => costOf(facts, counts))
  const dollars = costs.reduce((sum, cost) => sum + (cost.known ? cost.dollars : 0), 0)
  return costs.find((cost) => !cost.known) ?? { known: true, dollars }
}

export function costOf(facts: ModelFacts, counts: TokenCounts): Cost {
  const price = priceFor(facts, counts)
  if (!price) return { known: false, why: `unknown price: nothing is known about what ${facts.id} costs` }
  return { known: true, dollars: weighCounts(counts, price) / 1_000_000 }
}
