/**
 * The share of a conversation's spend that background work may take. The first notes are always allowed. Any other piece is allowed if the
 * share still holds after it, also if it costs twice as much as usual. Of a first extraction it is known beforehand what it will cost.
 */
import { NO_TOKENS, type TokenCounts, weighCounts } from "../base/token-counts.ts"
import type { RequestSource } from "../base/vocabulary.ts"
import type { DecisionDraft } from "../journal/entries.ts"
import type { ModelResponse } from "../model/model.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import { costOf } from "../tokens/price.ts"
import type { Ledger, LedgerLine, Purpose } from "../views/ledger/ledger.ts"

export type BudgetAnswer =
  | { readonly allowed: true }
  /** Shares of the whole in percent: now, and after another piece of this work. */
  | { readonly allowed: false; readonly taken: number; readonly next: number; readonly limit: number }

export interface BudgetQuestion {
  readonly purpose: MemoryWork
  /** Percent of the whole. At 100 there is no limit. */
  readonly limit: number
  /** What the first piece will cost. Left out: it is allowed. */
  readonly first?: Spent
  /** What other conversations have cost that the work is for as well. */
  readonly besides?: readonly Spent[]
}

/** A sum of money, and the tokens that it paid for, weighed like those of a usual model. */
export interface Spent {
  /** Absent where a price is unknown. */
  readonly dollars?: number
  readonly weighed: number
}

type MemoryWork = Extract<Purpose, "notes" | "memory">

/** Notes are part of compaction: they replace its summary. Dreams take from the same part as extractions. */
const KINDS: Readonly<Record<MemoryWork, readonly Purpose[]>> = { notes: ["notes"], memory: ["memory", "dream"] }
const REQUESTS_OF_A_PIECE = 2 // at most, as a rule: a fork that changes memories reads them first
const CAUTION = 2 // a piece may cost twice the mean: contexts grow, and the cache is cold after a compaction
/** Prices of a usual model, relative to plain input. They weigh the tokens where no price is known. */
const USUAL = { input: 1, output: 5, cacheWrite5m: 1.25, cacheWrite1h: 2, cacheRead: 0.1 }

export function backgroundBudget(
  { lines }: Pick<Ledger, "lines">,
  { purpose, limit, first, besides = [] }: BudgetQuestion,
): BudgetAnswer {
  const all = [...lines.values()]
  const own = all.filter((line) => KINDS[purpose].includes(line.purpose))
  if (limit >= 100 || (own.length === 0 && !first)) return { allowed: true }
  const sums = { whole: spentOn(all), own: spentOn(own), first: first ?? NOTHING }
  const isPriced = [sums.whole, sums.first, ...besides].every(({ dollars }) => dollars !== undefined)
  const of = ({ dollars, weighed }: Spent) => (isPriced ? dollars! : weighed)
  const whole = besides.reduce((sum, each) => sum + of(each), of(sums.whole))
  const requests = own.reduce((sum, line) => sum + line.requests, 0)
  const usual = (CAUTION * REQUESTS_OF_A_PIECE * of(sums.own)) / Math.max(1, requests)
  const piece = own.length === 0 ? of(sums.first) : usual
  const next = percentOf(of(sums.own) + piece, whole + piece)
  if (next <= limit) return { allowed: true }
  return { allowed: false, taken: percentOf(of(sums.own), whole), next, limit }
}

const NOTHING: Spent = { dollars: 0, weighed: 0 }

/** What lines of a ledger have cost. */
export function spentOn(lines: Iterable<Pick<LedgerLine, "dollars" | "counts">>): Spent {
  const all = [...lines]
  const isPriced = all.every(({ dollars }) => dollars !== undefined)
  return {
    weighed: all.reduce((sum, { counts }) => sum + weighed(counts), 0),
    ...(isPriced ? { dollars: all.reduce((sum, { dollars }) => sum + dollars!, 0) } : {}),
  }
}

/** What a fork will cost that reads this many tokens from the cache, with a prompt and an answer of its own. */
export function forkSpent(cached: number, facts: ModelFacts): Spent {
  const counts = { ...NO_TOKENS, cacheRead: REQUESTS_OF_A_PIECE * cached, input: PROMPT, output: ANSWER }
  const cost = costOf(facts, counts)
  return { weighed: weighed(counts), ...(cost.known ? { dollars: cost.dollars } : {}) }
}

const PROMPT = 2_500 // tokens of the prompt that asks for memories, with a usual index
const ANSWER = 700 // tokens of a usual answer: a file or two

const percentOf = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole)

const weighed = (counts: TokenCounts) => weighCounts(counts, USUAL)

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
