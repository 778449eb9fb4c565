/**
 * What keeping the cache longer than five minutes has cost in this conversation, and what it has saved. Spent are the requests that keep
 * it warm, and what an hour that the planner chose costs more than five minutes. Saved is what was read after a longer pause: otherwise
 * it would have been written again. All amounts are in tokens of plain input.
 */
import { addCounts, weighCounts } from "../../base/token-counts.ts"
import type { Pauses } from "../../views/cache/pauses.ts"
import type { LifetimePrices } from "./prices.ts"

export interface Account {
  /** What was spent and not yet saved. Below 0 it has paid. */
  readonly owed: number
  /** The most that may be owed: 1% of what the conversation has cost, or to begin with, a fifth of a new write. */
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
}

export function accountOf({ pings, requests, saved }: Pauses, input: AccountInput): Account {
  const { prices, size, choosesLifetime } = input
  const { read, short, long, output } = prices
  const weights = { input: 1, cacheRead: read, cacheWrite5m: short, cacheWrite1h: long, output }
  const premium = choosesLifetime ? (long - short) * requests.cacheWrite1h : 0
  const spent = weighCounts(pings, weights) + premium
  const cost = weighCounts(addCounts(requests, pings), weights)
  return {
    owed: spent - (short - read) * saved,
    limit: Math.max(MOST_OWED * cost, TO_BEGIN_WITH * (short - read) * size),
  }
}
