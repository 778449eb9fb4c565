import { describe, expect, test } from "vitest"
import { conversation } from "../../core/test/builders.ts"
import { leadTimes, stretches } from "./ahead-of-time.ts"

describe("L4-28 how long there is to prepare a summary", () => {
  const second = 1_000
  test("from the lead to the threshold, for each threshold that is crossed", () => {
    const points = [10_000, 30_000, 44_000, 46_000].map((tokens, i) => ({ at: i * 60 * second, tokens }))
    expect(leadTimes(points)).toEqual([])
    const more = [...points, { at: 600 * second, tokens: 56_000 }]
    // of 55,000 the lead was passed by the second response; those of 45,000 and 50,000 from the start
    expect(leadTimes(more)).toEqual([600 - 60])
  })

  test("both in one step: no time at all", () => {
    expect(
      leadTimes([
        { at: 0, tokens: 1_000 },
        { at: 9, tokens: 60_000 },
      ]),
    ).toEqual([0, 0, 0, 0])
  })

  test("a compaction begins a new stretch", () => {
    const usage = { input_tokens: 5, output_tokens: 5 }
    const { messages } = conversation().user("a").say("b", { usage }).boundary().say("c", { usage }).say("d")
    expect(stretches(messages).map((points) => points.length)).toEqual([1, 1])
  })
})
