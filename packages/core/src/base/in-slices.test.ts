import { expect, test } from "vitest"
import { atOnce, inSlices, type Steps } from "./in-slices.ts"

function* counting(to: number): Steps<number> {
  let sum = 0
  for (let each = 1; each <= to; each++) {
    const end = performance.now() + 3
    while (performance.now() < end) sum += 0
    sum += each
    yield
  }
  return sum
}

test("work in slices returns what it returns at once, and the event loop runs in between", async () => {
  let others = 0
  setImmediate(() => setImmediate(() => others++))
  expect(await inSlices(counting(8))).toBe(atOnce(counting(8)))
  expect(others).toBe(1)
})

test("short pieces of work in a row share a slice: the event loop runs between them too", async () => {
  let others = 0
  setImmediate(() => setImmediate(() => others++))
  const shorter = (): Steps<number> => counting(1) // over before its own slice is
  for (let piece = 0; piece < 8; piece++) await inSlices(shorter())
  expect(others).toBe(1)
})

test("an aborted signal ends work in slices with its reason, and an error of the work is passed on", async () => {
  const stop = new AbortController()
  setImmediate(() => stop.abort(new Error("stopped")))
  await expect(inSlices(counting(1_000), { signal: stop.signal })).rejects.toThrow("stopped")
  const failing = (function* (): Steps<void> {
    yield
    throw new Error("broken")
  })()
  await expect(inSlices(failing)).rejects.toThrow("broken")
})

test("work that gives way pauses after each slice while others use the event loop", async () => {
  let isOver = false
  const others = () => {
    const end = performance.now() + 1
    while (performance.now() < end);
    if (!isOver) setImmediate(others)
  }
  others()
  const start = performance.now()
  expect(await inSlices(counting(4), { givesWay: true })).toBe(10)
  isOver = true
  expect(performance.now() - start).toBeGreaterThan(4 * 3 + 3 * 19)
})
