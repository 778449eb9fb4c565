import { expect, test } from "vitest"
import { CHOSEN, CHOSEN_THINGS } from "./dream-marks/chosen.ts"
import { HELD_OUT, HELD_OUT_THINGS } from "./dream-marks/held-out.ts"
import { measureDream, noMarks } from "./dream-marks/measure.ts"

const SIZE = 300 // `npm run dream-marks` does 5,000 of each kind

test("L5-11 L6-7 no true fact goes out of view, repetitions are merged, outdated values are marked", async () => {
  const marks = noMarks()
  await measureDream({ attributes: CHOSEN, things: CHOSEN_THINGS }, { seed: 11, size: SIZE, marks })
  await measureDream({ attributes: HELD_OUT, things: HELD_OUT_THINGS }, { seed: 12, size: SIZE, marks })
  expect(marks.mistakes).toEqual([])
  expect(marks.repeated.found / marks.repeated.of).toBeGreaterThan(0.95)
  expect(marks.outdated.found / marks.outdated.of).toBeGreaterThan(0.6)
})
