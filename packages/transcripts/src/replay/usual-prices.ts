/** Relative prices for models whose price is unknown. Plain input is 1. */
import type { TokenCounts } from "@strata/core"

export const USUAL_PRICES: Readonly<Record<keyof TokenCounts, number>> = {
  input: 1,
  cacheWrite5m: 1.25,
  cacheWrite1h: 2,
  cacheRead: 0.1,
  output: 5,
}
