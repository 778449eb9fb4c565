import { expect, test } from "vitest"
import { measureReach, reachReport } from "./measure.ts"

test("BEY-1 every block of a conversation that was compacted three times is fetched byte for byte, and reached by one search", async () => {
  const figures = await measureReach({ tokens: 60_000, compactions: 3 })
  expect(figures).toMatchObject({ wrong: 0, unreached: 0 })
  expect(figures.blocks).toBeGreaterThan(50)
  expect(figures.sample).toBeGreaterThan(50)
  expect(reachReport(figures)).toContain(`${figures.sample} of ${figures.sample}`)
})
