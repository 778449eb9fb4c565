/**
 * What the next message costs where the server's cache no longer has the conversation: everything is written again. By the same sizes,
 * prices and rules as the planner's own decisions.
 */
import { NO_TOKENS } from "../../base/text.ts"
import type { CacheLifetime } from "../../base/vocabulary.ts"
import { costOf } from "../../tokens/models.ts"
import { clearedNext } from "../2-microcompact/microcompaction.ts"
import { cacheState } from "../2-microcompact/survey.ts"
import type { LayerContext, Tail } from "../layer.ts"
import { plannedCompaction } from "./outlook.ts"

/** Of a message without its answer, in dollars. */
export interface ColdPrice {
  /** Tokens that the server's cache no longer has. */
  readonly tokens: number
  readonly next: number
  /** Of each message after it, as long as the cache lives. */
  readonly later: number
}

interface ColdPriceInput {
  /** What the next request asks for. */
  readonly lifetime: CacheLifetime
  /** What the next compaction would keep after its summary, where that is ready. */
  readonly tail: Tail | undefined
  /** Of another size, such as a compaction would leave. Default: what the next request will have. */
  readonly tokens?: number | undefined
}

/** Nothing where the cache may still have it, where the next request compacts by itself, or where the price is unknown. */
export function coldPrice(context: LayerContext, input: ColdPriceInput): ColdPrice | undefined {
  const cache = cacheState(context)
  if (cache.state !== "cold" || cache.why === "no response yet") return undefined
  const isFull = context.fill.state === "compact" || context.fill.state === "blocked"
  if ((isFull && context.compaction.auto) || plannedCompaction(context, input.tail) !== undefined) return undefined
  const tokens = input.tokens ?? Math.max(0, context.size.tokens - clearedNext(context))
  const next = dollarsFor(context, writesOf(tokens, context, input.lifetime))
  const later = dollarsFor(context, { cacheRead: tokens })
  return next === undefined || later === undefined ? undefined : { tokens, next, later }
}

function writesOf(tokens: number, { views }: LayerContext, lifetime: CacheLifetime): Partial<typeof NO_TOKENS> {
  const prompt = Math.min(tokens, views.context.promptTokens)
  const forAnHour = { "5m": 0, "prompt-1h": prompt, "1h": tokens }[lifetime]
  return { cacheWrite1h: forAnHour, cacheWrite5m: tokens - forAnHour }
}

function dollarsFor({ facts }: LayerContext, counts: Partial<typeof NO_TOKENS>): number | undefined {
  const cost = costOf(facts, { ...NO_TOKENS, ...counts })
  return cost.known ? cost.dollars : undefined
}
