import { expect, test } from "vitest"
import { pointParts } from "./point-parts.ts"
import type { ClassSums } from "./turn-classes.ts"

const NONE: ClassSums = { prompt: 0, person: 0, answers: 0, thinking: 0, calls: 0, results: 0, summary: 0 }

/** Turns as [context, estimated tokens of results], noted or not. */
function partsOf(turns: readonly (readonly [context: number, results?: number])[], boundaries: readonly number[] = []) {
  const sums = new Map(
    turns.flatMap(([, results], at) => (results === undefined ? [] : [[at + 1, { ...NONE, results }] as const])),
  )
  const given = turns.map(([context], at) => ({ turn: at + 1, context }))
  return pointParts({ turns: given, boundaries, classes: { sumsFor: (turn) => sums.get(turn) } }).map(
    ({ classes, rest }) => [classes?.prompt, classes?.results, rest].map((tokens) => Math.round(tokens ?? -1)),
  )
}

test("BEY-10 system prompt and tools stay the same; what no message explains is not broken down", () => {
  expect(
    partsOf([
      [40_000, 0],
      [60_000, 15_000],
      [90_000, 52_000],
    ]),
  ).toEqual([
    [40_000, 0, 0],
    [40_000, 15_000, 5_000],
    [40_000, 50_000, 0], // the estimate was too high
  ])
})

test("BEY-10 after a compaction the prompt is not larger than before it", () => {
  const before = [30_000, 1_000] as const
  expect(partsOf([before, [60_000, 5_000]], [2])).toEqual([
    [29_000, 1_000, 0],
    [29_000, 5_000, 26_000],
  ])
  expect(partsOf([before, [20_000, 5_000]], [2])[1]).toEqual([15_000, 5_000, 0])
})

test("BEY-10 a turn between has the shares of the one before, and all parts add up", () => {
  const parts = partsOf([[40_000, 10_000], [50_000, 20_000], [70_000], [20_000]])
  expect(parts).toEqual([
    [30_000, 10_000, 0],
    [30_000, 20_000, 0],
    [30_000, 40_000, 0],
    [20_000, 0, 0],
  ])
})

test("BEY-10 without classes there are no parts", () => {
  expect(partsOf([[40_000]])).toEqual([[-1, -1, -1]])
})
