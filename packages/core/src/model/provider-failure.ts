/**
 * Converts failures reported by a provider or a network to the errors of `errors.ts`. Each SDK has its own error classes, and a program
 * may contain several copies of one. So failures are recognized by their content (status, type, code, message), never by their class.
 */
import {
  AuthenticationError,
  ConnectionLostError,
  InvalidModelRequestError,
  ModelError,
  OverloadedError,
  PromptTooLongError,
  RateLimitedError,
  SpendLimitError,
} from "./errors.ts"
import { redact } from "./redact.ts"
import { matchTooLong, parseMaxOutput } from "./too-long-patterns.ts"

/** A refusal or a failure, as a provider reported it. */
export interface ProviderFailure {
  /** Absent if the response had already started. */
  readonly status?: number | undefined
  /** For example `overloaded_error` or `invalid_request_error`. */
  readonly type?: string | undefined
  /** A more specific code, if there is one. */
  readonly code?: string | undefined
  readonly message: string
  readonly requestId?: string | undefined
  readonly header?: (name: string) => string | undefined
}

/** The provider and the attempt that failed. */
export interface FailureContext {
  readonly provider: string
  readonly attempts: number
  /** Keys in use, which are removed from every text. */
  readonly secrets: readonly string[]
  /** The server's address, if known. */
  readonly address?: string
}

type FailureKind = "authentication" | "spend-limit" | "rate-limit" | "overload" | "connection" | "invalid"

const KIND_OF_CODE: Readonly<Record<string, FailureKind>> = {
  enforced_spend_limit_reached: "spend-limit", // Anthropic: a 429 that does not go away by waiting
  insufficient_quota: "spend-limit", // OpenAI: the same
}

const KIND_OF_STATUS: Readonly<Record<number, FailureKind>> = {
  401: "authentication",
  402: "spend-limit",
  403: "authentication",
  408: "overload", // the server's timeout
  409: "overload", // the server could not get a lock in time
  429: "rate-limit",
}

/** Errors in the middle of a stream have a type but no status. */
const KIND_OF_TYPE: Readonly<Record<string, FailureKind>> = {
  authentication_error: "authentication",
  permission_error: "authentication",
  billing_error: "spend-limit",
  rate_limit_error: "rate-limit",
  overloaded_error: "overload",
  api_error: "overload",
  timeout_error: "overload",
  conflict_error: "overload",
  invalid_request_error: "invalid",
  request_too_large: "invalid",
  not_found_error: "invalid",
}

export function modelErrorFrom(failure: ProviderFailure, context: FailureContext): ModelError {
  const { provider, attempts, secrets, address } = context
  const { status, requestId } = failure
  const providerMessage = toReadableText(redact(failure.message, secrets))
  const words = [failure.code, failure.type, failure.message].filter(Boolean).join(" ")
  const details = { provider, status, providerMessage, requestId, attempts, maxOutput: parseMaxOutput(words) }
  const passing = { ...details, ...retryAdvice(failure) }
  const kind = failureKind(failure)
  const tooLong = kind === "authentication" || kind === "rate-limit" ? undefined : matchTooLong(words)
  if (tooLong) return new PromptTooLongError(tooLong, details)
  switch (kind) {
    case "authentication":
      return new AuthenticationError(details)
    case "spend-limit":
      return new SpendLimitError(details)
    case "rate-limit":
      return new RateLimitedError(passing)
    case "overload":
      return new OverloadedError(passing)
    case "connection":
      return new ConnectionLostError({ ...passing, address })
    case "invalid":
      return new InvalidModelRequestError(details)
  }
}

const MAX_MESSAGE = 2_000 // characters; an error page can have megabytes
const MARKUP = /<(?:style|script)\b[\s\S]*?<\/(?:style|script)>|<[^>]*>/gi

/** Makes a provider's message fit into a sentence: short, and without an error page's markup. */
function toReadableText(message: string): string {
  const start = message.slice(0, 20 * MAX_MESSAGE)
  const text = /<!doctype html|<html\b/i.test(start) ? start.replace(MARKUP, " ").replace(/\s+/g, " ").trim() : start
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text
}

function failureKind({ status, type, code }: ProviderFailure): FailureKind {
  if (code !== undefined && code in KIND_OF_CODE) return KIND_OF_CODE[code]!
  if (status !== undefined) return KIND_OF_STATUS[status] ?? (status >= 500 ? "overload" : "invalid")
  // a request whose response had started was valid
  return KIND_OF_TYPE[type ?? ""] ?? "connection"
}

function retryAdvice({ header = () => undefined }: ProviderFailure) {
  return { retryAfterMs: retryAfterMs(header), forbidsRetry: header("x-should-retry") === "false" }
}

/** Reads `retry-after-ms`, then `retry-after` in seconds or as a date, compared with the server's own clock. */
function retryAfterMs(header: (name: string) => string | undefined): number | undefined {
  const ms = Number.parseFloat(header("retry-after-ms") ?? "")
  if (ms >= 0) return ms
  const given = header("retry-after") ?? ""
  const seconds = Number(given)
  if (given !== "" && !Number.isNaN(seconds)) return seconds >= 0 ? seconds * 1000 : undefined
  const wait = Date.parse(given) - Date.parse(header("date") ?? "")
  return wait >= 0 ? wait : undefined
}

/** How Node, undici and the SDKs describe a broken connection. */
const CONNECTION_SIGNS: readonly RegExp[] = [
  /\bE(?:CONN\w+|PIPE|AI_AGAIN|NOTFOUND|HOSTUNREACH|NETUNREACH|TIMEDOUT)\b/,
  /\bUND_ERR_\w+/,
  /^terminated$|fetch failed|socket hang up|other side closed|premature close|network error|connection error/i,
  /timed? ?out/i,
  /^stream ended without/i,
]

/** The text of a network failure. `undefined` for other errors, such as a bug. */
export function connectionFailure(error: unknown): string | undefined {
  const chain = causeChain(error)
  const texts = chain.map((link) => `${link.code ?? ""} ${link.message}`.trim())
  // a frame that is not JSON was damaged in transit
  const broken = chain.some(({ name }) => name === "SyntaxError")
  const isConnection =
    broken ||
    chain.some(
      (link, i) => isConnectionSign(texts[i]!) || isConnectionSign(link.message) || isConnectionSign(link.name),
    )
  if (!isConnection) return undefined
  return chain.findLast(({ code }) => code !== undefined)?.code ?? chain.at(-1)?.message
}

const isRedirectLoop = (error: unknown) =>
  causeChain(error).some(({ message }) => /redirect count exceeded/i.test(message))

const isConnectionSign = (text: string) => CONNECTION_SIGNS.some((sign) => sign.test(text))

interface ErrorLink {
  readonly name: string
  readonly message: string
  readonly code: string | undefined
}

/** An error and its causes, outermost first. */
function causeChain(error: unknown): ErrorLink[] {
  const chain: ErrorLink[] = []
  for (let link = error; link instanceof Error && chain.length < 5; link = link.cause) {
    const { code } = link as { code?: unknown }
    chain.push({ name: link.name, message: link.message, code: typeof code === "string" ? code : undefined })
  }
  return chain
}

/**
 * Converts any error to a `ModelError`. `read` recognizes the SDK's own errors; network failures are the same everywhere. A prompt that is
 * too long is also recognized in errors of other classes, such as those of Ollama's packages. All other errors are returned unchanged: a
 * bug must not be retried.
 */
export function asModelError(
  error: unknown,
  { read, context }: { read(error: unknown): ProviderFailure | undefined; context: FailureContext },
): unknown {
  if (error instanceof ModelError) return error
  const failure = read(error)
  if (failure) return modelErrorFrom(failure, context)
  const refused = causeChain(error).find(({ message }) => matchTooLong(message))
  if (refused) return modelErrorFrom({ message: refused.message, type: "invalid_request_error" }, context)
  const connectionProblem = connectionFailure(error)
  if (connectionProblem === undefined) return error
  const { provider, attempts, secrets, address } = context
  if (isRedirectLoop(error))
    return new InvalidModelRequestError({ provider, attempts, providerMessage: "the address redirects without an end" })
  return new ConnectionLostError({ provider, attempts, address, providerMessage: redact(connectionProblem, secrets) })
}
