/** When the server's cache is broken, and what that costs: one rule for running conversations and for recordings. */
import { inputTokens, type TokenCounts } from "../../base/token-counts.ts"
import type { Usage } from "../../messages/messages.ts"
import type { ModelFacts } from "../../tokens/model-facts.ts"
import { priceFor, tokenCounts } from "../../tokens/price.ts"

const LEAST_SHARE = 0.05 // of what was read before; smaller drops are breakpoints that moved
const LEAST_TOKENS = 2_000

/** Whether this drop in tokens read from the cache is a break. */
export function isBreak(readBefore: number, read: number): boolean {
  const drop = readBefore - read
  return drop > LEAST_TOKENS && drop > LEAST_SHARE * readBefore
}

/** What the request itself read and wrote. Extra passes of the server have a cache of their own. */
export function cacheCounts({ iterations: _, ...usage }: Usage): TokenCounts {
  return tokenCounts(usage)
}

/** What a request left in the cache for the next one to read. */
export function cachedTokens({ cacheRead, cacheWrite5m, cacheWrite1h }: TokenCounts): number {
  return cacheRead + cacheWrite5m + cacheWrite1h
}

/** Whether all that a request wrote lives for an hour. A prompt may live longer than the messages after it: then those end the cache. */
export const livesAnHour = ({ cacheWrite5m, cacheWrite1h }: TokenCounts): boolean =>
  cacheWrite1h > 0 && cacheWrite5m === 0

/** What was paid for again after the cache was lost. */
export interface PaidAnew {
  /** Tokens that were in the cache and were paid in full again. */
  readonly tokens: number
  /** What that cost beyond reading them. `undefined` where the price is unknown. */
  readonly dollars: number | undefined
}

export interface Loss {
  /** What could have been read. */
  readonly cachedBefore: number
  readonly counts: TokenCounts
  readonly facts: ModelFacts
}

export function paidAnew({ cachedBefore, counts, facts }: Loss): PaidAnew {
  const { cacheRead, input, cacheWrite5m, cacheWrite1h } = counts
  const unread = inputTokens(counts) - cacheRead
  const tokens = Math.max(0, Math.min(cachedBefore - cacheRead, unread))
  const price = priceFor(facts, counts)
  if (!price) return { tokens, dollars: undefined }
  if (tokens === 0) return { tokens, dollars: 0 }
  const perToken =
    (input * price.input + cacheWrite5m * price.cacheWrite5m + cacheWrite1h * price.cacheWrite1h) / unread
  return { tokens, dollars: (tokens * (perToken - price.cacheRead)) / 1_000_000 }
}
