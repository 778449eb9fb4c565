import { describe, expect, test } from "vitest"
import { scratchDirectory } from "../../test/tool-context.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { findModel } from "../tokens/models.ts"
import { dailySpend, dollarsFor } from "./daily-limit.ts"

const filesAt = (root: string) => fileStore({ root }).memories({ project: "app" })
const NOON = new Date("2026-11-15T12:00:00Z")

describe("L5-9 what memory work costs in a day", () => {
  test("sums add up over all who write, and a new day starts at nothing", async () => {
    const root = scratchDirectory()
    const [one, other] = [dailySpend(filesAt(root)), dailySpend(filesAt(root))]
    expect(await one.today(NOON)).toBe(0)
    await Promise.all(Array.from({ length: 10 }, (_, at) => (at % 2 ? one : other).add(0.5, NOON)))
    expect(await one.today(NOON)).toBeCloseTo(5)
    expect(await other.today(new Date("2026-11-16T00:00:00Z"))).toBe(0)
    await other.add(1, new Date("2026-11-16T00:00:00Z"))
    expect(await one.today(NOON)).toBe(0)
  })

  test("a damaged file counts as nothing spent, and the next sum replaces it", async () => {
    const files = filesAt(scratchDirectory())
    await files.install([{ path: ".spent.json", text: "{ half" }])
    const spend = dailySpend(files)
    expect(await spend.today(NOON)).toBe(0)
    await spend.add(0.25, NOON)
    expect(await spend.today(NOON)).toBe(0.25)
  })

  test("a model without a price counts like a usual one", () => {
    const usage = { input_tokens: 1_000_000, output_tokens: 0 }
    const { price: _, longPrompt: __, ...facts } = findModel("claude-opus-4-6").facts
    expect(dollarsFor([{ usage }], facts as never)).toBe(3)
    expect(dollarsFor([{ usage }], findModel("claude-opus-4-6").facts)).toBeGreaterThan(3)
  })
})
