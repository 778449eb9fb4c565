/**
 * What keeping the cache longer than five minutes has cost in this conversation, and what it has saved. Spent are the requests that keep
 * it warm, and what an hour that the planner chose costs more than five minutes. Saved is what was read after a longer pause: otherwise
 * it would have been written again. All amounts are in tokens of plain input.
 */
import { addCounts, weighCounts } from "../../base/token-counts.ts"
import type { PausePrior } from "../../views/cache/earlier-pauses.ts"
import type { Pauses } from "../../views/cache/pauses.ts"
import type { LifetimePrices } from "./prices.ts"

export interface Account {
  /** What was spent and not yet saved. Below 0 it has paid. */
  readonly owed: number
  /** The most that may be owed: 1% of what the conversation has cost, or where pauses promise more, a fifth of a new write. */
  readonly limit: number
}

const MOST_OWED = 0.01
const TO_BEGIN_WITH = 0.2

export interface AccountInput {
  readonly prices: LifetimePrices
  /** Tokens of the context. */
  readonly size: number
  /** The planner chooses the lifetime. What an hour costs by a setting is no guess of the planner. */
  readonly choosesLifetime: boolean
  /** Pauses so far, or those of earlier conversations, say that someone comes back. Otherwise most conversations end soon. */
  readonly comesBack: boolean
}

export function accountOf(pauses: Pauses, input: AccountInput): Account {
  const { pings, requests, saved } = pauses
  const { prices, size, choosesLifetime, comesBack } = input
  const { read, short, long } = prices
  const premium = choosesLifetime ? (long - short) * requests.cacheWrite1h : 0
  const spent = weighCounts(pings, weightsOf(prices)) + premium
  const cost = costSoFar(pauses, prices)
  return {
    owed: spent - (short - read) * saved,
    limit: Math.max(MOST_OWED * cost, comesBack ? TO_BEGIN_WITH * (short - read) * size : 0),
  }
}

/** What the requests of the conversation and those that kept its cache have cost. */
const costSoFar = ({ requests, pings }: Pick<Pauses, "requests" | "pings">, prices: LifetimePrices): number =>
  weighCounts(addCounts(requests, pings), weightsOf(prices))

const weightsOf = ({ read, short, long, output }: LifetimePrices) => ({
  ...{ input: 1, cacheRead: read, cacheWrite5m: short, cacheWrite1h: long, output },
})

const LEAST_CONVERSATIONS = 3 // before they say anything
const OFTEN = 0.25 // of the times that no one answered for five minutes: then keeping the cache has paid twice over

/** Whether, in earlier conversations, someone came back within an hour often enough. Each had one pause without an end. */
export function usuallyComesBack(prior: PausePrior | undefined): boolean {
  if (!prior?.earlier || prior.isProgram) return false
  const { conversations, withinHour, beyondHour } = prior.earlier
  const all = withinHour.count + beyondHour.count + conversations
  return conversations >= LEAST_CONVERSATIONS && withinHour.count >= OFTEN * all
}
