/**
 * Failures between Strata and a model: one class per kind that a caller can act on. Each message states what happened, what was preserved
 * and what to do next; none contains a key. Errors of a provider's SDK are not attached as causes, because they contain headers and entire
 * prompts.
 */
import { StrataError } from "../base/errors.ts"
import { formatNumber } from "../base/text.ts"
import { redact } from "./redact.ts"

/** Facts about a failure. */
export interface ModelFailureDetails {
  readonly provider: string
  /** HTTP status, if there was a response. */
  readonly status?: number | undefined
  /** The provider's own error message. */
  readonly providerMessage?: string | undefined
  readonly requestId?: string | undefined
  /** Number of attempts. Default 1. */
  readonly attempts?: number
  /** The largest output for which the same request would be accepted. */
  readonly maxOutput?: number | undefined
}

const KEPT = "Everything in the conversation is kept." // including the message that was to be sent

/** Display names of providers. Providers of the AI SDK have names like `openai.chat`. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = { anthropic: "Anthropic", google: "Google", openai: "OpenAI" }

const providerName = ({ provider }: Pick<ModelFailureDetails, "provider">) =>
  PROVIDER_NAMES[provider.split(".")[0]!] ?? provider

export class ModelError extends StrataError {
  static override readonly code: string = "model"
  override readonly name: string = "ModelError"
  readonly provider: string
  readonly status: number | undefined
  /** The provider's own error message, without keys. */
  readonly providerMessage: string | undefined
  /** Request id, which the provider's support asks for. */
  readonly requestId: string | undefined
  readonly attempts: number
  /** @internal The largest output for which the same request would be accepted. */
  readonly maxOutput: number | undefined

  constructor(
    message: string,
    { provider, status, providerMessage, requestId, attempts = 1, maxOutput }: ModelFailureDetails,
  ) {
    super(redact(message))
    this.provider = provider
    this.status = status
    this.providerMessage = providerMessage === undefined ? undefined : redact(providerMessage)
    this.requestId = requestId
    this.attempts = attempts
    this.maxOutput = maxOutput
  }
}

/** The prompt does not fit. The conversation has to shrink before it is sent again. */
export class PromptTooLongError extends ModelError {
  static override readonly code: string = "prompt-too-long"
  override readonly name = "PromptTooLongError"
  /** Size of the request, if the provider reported it. */
  readonly tokens: number | undefined
  /** The provider's limit. */
  readonly limit: number | undefined
  /** By how many tokens the request was too long. */
  readonly gap: number | undefined
  /** @internal Input and output together must fit. */
  readonly countsOutput: boolean
  /** @internal The request has too many bytes; its tokens may fit. */
  readonly isBytes: boolean

  constructor(
    sizes: {
      readonly tokens?: number
      readonly limit?: number
      readonly gap?: number
      readonly countsOutput?: boolean
      readonly isBytes?: boolean
    },
    details: ModelFailureDetails,
  ) {
    const { tokens, limit } = sizes
    const gap = sizes.gap ?? (tokens !== undefined && limit !== undefined ? tokens - limit : undefined)
    const figures = [
      tokens === undefined ? "" : `${formatNumber(tokens)} tokens`,
      limit === undefined ? "" : `the limit is ${formatNumber(limit)}`,
      gap === undefined ? "" : `${formatNumber(gap)} too many`,
    ].filter(Boolean)
    super(
      `The request is too long for ${providerName(details)}${figures.length > 0 ? ` (${figures.join(", ")})` : ""}. ${providerSentence(details)}There was no answer. ${KEPT} Compact the conversation, go back to an earlier message, or use a model with a larger window.`,
      details,
    )
    this.tokens = tokens
    this.limit = limit
    this.gap = gap
    this.countsOutput = sizes.countsOutput ?? false
    this.isBytes = sizes.isBytes ?? false
  }
}

/** The key is missing, wrong, or lacks permission. */
export class AuthenticationError extends ModelError {
  static override readonly code: string = "authentication"
  override readonly name: string = "AuthenticationError"

  constructor(details: ModelFailureDetails) {
    super(
      details.status === 403
        ? `${providerName(details)} does not allow this with the given key${failureDetails(details)}. ${KEPT} Use a key with access to the model.`
        : `${providerName(details)} does not accept the key${failureDetails(details)}. ${KEPT} Check the key and the address it is sent to.`,
      details,
    )
  }
}

/** There is no key to send requests with. */
export class MissingKeyError extends AuthenticationError {
  static override readonly code: string = "missing-key"
  override readonly name: string = "MissingKeyError"

  constructor(provider: string) {
    super({ provider })
    this.message = `There is no key for ${providerName({ provider })}, so nothing was sent. ${KEPT} Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or pass the option "client": new Anthropic({ apiKey }).`
  }
}

/** A spending limit or missing credit. Waiting does not help. */
export class SpendLimitError extends ModelError {
  static override readonly code: string = "spend-limit"
  override readonly name = "SpendLimitError"

  constructor(details: ModelFailureDetails) {
    super(
      `${providerName(details)} refuses further requests: the spending limit is reached or there is no credit${failureDetails(details)}. ${KEPT} Raise the limit or add credit, then try again.`,
      details,
    )
  }
}

/** The provider refuses the request itself. Sending it again would fail again. */
export class InvalidModelRequestError extends ModelError {
  static override readonly code: string = "invalid-model-request"
  override readonly name = "InvalidModelRequestError"

  constructor(details: ModelFailureDetails) {
    super(
      `${providerName(details)} refuses the request${failureDetails(details)}. ${KEPT} ${rejectionAdvice(details)}`,
      details,
    )
  }
}

/** A transient failure: the same request may succeed later. Thrown only after retries have failed. */
export abstract class TransientModelError extends ModelError {
  static override readonly code: string = "passing-model"
  /** How long the provider asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** The provider asked not to retry now. */
  readonly forbidsRetry: boolean
  /** A short reason that is displayed during retries. */
  abstract readonly reason: string

  constructor(message: string, { retryAfterMs, forbidsRetry = false, ...details }: TransientFailureDetails) {
    super(message, details)
    this.retryAfterMs = retryAfterMs
    this.forbidsRetry = forbidsRetry
  }
}

export interface TransientFailureDetails extends ModelFailureDetails {
  readonly retryAfterMs?: number | undefined
  readonly forbidsRetry?: boolean
}

/** The provider is overloaded or failing temporarily. */
export class OverloadedError extends TransientModelError {
  static override readonly code: string = "overloaded"
  override readonly name = "OverloadedError"
  readonly reason: string

  constructor(details: TransientFailureDetails) {
    super(
      `${providerName(details)} could not answer${attemptsText(details)}${failureDetails(details)}. ${KEPT} It is overloaded or failing: try again in a while.`,
      details,
    )
    this.reason = `${this.status === 529 || /overload/i.test(this.providerMessage ?? "") ? "overloaded" : "server error"}${statusText(details)}`
  }
}

const RATE_LIMIT = "rate limit"

/** Whether a retry is caused by the provider's rate limit. */
export const isRateLimit = (reason: string): boolean => reason.startsWith(RATE_LIMIT)

/** Too many requests in a short time. */
export class RateLimitedError extends TransientModelError {
  static override readonly code: string = "rate-limited"
  override readonly name = "RateLimitedError"
  readonly reason: string

  constructor(details: TransientFailureDetails) {
    const { retryAfterMs } = details
    super(
      `${providerName(details)} reports that its rate limit is reached${attemptsText(details)}${failureDetails(details)}. ${KEPT} Try again ${whenToTry(retryAfterMs)}.`,
      details,
    )
    this.reason = `${RATE_LIMIT}${statusText(details)}`
  }
}

/** Error codes of connections to an address without a server. */
const NO_SERVER = /\bE(?:CONNREFUSED|NOTFOUND|HOSTUNREACH|NETUNREACH)\b/

/** There was no connection, or it broke before the response was complete. */
export class ConnectionLostError extends TransientModelError {
  static override readonly code: string = "connection-lost"
  override readonly name = "ConnectionLostError"
  readonly reason: string
  /** No server was found. Waiting helps only if it is about to start. */
  readonly isUnreachable: boolean

  /** `address` is the server's address, if known. */
  constructor({ address, ...details }: TransientFailureDetails & { readonly address?: string | undefined }) {
    const isUnreachable = NO_SERVER.test(details.providerMessage ?? "")
    const place = address === undefined ? "" : ` at ${hostOf(address)}`
    super(
      isUnreachable
        ? `${providerName(details)} cannot be reached${place}${attemptsText(details)}${failureDetails(details)}. ${KEPT} Check the network and the address, then try again.`
        : `The connection to ${providerName(details)}${place} failed before the answer was complete${attemptsText(details)}${failureDetails(details)}. ${KEPT} Check the network and the address, then try again.`,
      details,
    )
    this.reason = isUnreachable
      ? `no server${place}: ${this.providerMessage}`
      : `connection lost${this.providerMessage ? `: ${this.providerMessage}` : ""}`
    this.isUnreachable = isUnreachable
  }
}

/** The origin of an address. An address may contain a password, its origin does not. */
const hostOf = (address: string): string => (URL.canParse(address) ? new URL(address).origin : "its address")

/** How a stream stalled: no response at all, a silent connection, or a live connection without content. */
export type Stall = "no-answer" | "idle" | "no-content"

/** The stream stopped in the middle while its connection was still open. */
export class StalledError extends TransientModelError {
  static override readonly code: string = "stalled"
  override readonly name = "StalledError"
  readonly reason: string
  readonly stall: Stall
  /** Characters of the response that had arrived. */
  readonly characters: number

  constructor(
    { stall, ms, characters }: { readonly stall: Stall; readonly ms: number; readonly characters: number },
    details: TransientFailureDetails,
  ) {
    const seconds = `${formatNumber(Math.round(ms / 1000))} seconds`
    const happened = {
      "no-answer": `did not begin to answer within ${seconds}`,
      idle: `sent nothing for ${seconds} in the middle of an answer`,
      "no-content": `kept the connection open, but sent no part of the answer for ${seconds}`,
    }[stall]
    super(
      `${providerName(details)} ${happened}${attemptsText(details)}, and the request was ended. ${formatNumber(characters)} characters had arrived. ${KEPT} Try again in a while.`,
      details,
    )
    this.reason = stall === "no-answer" ? `no answer for ${seconds}` : `stalled for ${seconds}`
    this.stall = stall
    this.characters = characters
  }
}

/** The limit that an endless response exceeded. */
export interface EndlessSize {
  readonly kind: "characters" | "blocks" | "empty" | "time"
  /** In bytes for `empty`, in milliseconds for `time`. */
  readonly count: number
  readonly limit: number
}

/** The response exceeded every limit and was cut off. A retry would probably do the same. */
export class EndlessAnswerError extends ModelError {
  static override readonly code: string = "endless-answer"
  override readonly name = "EndlessAnswerError"
  readonly size: EndlessSize

  constructor(size: EndlessSize, details: ModelFailureDetails) {
    super(
      `The answer of ${providerName(details)} did not end and was cut off: ${describeExcess(size)}. ${KEPT} Ask again, or ask for less at once.`,
      details,
    )
    this.size = size
  }
}

function describeExcess({ kind, limit }: EndlessSize): string {
  switch (kind) {
    case "characters":
      return `it passed ${formatNumber(limit)} characters, far more than its output limit allows`
    case "blocks":
      return `it passed ${formatNumber(limit)} content blocks`
    case "empty":
      return `it sent ${formatNumber(Math.floor(limit / 1024 / 1024))} MB without any content`
    case "time":
      return `it took longer than ${formatNumber(Math.round(limit / 60_000))} minutes`
  }
}

/** The request was aborted by the caller. */
export class ModelAbortedError extends ModelError {
  static override readonly code: string = "model-aborted"
  override readonly name = "ModelAbortedError"

  constructor(provider: string) {
    super(`The request to ${providerName({ provider })} was stopped before it was answered. ${KEPT}`, { provider })
  }
}

/** A model id always goes to Anthropic, which is not obvious for the name of another provider's model. */
const rejectionAdvice = ({ status, providerMessage = "" }: ModelFailureDetails) =>
  status === 404 && /\bmodel\b/.test(providerMessage)
    ? "Check the name of the model. Names go to the Messages API: for a model of another provider, set ANTHROPIC_BASE_URL to a server that offers it there. In code, you can pass a model of the AI SDK."
    : "Sending it again will not help. The provider's message says what to change."

/** The provider's message as a sentence of its own. */
const providerSentence = (details: ModelFailureDetails) =>
  details.providerMessage ? `The answer${failureDetails(details)}. ` : ""

const MAX_WAIT_MS = 7 * 24 * 3_600_000 // a header that asks for more is probably wrong

function whenToTry(retryAfterMs: number | undefined): string {
  if (retryAfterMs === undefined) return "in a minute"
  if (!(retryAfterMs <= MAX_WAIT_MS)) return "later"
  return `in ${formatNumber(Math.ceil(retryAfterMs / 1000))} seconds`
}

const attemptsText = ({ attempts = 1 }: ModelFailureDetails) => (attempts > 1 ? ` after ${attempts} attempts` : "")

const statusText = ({ status }: ModelFailureDetails) => (status === undefined ? "" : ` (${status})`)

/** For example ` (400, request req_1): "max_tokens: Field required"`, as far as it is known. */
function failureDetails({ status, requestId, providerMessage }: ModelFailureDetails): string {
  const facts = [status === undefined ? "" : `${status}`, requestId ? `request ${requestId}` : ""].filter(Boolean)
  return `${facts.length > 0 ? ` (${facts.join(", ")})` : ""}${providerMessage ? `: "${providerMessage}"` : ""}`
}
