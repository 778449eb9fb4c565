import { expect, test } from "vitest"
import chosen from "./score-dream/chosen.json" with { type: "json" }
import heldOut from "./score-dream/held-out.json" with { type: "json" }
import { measureDream, noScores } from "./score-dream/measure.ts"

const SIZE = 300 // memories of each kind; `npm run score:dream` uses 5,000

test("L5-11 L6-7 no true fact goes out of view, repetitions are merged, outdated values are marked", async () => {
  const scores = noScores()
  await measureDream(chosen, { seed: 11, size: SIZE, scores })
  await measureDream(heldOut, { seed: 12, size: SIZE, scores })
  expect(scores.mistakes).toEqual([])
  expect(scores.repeated.found / scores.repeated.of).toBeGreaterThan(0.95)
  expect(scores.outdated.found / scores.outdated.of).toBeGreaterThan(0.6)
})
