import { describe, expect, test } from "vitest"
import { conversation } from "../../packages/core/test/builders.ts"
import { stretches, waitedAt, waits } from "./background-summary.ts"

describe("L4-28 how long a request waits for a summary", () => {
  const fullAt = (threshold: number) => threshold + 10_000
  const growing = Array.from({ length: 40 }, (_, at) => ({ at: at * 10, tokens: 10_000 + at * 2_000 }))

  test("steady growth: no one waits for a summary that takes less than the way to a full window", () => {
    expect(waits(growing, { seconds: 10, fullAt })).toEqual(waits(growing, { seconds: 10, fullAt }).map(() => 0))
    expect(waits(growing, { seconds: 88, fullAt })).toEqual(waits(growing, { seconds: 88, fullAt }).map(() => 0))
    expect(waits(growing, { seconds: 88, fullAt })).toHaveLength(10)
  })

  test("from far below to a full window in one step: it waits for all of it", () => {
    const jumping = [
      { at: 0, tokens: 1_000 },
      { at: 9, tokens: 60_000 },
    ]
    expect(waitedAt(jumping, { threshold: 40_000, full: 40_000 + 10_000, seconds: 30 })).toBe(30)
    expect(waitedAt(jumping, { threshold: 55_000, full: 55_000 + 10_000, seconds: 30 })).toBe(0) // the window is not full yet
  })

  test("a window that fills too fast waits for the rest", () => {
    const fast = Array.from({ length: 20 }, (_, at) => ({ at, tokens: 10_000 + at * 3_000 }))
    expect(waitedAt(fast, { threshold: 50_000, full: 50_000 + 10_000, seconds: 88 })).toBeGreaterThan(70)
    expect(waitedAt(fast, { threshold: 50_000, full: 50_000 + 10_000, seconds: 88 })).toBeLessThan(88)
  })

  test("a compaction begins a new stretch", () => {
    const usage = { input_tokens: 5, output_tokens: 5 }
    const { messages } = conversation().user("a").say("b", { usage }).boundary().say("c", { usage }).say("d")
    expect(stretches(messages).map((points) => points.length)).toEqual([1, 1])
  })
})
