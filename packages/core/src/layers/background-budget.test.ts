import { describe, expect, test } from "vitest"
import type { LedgerLine, RequestPurpose } from "../views/ledger/ledger.ts"
import { checkBudgetShare, memorySpending, notesBudget } from "./budget.ts"

const line = (purpose: RequestPurpose, dollars: number | undefined, output = 0): LedgerLine => ({
  model: "m",
  purpose,
  requests: 1,
  counts: { input: 0, output, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 },
  dollars,
})
const ledger = (lines: readonly LedgerLine[]) => ({ lines: new Map(lines.map((each, i) => [`${i}`, each])) })
const notes = (...lines: readonly LedgerLine[]) => notesBudget(ledger(lines), 8)

describe("L5-9 what the background may take", () => {
  test("a piece of memory work is allowed if the share holds after it, the first one too; at no cost or at 100 always", () => {
    expect(checkBudgetShare({ total: 1, own: 0, nextCost: 0.05, limit: 5 })).toEqual({ allowed: true })
    expect(checkBudgetShare({ total: 0.9, own: 0, nextCost: 0.05, limit: 5 })).toMatchObject({
      allowed: false,
      taken: 0,
    })
    expect(checkBudgetShare({ total: 1, own: 0.04, nextCost: 0.02, limit: 5 })).toMatchObject({ taken: 4, limit: 5 })
    expect(checkBudgetShare({ total: 0, own: 0, nextCost: 0.01, limit: 5 })).toMatchObject({ taken: 0, next: 100 })
    expect(checkBudgetShare({ total: 0.01, own: 0.01, nextCost: 0, limit: 0 })).toEqual({ allowed: true })
    expect(checkBudgetShare({ total: 0.01, own: 0.01, nextCost: 1, limit: 100 })).toEqual({ allowed: true })
  })

  test("whatever a piece costs, the share holds after it", () => {
    for (const nextCost of [0.001, 0.02, 0.3]) {
      let [total, own] = [0, 0]
      for (let turn = 0; turn < 2_000; turn++) {
        total += 0.05
        if (!checkBudgetShare({ total, own, nextCost, limit: 5 }).allowed) continue
        total += nextCost
        own += nextCost
        expect(own / total).toBeLessThanOrEqual(0.05 + 1e-9)
      }
      expect(own).toBeGreaterThan(0)
    }
  })

  test("memory work is extractions and dreams; a model without a price counts like a usual one", () => {
    const lines = [line("main", 0.5), line("notes", 0.1), line("memory", 0.02), line("dream", 0.03)]
    expect(memorySpending(ledger(lines)).memory).toBeCloseTo(0.05)
    expect(memorySpending(ledger(lines)).spent).toBeCloseTo(0.65)
    expect(memorySpending(ledger([line("main", undefined, 1_000_000)]))).toEqual({ spent: 15, memory: 0 })
  })

  test("L3-3 notes have a share of their own, whatever memories have taken: the first ones always, later ones if it holds at twice the mean", () => {
    expect(notes()).toEqual({ allowed: true })
    expect(notes(line("main", 0.01), line("memory", 0.09))).toEqual({ allowed: true })
    expect(notes(line("main", 0.96), line("notes", 0.01), line("memory", 0.1))).toEqual({ allowed: true })
    expect(notes(line("main", 0.96), line("notes", 0.04))).toMatchObject({ allowed: false, taken: 4 })
  })
})
