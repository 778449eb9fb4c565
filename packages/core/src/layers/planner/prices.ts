/** What a model's tokens cost, relative to uncached input. */
import { cacheLifetime } from "../2-microcompact/cache-state.ts"
import { cachePrices } from "../2-microcompact/payback.ts"
import type { LayerContext } from "../layer.ts"

export interface Prices {
  readonly read: number
  readonly write: number
  readonly output: number
}

const USUAL_OUTPUT = 5 // most models ask five times the price of input for output

export function pricesOf({ facts, fill, views }: LayerContext): Prices {
  const { price } = facts
  const output = price && price.input > 0 ? price.output / price.input : USUAL_OUTPUT
  return { ...cachePrices(facts, { tokens: fill.used, lifetime: cacheLifetime(views) }), output }
}
