/**
 * Deliberate failures. A rule defines what goes wrong and when: on the nth request, with a probability, above a number of input tokens, a
 * limited number of times. Only valid requests can fail this way. An invalid one stays a 400.
 */
import { ApiError } from "./api-error.ts"
import { seededRandom } from "./identity.ts"

export type Fault =
  /** 429. `retryAfterSeconds` may be 0. `null` leaves out the header, as when a spend limit is reached. */
  | { readonly kind: "rate-limit"; readonly retryAfterSeconds?: number | null }
  /** 529. */
  | { readonly kind: "overloaded" }
  /** 500. */
  | { readonly kind: "server-error" }
  /** No answer for `afterMs`, then 504. */
  | { readonly kind: "timeout"; readonly afterMs?: number }
  /** An `error` event in the middle of a stream. */
  | { readonly kind: "stream-error"; readonly afterEvents?: number }
  /** The connection breaks. In a stream this happens after `afterEvents` events. */
  | { readonly kind: "cut-socket"; readonly afterEvents?: number }
  /** The stream ends cleanly, but too soon. */
  | { readonly kind: "early-end"; readonly afterEvents?: number }
  /** A pause before every event, or before an answer that is not streamed. */
  | { readonly kind: "slow-stream"; readonly delayMs: number }
  /** The connection is accepted, and no response follows. */
  | { readonly kind: "no-answer" }
  /** The stream stops after `afterEvents` events, with the connection open. With `pings`, pings still arrive. */
  | { readonly kind: "stall"; readonly afterEvents?: number; readonly pings?: boolean }
  /** The stream never ends. */
  | { readonly kind: "endless"; readonly what: EndlessKind }
  /** 400 with this message. */
  | { readonly kind: "invalid-request"; readonly message: string }
  /** 400 for every request with an image or a document. */
  | { readonly kind: "refused-media" }
  /** The compaction fails: `content: null`, or no block if the client asked for it on demand. */
  | { readonly kind: "failed-compaction" }

/** What an endless stream repeats. `line`: bytes without a line end. */
export type EndlessKind = "text" | "thinking" | "tool-input" | "blocks" | "pings" | "line"

export type FaultKind = Fault["kind"]

export interface FaultRule {
  readonly fault: Fault
  /** Only the nth request, counting from 1 over all requests that could fail. */
  readonly nth?: number
  /** Probability from 0 to 1, drawn from the simulator's seed. */
  readonly probability?: number
  /** Only requests with more input tokens than this. */
  readonly overTokens?: number
  /** At most this many times. */
  readonly times?: number
}

export const DEFAULT_TIMEOUT_MS = 600_000 // the API's limit for a request that is not streamed
export const DEFAULT_EVENTS = 3 // after message_start, ping and the first content_block_start
const DEFAULT_RETRY_AFTER_SECONDS = 1

const NEED_STREAM: ReadonlySet<FaultKind> = new Set(["stream-error", "early-end", "stall", "endless"])

/** The properties of a request that the rules check: its size and how it will be answered. */
export interface FaultTarget {
  readonly inputTokens: number
  readonly stream: boolean
  readonly compacts: boolean
  /** Whether the request has an image or a document. */
  readonly hasMedia: boolean
}

export class Faults {
  private rules: readonly { readonly rule: FaultRule; hits: number }[] = []
  private readonly random: () => number
  private requests = 0

  constructor(rules: readonly FaultRule[] = [], seed = 1) {
    this.random = seededRandom(seed)
    this.set(rules)
  }

  /** Replaces all rules and starts counting from zero. */
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

  /** The fault for this request, from the first rule that applies. */
  next(request: FaultTarget): Fault | undefined {
    this.requests++
    const match = this.rules.find(({ rule, hits }) => this.applies(rule, hits, request))
    if (!match) return undefined
    match.hits++
    return match.rule.fault
  }

  private applies(
    { fault, nth, probability, overTokens, times }: FaultRule,
    hits: number,
    request: FaultTarget,
  ): boolean {
    if (times !== undefined && hits >= times) return false
    if (nth !== undefined && nth !== this.requests) return false
    if (overTokens !== undefined && request.inputTokens <= overTokens) return false
    if (NEED_STREAM.has(fault.kind) && !request.stream) return false
    if (fault.kind === "refused-media" && !request.hasMedia) return false
    if (fault.kind === "failed-compaction" && !request.compacts) return false
    return probability === undefined || this.random() < probability
  }
}

/** The error a fault returns instead of a message; `undefined` for faults that return a message. */
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
    case "invalid-request":
      return new ApiError(400, fault.message)
    case "refused-media":
      return new ApiError(400, "messages.0.content.1.image.source.base64.data: Could not process image")
    default:
      return undefined
  }
}
