/**
 * Cost of the next message if the server's cache no longer has the conversation and everything is written again. Uses the same sizes,
 * prices and rules as the planner's decisions.
 */

import type { CacheLifetime } from "../../base/enums.ts"
import { NO_TOKENS } from "../../base/text.ts"
import { costOf } from "../../tokens/models.ts"
import { cacheState } from "../2-microcompact/clearable-content.ts"
import { expectedSaving } from "../2-microcompact/microcompaction.ts"
import type { LayerContext, VerbatimTail } from "../layer.ts"
import { plannedCompaction } from "./planner.ts"

/** Cost of a message without its answer, in dollars. */
export interface ColdPrice {
  /** Tokens that are no longer in the server's cache. */
  readonly tokens: number
  readonly next: number
  /** Cost of each later message, as long as the cache lives. */
  readonly later: number
}

interface ColdPriceInput {
  /** Cache lifetime that the next request asks for. */
  readonly lifetime: CacheLifetime
  /** What the next compaction would preserve after its summary, if that is ready. */
  readonly tail: VerbatimTail | undefined
  /** Another size, such as after a compaction. Default: the size of the next request. */
  readonly tokens?: number | undefined
}

/** Returns `undefined` if the cache may still have the conversation, the next request compacts automatically, or the price is unknown. */
export function coldPrice(context: LayerContext, input: ColdPriceInput): ColdPrice | undefined {
  const cache = cacheState(context)
  if (cache.state !== "cold" || cache.reason === "no response yet") return undefined
  const isFull = context.fill.state === "compact" || context.fill.state === "blocked"
  if ((isFull && context.compaction.auto) || plannedCompaction(context, input.tail) !== undefined) return undefined
  const tokens = input.tokens ?? Math.max(0, context.size.tokens - expectedSaving(context))
  const next = dollarsOf(context, writesOf(tokens, context, input.lifetime))
  const later = dollarsOf(context, { cacheRead: tokens })
  return next === undefined || later === undefined ? undefined : { tokens, next, later }
}

function writesOf(tokens: number, { views }: LayerContext, lifetime: CacheLifetime): Partial<typeof NO_TOKENS> {
  const prompt = Math.min(tokens, views.context.promptTokens)
  const forAnHour = { "5m": 0, "prompt-1h": prompt, "1h": tokens }[lifetime]
  return { cacheWrite1h: forAnHour, cacheWrite5m: tokens - forAnHour }
}

function dollarsOf({ facts }: LayerContext, counts: Partial<typeof NO_TOKENS>): number | undefined {
  const cost = costOf(facts, { ...NO_TOKENS, ...counts })
  return cost.known ? cost.dollars : undefined
}
