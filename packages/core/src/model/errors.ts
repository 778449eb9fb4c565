/**
 * What can go wrong between us and a model: one class for each kind that a caller can act on. Each message says what happened, what was kept
 * and what to do next; none contains a key. Errors of a provider's SDK are not attached as causes: they carry headers and whole prompts.
 */
import { StrataError } from "../base/errors.ts"
import { formatNumber } from "../base/text.ts"
import { redact } from "./redact.ts"

/** What is known about any failure. */
export interface ModelFailureDetails {
  readonly provider: string
  /** HTTP status, where there was an answer. */
  readonly status?: number | undefined
  /** The provider's own words. */
  readonly providerMessage?: string | undefined
  readonly requestId?: string | undefined
  /** How often it was tried. Default 1. */
  readonly attempts?: number
  /** The same request would be accepted if it asked for no more output than this. */
  readonly maxOutput?: number | undefined
}

const KEPT = "Everything in the conversation is kept." // also the message that was to be sent

/** How a provider is called in a sentence. Providers of the AI SDK are named like `openai.chat`. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = { anthropic: "Anthropic", google: "Google", openai: "OpenAI" }

const providerName = ({ provider }: Pick<ModelFailureDetails, "provider">) =>
  PROVIDER_NAMES[provider.split(".")[0]!] ?? provider

export class ModelError extends StrataError {
  static override readonly code: string = "model"
  override readonly name: string = "ModelError"
  readonly provider: string
  readonly status: number | undefined
  /** The provider's own words, without keys. */
  readonly providerMessage: string | undefined
  /** What the provider's support asks for. */
  readonly requestId: string | undefined
  readonly attempts: number
  /** @internal The same request would be accepted if it asked for no more output than this. */
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
  /** Size of what was sent, if the provider said it. */
  readonly tokens: number | undefined
  /** The provider's limit. */
  readonly limit: number | undefined
  /** By how much it was too long. */
  readonly gap: number | undefined
  /** @internal Input and output together must fit. */
  readonly countsOutput: boolean
  /** @internal It has too many bytes; its tokens may fit. */
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

/** A limit on spending, or no credit: waiting does not help. */
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

/** The provider refuses the request as it is; sent again it would be refused again. */
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

/** A failure that passes: the same request may succeed later. Thrown only when trying again has not helped. */
export abstract class TransientModelError extends ModelError {
  static override readonly code: string = "passing-model"
  /** How long the provider asked to wait. */
  readonly retryAfterMs: number | undefined
  /** The provider said not to try again now. */
  readonly forbidsRetry: boolean
  /** A few words for the person who sees the retries. */
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

/** The provider is overloaded or failing. It will pass. */
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

/** Whether a retry happens because of the provider's limits. */
export const isRateLimit = (reason: string): boolean => reason.startsWith(RATE_LIMIT)

/** Too many requests in too short a time. */
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

/** What a connection says where no server is. */
const NO_SERVER = /\bE(?:CONNREFUSED|NOTFOUND|HOSTUNREACH|NETUNREACH)\b/

/** No connection, or one that broke before the answer was complete. */
export class ConnectionLostError extends TransientModelError {
  static override readonly code: string = "connection-lost"
  override readonly name = "ConnectionLostError"
  readonly reason: string
  /** No server was there. Waiting helps only if it is about to start. */
  readonly isUnreachable: boolean

  /** `address`: where requests go, as far as it is known. */
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

/** An address may carry a password. The host does not. */
const hostOf = (address: string): string => (URL.canParse(address) ? new URL(address).origin : "its address")

/** How a stream stalled: no answer at all, a silent connection, or signs of life without content. */
export type Stall = "no-answer" | "idle" | "no-content"

/** The stream stopped in the middle, with its connection still open. */
export class StalledError extends TransientModelError {
  static override readonly code: string = "stalled"
  override readonly name = "StalledError"
  readonly reason: string
  readonly stall: Stall
  /** Characters of the answer that had arrived. */
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

/** What an answer without an end had too much of. */
export interface EndlessSize {
  readonly kind: "characters" | "blocks" | "empty" | "time"
  /** Bytes for `empty`, milliseconds for `time`. */
  readonly count: number
  readonly limit: number
}

/** The answer went on beyond every limit and was cut. Another one would do the same. */
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

/** Someone stopped it. */
export class ModelAbortedError extends ModelError {
  static override readonly code: string = "model-aborted"
  override readonly name = "ModelAbortedError"

  constructor(provider: string) {
    super(`The request to ${providerName({ provider })} was stopped before it was answered. ${KEPT}`, { provider })
  }
}

/** A model id in a string always goes to Anthropic, which is not obvious if it names another provider's model. */
const rejectionAdvice = ({ status, providerMessage = "" }: ModelFailureDetails) =>
  status === 404 && /\bmodel\b/.test(providerMessage)
    ? "Check the name of the model. Names go to the Messages API: for a model of another provider, set ANTHROPIC_BASE_URL to a server that offers it there. In code, you can pass a model of the AI SDK."
    : "Sending it again will not help. The provider's message says what to change."

/** The provider's words, as a sentence of their own. */
const providerSentence = (details: ModelFailureDetails) =>
  details.providerMessage ? `The answer${failureDetails(details)}. ` : ""

const MAX_WAIT_MS = 7 * 24 * 3_600_000 // a header that asks for more is a mistake

function whenToTry(retryAfterMs: number | undefined): string {
  if (retryAfterMs === undefined) return "in a minute"
  if (!(retryAfterMs <= MAX_WAIT_MS)) return "later"
  return `in ${formatNumber(Math.ceil(retryAfterMs / 1000))} seconds`
}

const attemptsText = ({ attempts = 1 }: ModelFailureDetails) => (attempts > 1 ? ` after ${attempts} attempts` : "")

const statusText = ({ status }: ModelFailureDetails) => (status === undefined ? "" : ` (${status})`)

/** ` (400, request req_1): "max_tokens: Field required"`: as much of it as there is. */
function failureDetails({ status, requestId, providerMessage }: ModelFailureDetails): string {
  const facts = [status === undefined ? "" : `${status}`, requestId ? `request ${requestId}` : ""].filter(Boolean)
  return `${facts.length > 0 ? ` (${facts.join(", ")})` : ""}${providerMessage ? `: "${providerMessage}"` : ""}`
}
