/**
 * The share of a conversation's spend that background work may take. It looks at what was spent so far, before such work begins. So the
 * first task is always allowed, and the next one once the conversation has caught up.
 */
import { type TokenCounts, weighCounts } from "../base/token-counts.ts"
import type { Ledger, Purpose } from "../views/ledger/ledger.ts"

export type BudgetAnswer =
  | { readonly allowed: true }
  /** Shares of the whole, in percent. */
  | { readonly allowed: false; readonly taken: number; readonly limit: number }

const MEMORY_WORK: ReadonlySet<Purpose> = new Set(["notes", "memory"])
/** Prices of a usual model, relative to plain input. They weigh the tokens where no price is known. */
const USUAL = { input: 1, output: 5, cacheWrite5m: 1.25, cacheWrite1h: 2, cacheRead: 0.1 }

export function backgroundBudget({ lines }: Pick<Ledger, "lines">, limit: number): BudgetAnswer {
  const all = [...lines.values()]
  const isPriced = all.every(({ dollars }) => dollars !== undefined)
  const spent = (of: typeof all) =>
    of.reduce((sum, { dollars, counts }) => sum + (isPriced ? dollars! : weighed(counts)), 0)
  const whole = spent(all)
  const taken = whole === 0 ? 0 : (100 * spent(all.filter(({ purpose }) => MEMORY_WORK.has(purpose)))) / whole
  return taken <= limit ? { allowed: true } : { allowed: false, taken, limit }
}

const weighed = (counts: TokenCounts) => weighCounts(counts, USUAL)
