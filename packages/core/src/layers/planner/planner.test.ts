/** BEY-4: the planner's choices as plain arithmetic. The same code decides live and in a replay. */
import { describe, expect, test } from "vitest"
import type { PlannerInputs } from "./planner.ts"
import { compactsNow, compactsSoon } from "./planner.ts"
import { NO_TAIL } from "./tail.ts"

const PRICES = { read: 0.1, write: 1.25, output: 5 }
const outlook = (given: Partial<PlannerInputs> = {}): PlannerInputs => ({
  ...{
    context: 100_000,
    remaining: 50_000,
    prompt: 40_000,
    tail: NO_TAIL,
    rent: 0,
    responses: 10,
    isCold: false,
    prices: PRICES,
  },
  ...given,
})

describe("BEY-4 the planner compacts", () => {
  test("once sending the old part again has cost as much as a compaction", () => {
    const { price } = compactsNow(outlook())
    expect(price).toBe(5 * 4_000 + 1.25 * 10_000 + 1.25 * 6_000 + 2 * 0.1 * 50_000)
    expect(compactsNow(outlook({ rent: price - 1 })).compacts).toBe(false)
    expect(compactsNow(outlook({ rent: price })).compacts).toBe(true)
  })

  test("at the point that the rule of the cheapest rhythm gives, where the conversation grows evenly", () => {
    const growth = 1_500
    let [context, rent, turns] = [50_000, 0, 0]
    while (!compactsNow(outlook({ context, rent })).compacts) {
      rent += PRICES.read * (context - 50_000)
      context += growth
      turns++
    }
    const { price } = compactsNow(outlook())
    expect(context).toBeGreaterThan(50_000 + Math.sqrt((2 * growth * price) / PRICES.read) * 0.95)
    expect(context).toBeLessThan(50_000 + Math.sqrt((2 * growth * price) / PRICES.read) * 1.1)
    expect(turns).toBeLessThan(40)
  })

  test("sooner where the cache is gone anyway, never for little", () => {
    const { price } = compactsNow(outlook())
    expect(compactsNow(outlook({ isCold: true })).price).toBe(price - 0.25 * 100_000)
    expect(compactsNow(outlook({ rent: 100 * price, context: 69_000 })).compacts).toBe(false)
    expect(compactsNow(outlook({ rent: 100 * price, responses: 4 })).compacts).toBe(false)
  })
})

test("BEY-4 a compaction is near if so many requests make it due, and never for little", () => {
  const { price } = compactsNow(outlook())
  const perTurn = PRICES.read * (outlook().context - outlook().remaining)
  const rent = price - 5 * perTurn
  expect(compactsSoon(outlook({ rent }), 4.9)).toBe(false)
  expect(compactsSoon(outlook({ rent }), 5.1)).toBe(true)
  expect(compactsSoon(outlook({ rent: price, context: 69_000 }), 5)).toBe(false)
})
