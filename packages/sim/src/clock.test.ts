import { describe, expect, test } from "vitest"
import { createClock, frozenClock } from "./clock.ts"

describe("BEY-8 a clock that tests can move", () => {
  test("an hour passes at once and wakes sleepers", async () => {
    const clock = frozenClock(1000)
    const woken: string[] = []
    const hour = clock.sleep(3_600_000).then(() => woken.push("hour"))
    const minute = clock.sleep(60_000).then(() => woken.push("minute"))
    clock.advance(60_000)
    await minute
    expect(woken).toEqual(["minute"])
    clock.advance(3_600_000)
    await hour
    expect(clock.now()).toBe(1000 + 3_660_000)
  })

  test("a sleep ends when it is aborted, and a sleep of no length returns at once", async () => {
    const clock = frozenClock()
    const controller = new AbortController()
    const sleeping = clock.sleep(1000, controller.signal)
    controller.abort()
    await sleeping
    await clock.sleep(0)
    await clock.sleep(1000, controller.signal)
  })

  test("by default it is the machine's time plus what it was advanced by", () => {
    const clock = createClock()
    clock.advance(10_000)
    const before = Date.now()
    const now = clock.now()
    expect(now - 10_000).toBeGreaterThanOrEqual(before)
    expect(now - 10_000).toBeLessThanOrEqual(Date.now())
  })

  test("a real sleep ends by itself", async () => {
    await createClock().sleep(5)
  })
})
