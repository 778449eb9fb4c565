/**
 * Estimates the cost of a request before it is sent. The estimate is cheap because it precedes every request: text is counted by length,
 * and only new text is estimated.
 */

import type { CacheLifetime, RequestSource } from "../../base/enums.ts"
import type { TokenCounts } from "../../base/text.ts"
import type { Usage } from "../../messages/messages.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { tokenCounts } from "../../tokens/models.ts"
import { ModelAbortedError, ModelError } from "../errors.ts"
import type { StreamOptions } from "../model.ts"

const TOKENS_PER_CHARACTER = 0.35 // of the newest models, which use the most
const MIN_TOKENS_PER_CHARACTER = 0.15 // plain English
const MEDIA_TOKENS = 2_000
const DEFAULT_OUTPUT = 500 // tokens of a response, until the conversation shows a better value
const CACHE_LIVES_MS = 5 * 60_000
const LONG_CACHE_LIVES_MS = 60 * 60_000

/** Purposes of requests that start with the conversation's prefix. All others have their own prefix, so nothing of them is cached. */
const SOURCES_WITH_SHARED_PREFIX: ReadonlySet<RequestSource> = new Set([
  "main",
  "agent",
  "notes",
  "memory",
  "progress",
  "keep-warm",
])

export interface EstimatedRequest {
  readonly request: ModelRequest
  readonly purpose: RequestSource
  readonly caching: Pick<StreamOptions, "lifetime" | "writesCache">
  /** In milliseconds. */
  readonly now: number
}

/** Estimates from earlier requests of the conversation. */
export class RequestEstimate {
  /** The last request with the conversation's prefix. */
  #last = { characters: 0, tokens: 0 }
  #outputs = 0
  #answers = 0
  /** What the server's cache holds of the conversation, according to the last response. */
  #cached: { readonly tokens: number; readonly model: string; readonly until: number } | undefined

  estimateUsage(request: EstimatedRequest): Usage {
    const { input, read } = this.#inputOf(request, TOKENS_PER_CHARACTER)
    const { caching } = request
    const written = caching.writesCache === false ? 0 : input - read
    const for1h = isLong(caching.lifetime) ? written : 0
    return {
      input_tokens: input - read - written,
      output_tokens: this.estimateOutput(request.request),
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
      cache_creation: { ephemeral_1h_input_tokens: for1h, ephemeral_5m_input_tokens: written - for1h },
    }
  }

  /** The minimum usage: no output, and as few tokens as text can have. */
  estimateMinUsage(request: EstimatedRequest): Usage {
    const { input, read } = this.#inputOf(request, MIN_TOKENS_PER_CHARACTER)
    return { input_tokens: input - read, output_tokens: 0, cache_read_input_tokens: read }
  }

  #inputOf({ request, purpose, now }: EstimatedRequest, perCharacter: number) {
    const characters = charactersIn(request)
    if (!SOURCES_WITH_SHARED_PREFIX.has(purpose)) return { input: Math.ceil(characters * perCharacter), read: 0 }
    const input = this.#tokensOf(characters, perCharacter)
    const known = this.#cached
    const isWarm = known && known.model === request.model && now < known.until
    return { input, read: isWarm ? Math.min(known.tokens, input) : 0 }
  }

  /** Expected output tokens: the mean of earlier responses. */
  estimateOutput({ max_tokens: max }: Pick<ModelRequest, "max_tokens">): number {
    return Math.min(max, this.#answers === 0 ? DEFAULT_OUTPUT : Math.ceil(this.#outputs / this.#answers))
  }

  /** Updates the estimates with a request's actual usage. */
  learn({ request, purpose, caching, now }: EstimatedRequest, usage: Usage): void {
    const { input, output, cacheRead, cacheWrite1h, cacheWrite5m }: TokenCounts = tokenCounts(usage)
    this.#outputs += output
    this.#answers++
    if (!SOURCES_WITH_SHARED_PREFIX.has(purpose)) return
    const characters = charactersIn(request)
    const whole = input + cacheRead + cacheWrite1h + cacheWrite5m
    this.#last = { characters, tokens: whole }
    const lives = isLong(caching.lifetime) ? LONG_CACHE_LIVES_MS : CACHE_LIVES_MS
    this.#cached = { tokens: cacheRead + cacheWrite1h + cacheWrite5m, model: request.model, until: now + lives }
  }

  #tokensOf(characters: number, perCharacter: number): number {
    const { characters: before, tokens } = this.#last
    if (characters < before) return Math.ceil((tokens * characters) / before)
    return tokens + Math.ceil((characters - before) * perCharacter)
  }
}

const isLong = (lifetime: CacheLifetime | undefined): boolean => lifetime === "1h"

const charactersIn = ({ system, tools = [], messages }: ModelRequest): number =>
  [...tools, ...messages].reduce((sum, part) => sum + rememberedLength(part), lengthOf(system))

/** Cached lengths, because requests repeat the messages of earlier ones. */
const lengths = new WeakMap<object, number>()

function rememberedLength(part: object): number {
  const known = lengths.get(part)
  if (known !== undefined) return known
  const length = lengthOf(part)
  lengths.set(part, length)
  return length
}

/** Iterative, because an input may be nested deeper than the stack. */
function lengthOf(value: unknown): number {
  let sum = 0
  const left: unknown[] = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === "string") sum += next.length
    else if (typeof next === "number" || typeof next === "boolean") sum += 4
    else if (typeof next === "object" && next !== null) {
      if (Array.isArray(next)) for (const item of next) left.push(item)
      else if (isMedia(next)) sum += MEDIA_TOKENS / TOKENS_PER_CHARACTER
      else for (const [key, item] of Object.entries(next)) left.push(key, item)
    }
  }
  return sum
}

const isMedia = (value: object): boolean => {
  const { type, source } = value as { readonly type?: unknown; readonly source?: unknown }
  return (type === "image" || type === "document") && typeof source === "object"
}

// The cost limit shared by everything that works on one conversation: the agent, its sub-agents, background work, and MCP servers that use
// its model. A request in flight reserves its estimated cost, so concurrent requests cannot exceed the limit together.

/** The cost limit leaves no room for a request, which was not sent. */
export class CostLimitError extends ModelError {
  static override readonly code: string = "cost-limit"
  override readonly name = "CostLimitError"
  readonly limit: number
  readonly spent: number
  /** Estimated cost of the request. */
  readonly next: number

  constructor({ limit, spent, next }: CostLimitFacts, provider: string) {
    const providerMessage = `$${spent.toFixed(4)} of the limit of $${limit} are spent, and the next request costs about $${next.toFixed(4)}`
    super(
      `${providerMessage}. It was not sent. Everything in the conversation is kept. Raise the cost limit to continue.`,
      {
        provider,
        providerMessage,
      },
    )
    this.limit = limit
    this.spent = spent
    this.next = next
  }
}

export type CostLimitFacts = Pick<CostLimitError, "limit" | "spent" | "next">

export interface BudgetReservation {
  /** Estimated cost in dollars. */
  readonly estimate: number
  /** Minimum cost in dollars. */
  readonly min: number
  /** Whether the request is part of the conversation's or an agent's main work, not background work. */
  readonly isWork: boolean
  readonly provider: string
  readonly signal?: AbortSignal | undefined
}

export class CostBudget {
  #limit = Number.POSITIVE_INFINITY
  #hasRefused = false
  /** Cost in the ledger, including earlier processes and agents they started. */
  #ledger: () => number = () => 0
  #before = 0
  #taken = 0
  #reserved = 0
  #inFlight = 0
  readonly #waiting = new Set<() => void>()

  /** `ledger` returns the dollars in the conversation's ledger. */
  follow(ledger: () => number): void {
    this.#ledger = ledger
    this.#before = ledger()
  }

  /** Limit in dollars for the conversation. Setting a new limit allows work to continue. */
  get limit(): number {
    return this.#limit
  }

  set limit(dollars: number) {
    this.#limit = dollars
    this.#hasRefused = false
  }

  /** Whether the limit refused the next request of the main work. */
  get isReached(): boolean {
    return this.#hasRefused || this.spent >= this.#limit
  }

  /** The larger of ledger and own count, because a response reaches the ledger a moment later. */
  get spent(): number {
    return Math.max(this.#ledger(), this.#before + this.#taken)
  }

  /**
   * Reserves dollars for a request. Throws a `CostLimitError` if it would certainly exceed the limit. If it might, together with requests
   * in flight, waits for those: most cost less than reserved. So the limit is exceeded by at most one estimation error.
   */
  async reserve({ estimate, min, isWork, provider, signal }: BudgetReservation): Promise<void> {
    for (;;) {
      if (signal?.aborted) throw new ModelAbortedError(provider)
      const { spent, limit } = this
      if (this.isReached || spent + min > limit) {
        this.#hasRefused ||= isWork
        throw new CostLimitError({ limit, spent, next: estimate }, provider)
      }
      if (this.#inFlight === 0 || spent + this.#reserved + estimate <= limit) break
      await this.#change(signal)
    }
    this.#reserved += estimate
    this.#inFlight++
  }

  /** Ends a reservation. `reserved` is the reserved amount, `spent` the actual cost. */
  settle({ reserved, spent }: { readonly reserved: number; readonly spent: number }): void {
    this.#inFlight--
    this.#reserved = this.#inFlight === 0 ? 0 : this.#reserved - reserved // avoids rounding errors of fractions
    this.#taken += spent
    for (const wake of [...this.#waiting]) wake()
  }

  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal?.removeEventListener("abort", wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener("abort", wake, { once: true })
    })
  }
}
