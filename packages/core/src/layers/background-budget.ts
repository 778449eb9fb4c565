/**
 * The share of a conversation's spend that background work may take. The first piece of each kind is always allowed. A later one is
 * allowed if the share still holds after it, also if it costs twice as much as usual.
 */
import { type TokenCounts, weighCounts } from "../base/token-counts.ts"
import type { Ledger, Purpose } from "../views/ledger/ledger.ts"

export type BudgetAnswer =
  | { readonly allowed: true }
  /** Shares of the whole in percent: now, and after another piece of this work. */
  | { readonly allowed: false; readonly taken: number; readonly next: number; readonly limit: number }

export interface BudgetQuestion {
  readonly purpose: MemoryWork
  /** Percent of the whole. At 100 there is no limit. */
  readonly limit: number
}

type MemoryWork = Extract<Purpose, "notes" | "memory">

/** Dreams take from the same part as extractions. */
const KINDS: Readonly<Record<MemoryWork, readonly Purpose[]>> = { notes: ["notes"], memory: ["memory", "dream"] }
const MEMORY_WORK: ReadonlySet<Purpose> = new Set(Object.values(KINDS).flat())
/** Notes are due with every few requests. Without a part of its own, an extraction at the end of a query would find nothing left. */
const NOTES_PART = 0.8
const REQUESTS_OF_A_PIECE = 2 // most forks read or write in one answer, and end with the next
const CAUTION = 2 // a piece may cost twice the mean: contexts grow, and the cache is cold after a compaction
/** Prices of a usual model, relative to plain input. They weigh the tokens where no price is known. */
const USUAL = { input: 1, output: 5, cacheWrite5m: 1.25, cacheWrite1h: 2, cacheRead: 0.1 }

export function backgroundBudget({ lines }: Pick<Ledger, "lines">, { purpose, limit }: BudgetQuestion): BudgetAnswer {
  const all = [...lines.values()]
  const own = all.filter((line) => KINDS[purpose].includes(line.purpose))
  if (own.length === 0 || limit >= 100) return { allowed: true }
  const isPriced = all.every(({ dollars }) => dollars !== undefined)
  const spent = (of: typeof all) =>
    of.reduce((sum, { dollars, counts }) => sum + (isPriced ? dollars! : weighed(counts)), 0)
  const whole = spent(all)
  const background = spent(all.filter((line) => MEMORY_WORK.has(line.purpose)))
  const requests = own.reduce((sum, line) => sum + line.requests, 0)
  const piece = (CAUTION * REQUESTS_OF_A_PIECE * spent(own)) / Math.max(1, requests)
  const next = percentOf(background + piece, whole + piece)
  if (next <= (purpose === "notes" ? NOTES_PART * limit : limit)) return { allowed: true }
  return { allowed: false, taken: percentOf(background, whole), next, limit }
}

const percentOf = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole)

const weighed = (counts: TokenCounts) => weighCounts(counts, USUAL)
