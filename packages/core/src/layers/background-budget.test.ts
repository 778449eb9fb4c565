import { describe, expect, test } from "vitest"
import type { LedgerLine, Purpose } from "../views/ledger/ledger.ts"
import { backgroundBudget } from "./background-budget.ts"

const line = (purpose: Purpose, dollars: number | undefined, output = 0): LedgerLine => ({
  model: "m",
  purpose,
  requests: 1,
  counts: { input: 0, output, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 },
  dollars,
})
const ask = (lines: readonly LedgerLine[], question: Partial<Parameters<typeof backgroundBudget>[1]> = {}) =>
  backgroundBudget(
    { lines: new Map(lines.map((each, i) => [`${i}`, each])) },
    { purpose: "memory", limit: 5, ...question },
  )

describe("L5-9 what the background may take", () => {
  test("the first piece of each kind is always allowed, also if the other kind has used everything up", () => {
    expect(ask([])).toEqual({ allowed: true })
    expect(ask([line("main", 0.01)])).toEqual({ allowed: true })
    expect(ask([line("main", 0.01), line("notes", 0.09)])).toEqual({ allowed: true })
    expect(ask([line("main", 0.01), line("memory", 0.09)], { purpose: "notes" })).toEqual({ allowed: true })
  })

  test("a later one if the share holds after it, also at twice the usual cost: notes and compactions are no memory work", () => {
    expect(ask([line("main", 0.5), line("memory", 0.5)])).toMatchObject({ allowed: false, taken: 50, limit: 5 })
    expect(ask([line("main", 0.9), line("notes", 0.05), line("memory", 0.009)])).toEqual({ allowed: true })
    expect(ask([line("main", 0.9), line("compaction", 0.05), line("memory", 0.009)])).toEqual({ allowed: true })
    expect(ask([line("main", 0.985), line("memory", 0.015)])).toMatchObject({ allowed: false, taken: 1.5 }) // and 7% after it
    expect(ask([line("main", 0.5), line("memory", 0.5)], { limit: 100 })).toEqual({ allowed: true })
  })

  test("L3-3 notes have a share of their own, whatever memories have taken", () => {
    const lines = [line("main", 0.96), line("notes", 0.01), line("memory", 0.1)]
    expect(ask(lines, { purpose: "notes", limit: 8 })).toEqual({ allowed: true })
    expect(ask([line("main", 0.96), line("notes", 0.04)], { purpose: "notes", limit: 8 })).toMatchObject({
      allowed: false,
    })
  })

  test("whatever the work costs, the share holds after it if each piece costs the same", () => {
    for (const piece of [0.001, 0.02, 0.3]) {
      const spent = { main: 0, notes: 0, memory: 0 }
      const lines = () =>
        (["main", "notes", "memory"] as const).flatMap((purpose) =>
          spent[purpose] > 0 ? [{ ...line(purpose, spent[purpose]), requests: (2 * spent[purpose]) / piece }] : [],
        )
      for (let turn = 0; turn < 2_000; turn++) {
        spent.main += 0.05
        for (const purpose of ["notes", "memory"] as const)
          if (ask(lines(), { purpose }).allowed) spent[purpose] += piece
      }
      const all = spent.main + spent.notes + spent.memory
      expect(spent.notes / all).toBeLessThanOrEqual(0.05)
      expect(spent.memory / all).toBeLessThanOrEqual(0.05)
      expect(spent.memory).toBeGreaterThan(0)
    }
  })

  test("where a price is not known, tokens are weighed as usual models price them", () => {
    expect(ask([line("main", undefined, 90), line("memory", 0.1, 10)])).toMatchObject({ allowed: false, taken: 10 })
    expect(ask([line("main", undefined, 999), line("memory", undefined, 1)])).toEqual({ allowed: true })
  })
})
