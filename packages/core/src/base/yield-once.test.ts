import { expect, test } from "vitest"
import { yieldOnce } from "./work.ts"

test("one waits for the event loop; those that come meanwhile do not", async () => {
  const later = yieldOnce()
  const order: string[] = []
  const first = later().then(() => order.push("first"))
  const second = later().then(() => order.push("second"))
  await second
  expect(order).toEqual(["second"])
  await first
  await later()
  expect(order).toEqual(["second", "first"])
})
