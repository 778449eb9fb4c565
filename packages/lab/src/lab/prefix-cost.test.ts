import { expect, test } from "vitest"
import { stretchCosts } from "./prefix-cost.ts"

test("BEY-4 in a window that is far from full, ours is cheapest, with its names in view", async () => {
  const { calls, costs } = await stretchCosts({ from: 40_000, to: 90_000 })
  expect(calls).toBeGreaterThan(20)
  const [first, second] = costs.toSorted((a, b) => a.cost - b.cost)
  expect(first).toMatchObject({ policy: "strata" })
  expect(first!.cost).toBeLessThan(0.9 * second!.cost)
  expect(first!.inView).toBeGreaterThan(0.98)
  expect(costs.find(({ policy }) => policy === "none")!.cost).toBe(1)
})
