/**
 * Any model of the Vercel AI SDK: OpenAI, Google, Ollama, OpenRouter and every other provider package. The conversation keeps the format of
 * the Messages API; this adapter translates both ways. It calls the model object directly and loads nothing of `ai`.
 *
 * ```ts
 * import { openai } from "@ai-sdk/openai"
 * const model = aiSdkModel(openai("gpt-5"))
 * ```
 */
import type { Clock } from "../../base/clock.ts"
import { type Block, toBlocks } from "../../messages/blocks.ts"
import type { Usage } from "../../messages/messages.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { createEstimator } from "../../tokens/estimate.ts"
import type { ModelFacts, ModelOverride } from "../../tokens/models.ts"
import { aiSdkAddress } from "../address.ts"
import { placeBreakpoints } from "../cache/breakpoints.ts"
import { ConnectionLostError } from "../errors.ts"
import type { Model, ModelEvent, StreamLimits, StreamOptions } from "../model.ts"
import { fitOutput } from "../model.ts"
import { asModelError, type ProviderFailure } from "../provider-failure.ts"
import { type RetryOptions, type StreamChunk, watchStream, withRetries } from "../stream.ts"
import { PartCollector } from "./collect.ts"
import { AI_SDK_OMITS, aiSdkFacts } from "./facts.ts"
import { type AiSdkLanguageModel, type StreamPart, startStream } from "./interface.ts"
import { toCallOptions } from "./prompt.ts"

/** A model of any AI SDK provider, described structurally: the package `ai` need not be installed. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doStream(options: never): PromiseLike<unknown>
}

/** Options of `aiSdkModel`. */
export interface AiSdkModelOptions extends RetryOptions {
  /** The display name. Default: the provider's id of the model. */
  readonly name?: string
  /** Facts about models that override or extend the built-in table, as in the settings. */
  readonly models?: Readonly<Record<string, ModelOverride>>
  /** Time limits of a response. Default: from the settings. */
  readonly limits?: Partial<StreamLimits>
  readonly clock?: Clock
}

interface Attempt {
  /** Attempts so far, including this one. */
  readonly attempts: number
  readonly signal: AbortSignal | undefined
  readonly limits: Partial<StreamLimits> | undefined
}

export function aiSdkModel(given: AiSdkModel, options: AiSdkModelOptions = {}): Model {
  const languageModel = given as unknown as AiSdkLanguageModel
  const { provider, modelId } = given
  const { name = modelId } = options
  const facts = aiSdkFacts(name, options.models)
  const address = aiSdkAddress(given)
  const isClaude = /anthropic/i.test(provider)

  async function* attempt(request: ModelRequest, { attempts, signal, limits }: Attempt): AsyncGenerator<ModelEvent> {
    const collector = new PartCollector(modelId)
    const parts = watchStream<StreamPart>({
      provider,
      attempts,
      maxTokens: request.max_tokens,
      signal,
      clock: options.clock,
      limits: { ...limits, ...options.limits },
      measure: measurePart,
      async open(watched) {
        const call = toCallOptions(request, provider)
        return untilAborted(await startStream(languageModel, { ...call, abortSignal: watched }), watched)
      },
    })
    try {
      for await (const part of parts) {
        if (part.type === "error") throw part.error
        const event = collector.take(part)
        if (event) yield event
      }
    } catch (error) {
      throw asModelError(error, { read: readFailure, context: { provider, attempts, secrets: [] } })
    }
    const response = collector.response((content) => estimateUsage({ request, content, facts }))
    if (!response) throw new ConnectionLostError({ provider, attempts, providerMessage: "the answer ended early" })
    yield { type: "response", response }
  }

  return {
    name,
    provider,
    ...(address ? { address } : {}),
    facts,
    omits: AI_SDK_OMITS,
    stream(request: ModelRequest, { signal, limits, attempts: watch, ...caching }: StreamOptions = {}) {
      const placed = isClaude ? placeBreakpoints(request, caching) : request
      return withRetries({
        ...options,
        provider,
        signal,
        attempts: watch,
        attempt: (attempts) =>
          fitOutput(placed, { attempt: (body) => attempt(body, { attempts, signal, limits }), watch }),
      })
    },
  }
}

/** How much a part adds to the response. */
function measurePart(part: StreamPart): StreamChunk | undefined {
  switch (part.type) {
    case "text-delta":
    case "reasoning-delta":
    case "tool-input-delta":
      return part.delta === "" ? undefined : { characters: part.delta.length }
    case "tool-call":
      return { beginsBlock: true, characters: part.input.length }
    case "finish":
      return { isLast: true }
    case "raw":
      return undefined
    default:
      return { beginsBlock: part.type.endsWith("-start") && part.type !== "stream-start" }
  }
}

/** The parts of a stream. Ends on abort even if the provider ignores its signal. */
export async function* untilAborted(
  stream: ReadableStream<StreamPart>,
  signal?: AbortSignal,
): AsyncGenerator<StreamPart> {
  const reader = stream.getReader()
  const stop = () => void reader.cancel().catch(() => undefined)
  if (signal?.aborted) stop()
  signal?.addEventListener("abort", stop, { once: true })
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    signal?.removeEventListener("abort", stop)
    stop() // the consumer left early, so the provider can stop
  }
}

/** Estimates usage for providers that do not count tokens, such as some local ones. Zero would look like an empty context. */
export function estimateUsage({
  request,
  content,
  facts,
}: {
  request: ModelRequest
  content: readonly Block[]
  facts: ModelFacts
}): Usage {
  const estimator = createEstimator(facts.family)
  const prompt = [
    ...toBlocks(request.system ?? ""),
    ...request.messages.flatMap((message) => toBlocks(message.content)),
  ]
  const tools = request.tools ? estimator.text(JSON.stringify(request.tools)) : 0
  return {
    input_tokens: Math.round(estimator.blocks(prompt) + tools),
    output_tokens: Math.round(estimator.blocks(content)),
  }
}

/** An error of the AI SDK, recognized by its fields, because a program may contain several copies of its classes. */
interface AiSdkError {
  readonly name?: string
  readonly message?: string
  readonly statusCode?: number
  readonly responseHeaders?: Readonly<Record<string, string>>
  readonly responseBody?: string
}

/** Errors raised by the AI SDK itself, mapped to the type that a provider would report. All others are connection failures. */
const TYPE_OF_NAME: Readonly<Record<string, string>> = {
  AI_LoadAPIKeyError: "authentication_error",
  AI_LoadSettingError: "invalid_request_error",
  AI_InvalidArgumentError: "invalid_request_error",
  AI_InvalidPromptError: "invalid_request_error",
  AI_NoSuchModelError: "invalid_request_error",
  AI_UnsupportedFunctionalityError: "invalid_request_error",
}

/** Also accepts the plain object or text that some providers send in the middle of a stream. */
export function readFailure(error: unknown): ProviderFailure | undefined {
  if (typeof error === "string") return { message: error }
  if (typeof error !== "object" || error === null) return undefined
  const { name = "", message, statusCode, responseHeaders = {}, responseBody }: AiSdkError = error
  const isError = error instanceof Error
  if (isError && !name.startsWith("AI_") && statusCode === undefined) return undefined
  const body = bodyOf(isError ? responseBody : error)
  return {
    status: isRefusal(statusCode) ? statusCode : undefined,
    type: TYPE_OF_NAME[name] ?? textIn(body.type),
    code: textIn(body.code) ?? textIn((body.details as { error_code?: unknown } | undefined)?.error_code),
    message: textIn(body.message) ?? message ?? "",
    requestId: responseHeaders["request-id"] ?? responseHeaders["x-request-id"],
    header: (header) => responseHeaders[header],
  }
}

/**
 * Reads `{"error": {"type": …, "message": …}}`, with or without the wrapper, parsed or not. Returns an empty object for a proxy's HTML
 * page.
 */
function bodyOf(given: unknown): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = typeof given === "string" ? JSON.parse(given) : given
    const { error = body } = (body ?? {}) as { error?: unknown }
    return typeof error === "object" && error !== null ? (error as Record<string, unknown>) : { message: error }
  } catch {
    return {}
  }
}

/** With any other status, the response had started and then broke off. */
const isRefusal = (status: number | undefined) => status !== undefined && status >= 400

const textIn = (value: unknown) => (typeof value === "string" ? value : undefined)
