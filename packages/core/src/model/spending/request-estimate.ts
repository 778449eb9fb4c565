/**
 * What a request will cost, estimated before it is sent. It is cheap on purpose, because it happens before every request: strings are counted
 * by their length, and only those that the request before did not have are guessed.
 */
import type { TokenCounts } from "../../base/token-counts.ts"
import type { CacheLifetime, RequestSource } from "../../base/vocabulary.ts"
import type { Usage } from "../../messages/messages.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { tokenCounts } from "../../tokens/price.ts"
import type { StreamOptions } from "../model.ts"

const TOKENS_PER_CHARACTER = 0.35 // of the newest models, which take the most
const LEAST_TOKENS_PER_CHARACTER = 0.15 // plain English
const MEDIA_TOKENS = 2_000
const USUAL_OUTPUT = 500 // tokens of an answer, while nothing better is known
const CACHE_LIVES_MS = 5 * 60_000
const LONG_CACHE_LIVES_MS = 60 * 60_000

/** Requests that begin with the bytes of the conversation. All others begin with bytes of their own, so nothing of them is cached. */
const SHARE_A_PREFIX: ReadonlySet<RequestSource> = new Set([
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
  /** Milliseconds. */
  readonly now: number
}

/** What earlier requests of the conversation show about the next one. */
export class RequestEstimate {
  /** The last request that began with the conversation. */
  #last = { characters: 0, tokens: 0 }
  #outputs = 0
  #answers = 0
  /** What the server's cache holds of the conversation, as far as the last answer shows. */
  #cached: { readonly tokens: number; readonly model: string; readonly until: number } | undefined

  usageOf(request: EstimatedRequest): Usage {
    const { input, read } = this.#inputOf(request, TOKENS_PER_CHARACTER)
    const { caching } = request
    const written = caching.writesCache === false ? 0 : input - read
    const for1h = isLong(caching.lifetime) ? written : 0
    return {
      input_tokens: input - read - written,
      output_tokens: this.outputOf(request.request),
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
      cache_creation: { ephemeral_1h_input_tokens: for1h, ephemeral_5m_input_tokens: written - for1h },
    }
  }

  /** What it takes at least: no output, and as few tokens as text can have. */
  leastOf(request: EstimatedRequest): Usage {
    const { input, read } = this.#inputOf(request, LEAST_TOKENS_PER_CHARACTER)
    return { input_tokens: input - read, output_tokens: 0, cache_read_input_tokens: read }
  }

  #inputOf({ request, purpose, now }: EstimatedRequest, perCharacter: number) {
    const characters = charactersIn(request)
    if (!SHARE_A_PREFIX.has(purpose)) return { input: Math.ceil(characters * perCharacter), read: 0 }
    const input = this.#tokensOf(characters, perCharacter)
    const known = this.#cached
    const isWarm = known && known.model === request.model && now < known.until
    return { input, read: isWarm ? Math.min(known.tokens, input) : 0 }
  }

  /** Tokens that an answer will have, by the mean of those before. */
  outputOf({ max_tokens: most }: Pick<ModelRequest, "max_tokens">): number {
    return Math.min(most, this.#answers === 0 ? USUAL_OUTPUT : Math.ceil(this.#outputs / this.#answers))
  }

  /** Takes in what a request really was. */
  learn({ request, purpose, caching, now }: EstimatedRequest, usage: Usage): void {
    const { input, output, cacheRead, cacheWrite1h, cacheWrite5m }: TokenCounts = tokenCounts(usage)
    this.#outputs += output
    this.#answers++
    if (!SHARE_A_PREFIX.has(purpose)) return
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

/** A request repeats the messages of the one before: each is looked at once. */
const lengths = new WeakMap<object, number>()

function rememberedLength(part: object): number {
  const known = lengths.get(part)
  if (known !== undefined) return known
  const length = lengthOf(part)
  lengths.set(part, length)
  return length
}

/** Iterative: an input may be nested deeper than the stack. */
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
