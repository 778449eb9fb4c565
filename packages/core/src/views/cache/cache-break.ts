/**
 * CACHE-4: when the server's cache is broken, and what that costs. One rule for conversations that run and for recordings of others.
 */
import { inputTokens, type TokenCounts } from "../../base/token-counts.ts"
import type { Usage } from "../../messages/messages.ts"
import type { ModelFacts } from "../../tokens/model-facts.ts"
import { priceFor, tokenCounts } from "../../tokens/price.ts"

const LEAST_SHARE = 0.05 // of what was read before; smaller falls are breakpoints that moved
const LEAST_TOKENS = 2_000

/** Whether reading so much less than before is a break. */
export function isBreak(readBefore: number, read: number): boolean {
  const fall = readBefore - read
  return fall > LEAST_TOKENS && fall > LEAST_SHARE * readBefore
}

/** What the request itself read and wrote. Passes that the server made besides it have a cache of their own. */
export function cacheCounts({ iterations: _, ...usage }: Usage): TokenCounts {
  return tokenCounts(usage)
}

/** What a request left in the cache, to be read by the next one. */
export function cachedTokens({ cacheRead, cacheWrite5m, cacheWrite1h }: TokenCounts): number {
  return cacheRead + cacheWrite5m + cacheWrite1h
}

export interface PaidAnew {
  /** Were in the cache, and had to be sent for the full price again. */
  readonly tokens: number
  /** What that cost more than reading them; `undefined` where no price is known. */
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
