import { FABRICATION_NAMES } from "@strata/sim"
import { expect, test } from "vitest"
import { sample } from "./score-audit/conversations.ts"
import { emptyTally, plantAll, SeedRange } from "./score-audit/measure.ts"

const SEEDS = 20 // number of seeds of generated conversations, about 280 summaries; `npm run score:audit` does 10,000

test("BEY-2 every planted claim and omission is found, and truthful summaries raise no alarm", () => {
  const tally = emptyTally()
  let planted = 0
  for (let seed = 100; seed < 100 + SEEDS; seed++) {
    const { messages, summary } = sample(seed)
    const range = new SeedRange(messages)
    expect(range.audit(summary).claims.filter(({ isSupported }) => !isSupported)).toEqual([])
    planted += plantAll(range, { summary, seed, tally })
  }
  expect(planted).toBeGreaterThan(200)
  expect([...tally.planted.keys()].sort()).toEqual([...FABRICATION_NAMES].sort())
  expect(tally.missed).toEqual([])
})
