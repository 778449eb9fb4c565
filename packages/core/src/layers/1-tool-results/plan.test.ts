import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type ArrivedResult, planRound } from "./tool-result-storage.ts"

const result = (toolUseId: string, characters: number, more: Partial<ArrivedResult> = {}): ArrivedResult => ({
  toolUseId,
  characters,
  limit: 50_000,
  limitsItself: false,
  ...more,
})
const plan = (results: readonly ArrivedResult[], before = 0) =>
  Object.fromEntries(planRound({ results, before, budget: 200_000, previewSize: 2_000 }))

describe("which results of a round are put aside", () => {
  test("L1-1 those over their tool's limit", () => {
    expect(plan([result("a", 50_001), result("b", 50_000)])).toEqual({ a: "over its limit", b: "stays" })
  })

  test("L1-3 over the budget, the largest go until the rest fits", () => {
    const round = [40_000, 45_000, 49_000, 48_000, 46_000].map((size, i) => result(`r${i}`, size))
    expect(plan(round)).toEqual({ r0: "stays", r1: "stays", r2: "over the budget", r3: "stays", r4: "stays" })
  })

  test("L1-3 what is in the round already counts, and stays", () => {
    expect(plan([result("a", 30_000)], 180_000)).toEqual({ a: "over the budget" })
  })

  test("L1-3 tools that limit themselves go last", () => {
    const own = result("own", 150_000, { limitsItself: true, limit: 150_000 })
    const other = result("other", 49_000)
    expect(plan([own, other], 20_000)).toEqual({ own: "stays", other: "over the budget" })
    expect(plan([own, other], 90_000)).toEqual({ own: "over the budget", other: "over the budget" })
  })

  test("L1-3 property: the round fits, or nothing is left that could be put aside; what a preview would not shrink stays", () => {
    const sizes = fc.array(fc.record({ characters: fc.nat(120_000), limitsItself: fc.boolean() }), { maxLength: 12 })
    fc.assert(
      fc.property(sizes, fc.nat(100_000), (drawn, before) => {
        const results = drawn.map(({ characters, limitsItself }, i) => result(`r${i}`, characters, { limitsItself }))
        const placed = planRound({ results, before, budget: 200_000, previewSize: 2_000 })
        const staying = results.filter(({ toolUseId }) => placed.get(toolUseId) === "stays")
        const total =
          before +
          staying.reduce((sum, { characters }) => sum + characters, 0) +
          (results.length - staying.length) * 2_000
        expect(total <= 200_000 || staying.every(({ characters }) => characters <= 2_000)).toBe(true)
        for (const { toolUseId, characters } of results) {
          if (characters <= 2_000) expect(placed.get(toolUseId)).toBe("stays")
        }
      }),
    )
  })
})
