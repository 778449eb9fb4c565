/**
 * Predicts what each request reads from the server's cache and writes to it, and evaluates the prediction once the usage is known. It
 * receives every request and every response, and reads no clock or file.
 *
 * Normally a request reads what the previous one read and wrote. After a change it reads the longest entry before the change that has not
 * expired and is within reach of a breakpoint. Usage reported by the API always corrects the prediction.
 */

import type { CacheLifetime } from "../../base/enums.ts"
import type { TokenCounts } from "../../base/text.ts"
import type { Usage } from "../../messages/messages.ts"
import type { ModelRequest } from "../../messages/request.ts"
import type { ModelFacts } from "../../tokens/models.ts"
import { canonicalModelId } from "../../tokens/models.ts"
import type { CacheHistory } from "../../views/cache/cache-history.ts"
import type { CacheChange } from "../../views/cache/pauses.ts"
import { cacheCounts, cachedTokens } from "../../views/cache/pauses.ts"
import { compareRequests, type RequestComparison } from "./compare-requests.ts"
import type { PromptItem } from "./prefix.ts"
import {
  buildPrefix,
  type CacheEntryLifetime,
  type FoundEntry,
  KnownEntries,
  LIFETIME_MS,
  type PromptPrefix,
  sameMessages,
} from "./prefix.ts"
import {
  agreesWith,
  type CacheCause,
  type CacheVerdict,
  evaluateCacheRead,
  type Prediction,
  type ProviderReason,
} from "./verdict.ts"

export interface ForecastOptions {
  readonly factsOf: (model: string) => ModelFacts
  /** The size of a tool or block in tokens, for positions that the API never counted. */
  readonly estimate: (item: PromptItem) => number
  /** The lifetime that requests ask for now. The usage takes precedence. Default: five minutes. */
  readonly cacheLifetime?: () => CacheLifetime
}

/** What the next request is expected to read from the cache and write to it. */
export interface CachePrediction extends Prediction {
  /** Tokens of the new part. Estimated, until the response reports the size of the request. */
  readonly written: number
}

/** The prediction for a request, and the actual result. */
export interface CacheEvent {
  /** `written` follows from the prediction and the counted size. */
  readonly predicted: CachePrediction
  readonly actual: { readonly read: number; readonly written: number }
  readonly verdict: CacheVerdict
}

export interface SentRequestInfo {
  /** When the request is sent. Entries live from then on. */
  readonly at: Date
  /** Changes recorded since the previous response. */
  readonly announced?: readonly CacheChange[]
  /** Estimated size of the request in tokens. */
  readonly size?: number
  /** How many leading messages are known to be the same objects as in the previous request. */
  readonly unchanged?: number
}

export interface ResponseInfo {
  readonly at: Date
  /** Edits that the server reports for its copy. */
  readonly serverEdits?: readonly unknown[]
  /** The change that the provider reports. */
  readonly provider?: ProviderReason
}

/** A request with a response. Its content is unknown if it was sent before the conversation was reopened. */
interface AnsweredRequest {
  readonly model: string
  readonly prefix?: PromptPrefix
  readonly read: number
  /** Tokens it left in the cache. `start` is when it was sent. */
  readonly cached: number
  readonly start: number
  readonly lifetime: CacheEntryLifetime
  readonly deleted: number
  readonly serverEdits: string
}

/** A keep-warm request. With a lifetime of an hour, it also cached the last response. */
export type KeepWarmRecord = Omit<NonNullable<CacheHistory["warmed"]>, "at"> & { readonly at: Date }

type ForecastHistory = Pick<CacheHistory, "responses" | "serverEdits"> & Partial<Pick<CacheHistory, "warmed">>

interface PendingRequest {
  readonly prefix: PromptPrefix
  readonly start: number
  readonly announced: readonly CacheChange[]
  readonly hit: FoundEntry | undefined
  readonly prediction: CachePrediction
}

const NO_EDITS = "[]"

export class CacheForecast {
  readonly #options: ForecastOptions
  readonly #entries = new KnownEntries()
  #before: AnsweredRequest | undefined
  #pending: PendingRequest | undefined
  /** The prefix of the last request, with or without a response. */
  #made: PromptPrefix | undefined
  /** How many leading messages are the same objects in all requests since the last one with a response. */
  #same = 0
  /** The last response is cached for an hour, with everything before it. */
  #answerKept: { readonly tokens: number; readonly start: number } | undefined

  constructor(options: ForecastOptions) {
    this.#options = options
  }

  /** Whether a request is waiting for its response. */
  get isPending(): boolean {
    return this.#pending !== undefined
  }

  /** Restores the state after reopening a conversation: continues from the last response and assumes that its request is unchanged. */
  prime({ responses, serverEdits, warmed }: ForecastHistory): void {
    this.#pending = undefined
    this.#made = undefined
    this.#answerKept = undefined
    this.#entries.clear()
    const last = responses.at(-1)
    this.#before = last && {
      model: last.model,
      read: last.counts.cacheRead,
      cached: cachedTokens(last.counts),
      start: last.at === undefined ? Number.NEGATIVE_INFINITY : Date.parse(last.at),
      lifetime: this.#lifetimeOf(last.counts),
      deleted: last.deleted,
      serverEdits: serverEdits?.turn === last.turn ? serverEdits.text : NO_EDITS,
    }
    if (warmed) this.warmed({ ...warmed, at: new Date(warmed.at) })
  }

  /** Renews the lifetime of what the last request left in the cache. */
  warmed({ at, lifetime, tokens }: KeepWarmRecord): void {
    const before = this.#before
    const start = at.getTime()
    if (!before || start - before.start >= LIFETIME_MS[before.lifetime]) return
    this.#before = { ...before, start, lifetime }
    this.#answerKept = lifetime === "1h" && tokens > before.cached ? { tokens, start } : undefined
    const { keys, breakpoints } = before.prefix ?? { keys: [], breakpoints: [] }
    for (const item of breakpoints) {
      const known = this.#entries.get(keys[item]!)
      if (known && known.expires > start) this.#entries.keep(keys[item]!, { ...known, start })
    }
  }

  /** Called before a request is sent. A request without a response is forgotten with the next one. */
  sent(request: ModelRequest, { at, announced = [], size = 0, unchanged = 0 }: SentRequestInfo): CachePrediction {
    const { earlierThinking } = this.#options.factsOf(request.model).accepts
    const same = this.#made ? sameMessages(this.#made.request.messages, request.messages, unchanged) : 0
    this.#same = Math.min(this.#same, same)
    const prefix = buildPrefix(request, { before: this.#made, forgetsThinking: !earlierThinking, unchanged: same })
    this.#made = prefix
    const start = at.getTime()
    if (this.#before && !this.#before.prefix) this.#presume(this.#before, prefix, announced)
    if (announced.length === 0) this.#keepAnswer(prefix)
    const hit = this.#entries.find(prefix, start)
    const read = hit?.tokens ?? 0
    const cause = this.#foreseen({ prefix, start, announced, read })
    const prediction = {
      read,
      written: Math.max(0, Math.round(size) - read),
      counted: hit?.counted ?? true,
      ...(cause ? { cause } : {}),
    }
    this.#pending = { prefix, start, announced: [...announced], hit, prediction }
    return prediction
  }

  /** Called with each response. Returns `undefined` if no request was sent for it. */
  settled(usage: Usage, { at, serverEdits = [], provider }: ResponseInfo): CacheEvent | undefined {
    const pending = this.#pending
    if (!pending) return undefined
    this.#pending = undefined
    const before = this.#before
    const counts = cacheCounts(usage)
    const deleted = usage.cache_deleted_input_tokens ?? 0
    const edits = JSON.stringify(serverEdits)
    const answered: AnsweredRequest = {
      model: pending.prefix.request.model,
      prefix: pending.prefix,
      read: counts.cacheRead,
      cached: cachedTokens(counts),
      start: pending.start,
      lifetime: this.#lifetimeOf(counts),
      deleted,
      serverEdits: edits,
    }
    const deletedSince = Math.max(0, deleted - (before?.deleted ?? 0))
    const editedByServer = edits !== (before?.serverEdits ?? NO_EDITS)
    const judged = evaluateCacheRead({
      before,
      predicted: pending.prediction,
      counts,
      facts: this.#options.factsOf(pending.prefix.request.model),
      announced: pending.announced,
      editedByServer,
      deleted: deletedSince,
      suspects: () => this.#suspect(pending, at),
    })
    const verdict = provider ? this.#checkAgainstProvider(judged, { provider, before, after: pending.prefix }) : judged
    // keys describe what was sent: if the server edited its copy, only its own counts are certain
    if (editedByServer || deletedSince > 0) this.#entries.clear()
    this.#follow(pending, answered)
    this.#before = answered
    this.#answerKept = undefined
    this.#same = pending.prefix.request.messages.length
    const read = Math.max(0, pending.prediction.read - deletedSince)
    const written = Math.max(0, answered.cached - read)
    return {
      predicted: { ...pending.prediction, read, written },
      actual: { read: answered.read, written: answered.cached - answered.read },
      verdict,
    }
  }

  /** Assumes that the last request ended where the response starts: at the breakpoint before the last. */
  #presume(before: AnsweredRequest, prefix: PromptPrefix, announced: readonly CacheChange[]): void {
    const isOtherModel = canonicalModelId(before.model) !== canonicalModelId(prefix.request.model)
    if (isOtherModel || announced.includes("prompt") || before.cached === 0) return
    const inMessages = prefix.breakpoints.filter((at) => at >= prefix.leadItems)
    const isUnchanged = announced.every((change) => change === "deletion") // a deletion does not change the bytes
    const lead = isUnchanged ? prefix.leadItems : prefix.promptItems
    const end = isUnchanged ? inMessages.at(-2) : undefined
    if (end !== undefined) this.#entries.keep(prefix.keys[end]!, { ...before, tokens: before.cached, counted: true })
    for (const at of prefix.breakpoints.filter((item) => item < lead)) this.#keepEstimated(prefix, at, before)
  }

  #keepAnswer({ request: { messages }, keys, starts }: PromptPrefix): void {
    const answer = messages.findLastIndex(({ role }) => role === "assistant")
    const end = (starts[answer + 1] ?? keys.length) - 1
    if (this.#answerKept && answer >= 0)
      this.#entries.keep(keys[end]!, { ...this.#answerKept, counted: true, lifetime: "1h" })
  }

  /** Why the request will read less than the previous one left. `undefined` if it will not. */
  #foreseen(next: Omit<PendingRequest, "hit" | "prediction"> & { readonly read: number }): CacheCause | undefined {
    const before = this.#before
    if (!before || next.read >= before.cached) return undefined
    if (canonicalModelId(before.model) !== canonicalModelId(next.prefix.request.model))
      return { kind: "changed", part: "model" }
    const comparison = this.#compare(before, next.prefix)
    if (comparison.kind === "changed" && comparison.part !== "betas") return comparison
    if (!before.prefix && next.announced.includes("prompt")) return { kind: "prompt" }
    if (!before.prefix && next.announced.length > 0) return undefined
    const ever = this.#entries.find(next.prefix)
    if (ever && ever.tokens > next.read) return this.#expired(before, next.start)
    return this.#outOfSight(before, next.prefix) ?? this.#forgotten(before, next.prefix)
  }

  #compare({ prefix: before }: AnsweredRequest, after: PromptPrefix): RequestComparison {
    const known = before && { same: this.#same, settings: [before.settings, after.settings] as const }
    return compareRequests(before?.request, after.request, known)
  }

  /** If the provider names another cause, compares both requests block by block again, without the hints. */
  #checkAgainstProvider(
    verdict: CacheVerdict,
    { provider, before, after }: { provider: ProviderReason; before: AnsweredRequest | undefined; after: PromptPrefix },
  ): CacheVerdict {
    if (verdict.kind !== "break" && verdict.kind !== "less") return verdict
    if (agreesWith(provider, verdict.cause)) return { ...verdict, provider }
    const found = compareRequests(before?.prefix?.request, after.request)
    const cause = found.kind === "changed" && agreesWith(provider, found) ? found : verdict.cause
    return { ...verdict, cause, provider }
  }

  #expired({ start, lifetime }: AnsweredRequest, now: number): CacheCause {
    return { kind: "time-to-live", idleMs: now - start, lifetime }
  }

  #outOfSight({ prefix }: AnsweredRequest, { keys, breakpoints }: PromptPrefix): CacheCause | undefined {
    const end = prefix?.end
    if (end === undefined || keys[end.item] !== end.key) return undefined
    const next = breakpoints.find((at) => at >= end.item)
    return next === undefined ? undefined : { kind: "look-back", breakpoint: next, items: next - end.item + 1 }
  }

  /** The bytes are the same, but the server removes thinking from the prompt. */
  #forgotten({ prefix }: AnsweredRequest, { request }: PromptPrefix): CacheCause | undefined {
    if (!prefix || this.#options.factsOf(request.model).accepts.earlierThinking) return undefined
    return { kind: "forgotten-thinking" }
  }

  /** A possible explanation for an unpredicted drop. */
  #suspect({ prefix }: PendingRequest, at: Date): CacheCause | undefined {
    const before = this.#before
    if (!before) return undefined
    const idleMs = at.getTime() - before.start // retries may have taken time
    if (idleMs >= LIFETIME_MS[before.lifetime]) return { kind: "time-to-live", idleMs, lifetime: before.lifetime }
    const comparison = this.#compare(before, prefix)
    return comparison.kind === "changed" ? comparison : undefined
  }

  /** Updates the entries from the response: what was read is renewed, and what ends at a breakpoint was written. */
  #follow({ prefix, hit, start }: PendingRequest, { read, cached, lifetime }: AnsweredRequest): void {
    if (hit && read < hit.tokens && (hit.counted || read === 0)) this.#entries.dropLongerThan(read)
    if (cached === 0) return
    if (hit && read > 0 && (read === hit.tokens || !hit.counted))
      this.#entries.keep(hit.key, { ...hit, tokens: read, counted: true, start })
    const end = prefix.breakpoints.at(-1)
    for (const at of prefix.breakpoints) {
      const key = prefix.keys[at]!
      const known = this.#entries.get(key)
      if (at === end) this.#entries.keep(key, { tokens: cached, counted: true, lifetime, start })
      else if (known) this.#entries.keep(key, { ...known, lifetime: this.#lifetimeAt(prefix, at, lifetime), start })
      else this.#keepEstimated(prefix, at, { cached, lifetime, start })
    }
  }

  /** Estimates a position near the front from the start, and a later one from the counted end. */
  #keepEstimated(
    prefix: PromptPrefix,
    at: number,
    { cached, lifetime, start }: Pick<AnsweredRequest, "cached" | "lifetime" | "start">,
  ) {
    const sum = (from: number, to: number) =>
      prefix.items.slice(from, to).reduce((all, item) => all + this.#options.estimate(item), 0)
    const end = (prefix.breakpoints.at(-1) ?? 0) + 1
    const tokens = Math.round(at < prefix.leadItems ? sum(0, at + 1) : cached - sum(at + 1, end))
    if (tokens < this.#options.factsOf(prefix.request.model).minCacheable) return
    const lives = this.#lifetimeAt(prefix, at, lifetime)
    this.#entries.keep(prefix.keys[at]!, { tokens: Math.min(tokens, cached), counted: false, lifetime: lives, start })
  }

  /** The lifetime of the messages, from the usage: if everything was written for an hour, the breakpoints asked for it. */
  #lifetimeOf({ cacheWrite5m, cacheWrite1h }: Pick<TokenCounts, "cacheWrite5m" | "cacheWrite1h">): CacheEntryLifetime {
    const asked = this.#options.cacheLifetime?.()
    if (cacheWrite5m + cacheWrite1h === 0) return asked === "1h" ? "1h" : "5m"
    return cacheWrite5m === 0 && asked !== "prompt-1h" ? "1h" : "5m"
  }

  /** Tools, system prompt and instructions may live longer than the messages after them. */
  #lifetimeAt({ leadItems }: PromptPrefix, at: number, ofMessages: CacheEntryLifetime): CacheEntryLifetime {
    return at < leadItems && this.#options.cacheLifetime?.() === "prompt-1h" ? "1h" : ofMessages
  }
}
