import { expect, test } from "vitest"
import { offlineSoak } from "./offline.ts"

test("BEY-6 the soak with the network off ends well: no connection, no invalid request, no message lost", async () => {
  const report = await offlineSoak({ tokens: 60_000, window: 32_000, seed: 1 })
  expect(report.problems).toEqual([])
  expect(report.compactions.length).toBeGreaterThan(2)
  expect(report.peak).toBeLessThan(32_000)
  expect(report.notes).toBeGreaterThan(0)
})
