import { expect, test } from "vitest"
import { RateLimitState } from "./budget.ts"

const at = (time: string) => new Date(`2026-05-01T12:${time}.000Z`)
const limit = (remaining: number, resets: string) => ({ what: "requests", limit: 100, remaining, resets: at(resets) })

test("L5-9 a limit is short below a tenth, until it is there again or a newer answer says more", () => {
  const quota = new RateLimitState()
  quota.recordLimits([limit(10, "01:00")])
  expect(quota.shortage(at("00:10"))).toBeUndefined()
  quota.recordLimits([limit(90, "01:00"), limit(9, "01:00")])
  expect(quota.shortage(at("00:10"))).toBe("less than a tenth of the requests that the provider allows is left")
  expect(quota.shortage(at("01:00"))).toBeUndefined()
  quota.recordLimits([limit(50, "01:00")])
  expect(quota.shortage(at("00:20"))).toBeUndefined()
})

test("L5-9 a time far off comes from a wrong clock, and does not hold memory work up", () => {
  const quota = new RateLimitState()
  quota.recordLimits([limit(0, "59:00")])
  expect(quota.shortage(at("00:10"))).toBeUndefined()
})
