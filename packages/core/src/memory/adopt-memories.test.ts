import { expect, test } from "vitest"
import { manualClock } from "../base/clock.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import { dailyBudgetIn } from "../journal/store.ts"
import { adoptMemories } from "./adopt-memories.ts"

const RECORD = { path: ".project.json", text: "{}\n", expected: null }

test("BEY-12 a place that was used before it had memories takes over those of an earlier one, and keeps its own sum", async () => {
  const store = memoryStore()
  const from = store.memories({ project: "-old" })
  const to = store.memories({ project: "new" })
  await from.install([{ path: "tabs.md", text: "Use tabs.\n" }])
  await dailyBudgetIn(store.memories({ project: "-old" })).add(1, "2026-11-16")
  await dailyBudgetIn(store.memories({ project: "new" })).add(2, "2026-11-17")
  await adoptMemories({ from, to, clock: manualClock(), alongside: RECORD })
  expect(await to.read("tabs.md")).toBe("Use tabs.\n")
  expect(await to.read(RECORD.path)).toBe(RECORD.text)
  expect(await dailyBudgetIn(store.memories({ project: "new" })).spentOn("2026-11-17")).toBe(2)
})

test("BEY-12 an unused place gets the sum of the day with the memories", async () => {
  const store = memoryStore()
  const from = store.memories({ project: "-old" })
  await from.install([{ path: "tabs.md", text: "Use tabs.\n" }])
  await dailyBudgetIn(store.memories({ project: "-old" })).add(1, "2026-11-17")
  await adoptMemories({ from, to: store.memories({ project: "new" }), clock: manualClock(), alongside: RECORD })
  expect(await dailyBudgetIn(store.memories({ project: "new" })).spentOn("2026-11-17")).toBe(1)
})
