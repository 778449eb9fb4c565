import { expect, test } from "vitest"
import { memoize } from "./work.ts"

test("answers the same text once, and forgets the oldest when there are too many", () => {
  let made = 0
  const length = memoize((text) => ({ length: text.length, number: ++made }))
  expect(length("one")).toBe(length("one"))
  expect(made).toBe(1)
  expect(length("x".repeat(3_999_999)).number).toBe(2)
  expect(length("one").number).toBe(3)
  const newest = memoize((text) => ({ length: text.length, number: ++made }), { max: 2 })
  const numbers = ["a", "b", "a", "c", "a", "c"].map((text) => newest(text).number - 3)
  expect(numbers).toEqual([1, 2, 1, 3, 4, 3])
})
