import { expect, test } from "vitest"
import { stretchCosts } from "./prefix-cost.ts"

test("BEY-4 in a window that is far from full, ours is cheapest, with its names in view", async () => {
  const { calls, costs } = await stretchCosts({ from: 40_000, to: 90_000 })
  expect(calls).toBeGreaterThan(20)
  const [ours, others] = [true, false].map((isOurs) =>
    costs.filter(({ policy }) => policy.startsWith("strata") === isOurs).toSorted((a, b) => a.cost - b.cost),
  )
  expect(ours![0]!.cost).toBeLessThan(0.9 * others![0]!.cost)
  for (const { inView } of ours!) expect(inView).toBeGreaterThanOrEqual(0.95) // one name of 21 may be missing
  expect(costs.find(({ policy }) => policy === "none")!.cost).toBe(1)
})
