/** Totals of a simulator since it started: requests, tokens by price, and what they would have cost. */
import type { ModelFacts, ModelPrice } from "@strata/core/tokens"
import type { TokenUsage, Usage } from "./wire.ts"

const PER_MILLION = 1_000_000
const WEB_SEARCH_DOLLARS = 0.01 // per search; fetches cost only their tokens

export interface Tally {
  readonly requests: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  /** US dollars. Requests to models without a known price count in `unpricedRequests` instead. */
  readonly dollars: number
  readonly unpricedRequests: number
}

export interface Statistics {
  readonly total: Tally
  readonly byModel: Readonly<Record<string, Tally>>
  /** Number of requests that ended in an error, by error type. */
  readonly errors: Readonly<Record<string, number>>
  /** Number of requests to count_tokens. */
  readonly counted: number
}

const NOTHING: Tally = {
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  dollars: 0,
  unpricedRequests: 0,
}

export class StatisticsKeeper {
  private readonly tallies = new Map<string, Tally>()
  private readonly errors = new Map<string, number>()
  private counted = 0

  /** Counts an answered request. If it compacted, every iteration is billed. `priceFactor` is lower for a batch. */
  answered(model: ModelFacts, usage: Usage, priceFactor = 1): void {
    const before = this.tallies.get(model.id) ?? NOTHING
    const { requests, unpricedRequests } = before
    const tally = billedParts(usage).reduce(addUsage, before)
    const dollars = priceOf(model, usage)
    this.tallies.set(model.id, {
      ...tally,
      requests: requests + 1,
      dollars: before.dollars + (dollars ?? 0) * priceFactor,
      unpricedRequests: unpricedRequests + (dollars === undefined ? 1 : 0),
    })
  }

  failed(type: string): void {
    this.errors.set(type, (this.errors.get(type) ?? 0) + 1)
  }

  countedTokens(): void {
    this.counted++
  }

  snapshot(): Statistics {
    return {
      total: [...this.tallies.values()].reduce(addTallies, NOTHING),
      byModel: Object.fromEntries(this.tallies),
      errors: Object.fromEntries(this.errors),
      counted: this.counted,
    }
  }
}

const billedParts = (usage: Usage): readonly TokenUsage[] => usage.iterations ?? [usage]

/** The price of a request in US dollars, or `undefined` if the model's price is not known. */
export function priceOf({ price, longPrompt }: ModelFacts, usage: Usage): number | undefined {
  if (!price) return undefined
  return billedParts(usage).reduce(
    (sum, part) => {
      const input = part.input_tokens + part.cache_creation_input_tokens + part.cache_read_input_tokens
      return sum + dollarsFor(part, longPrompt && input > longPrompt.above ? longPrompt.price : price)
    },
    WEB_SEARCH_DOLLARS * (usage.server_tool_use?.web_search_requests ?? 0),
  )
}

function dollarsFor(usage: TokenUsage, price: ModelPrice): number {
  return (
    (usage.input_tokens * price.input +
      usage.output_tokens * price.output +
      usage.cache_read_input_tokens * price.cacheRead +
      usage.cache_creation.ephemeral_5m_input_tokens * price.cacheWrite5m +
      usage.cache_creation.ephemeral_1h_input_tokens * price.cacheWrite1h) /
    PER_MILLION
  )
}

const addUsage = (sum: Tally, usage: TokenUsage): Tally => ({
  ...sum,
  inputTokens: sum.inputTokens + usage.input_tokens,
  outputTokens: sum.outputTokens + usage.output_tokens,
  cacheReadTokens: sum.cacheReadTokens + usage.cache_read_input_tokens,
  cacheWriteTokens: sum.cacheWriteTokens + usage.cache_creation_input_tokens,
})

const addTallies = (a: Tally, b: Tally): Tally => ({
  requests: a.requests + b.requests,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  dollars: a.dollars + b.dollars,
  unpricedRequests: a.unpricedRequests + b.unpricedRequests,
})
