/** What a model's tokens cost, relative to uncached input. */
import { NO_TOKENS } from "../../base/token-counts.ts"
import type { Price } from "../../tokens/model-facts.ts"
import { priceFor } from "../../tokens/price.ts"
import { cacheLifetime } from "../2-microcompact/cache-state.ts"
import { cachePrices } from "../2-microcompact/payback.ts"
import type { LayerContext } from "../layer.ts"

export interface Prices {
  readonly read: number
  readonly write: number
  readonly output: number
}

const USUAL_OUTPUT = 5 // most models ask five times the price of input for output

export function pricesOf(context: LayerContext): Prices {
  const { facts, fill, views } = context
  const price = priceNow(context)
  const output = price && price.input > 0 ? price.output / price.input : USUAL_OUTPUT
  return { ...cachePrices(facts, { tokens: fill.used, lifetime: cacheLifetime(views) }), output }
}

/** Of a request as large as the context is now: long prompts cost more on some models. */
export const priceNow = ({ facts, fill }: LayerContext): Price | undefined =>
  priceFor(facts, { ...NO_TOKENS, input: fill.used })
