/** The cache history as a plain value: how the provider's cache served the conversation, where it broke, and what that cost. */

import { type CacheBreak, type CacheBreakTotal, type CacheHistory, totalBreaks } from "../cache/cache-history.ts"
import type { BreakCause } from "../cache/pauses.ts"
import { type TokenReport, tokenReport } from "./ledger-report.ts"

/** Where the server's cache broke, why, and what that cost. */
export interface CacheReport {
  /** Responses of the conversation so far. */
  readonly responses: number
  /** The most expensive breaks, in the order they happened. */
  readonly breaks: readonly CacheBreakReport[]
  readonly total: CacheLossReport
  /** The same loss by cause, the largest first. */
  readonly byCause: readonly (CacheLossReport & { readonly cause: BreakCause })[]
  /** What the latest responses read and wrote, newest last. */
  readonly recent: readonly CachedResponseReport[]
}

/** A response that read much less from the cache than the response before it. */
export interface CacheBreakReport {
  /** Which response it was, counted from 1. */
  readonly response: number
  readonly model: string
  readonly cause: BreakCause
  /** Tokens that the response before read from the cache. */
  readonly readBefore: number
  /** Tokens that this response read from the cache. */
  readonly readAfter: number
  /** Tokens that had been in the cache and were billed at full price or written again. */
  readonly paidAgain: number
  /** What that cost beyond reading them. Absent where the price is unknown. */
  readonly dollars?: number
  /** Minutes since the response before. Absent where the journal has no times. */
  readonly gapMinutes?: number
  /** The API's own reason, such as `system_changed`, where the journal has it. */
  readonly apiReason?: string
}

/** What broken caches cost. */
export interface CacheLossReport {
  readonly breaks: number
  readonly paidAgain: number
  /** Of the breaks with a known price. */
  readonly dollars: number
  /** Breaks without a known price. */
  readonly unpriced: number
}

/** What one response read from the cache. */
export interface CachedResponseReport {
  /** Which response it was, counted from 1. */
  readonly response: number
  /** When it began. Absent where the journal has no times. */
  readonly at?: string
  readonly model: string
  readonly tokens: TokenReport
}

export function cacheReport({ cacheHistory }: { readonly cacheHistory: CacheHistory }): CacheReport {
  const { turns, breaks, totals, responses } = cacheHistory
  return {
    responses: turns,
    breaks: breaks.map(breakReport),
    total: lossReport(totalBreaks(cacheHistory)),
    byCause: [...totals]
      .map(([cause, total]) => ({ cause, ...lossReport(total) }))
      .toSorted((a, b) => b.paidAgain - a.paidAgain),
    recent: responses.map(({ turn, at, model, counts }) => ({
      response: turn,
      ...(at === undefined ? {} : { at }),
      model,
      tokens: tokenReport(counts),
    })),
  }
}

function breakReport({ turn, read, rewrittenTokens: paidAnew, responseId: _, ...rest }: CacheBreak): CacheBreakReport {
  return { ...rest, response: turn, readAfter: read, paidAgain: paidAnew }
}

function lossReport({ rewrittenTokens: paidAnew, ...rest }: CacheBreakTotal): CacheLossReport {
  return { ...rest, paidAgain: paidAnew }
}
