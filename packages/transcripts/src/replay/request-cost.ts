/** Cost of a request, in dollars or, if a price is unknown, in tokens of plain input at usual relative prices. */
import type { TokenCounts } from "@strata/core"
import { weighCounts } from "@strata/core/base"
import type { ReplayedRequest } from "./report.ts"
import { USUAL_PRICES } from "./usual-prices.ts"

export type CostUnit = "dollars" | "tokens"

export const weigh = (counts: TokenCounts): number => weighCounts(counts, USUAL_PRICES)

/** Dollars need a price: `unitOf` returns whether all requests have one. */
export const requestCost = (
  { dollars, counts }: Pick<ReplayedRequest, "dollars" | "counts">,
  unit: CostUnit,
): number => (unit === "dollars" ? dollars! : weigh(counts))

export const unitOf = (requests: readonly Pick<ReplayedRequest, "dollars">[]): CostUnit =>
  requests.every(({ dollars }) => dollars !== undefined) ? "dollars" : "tokens"
