import { beforeEach, expect, test, vi } from "vitest"
import { type CooperativeTask, runCooperatively, runSync } from "./work.ts"

/**
 * The work itself advances this clock, so a step takes equally long on every machine. It never goes back, because all work shares a slice.
 */
let now = performance.now()

beforeEach(() => {
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now)
  return () => clock.mockRestore()
})

/** Each step is longer than a slice. */
function* counting(to: number): CooperativeTask<number> {
  let sum = 0
  for (let each = 1; each <= to; each++) {
    now += 3
    sum += each
    yield
  }
  return sum
}

test("work in slices returns what it returns at once, and the event loop runs in between", async () => {
  let others = 0
  setImmediate(() => setImmediate(() => others++))
  expect(await runCooperatively(counting(8))).toBe(runSync(counting(8)))
  expect(others).toBe(1)
})

test("short pieces of work in a row share a slice: the event loop runs between them too", async () => {
  let others = 0
  setImmediate(() => setImmediate(() => others++))
  const shorter = (): CooperativeTask<number> => counting(1) // ends before its slice does
  for (let piece = 0; piece < 8; piece++) await runCooperatively(shorter())
  expect(others).toBe(1)
})

test("an aborted signal ends work in slices with its reason, and an error of the work is passed on", async () => {
  const stop = new AbortController()
  setImmediate(() => stop.abort(new Error("stopped")))
  await expect(runCooperatively(counting(1_000), { signal: stop.signal })).rejects.toThrow("stopped")
  const failing = (function* (): CooperativeTask<void> {
    yield
    throw new Error("broken")
  })()
  await expect(runCooperatively(failing)).rejects.toThrow("broken")
})

test("work that gives way pauses after each slice while others use the event loop", async () => {
  const turns: string[] = []
  const others = setInterval(() => turns.push("others"), 10) // half a pause, so that it always fires before the pause ends
  const giving = (function* (): CooperativeTask<void> {
    for (let slice = 0; slice < 3; slice++) {
      turns.push("work")
      now += 3
      setImmediate(() => now++) // simulates other users of the event loop
      yield
    }
  })()
  await runCooperatively(giving, { yieldsToOthers: true })
  clearInterval(others)
  expect(turns.join(" ")).toMatch(/^work( others)+ work( others)+ work( others)+$/)
})
