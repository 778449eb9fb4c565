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
const ask = (lines: readonly LedgerLine[], limit = 5) =>
  backgroundBudget({ lines: new Map(lines.map((each, i) => [`${i}`, each])) }, limit)

describe("L5-9 what the background may take", () => {
  test("the first piece of work is always allowed", () => {
    expect(ask([])).toEqual({ allowed: true })
    expect(ask([line("main", 0.01)])).toEqual({ allowed: true })
  })

  test("the next one when the conversation has caught up: notes and memories count together, a compaction is no memory work", () => {
    expect(ask([line("main", 0.5), line("notes", 0.5)])).toEqual({ allowed: false, taken: 50, limit: 5 })
    expect(ask([line("main", 0.9), line("notes", 0.05), line("memory", 0.05)])).toMatchObject({ allowed: false })
    expect(ask([line("main", 0.9), line("notes", 0.05), line("compaction", 0.05)])).toEqual({ allowed: true })
    expect(ask([line("main", 0.5), line("notes", 0.5)], 100)).toEqual({ allowed: true })
  })

  test("where a price is not known, tokens are weighed as usual models price them", () => {
    expect(ask([line("main", undefined, 90), line("notes", 0.1, 10)])).toEqual({ allowed: false, taken: 10, limit: 5 })
    expect(ask([line("main", undefined, 99), line("notes", undefined, 1)])).toEqual({ allowed: true })
  })
})
