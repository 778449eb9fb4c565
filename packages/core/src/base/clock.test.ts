import { expect, test } from "vitest"
import { callAfter, manualClock } from "./clock.ts"

test("LOOP-5 timers of a manual clock fire in order when it moves, and not once cancelled", () => {
  const clock = manualClock("2026-01-01T00:00:00.000Z")
  const fired: string[] = []
  const at = (name: string) => () => fired.push(`${name} ${clock.now().getUTCSeconds()}`)
  callAfter(clock, 20_000, at("second"))
  callAfter(clock, 10_000, () => {
    at("first")()
    callAfter(clock, 5_000, at("between"))
  })
  const cancel = callAfter(clock, 15_000, at("never"))
  cancel()
  clock.advance(30_000)
  expect(fired).toEqual(["first 10", "between 15", "second 20"])
  expect(clock.now().getUTCSeconds()).toBe(30)
})
