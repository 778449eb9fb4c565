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

/** Of a cache for five minutes and for an hour. */
export interface LifetimePrices {
  readonly read: number
  readonly short: number
  readonly long: number
  readonly output: number
}

const USUAL_OUTPUT = 5 // most models ask five times the price of input for output

export function pricesOf(context: LayerContext): Prices {
  const { read, short, long, output } = lifetimePrices(context)
  return { read, write: cacheLifetime(context.views) === "1h" ? long : short, output }
}

export function lifetimePrices(context: LayerContext): LifetimePrices {
  const { facts, fill } = context
  const price = priceNow(context)
  const output = price && price.input > 0 ? price.output / price.input : USUAL_OUTPUT
  const { read, write: short } = cachePrices(facts, { tokens: fill.used, lifetime: "5m" })
  return { read, short, long: cachePrices(facts, { tokens: fill.used, lifetime: "1h" }).write, output }
}

/** Of a request as large as the context is now: long prompts cost more on some models. */
export const priceNow = ({ facts, fill }: LayerContext): Price | undefined =>
  priceFor(facts, { ...NO_TOKENS, input: fill.used })
