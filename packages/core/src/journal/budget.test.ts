import { describe, expect, test } from "vitest"
import { isWhole } from "../../test/size.ts"
import { scratchDirectory } from "../../test/tool-context.ts"
import { fileStore } from "./file/file-store.ts"
import { memoryStore } from "./in-memory/store.ts"
import { dailyBudgetIn } from "./store.ts"

const STORES = { files: () => fileStore({ root: scratchDirectory() }), memory: () => memoryStore() }
const TODAY = "2026-11-15"

describe.each(Object.entries(STORES))("L5-9 what memory work costs in a day, in %s", (_, open) => {
  test.runIf(isWhole)("sums add up over all who write, and a new day starts at nothing", async () => {
    const store = open()
    const [one, other] = [
      dailyBudgetIn(store.memories({ project: "app" })),
      dailyBudgetIn(store.memories({ project: "app" })),
    ]
    expect(await one.spentOn(TODAY)).toBe(0)
    await Promise.all(Array.from({ length: 10 }, (_, at) => (at % 2 ? one : other).add(0.5, TODAY)))
    expect(await one.spentOn(TODAY)).toBeCloseTo(5)
    expect(await dailyBudgetIn(store.memories({ project: "another" })).spentOn(TODAY)).toBe(0)
    expect(await other.spentOn("2026-11-16")).toBe(0)
    await other.add(1, "2026-11-16")
    await other.add(1, "2026-11-17")
    expect(await one.spentOn(TODAY)).toBe(0)
    expect(await one.spentOn("2026-11-17")).toBe(1)
  })

  test("a damaged sum counts as nothing spent, and the next one replaces it", async () => {
    const store = open()
    await store.memories({ project: "app" }).install([{ path: ".spent.json", text: "{ half" }])
    const spend = dailyBudgetIn(store.memories({ project: "app" }))
    expect(await spend.spentOn(TODAY)).toBe(0)
    await spend.add(0.25, TODAY)
    expect(await spend.spentOn(TODAY)).toBe(0.25)
  })
})
