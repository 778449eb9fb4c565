import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { usageOf } from "../../../test/ledger-entries.ts"
import { createFlags } from "../../settings/flags.ts"
import { DEFAULT_SETTINGS } from "../../settings/settings.ts"
import { findModel } from "../../tokens/models.ts"
import { computeWindowUsage, resolveThresholds } from "../../tokens/window.ts"
import { Views } from "../../views/views.ts"
import { remainingTurns } from "./clearable-content.ts"

const { facts } = findModel("claude-opus-4-6")
const THRESHOLDS = resolveThresholds({ window: 200_000, facts, maxOutput: 32_000, autoCompact: true }) // compacts at 167,000
const flags = createFlags({ settings: DEFAULT_SETTINGS }).current // 20 turns expected, 3 failures stop compaction

/** Opens a conversation with responses whose contexts have these sizes. */
async function remaining(sizes: readonly number[], { used = 150_000, auto = true, failures = 0 } = {}) {
  const talk = conversation().user("go")
  for (const read of sizes) talk.say("so", { usage: usageOf({ read }) }).user("on")
  const views = new Views({ family: "claude-4" })
  for (const message of talk.messages) views.apply(message)
  views.compactions.failures = failures
  const fill = computeWindowUsage(used, THRESHOLDS, auto)
  return remainingTurns({ views, flags, fill, thresholds: THRESHOLDS, compaction: { auto, manual: true } })
}

describe("L2-10 in how many turns a clearing can pay", () => {
  test("as many as are expected, where the window lasts as long", async () => {
    expect((await remaining([10_000, 11_000, 12_000]))(30_000)).toBe(20)
  })

  test("until the window is full at the pace of the last turns: a compaction takes along what was cleared", async () => {
    const turns = await remaining([100_000, 110_000, 120_000, 130_000])
    expect(turns(30_000)).toBeCloseTo((167_000 - 150_000 + 30_000) / 10_000)
    expect(turns(0)).toBeCloseTo(1.7)
  })

  test("what became smaller was cleared, and is no growth", async () => {
    expect((await remaining([100_000, 110_000, 50_000, 60_000]))(0)).toBeCloseTo(17_000 / (20_000 / 3))
  })

  test("none are left where it is full already; and nothing is known of the pace before the second response", async () => {
    expect((await remaining([10_000, 90_000], { used: 180_000 }))(5_000)).toBe(0)
    expect((await remaining([160_000]))(0)).toBe(20)
  })

  test("nothing is compacted where that is off, or was given up after failures", async () => {
    expect((await remaining([10_000, 90_000], { used: 160_000, auto: false }))(5_000)).toBe(20)
    expect((await remaining([10_000, 90_000], { used: 160_000, failures: 2 }))(0)).toBeLessThan(1)
    expect((await remaining([10_000, 90_000], { used: 160_000, failures: 3 }))(0)).toBe(20)
  })
})
