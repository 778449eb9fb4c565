import { describe, expect, it } from "vitest"
import { cacheBreaks, type RecordedRequest } from "./cache-breaks.ts"

const START = Date.parse("2026-01-01T00:00:00Z")

/** A request at a minute that read so many tokens and wrote a thousand. */
function request(minute: number, read: number, more: Partial<RecordedRequest> = {}): RecordedRequest {
  return {
    turn: 1,
    at: new Date(START + minute * 60_000).toISOString(),
    model: "claude-opus-5-5",
    counts: { input: 0, output: 10, cacheWrite5m: 1_000, cacheWrite1h: 0, cacheRead: read },
    afterBoundary: false,
    ...more,
  }
}
const causes = (...requests: RecordedRequest[]) => cacheBreaks(requests).map(({ cause }) => cause)

describe("breaks of the cache", () => {
  it("are falls by more than 5% and more than 2,000 tokens", () => {
    expect(causes(request(0, 100_000), request(1, 95_001))).toEqual([])
    expect(causes(request(0, 10_000), request(1, 8_001))).toEqual([])
    expect(causes(request(0, 100_000), request(1, 94_000))).toHaveLength(1)
  })

  it("say how long the pause was and what had to be paid anew", () => {
    const anew = { input: 5, output: 0, cacheWrite5m: 50_000, cacheWrite1h: 0, cacheRead: 0 }
    expect(cacheBreaks([request(0, 50_000), request(12, 0, { turn: 2, counts: anew })])).toEqual([
      { turn: 2, readBefore: 50_000, read: 0, paidAnew: 50_005, gapMinutes: 12, cause: "five-minutes-over" },
    ])
  })

  it("have a probable cause", () => {
    const before = [request(0, 16_000), request(1, 50_000)]
    expect(causes(...before, request(2, 16_000, { afterBoundary: true }))).toEqual(["compaction"])
    expect(causes(...before, request(2, 0, { model: "claude-sonnet-5-5" }))).toEqual(["other-model"])
    expect(causes(...before, request(90, 0))).toEqual(["hour-over"])
    expect(causes(...before, request(2, 0))).toEqual(["all-gone"])
    expect(causes(...before, request(2, 16_100))).toEqual(["prompt-left"])
    expect(causes(...before, request(2, 30_000))).toEqual(["history-changed"])
  })

  it("do not blame five minutes where entries live an hour", () => {
    const forAnHour = { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 9_000, cacheRead: 50_000 }
    expect(causes(request(0, 50_000, { counts: forAnHour }), request(20, 0))).toEqual(["all-gone"])
  })

  it("have no pause where the record has no times", () => {
    const { at: _, ...timeless } = request(0, 50_000)
    expect(
      cacheBreaks([timeless, { ...timeless, counts: { ...timeless.counts, cacheRead: 0 } }])[0],
    ).not.toHaveProperty("gapMinutes")
  })
})
