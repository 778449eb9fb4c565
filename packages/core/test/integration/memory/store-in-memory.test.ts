import { expect, test } from "vitest"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import { say, stage, textOfRequest } from "./remembering.ts"

test("L5-5 the store in memory carries memories from one conversation to the next, and leaves no file", async () => {
  const { open, requests } = await stage()
  const store = memoryStore()
  const first = await open({ store })
  await first.remember("always use tabs in the importer")
  await first.close()
  const second = await open({ store })
  await say(second, "Hello")
  expect(textOfRequest(requests.at(-1)!)).toContain("always use tabs in the importer")
  expect(await store.memories({ project: "another" }).list()).toEqual([])
})
