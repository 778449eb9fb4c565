/**
 * The share of all spending that background work may use: it must still hold after the next unit of that work. Sums are in dollars. Tokens
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

// Actual and expected cost of requests, for the limits of background work.

/** Dollars per million tokens of a usual model, for models without a known price. */
const USUAL = { input: 3, output: 15, cacheWrite5m: 3.75, cacheWrite1h: 6, cacheRead: 0.3 }

/** Cost at usual prices, so that limits also hold for models without a known price. */
export const usualDollars = (counts: TokenCounts): number => weighCounts(counts, USUAL) / 1_000_000

export function dollarsFor(responses: readonly { readonly usage?: Usage }[], facts: ModelFacts): number {
  return responses.reduce((sum, { usage }) => {
    if (!usage) return sum
    const cost = costOfUsage(facts, usage)
    return sum + (cost.known ? cost.dollars : usualDollars(tokenCounts(usage)))
  }, 0)
}

/** Planned work of one or several requests to a model. */
export interface ExpectedWork {
  /** Tokens in the server's cache. Default: none. */
  readonly cached?: number
  /** Tokens that are not cached. With several requests, the first one writes them to the cache. */
  readonly uncached: number
  /** Tokens of all answers. */
  readonly answer: number
  readonly requests: number
}

export function expectedDollars({ cached = 0, uncached, answer, requests }: ExpectedWork, facts: ModelFacts): number {
  const cacheRead = requests * cached + (requests - 1) * uncached
  const counts = { ...NO_TOKENS, cacheRead, [requests > 1 ? "cacheWrite5m" : "input"]: uncached, output: answer }
  const cost = costOf(facts, counts)
  return cost.known ? cost.dollars : usualDollars(counts)
}

export type BudgetVerdict =
  | { readonly allowed: true }
  /** Shares of the total in percent: now, and after another unit of this work. */
  | { readonly allowed: false; readonly taken: number; readonly next: number; readonly limit: number }

export interface BudgetShareInput {
  /** Cost of everything, including this work. */
  readonly total: number
  /** Cost of this work so far. */
  readonly own: number
  /** Expected cost of the next unit. 0 is always allowed. */
  readonly nextCost: number
  /** Maximum percent of the total. 100 means no limit. */
  readonly limit: number
}

export function checkBudgetShare({ total, own, nextCost, limit }: BudgetShareInput): BudgetVerdict {
  const next = percentOf(own + nextCost, total + nextCost)
  if (nextCost === 0 || limit >= 100 || next <= limit) return { allowed: true }
  return { allowed: false, taken: percentOf(own, total), next, limit }
}

const percentOf = (part: number, total: number): number => (total === 0 ? 0 : (100 * part) / total)

const REQUESTS_OF_A_PIECE = 2 // at most, as a rule: a fork that changes notes reads them first
const CAUTION = 2 // a piece may cost twice the mean: contexts grow, and the cache is cold after a compaction

/** Checks the budget of notes. Notes are part of compaction: they replace its summary. The first ones are always allowed. */
export function notesBudget({ lines }: Pick<Ledger, "lines">, limit: number): BudgetVerdict {
  const all = [...lines.values()]
  const notes = all.filter(({ purpose }) => purpose === "notes")
  const own = spentOn(notes)
  const requests = notes.reduce((sum, line) => sum + line.requests, 0)
  const nextCost = (CAUTION * REQUESTS_OF_A_PIECE * own) / Math.max(1, requests)
  return checkBudgetShare({ total: spentOn(all), own, nextCost, limit })
}

/** Cost of all requests of a conversation, and of its extractions and dreams. */
export function memorySpending({ lines }: Pick<Ledger, "lines">): { readonly spent: number; readonly memory: number } {
  const all = [...lines.values()]
  const memory = all.filter(({ purpose }) => purpose === "memory" || purpose === "dream")
  return { spent: spentOn(all), memory: spentOn(memory) }
}

const spentOn = (lines: readonly Pick<LedgerLine, "dollars" | "counts">[]): number =>
  lines.reduce((sum, { dollars, counts }) => sum + (dollars ?? usualDollars(counts)), 0)

/** Journal entries with the cost of a layer's own requests. */
export const spendingOf = (responses: readonly ModelResponse[], purpose: RequestSource): readonly DecisionDraft[] =>
  responses.map(({ id, model, usage }) => ({
    type: "strata",
    subtype: "spent",
    purpose,
    model,
    responseId: id,
    usage,
  }))

// Daily limit of memory work of a project, over all its processes. The expected cost counts before work begins, so the limit also holds for
// work that begins simultaneously. A killed process leaves its reservation counted.

export interface DailyReservation {
  readonly state: "taken"
  /** Replaces the reservation by the actual cost, even if that is 0. If this fails, the reservation stays. */
  readonly settle: (dollars: number) => Promise<void>
}

export interface DailyReservationRequest {
  /** Maximum dollars per day. */
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

/** Runs work with a reservation. Work that fails has cost nothing. */
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

/** Describes today's cost, which includes reservations of running work. */
export const describeDailyLimit = (spent: number, limit: number): string =>
  `memory work of this project has cost $${Math.max(0, spent).toFixed(2)} today, and the limit is $${limit} a day (memory-daily-limit).`

// Whether the provider's rate limit is nearly used up: it refused a request recently, or its last answer reported so. Then work that can
// wait is postponed in favor of the user.

const SHORT_FOR_MS = 10 * 60_000 // limits are per minute; a refusal means that the account is near them
const SHORT_SHARE = 0.1

export class RateLimitState {
  #refusedAt: Date | undefined
  #low: RateLimit | undefined

  /** Records that the provider refused or delayed a request because of its limits. */
  recordRefusal(now: Date): void {
    this.#refusedAt = now
  }

  /** Records the limits in the provider's newest answer. */
  recordLimits(limits: readonly RateLimit[]): void {
    const low = limits.filter(({ limit, remaining }) => remaining < limit * SHORT_SHARE)
    this.#low = low.sort((a, b) => b.resets.getTime() - a.resets.getTime())[0]
  }

  /** Reason why the rate limit is low, as a clause; `undefined` if it is not. */
  shortage(now: Date): string | undefined {
    const since = this.#refusedAt === undefined ? Number.POSITIVE_INFINITY : now.getTime() - this.#refusedAt.getTime()
    if (since >= 0 && since < SHORT_FOR_MS) {
      const minutes = Math.floor(since / 60_000)
      return `the provider's rate limit was reached ${minutes === 0 ? "less than a minute" : `${minutes} minutes`} ago`
    }
    const wait = this.#low === undefined ? 0 : this.#low.resets.getTime() - now.getTime()
    // a distant time comes from a wrong clock
    return wait > 0 && wait < SHORT_FOR_MS
      ? `less than a tenth of the ${this.#low!.what} that the provider allows is left`
      : undefined
  }
}
