/** The cache history as a plain value: how the provider's cache served the conversation, where it broke, and the cost. */

import { type CacheBreak, type CacheBreakTotal, type CacheHistory, totalBreaks } from "../cache/cache-history.ts"
import type { BreakCause } from "../cache/pauses.ts"
import { type TokenReport, tokenReport } from "./ledger-report.ts"

/** Breaks of the server's cache, their causes and their cost. */
export interface CacheReport {
  /** Number of responses of the conversation. */
  readonly responses: number
  /** The most expensive breaks, in chronological order. */
  readonly breaks: readonly CacheBreakReport[]
  readonly total: CacheLossReport
  /** The same losses by cause, largest first. */
  readonly byCause: readonly (CacheLossReport & { readonly cause: BreakCause })[]
  /** What the latest responses read and wrote, newest last. */
  readonly recent: readonly CachedResponseReport[]
}

/** A response that read much less from the cache than the response before it. */
export interface CacheBreakReport {
  /** Number of the response, counted from 1. */
  readonly response: number
  readonly model: string
  readonly cause: BreakCause
  /** Tokens that the previous response read from the cache. */
  readonly readBefore: number
  /** Tokens that this response read from the cache. */
  readonly readAfter: number
  /** Tokens that had been in the cache and were billed at full price or written again. */
  readonly paidAgain: number
  /** Cost beyond reading these tokens. Absent if the price is unknown. */
  readonly dollars?: number
  /** Minutes since the previous response. Absent if the journal has no times. */
  readonly gapMinutes?: number
  /** The reason that the API reported, such as `system_changed`, if the journal has it. */
  readonly apiReason?: string
}

/** The cost of broken caches. */
export interface CacheLossReport {
  readonly breaks: number
  readonly paidAgain: number
  /** Total of the breaks with a known price. */
  readonly dollars: number
  /** Number of breaks without a known price. */
  readonly unpriced: number
}

/** What one response read from the cache. */
export interface CachedResponseReport {
  /** Number of the response, counted from 1. */
  readonly response: number
  /** Time at which it started. Absent if the journal has no times. */
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

function breakReport({ turn, read, rewrittenTokens, responseId: _, ...rest }: CacheBreak): CacheBreakReport {
  return { ...rest, response: turn, readAfter: read, paidAgain: rewrittenTokens }
}

function lossReport({ rewrittenTokens, ...rest }: CacheBreakTotal): CacheLossReport {
  return { ...rest, paidAgain: rewrittenTokens }
}
