/**
 * Estimates what a client's requests would have cost without Strata. As long as the server receives the client's own list with its own
 * breakpoints, this is the actual cost. From then on, the list is measured with the server's counts for Strata's requests, because new
 * messages are the same in both. Its cache is simulated with the server's rules and lifetimes. A list that no longer fits is compacted, as
 * every client does. From there on it is an estimate of a client's behavior, as the report states.
 */

import type { TokenCounts, Usage } from "@strata/core"
import { addCounts, inputTokens, NO_TOKENS } from "@strata/core/base"
import type { ModelFacts } from "@strata/core/tokens"
import { costOf, tokenCounts } from "@strata/core/tokens"
import { oncePerPrompt, sentAs, summarizeBreakpoints } from "./body.ts"
import { type MeasuredMessage, measureMessage, withoutBreakpoints } from "./measured-message.ts"
import type { ApiBody } from "./plan.ts"

export const LIFETIMES_MS = { "5m": 5 * 60_000, "1h": 60 * 60_000 } as const
const COMPACTION_SHARE = 0.92 // of the window
const COMPACTED_SHARE = 0.12 // of the remaining list
const SUMMARY_TOKENS = 4_000
const DEFAULT_BYTES_PER_TOKEN = 3.6 // bytes per token, until the server has counted

/** A list of the client, and how the server would have counted it. */
interface ClientList {
  readonly prompt: string
  readonly messages: readonly MeasuredMessage[]
  readonly bytes: number
  readonly at: number
  /** Tokens, without those that the client's own compactions would have removed. */
  readonly tokens: number
  /** Tokens that the server would have cached. */
  readonly cached: number
}

/** Bytes of the request sent instead of a list, and the tokens that the server counted. */
interface CountedRequest {
  readonly bytes: number
  readonly tokens: number
}

interface AnsweredRequest {
  readonly at: number
  readonly usage: Usage
  /** The body that the server received. */
  readonly sent: ApiBody
}

export class BaselineCost {
  readonly #facts: ModelFacts
  #total: TokenCounts = NO_TOKENS
  #dollars = 0
  #last: ClientList | undefined
  #ours: CountedRequest | undefined
  #perToken = DEFAULT_BYTES_PER_TOKEN
  /** Whether every request so far was the client's own. */
  #isExact = true

  constructor(facts: ModelFacts) {
    this.#facts = facts
  }

  /** Tokens of the newest list. */
  get tokens(): number {
    return this.#last?.tokens ?? 0
  }

  get counts(): TokenCounts {
    return this.#total
  }

  /** `undefined` if the price is unknown. */
  get dollars(): number | undefined {
    return this.#facts.price ? this.#dollars : undefined
  }

  /** Adds a request as the client would have sent it at this time. */
  add(own: ApiBody, { at, usage, sent }: AnsweredRequest): void {
    const counted = tokenCounts(usage)
    const ours = { bytes: sizeOf(sent), tokens: inputTokens(counted) }
    const how = sent === own ? "own" : sentAs(sent)
    this.#isExact &&= how === "own"
    if (ours.tokens > 0 && ours.bytes > ours.tokens) this.#perToken = ours.bytes / ours.tokens
    const list = listOf(own)
    const tokens = how === "other" ? this.#tokensOf(list, ours) : ours.tokens
    const direct = this.#isExact ? counted : this.#cachedBy(own, { list, tokens, at, counted, sent })
    this.#count({ ...direct, output: counted.output })
    this.#last = { ...list, at, tokens, cached: direct.cacheRead + direct.cacheWrite5m + direct.cacheWrite1h }
    this.#ours = ours
    if (tokens > this.#facts.window * COMPACTION_SHARE) this.#compact(this.#last)
  }

  /** Tokens of the list. Content that it adds to the previous list is also new in Strata's request, unless a decision changed it. */
  #tokensOf(list: List, ours: CountedRequest): number {
    const [last, before] = [this.#last, this.#ours]
    if (!last || !before) return Math.round(list.bytes / this.#perToken)
    const common = commonBytes(last, list)
    const added = list.bytes - common
    const isAddedToOurs = common === last.bytes && ours.bytes - before.bytes === added && ours.tokens > before.tokens
    const more = isAddedToOurs ? ours.tokens - before.tokens : added / this.#perToken
    return Math.round((last.tokens * common) / last.bytes + more)
  }

  #cachedBy(own: ApiBody, { list, tokens, at, counted, sent }: CacheInput): TokenCounts {
    const { isAutomatic, inMessages, inPrompt, lifetime } = summarizeBreakpoints(own)
    const ours = summarizeBreakpoints(sent)
    const hasStrataBreakpoints = ours.isAutomatic || ours.inMessages + ours.inPrompt > 0
    const isServed = !hasStrataBreakpoints || inputTokens(counted) > counted.input
    const prompt = Math.min(tokens, Math.round(Buffer.byteLength(list.prompt) / this.#perToken))
    const cacheable = !isServed ? 0 : isAutomatic || inMessages > 0 ? tokens : inPrompt > 0 ? prompt : 0
    const last = this.#last
    const lives = last && at - last.at <= LIFETIMES_MS[lifetime]
    // a cache from before this process would have existed for the client too
    const known = last
      ? lives
        ? (last.cached * commonBytes(last, list)) / last.bytes
        : 0
      : (tokens * counted.cacheRead) / Math.max(1, inputTokens(counted))
    const read = Math.round(Math.min(known, cacheable))
    return {
      ...NO_TOKENS,
      input: tokens - cacheable,
      cacheRead: read,
      [lifetime === "1h" ? "cacheWrite1h" : "cacheWrite5m"]: cacheable - read,
    }
  }

  #compact(last: ClientList): void {
    this.#isExact = false
    this.#count({
      ...NO_TOKENS,
      cacheRead: last.cached,
      input: last.tokens - last.cached,
      output: SUMMARY_TOKENS,
    })
    const prompt = Math.round(Buffer.byteLength(last.prompt) / this.#perToken)
    const remaining = prompt + Math.round((last.tokens - prompt) * COMPACTED_SHARE)
    this.#last = { ...last, tokens: remaining, cached: Math.min(last.cached, prompt) }
  }

  #count(counts: TokenCounts): void {
    this.#total = addCounts(this.#total, counts)
    const cost = costOf(this.#facts, counts)
    if (cost.known) this.#dollars += cost.dollars
  }
}

type List = Pick<ClientList, "prompt" | "messages" | "bytes">

interface CacheInput {
  readonly list: List
  readonly tokens: number
  readonly at: number
  readonly counted: TokenCounts
  readonly sent: ApiBody
}

function listOf(body: ApiBody): List {
  const messages = Array.isArray(body.messages) ? body.messages.map(measureMessage) : []
  return { prompt: promptOf(body), messages, bytes: sizeOf(body) }
}

const promptOf = oncePerPrompt(({ system, tools }) =>
  JSON.stringify([withoutBreakpoints(system), withoutBreakpoints(tools)]),
)

/** Length of the common beginning, in bytes. */
function commonBytes(last: ClientList, now: List): number {
  if (last.prompt !== now.prompt) return 0
  let length = Buffer.byteLength(now.prompt)
  for (const [at, { digest, bytes }] of now.messages.entries()) {
    if (last.messages[at]?.digest !== digest) break
    length += bytes
  }
  return length
}

/** Size of a body in bytes, without cache breakpoints. */
function sizeOf(body: ApiBody): number {
  const listed = Array.isArray(body.messages) ? body.messages : []
  return listed.reduce(
    (sum: number, message: object) => sum + measureMessage(message).bytes,
    Buffer.byteLength(promptOf(body)),
  )
}
