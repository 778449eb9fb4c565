import { expect, test } from "vitest"
import { oneLater } from "./work.ts"

test("one waits for the event loop; those that come meanwhile do not", async () => {
  const later = oneLater()
  const order: string[] = []
  const first = later().then(() => order.push("first"))
  const second = later().then(() => order.push("second"))
  await second
  expect(order).toEqual(["second"])
  await first
  await later()
  expect(order).toEqual(["second", "first"])
})
