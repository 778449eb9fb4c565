import { array, assert, double, integer, property } from "fast-check"
import { expect, test } from "vitest"
import { apportion } from "./apportion.ts"

test("TOK-8 the units add up to the total, and none is more than one away from its exact share", () => {
  const values = array(double({ min: 0, max: 1e9, noNaN: true }), { maxLength: 40 })
  assert(
    property(values, integer({ min: 0, max: 1_000_000 }), (parts, total) => {
      const sum = parts.reduce((all, part) => all + part, 0)
      const units = apportion(parts, total)
      expect(units.reduce((all, count) => all + count, 0)).toBe(sum === 0 ? 0 : total)
      for (const [i, count] of units.entries())
        if (sum > 0) expect(Math.abs(count - (parts[i]! / sum) * total)).toBeLessThanOrEqual(1)
    }),
  )
})

test("TOK-8 the largest remainders are rounded up", () => {
  expect(apportion([1, 1, 1], 100)).toEqual([34, 33, 33])
  expect(apportion([10, 14.6, 75.4], 100)).toEqual([10, 15, 75])
})
