/**
 * The share of what was spent that background work may take: it must still hold after the next piece of that work. Sums are dollars. Tokens
 * without a known price count like those of a usual model.
 */

import type { RequestSource } from "../base/enums.ts"
import { NO_TOKENS, type TokenCounts, weighCounts } from "../base/text.ts"
import type { DecisionDraft } from "../journal/entries.ts"
import type { DailyBudget } from "../journal/store.ts"
import type { Usage } from "../messages/messages.ts"
import type { ModelResponse, RateLimit } from "../model/model.ts"
import { costOf, costOfUsage, type ModelFacts, tokenCounts } from "../tokens/models.ts"
import type { Ledger, LedgerLine } from "../views/ledger/ledger.ts"

// What requests cost, and will cost, for the limits of background work.

/** Dollars per million tokens of a usual model, for models without a known price. */
const USUAL = { input: 3, output: 15, cacheWrite5m: 3.75, cacheWrite1h: 6, cacheRead: 0.3 }

/** A model without a known price counts like a usual one, so that the limit holds there too. */
export const usualDollars = (counts: TokenCounts): number => weighCounts(counts, USUAL) / 1_000_000

export function dollarsFor(responses: readonly { readonly usage?: Usage }[], facts: ModelFacts): number {
  return responses.reduce((sum, { usage }) => {
    if (!usage) return sum
    const cost = costOfUsage(facts, usage)
    return sum + (cost.known ? cost.dollars : usualDollars(tokenCounts(usage)))
  }, 0)
}

/** Work of several requests that a model will be asked for. */
export interface ExpectedWork {
  /** Tokens that the server has in its cache. Default: none. */
  readonly cached?: number
  /** Tokens that it has not. If there are several requests, the first one writes them to the cache. */
  readonly fresh: number
  /** Tokens of all answers. */
  readonly answer: number
  readonly requests: number
}

export function expectedDollars({ cached = 0, fresh, answer, requests }: ExpectedWork, facts: ModelFacts): number {
  const cacheRead = requests * cached + (requests - 1) * fresh
  const counts = { ...NO_TOKENS, cacheRead, [requests > 1 ? "cacheWrite5m" : "input"]: fresh, output: answer }
  const cost = costOf(facts, counts)
  return cost.known ? cost.dollars : usualDollars(counts)
}

export type BudgetVerdict =
  | { readonly allowed: true }
  /** Shares of the whole in percent: now, and after another piece of this work. */
  | { readonly allowed: false; readonly taken: number; readonly next: number; readonly limit: number }

export interface BudgetShareInput {
  /** What everything has cost, this work included. */
  readonly total: number
  /** What this work has cost. */
  readonly own: number
  /** What the next piece of it will cost. At 0 it is allowed. */
  readonly nextCost: number
  /** Percent of the whole. At 100 there is no limit. */
  readonly limit: number
}

export function checkBudgetShare({ total, own, nextCost, limit }: BudgetShareInput): BudgetVerdict {
  const next = percentOf(own + nextCost, total + nextCost)
  if (nextCost === 0 || limit >= 100 || next <= limit) return { allowed: true }
  return { allowed: false, taken: percentOf(own, total), next, limit }
}

const percentOf = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole)

const REQUESTS_OF_A_PIECE = 2 // at most, as a rule: a fork that changes notes reads them first
const CAUTION = 2 // a piece may cost twice the mean: contexts grow, and the cache is cold after a compaction

/** Notes are part of compaction: they replace its summary. The first ones are always allowed. */
export function notesBudget({ lines }: Pick<Ledger, "lines">, limit: number): BudgetVerdict {
  const all = [...lines.values()]
  const notes = all.filter(({ purpose }) => purpose === "notes")
  const own = spentOn(notes)
  const requests = notes.reduce((sum, line) => sum + line.requests, 0)
  const nextCost = (CAUTION * REQUESTS_OF_A_PIECE * own) / Math.max(1, requests)
  return checkBudgetShare({ total: spentOn(all), own, nextCost, limit })
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

// What memory work of a project may cost in a day, over all its processes. Work counts before it begins, with what it is expected to cost:
// the limit holds also for many that begin at the same moment. A killed process leaves its share counted.

export interface DailyReservation {
  readonly state: "taken"
  /** Counts what the work did cost, also if that is nothing. If this fails, the expected sum stays. */
  readonly settle: (dollars: number) => Promise<void>
}

export interface DailyReservationRequest {
  /** Dollars. */
  readonly limit: number
  readonly expected: number
  readonly day: string
}

export async function reserveDailyBudget(
  daily: DailyBudget,
  { limit, expected, day }: DailyReservationRequest,
): Promise<DailyReservation | { readonly state: "used-up"; readonly sentence: string }> {
  const add = (dollars: number) => daily.add(dollars, day)
  const before = (await add(expected)) - expected
  if (before < limit) return { state: "taken", settle: (dollars) => add(dollars - expected).then(noValue, noValue) }
  return { state: "used-up", sentence: describeDailyLimit(await add(-expected), limit) }
}

const noValue = () => undefined

/** Does work for which a share was taken. Work that fails has cost nothing. */
export async function withReservation<T>(
  share: DailyReservation,
  { work, cost }: { readonly work: () => Promise<T>; readonly cost: (done: T) => number },
): Promise<T> {
  let dollars = 0
  try {
    const done = await work()
    dollars = cost(done)
    return done
  } finally {
    await share.settle(dollars)
  }
}

/** What is under way is part of the sum. */
export const describeDailyLimit = (spent: number, limit: number): string =>
  `memory work of this project has cost $${Math.max(0, spent).toFixed(2)} today, and the limit is $${limit} a day (memory-daily-limit).`

// Whether the provider has little left for this account: it refused a request a short while ago, or its last answer said so. Work that can
// wait then waits, and leaves the rest to the person.

const SHORT_FOR_MS = 10 * 60_000 // limits are per minute; a refusal means that the account is near them
const SHORT_SHARE = 0.1

export class RateLimitState {
  #refusedAt: Date | undefined
  #low: RateLimit | undefined

  /** The provider refused or delayed a request because of its limits. */
  recordRefusal(now: Date): void {
    this.#refusedAt = now
  }

  /** What the provider's newest answer said. */
  recordLimits(limits: readonly RateLimit[]): void {
    const low = limits.filter(({ limit, remaining }) => remaining < limit * SHORT_SHARE)
    this.#low = low.sort((a, b) => b.resets.getTime() - a.resets.getTime())[0]
  }

  /** When the quota is short: why, as a sentence without its end. */
  shortage(now: Date): string | undefined {
    const since = this.#refusedAt === undefined ? Number.POSITIVE_INFINITY : now.getTime() - this.#refusedAt.getTime()
    if (since >= 0 && since < SHORT_FOR_MS) {
      const minutes = Math.floor(since / 60_000)
      return `the provider's rate limit was reached ${minutes === 0 ? "less than a minute" : `${minutes} minutes`} ago`
    }
    const wait = this.#low === undefined ? 0 : this.#low.resets.getTime() - now.getTime()
    // a time far off comes from a clock that is wrong
    return wait > 0 && wait < SHORT_FOR_MS
      ? `less than a tenth of the ${this.#low!.what} that the provider allows is left`
      : undefined
  }
}
