/**
 * Claude through the official SDK. The SDK does transport, authentication and reading of streams. Retries are ours, because those of the SDK
 * are invisible and stop once a stream has begun. The SDK is loaded with the first request, not with the library.
 *
 * ```ts
 * const model = anthropicModel({ model: "claude-opus-5-5", apiKey })
 * for await (const event of model.stream(await chat.prepare())) render(event)
 * ```
 */
import type { Anthropic, APIError, Middleware } from "@anthropic-ai/sdk"
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages"
import { hasExactInput } from "../../messages/exact-json.ts"
import type { ModelRequest, RequestExtras } from "../../messages/request.ts"
import { findModel, type ModelLookup, type ModelOverride, sentModelName } from "../../tokens/models.ts"
import { serialiseRequest } from "../../views/context/request.ts"
import { placeBreakpoints } from "../cache/breakpoints.ts"
import { ConnectionLostError, MissingKeyError, ModelAbortedError, ModelError } from "../errors.ts"
import type { Model, ModelEvent, StreamOptions } from "../model.ts"
import { asModelError, type ProviderFailure } from "../provider-failure.ts"
import { type RetryOptions, withRetries } from "../retry.ts"
import { MessageCollector } from "./collect.ts"
import { factsFrom } from "./learn.ts"

const PROVIDER = "anthropic"

export interface AnthropicModelOptions extends RetryOptions {
  /** As people name it: with a date, with a `[1m]` suffix. */
  readonly model: string
  /** Default: `ANTHROPIC_API_KEY`. */
  readonly apiKey?: string | undefined
  /** Default: `ANTHROPIC_BASE_URL`, else the public API. */
  readonly baseURL?: string
  readonly betas?: readonly string[]
  /** Your own client instead of a key: for another platform, a proxy, headers of your own. Its retries are not used. */
  readonly client?: AnthropicClient
  /** The longest wait for an answer to begin. Default: the SDK's 10 minutes. */
  readonly timeoutMs?: number
  /** Facts about models that override or extend the built-in table, as in the settings. */
  readonly models?: Readonly<Record<string, ModelOverride>>
  /** Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** The part of the SDK's client that is used, by its shape: clients for other platforms and other versions of the SDK fit. */
export interface AnthropicClient {
  readonly messages: { create(body: never, options?: never): unknown }
  readonly models?: unknown
}

/** The same client with the types of the SDK that this package was built with. */
type SdkClient = Pick<Anthropic, "messages" | "models">

export interface AnthropicModel extends Model {
  count(request: ModelRequest, options?: { readonly signal?: AbortSignal }): Promise<number>
  learn(options?: { readonly signal?: AbortSignal }): Promise<ModelLookup>
}

interface Sending {
  /** Betas that the request itself asks for. */
  readonly asked: readonly string[]
  readonly signal: AbortSignal | undefined
}

interface Attempt extends Sending {
  /** Attempts so far, including this one. */
  readonly attempts: number
}

export function anthropicModel(options: AnthropicModelOptions): AnthropicModel {
  const { model: name, betas = [], env = process.env } = options
  const apiKey = options.apiKey ?? env.ANTHROPIC_API_KEY
  const baseURL = options.baseURL ?? env.ANTHROPIC_BASE_URL
  const secrets = apiKey ? [apiKey] : []
  let known = findModel(name, options.models)
  let client: Promise<SdkClient> | undefined

  function connect(): Promise<SdkClient> {
    client ??= options.client
      ? Promise.resolve(options.client as unknown as SdkClient)
      : createClient({ apiKey, baseURL, timeoutMs: options.timeoutMs })
    return client
  }

  /** What every request to the API carries besides its body. */
  function requestOptions(body: ModelRequest, { asked, signal }: Sending) {
    const named = [...new Set([...betas, ...asked])]
    return {
      maxRetries: 0,
      ...(named.length > 0 ? { headers: { "anthropic-beta": named.join(",") } } : {}),
      ...(signal ? { signal } : {}),
      ...exactBody(body),
    }
  }

  /** Our own error for any failure. An abort is checked first, because it looks like a failure too. */
  function explain(error: unknown, { attempts, signal }: Omit<Attempt, "asked">) {
    if (signal?.aborted) return new ModelAbortedError(PROVIDER)
    return asModelError(error, { read: readFailure, context: { provider: PROVIDER, attempts, secrets } })
  }

  async function* attempt(body: ModelRequest, { attempts, asked, signal }: Attempt): AsyncGenerator<ModelEvent> {
    const collector = new MessageCollector()
    try {
      const { messages } = await connect()
      const streamed = { ...body, stream: true as const }
      const events: AsyncIterable<RawMessageStreamEvent> = await messages.create(
        streamed,
        requestOptions(streamed as unknown as ModelRequest, { asked, signal }),
      )
      for await (const raw of events) {
        const event = collector.take(raw)
        if (event) yield event
      }
    } catch (error) {
      throw explain(error, { attempts, signal })
    }
    if (signal?.aborted) throw new ModelAbortedError(PROVIDER) // the SDK ends an aborted stream as if it were complete
    const response = collector.response()
    if (!response) throw new ConnectionLostError({ provider: PROVIDER, attempts, said: "the answer ended early" })
    yield { type: "response", response }
  }

  return {
    name,
    provider: PROVIDER,
    get facts() {
      return known.facts
    },

    stream(request: ModelRequest, { signal, ...caching }: StreamOptions = {}) {
      const { asked, body: bare } = withoutBetas(request)
      const body = placeBreakpoints({ ...bare, model: sentModelName(request.model) }, caching)
      return withRetries({
        ...options,
        provider: PROVIDER,
        signal,
        attempt: (attempts) => attempt(body, { attempts, asked, signal }),
      })
    },

    async count(request, { signal } = {}) {
      const body = countedPart(request)
      try {
        const { messages } = await connect()
        const { asked } = withoutBetas(request)
        return (await messages.countTokens(body, requestOptions(body, { asked, signal }))).input_tokens
      } catch (error) {
        throw explain(error, { attempts: 1, signal })
      }
    },

    async learn({ signal } = {}) {
      const assumed = known
      if (assumed.known) return assumed
      try {
        const { models } = await connect()
        const info = await models.retrieve(sentModelName(name), {}, { maxRetries: 0, ...(signal ? { signal } : {}) })
        known = { known: true, facts: factsFrom(info, assumed.facts) }
        return known
      } catch (thrown) {
        const error = explain(thrown, { attempts: 1, signal })
        if (!(error instanceof ModelError) || error instanceof ModelAbortedError) throw error
        return { ...assumed, notice: `${assumed.notice} Asked about it, the API said: "${error.said}"` }
      }
    },
  }
}

interface ClientOptions {
  readonly apiKey: string | undefined
  readonly baseURL: string | undefined
  readonly timeoutMs: number | undefined
}

async function createClient({ apiKey, baseURL, timeoutMs }: ClientOptions): Promise<SdkClient> {
  // without a key the SDK would look for credentials on this machine
  if (!apiKey) throw new MissingKeyError(PROVIDER)
  const { Anthropic } = await import("@anthropic-ai/sdk")
  return new Anthropic({
    apiKey,
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    maxRetries: 0,
    openTelemetry: false, // we create our own spans
    logLevel: "off", // everything it would print, it also throws
  })
}

/** Betas are sent as a header. */
function withoutBetas(request: ModelRequest): { readonly asked: readonly string[]; readonly body: ModelRequest } {
  const { betas: asked = [], ...body } = request as ModelRequest & RequestExtras
  return { asked, body }
}

/** Replaces the body that the SDK wrote, where inputs must be sent exactly as the model spelled them. */
function exactBody(body: ModelRequest) {
  const isExact = body.messages.some(({ content }) => typeof content !== "string" && hasExactInput(content))
  if (!isExact) return {}
  const text = serialiseRequest(body)
  return { middleware: [((request, next) => next({ ...request, body: text })) satisfies Middleware] }
}

/** The fields that decide a request's size. The counting endpoint refuses all others. */
const COUNTED_FIELDS = new Set([
  ...["model", "tools", "system", "messages"],
  ...["tool_choice", "thinking", "output_config", "context_management"],
])

function countedPart(request: ModelRequest): ModelRequest {
  const counted = Object.entries(request).filter(([field]) => COUNTED_FIELDS.has(field))
  return { ...(Object.fromEntries(counted) as unknown as ModelRequest), model: sentModelName(request.model) }
}

/** What the SDK's error says, from any copy of the SDK. */
function readFailure(error: unknown): ProviderFailure | undefined {
  const { status, type, errorCode, apiMessage, message, requestID, headers } = (error ?? {}) as Partial<APIError>
  if (status === undefined && !type && !headers) return undefined // no answer at all: a network failure
  return {
    status,
    type: type ?? undefined,
    code: errorCode ?? undefined,
    said: apiMessage ?? message ?? "",
    requestId: requestID ?? undefined,
    header: (name) => headers?.get(name) ?? undefined,
  }
}
