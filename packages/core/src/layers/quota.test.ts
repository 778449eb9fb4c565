import { expect, test } from "vitest"
import { Quota } from "./budget.ts"

const at = (time: string) => new Date(`2026-05-01T12:${time}.000Z`)
const limit = (remaining: number, resets: string) => ({ what: "requests", limit: 100, remaining, resets: at(resets) })

test("L5-9 a limit is short below a tenth, until it is there again or a newer answer says more", () => {
  const quota = new Quota()
  quota.left([limit(10, "01:00")])
  expect(quota.shortage(at("00:10"))).toBeUndefined()
  quota.left([limit(90, "01:00"), limit(9, "01:00")])
  expect(quota.shortage(at("00:10"))).toBe("less than a tenth of the requests that the provider allows is left")
  expect(quota.shortage(at("01:00"))).toBeUndefined()
  quota.left([limit(50, "01:00")])
  expect(quota.shortage(at("00:20"))).toBeUndefined()
})

test("L5-9 a time far off comes from a wrong clock, and does not hold memory work up", () => {
  const quota = new Quota()
  quota.left([limit(0, "59:00")])
  expect(quota.shortage(at("00:10"))).toBeUndefined()
})
