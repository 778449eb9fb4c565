import { expect, test } from "vitest"
import { type CandidateOptions, candidatesFrom } from "./candidates.ts"

const chosen = (options: Partial<CandidateOptions>) =>
  candidatesFrom({ lists: [], raised: [], neighbour: 0, largest: 100, limit: 3, ...options })

test("BEY-5 the first stage chooses passages by the weight of the terms that they contain, of equals the newer", () => {
  const lists = [
    { weight: 1, passages: [10, 20, 30, 40, 50] },
    { weight: 3, passages: [20, 60] },
  ]
  expect(chosen({ lists })).toEqual([20, 60, 50])
})

test("BEY-5 the first stage counts neighbours and raises passages of a named time", () => {
  const lists = [{ weight: 1, passages: [10, 20, 21, 40] }]
  expect(chosen({ lists, neighbour: 0.5, limit: 2 })).toEqual([21, 20])
  expect(chosen({ lists, raised: [{ factor: 2, passages: [10, 99] }], limit: 1 })).toEqual([10])
})

test("BEY-5 the first stage finds the best of many, wherever they are", () => {
  const all = Array.from({ length: 1_000 }, (_, at) => at + 1)
  const lists = [
    { weight: 1, passages: all },
    { weight: 1, passages: all.filter((passage) => passage % 400 === 7) },
  ]
  expect(chosen({ lists, largest: 1_000 })).toEqual([807, 407, 7])
})
