/**
 * Failures on purpose. A rule says what goes wrong and when: at the nth request, with a probability, above so many input
 * tokens, so many times. Only requests that would have been answered can fail: an invalid one stays a 400.
 */
import { ApiError } from "./api-error.ts"
import { seededRandom } from "./identity.ts"

export type Fault =
  /** 429. `retryAfterSeconds` 0 is allowed; `null`: without the header, as when a spend limit is reached. */
  | { readonly kind: "rate-limit"; readonly retryAfterSeconds?: number | null }
  /** 529. */
  | { readonly kind: "overloaded" }
  /** 500. */
  | { readonly kind: "server-error" }
  /** No answer for so long, then 504. */
  | { readonly kind: "timeout"; readonly afterMs?: number }
  /** An `error` event in the middle of a stream that began well. */
  | { readonly kind: "stream-error"; readonly afterEvents?: number }
  /** The connection breaks; in a stream after so many events. */
  | { readonly kind: "cut-socket"; readonly afterEvents?: number }
  /** The stream ends properly, but too soon. */
  | { readonly kind: "early-end"; readonly afterEvents?: number }
  /** A pause before every event, or before an answer that is not streamed. */
  | { readonly kind: "slow-stream"; readonly delayMs: number }
  /** A compaction that does not come about: `content: null`, or no block where it was asked for on demand. */
  | { readonly kind: "failed-compaction" }

export type FaultKind = Fault["kind"]

export interface FaultRule {
  readonly fault: Fault
  /** Only the nth request, counted from 1 over all requests that could fail. */
  readonly nth?: number
  /** With this chance, from the simulator's seed. */
  readonly probability?: number
  /** Only requests with more input tokens than this. */
  readonly overTokens?: number
  /** No more often than this. */
  readonly times?: number
}

export const DEFAULT_TIMEOUT_MS = 600_000 // what the API gives a request that is not streamed
export const DEFAULT_EVENTS = 3 // after message_start, ping and the first content_block_start
const DEFAULT_RETRY_AFTER_SECONDS = 1

/** What can go wrong with a request is a matter of how it is answered. */
export interface Failable {
  readonly inputTokens: number
  readonly stream: boolean
  readonly compacts: boolean
}

export class Faults {
  private rules: readonly { readonly rule: FaultRule; hits: number }[] = []
  private readonly random: () => number
  private requests = 0

  constructor(rules: readonly FaultRule[] = [], seed = 1) {
    this.random = seededRandom(seed)
    this.set(rules)
  }

  /** Replaces all rules; counting begins anew. */
  set(rules: readonly FaultRule[]): void {
    this.rules = rules.map((rule) => ({ rule, hits: 0 }))
    this.requests = 0
  }

  add(rule: FaultRule): void {
    this.rules = [...this.rules, { rule, hits: 0 }]
  }

  list(): readonly (FaultRule & { readonly hits: number })[] {
    return this.rules.map(({ rule, hits }) => ({ ...rule, hits }))
  }

  /** The fault of this request: that of the first rule that applies. */
  next(request: Failable): Fault | undefined {
    this.requests++
    const match = this.rules.find(({ rule, hits }) => this.applies(rule, hits, request))
    if (!match) return undefined
    match.hits++
    return match.rule.fault
  }

  private applies({ fault, nth, probability, overTokens, times }: FaultRule, hits: number, request: Failable): boolean {
    if (times !== undefined && hits >= times) return false
    if (nth !== undefined && nth !== this.requests) return false
    if (overTokens !== undefined && request.inputTokens <= overTokens) return false
    const needsStream = fault.kind === "stream-error" || fault.kind === "early-end"
    if (needsStream && !request.stream) return false
    if (fault.kind === "failed-compaction" && !request.compacts) return false
    return probability === undefined || this.random() < probability
  }
}

/** The error a fault answers with instead of a message, for those that do. */
export function faultError(
  fault: Fault,
  { model, inputTokens }: { model: string; inputTokens: number },
): ApiError | undefined {
  switch (fault.kind) {
    case "rate-limit": {
      const { retryAfterSeconds = DEFAULT_RETRY_AFTER_SECONDS } = fault
      const message =
        "This request would exceed your organization's rate limit of 50,000 input tokens per minute " +
        `(org: simulator, model: ${model}). This request has ${inputTokens} input tokens.`
      return retryAfterSeconds === null
        ? new ApiError(429, message, { code: "enforced_spend_limit_reached" })
        : new ApiError(429, message, { headers: { "retry-after": `${retryAfterSeconds}` } })
    }
    case "overloaded":
      return new ApiError(529, "Overloaded")
    case "server-error":
      return new ApiError(500, "Internal server error")
    case "timeout":
      return new ApiError(504, "Request timed out")
    default:
      return undefined
  }
}
