import { expect, test } from "vitest"
import chosen from "./dream-marks/chosen.json" with { type: "json" }
import heldOut from "./dream-marks/held-out.json" with { type: "json" }
import { measureDream, noMarks } from "./dream-marks/measure.ts"

const SIZE = 300 // `npm run dream-marks` does 5,000 of each kind

test("L5-11 L6-7 no true fact goes out of view, repetitions are merged, outdated values are marked", async () => {
  const marks = noMarks()
  await measureDream(chosen, { seed: 11, size: SIZE, marks })
  await measureDream(heldOut, { seed: 12, size: SIZE, marks })
  expect(marks.mistakes).toEqual([])
  expect(marks.repeated.found / marks.repeated.of).toBeGreaterThan(0.95)
  expect(marks.outdated.found / marks.outdated.of).toBeGreaterThan(0.6)
})
