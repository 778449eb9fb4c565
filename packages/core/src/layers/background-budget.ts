/**
 * The share of what was spent that background work may take: it must still hold after the next piece of that work. Sums are dollars. Tokens
 * without a known price count like those of a usual model.
 */
import type { RequestSource } from "../base/vocabulary.ts"
import type { DecisionDraft } from "../journal/entries.ts"
import type { ModelResponse } from "../model/model.ts"
import type { Ledger, LedgerLine } from "../views/ledger/ledger.ts"
import { usualDollars } from "./dollars-for.ts"

export type BudgetAnswer =
  | { readonly allowed: true }
  /** Shares of the whole in percent: now, and after another piece of this work. */
  | { readonly allowed: false; readonly taken: number; readonly next: number; readonly limit: number }

export interface BudgetQuestion {
  /** What everything has cost, this work included. */
  readonly whole: number
  /** What this work has cost. */
  readonly own: number
  /** What the next piece of it will cost. At 0 it is allowed. */
  readonly piece: number
  /** Percent of the whole. At 100 there is no limit. */
  readonly limit: number
}

export function shareAfter({ whole, own, piece, limit }: BudgetQuestion): BudgetAnswer {
  const next = percentOf(own + piece, whole + piece)
  if (piece === 0 || limit >= 100 || next <= limit) return { allowed: true }
  return { allowed: false, taken: percentOf(own, whole), next, limit }
}

const percentOf = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole)

const REQUESTS_OF_A_PIECE = 2 // at most, as a rule: a fork that changes notes reads them first
const CAUTION = 2 // a piece may cost twice the mean: contexts grow, and the cache is cold after a compaction

/** Notes are part of compaction: they replace its summary. The first ones are always allowed. */
export function notesBudget({ lines }: Pick<Ledger, "lines">, limit: number): BudgetAnswer {
  const all = [...lines.values()]
  const notes = all.filter(({ purpose }) => purpose === "notes")
  const own = spentOn(notes)
  const requests = notes.reduce((sum, line) => sum + line.requests, 0)
  const piece = (CAUTION * REQUESTS_OF_A_PIECE * own) / Math.max(1, requests)
  return shareAfter({ whole: spentOn(all), own, piece, limit })
}

/** What the requests of a conversation have cost, and what its extractions and dreams have. */
export function memorySpending({ lines }: Pick<Ledger, "lines">): { readonly spent: number; readonly memory: number } {
  const all = [...lines.values()]
  const memory = all.filter(({ purpose }) => purpose === "memory" || purpose === "dream")
  return { spent: spentOn(all), memory: spentOn(memory) }
}

const spentOn = (lines: readonly Pick<LedgerLine, "dollars" | "counts">[]): number =>
  lines.reduce((sum, { dollars, counts }) => sum + (dollars ?? usualDollars(counts)), 0)

/** What a layer's own requests cost, for the journal. */
export const spendingOf = (responses: readonly ModelResponse[], purpose: RequestSource): readonly DecisionDraft[] =>
  responses.map(({ id, model, usage }) => ({
    type: "strata",
    subtype: "spent",
    purpose,
    model,
    responseId: id,
    usage,
  }))
