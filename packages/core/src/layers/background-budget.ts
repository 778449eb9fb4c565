/**
 * L5-9: what work in the background may take of a conversation's spend. It is asked before such work begins and looks at what was spent
 * until now, so the first piece is always allowed, and the next one when the conversation has caught up.
 */
import { type TokenCounts, weighCounts } from "../base/token-counts.ts"
import type { Ledger, Purpose } from "../views/ledger/ledger.ts"

export type BudgetAnswer =
  | { readonly allowed: true }
  /** Shares of the whole, in percent. */
  | { readonly allowed: false; readonly taken: number; readonly limit: number }

const MEMORY_WORK: ReadonlySet<Purpose> = new Set(["notes", "memory"])
/** Of a usual model, relative to plain input: where no price is known, what was spent is weighed by these. */
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
