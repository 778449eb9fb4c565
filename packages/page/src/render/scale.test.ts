import { describe, expect, it } from "vitest"
import { samplePoints, tickLabel, ticksUpTo, turnPercent } from "./scale.ts"

const course = (sizes: readonly number[]) => sizes.map((context, i) => ({ turn: i + 1, context }))

describe("BEY-7 the scales of a chart", () => {
  it.each([
    [315_000, [0, 100_000, 200_000, 300_000]],
    [1, [0, 0.25, 0.5, 0.75, 1]],
    [0, [0]],
  ])("has round ticks up to %d", (max, ticks) => {
    expect(ticksUpTo(max)).toEqual(ticks)
  })

  it("labels dollars and tokens", () => {
    expect([0.25, 12, 1_500].map((value) => tickLabel(value, "dollars"))).toEqual(["$0.25", "$12", "$1500"])
    const tokens = [500, 75_000, 12_500, 100_000, 1_500_000, 2_000_000].map((value) => tickLabel(value, "tokens"))
    expect(tokens).toEqual(["500", "75K", "12.5K", "100K", "1.5M", "2M"])
  })

  it("keeps peaks, drops and both ends where there are too many points", () => {
    const sizes = Array.from({ length: 10_000 }, (_, i) => (i % 1_000) * 100)
    const shown = samplePoints(course(sizes), 400)
    expect(shown.length).toBeLessThanOrEqual(400)
    expect(shown[0]!.turn).toBe(1)
    expect(shown.at(-1)!.turn).toBe(10_000)
    expect(Math.max(...shown.map(({ context }) => context))).toBe(99_900)
    expect(shown.filter(({ context }) => context === 0)).toHaveLength(10)
    expect(samplePoints(course([1, 2, 3]), 400)).toHaveLength(3)
  })

  it("places a single turn in the middle", () => {
    expect(turnPercent(1, { first: 1, last: 1 })).toBe("50%")
    expect(turnPercent(3, { first: 1, last: 5 })).toBe("50%")
  })
})
