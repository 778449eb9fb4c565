/**
 * Claude through the official SDK, which does transport, authentication and stream parsing. Retries are our own, because those of the SDK
 * are invisible and stop once a stream has started. The SDK is loaded with the first request, not with the library.
 *
 * ```ts
 * const model = anthropicModel({ model: "claude-opus-5-5", apiKey })
 * for await (const event of model.stream(await chat.prepare())) render(event)
 * ```
 */

import type { Anthropic, APIError, Middleware } from "@anthropic-ai/sdk"
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages"
import type { ModelInfo } from "@anthropic-ai/sdk/resources/models"
import type { Clock } from "../../base/clock.ts"
import { hasExactText } from "../../messages/exact-json.ts"
import { withoutProviderFields } from "../../messages/message-identity.ts"
import type { Usage } from "../../messages/messages.ts"
import type { ModelRequest, RequestExtras } from "../../messages/request.ts"
import {
  findModel,
  type ModelFacts,
  type ModelLookup,
  type ModelOverride,
  requestModelName,
  windowBetas,
} from "../../tokens/models.ts"
import { serialiseRequest } from "../../views/context/request.ts"
import { anthropicAddress } from "../address.ts"
import { placeBreakpoints } from "../cache/breakpoints.ts"
import { ConnectionLostError, MissingKeyError, ModelAbortedError, ModelError } from "../errors.ts"
import {
  type AttemptObserver,
  fitOutput,
  isOnThisMachine,
  type Model,
  type ModelEvent,
  type RateLimit,
  type StreamLimits,
  type StreamOptions,
  type WarmOptions,
  type WarmResponse,
} from "../model.ts"
import { asModelError, type ProviderFailure } from "../provider-failure.ts"
import { type RetryOptions, type StreamChunk, watchStream, withRetries } from "../stream.ts"
import { CacheDiagnosis, MessageCollector, watchBody, watchLimits } from "./collect.ts"
import { type Credentials, credentialsFrom, withoutVersion } from "./credentials.ts"

// Queries the API about a model that is not in the built-in table. The API returns the window and what requests may contain, but not the
// price.

/** `assumed` provides the facts that the API does not return. */
export function factsFrom(info: ModelInfo, assumed: ModelFacts): ModelFacts {
  const { capabilities } = info
  const thinking = capabilities?.thinking.types
  return {
    ...assumed,
    window: info.max_input_tokens ?? assumed.window,
    maxOutput: info.max_tokens ?? assumed.maxOutput,
    accepts: {
      ...assumed.accepts,
      contextManagement: capabilities?.context_management.supported ?? assumed.accepts.contextManagement,
      adaptiveThinking: thinking?.adaptive.supported ?? assumed.accepts.adaptiveThinking,
      thinkingBudget: thinking?.enabled.supported ?? assumed.accepts.thinkingBudget,
    },
  }
}

const PROVIDER = "anthropic"
const SIDE_REQUEST_MS = 30_000 // for counting tokens or looking up a model: the conversation works without them

/** Options of `anthropicModel`. */
export interface AnthropicModelOptions extends RetryOptions {
  /** The model's name, with or without a date or a `[1m]` suffix. */
  readonly model: string
  /** Default: the token in `ANTHROPIC_AUTH_TOKEN`, or the key in `ANTHROPIC_API_KEY`. */
  readonly apiKey?: string | undefined
  /** With or without a trailing `/v1`. Default: `ANTHROPIC_BASE_URL`, or the public API. */
  readonly baseURL?: string
  readonly betas?: readonly string[]
  /** Your own client instead of a key, for another platform, a proxy or additional headers. Its retries are not used. */
  readonly client?: AnthropicClient
  /** Maximum time until the response starts, measured by the SDK. Default: `limits.firstTokenMs`. */
  readonly timeoutMs?: number
  /** Time limits of a response. Default: from the settings. */
  readonly limits?: Partial<StreamLimits>
  readonly clock?: Clock
  /** Facts about models that override or extend the built-in table, as in the settings. */
  readonly models?: Readonly<Record<string, ModelOverride>>
  /** Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** The part of the SDK's client that is used, described structurally, so that clients for other platforms and SDK versions fit. */
export interface AnthropicClient {
  readonly messages: { create(body: never, options?: never): unknown }
  readonly models?: unknown
}

/** The same client with the types of the bundled SDK version. */
type SdkClient = Pick<Anthropic, "messages" | "models">

/** A model of the Anthropic API. */
export interface AnthropicModel extends Model {
  warm(request: ModelRequest, options?: WarmOptions): Promise<WarmResponse | undefined>
  count(request: ModelRequest, options?: { readonly signal?: AbortSignal }): Promise<number>
  learn(options?: { readonly signal?: AbortSignal }): Promise<ModelLookup>
}

interface SendOptions {
  /** Betas that the request itself contains. */
  readonly asked: readonly string[]
  readonly signal: AbortSignal | undefined
}

type StartedResponse = Parameters<AttemptObserver["started"]>[0]

interface Attempt extends SendOptions {
  /** Attempts so far, including this one. */
  readonly attempts: number
  readonly limits?: Partial<StreamLimits> | undefined
  readonly watch?: AttemptObserver | undefined
}

export function anthropicModel(options: AnthropicModelOptions): AnthropicModel {
  const { model: name, betas = [], env = process.env } = options
  const credentials = options.apiKey ? { apiKey: options.apiKey } : credentialsFrom(env)
  const baseURL = options.baseURL ?? (env.ANTHROPIC_BASE_URL || undefined)
  const address = anthropicAddress({ ...options, env })
  const secrets: string[] = Object.values(credentials ?? {})
  let known = findModel(name, options.models)
  let client: Promise<SdkClient> | undefined
  const diagnosis = new CacheDiagnosis()

  function connect(): Promise<SdkClient> {
    client ??= options.client
      ? Promise.resolve(options.client as unknown as SdkClient)
      : createClient({ credentials, baseURL, timeoutMs: options.timeoutMs })
    return client
  }

  /** SDK options for a request: headers, abort signal and middleware. */
  function requestOptions(body: ModelRequest, { asked, signal }: SendOptions, more: readonly Middleware[] = []) {
    const named = [...new Set([...betas, ...windowBetas(name, known.facts), ...asked])]
    const middleware = [...exactBody(body), ...more]
    return {
      maxRetries: 0,
      ...(named.length > 0 ? { headers: { "anthropic-beta": named.join(",") } } : {}),
      ...(signal ? { signal } : {}),
      ...(middleware.length > 0 ? { middleware } : {}),
    }
  }

  /** Converts any failure to our own errors. An abort is checked first, because it looks like a failure. */
  function explain(error: unknown, { attempts, signal }: Omit<Attempt, "asked">) {
    if (signal?.aborted) return new ModelAbortedError(PROVIDER)
    return asModelError(error, {
      read: readFailure,
      context: { provider: PROVIDER, attempts, secrets, address },
    })
  }

  async function* attempt(body: ModelRequest, given: Attempt): AsyncGenerator<ModelEvent> {
    const { attempts, asked, signal } = given
    const collector = new MessageCollector()
    let limits: readonly RateLimit[] = []
    const onLimits = (seen: readonly RateLimit[]) => {
      limits = seen
    }
    const events = watchStream<RawMessageStreamEvent>({
      provider: PROVIDER,
      attempts,
      maxTokens: body.max_tokens,
      signal,
      clock: options.clock,
      limits: limitsOf(given.limits),
      measure: measureEvent,
      async open(watched, onBytes) {
        const { messages } = await connect()
        const streamed = { ...body, stream: true as const }
        const sending = { asked, signal: watched }
        return messages.create(
          streamed,
          requestOptions(streamed as unknown as ModelRequest, sending, [watchBody(onBytes), watchLimits(onLimits)]),
        )
      },
    })
    try {
      for await (const raw of events) {
        if (raw.type === "message_start") given.watch?.started(raw.message as StartedResponse)
        const event = collector.take(raw)
        if (event) yield event
      }
    } catch (error) {
      throw explain(error, { attempts, signal })
    }
    const response = collector.response()
    if (!response)
      throw new ConnectionLostError({ provider: PROVIDER, attempts, providerMessage: "the answer ended early" })
    yield { type: "response", response, ...(limits.length > 0 ? { limits } : {}) }
  }

  /** If the caller set a timeout, the SDK measures it. */
  const limitsOf = (limits: Partial<StreamLimits> | undefined): Partial<StreamLimits> => ({
    ...limits,
    ...(options.timeoutMs === undefined ? {} : { firstTokenMs: Number.POSITIVE_INFINITY }),
    ...options.limits,
  })

  return {
    name,
    provider: PROVIDER,
    address,
    get facts() {
      // an unknown model on this machine: most such servers have one slot
      return !known.known && isOnThisMachine(baseURL) ? { slots: 1, ...known.facts } : known.facts
    },

    stream(request: ModelRequest, { signal, limits, attempts: watch, previous, ...caching }: StreamOptions = {}) {
      const { asked, body: bare } = withoutBetas(request)
      const body = placeBreakpoints({ ...bare, model: requestModelName(request.model) }, caching)
      return withRetries({
        ...options,
        provider: PROVIDER,
        signal,
        attempts: watch,
        attempt: (attempts) =>
          fitOutput(body, {
            attempt: (fitting) =>
              diagnosis.ask({ request: fitting, previous: known.known ? previous : undefined }, (sent) =>
                attempt(sent, { attempts, asked, signal, limits, watch }),
              ),
            watch,
          }),
      })
    },

    async warm(request, { signal, ...caching } = {}) {
      if (!maySendWithoutOutput(request)) return undefined
      const { asked, body: bare } = withoutBetas(request)
      const placed = placeBreakpoints({ ...bare, model: requestModelName(request.model) }, caching)
      const body = { ...placed, max_tokens: 0 }
      try {
        const { messages } = await connect()
        const sending = { timeout: SIDE_REQUEST_MS, ...requestOptions(body, { asked, signal }) }
        const { id, model, usage } = await messages.create(body, sending)
        return { id, model, usage: usage as Usage }
      } catch (error) {
        throw explain(error, { attempts: 1, signal })
      }
    },

    async count(request, { signal } = {}) {
      const body = countedPart(request)
      try {
        const { messages } = await connect()
        const { asked } = withoutBetas(request)
        const sending = { timeout: SIDE_REQUEST_MS, ...requestOptions(body, { asked, signal }) }
        return (await messages.countTokens(body, sending)).input_tokens
      } catch (error) {
        throw explain(error, { attempts: 1, signal })
      }
    },

    sibling: (other) => anthropicModel({ ...options, model: other }),

    async learn({ signal } = {}) {
      const assumed = known
      if (assumed.known) return assumed
      try {
        const { models } = await connect()
        const sending = { maxRetries: 0, timeout: SIDE_REQUEST_MS, ...(signal ? { signal } : {}) }
        const info = await models.retrieve(requestModelName(name), {}, sending)
        known = { known: true, facts: factsFrom(info, assumed.facts) }
        return known
      } catch (thrown) {
        const error = explain(thrown, { attempts: 1, signal })
        if (!(error instanceof ModelError) || error instanceof ModelAbortedError) throw error
        return { ...assumed, notice: `${assumed.notice} Asked about it, the API said: "${error.providerMessage}"` }
      }
    },
  }
}

interface ClientOptions {
  readonly credentials: Credentials | undefined
  readonly baseURL: string | undefined
  readonly timeoutMs: number | undefined
}

async function createClient({ credentials, baseURL, timeoutMs }: ClientOptions): Promise<SdkClient> {
  // without a key, the SDK would search for credentials on this machine
  if (!credentials) throw new MissingKeyError(PROVIDER)
  const { Anthropic } = await import("@anthropic-ai/sdk")
  return new Anthropic({
    apiKey: null, // only one of the two, never also the other from the environment
    authToken: null,
    ...credentials,
    ...(baseURL === undefined ? {} : { baseURL: withoutVersion(baseURL) }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    maxRetries: 0,
    openTelemetry: false, // we create our own spans
    logLevel: "off", // everything it would print, it also throws
  })
}

/** Whether the API accepts the request with `max_tokens: 0`. It refuses if the response must contain something. */
function maySendWithoutOutput(request: ModelRequest): boolean {
  const { thinking, tool_choice: choice, output_config: config } = request
  const mustCall = choice?.type === "any" || choice?.type === "tool"
  return thinking?.type !== "enabled" && !mustCall && !config?.format
}

/** Betas are sent as a header, not in the body. */
function withoutBetas(request: ModelRequest): { readonly asked: readonly string[]; readonly body: ModelRequest } {
  const { betas: asked = [], ...body } = request as ModelRequest & RequestExtras
  return { asked, body: withoutProviderFields(body) }
}

/** Replaces the SDK's body if fields must be sent exactly as they were written. */
function exactBody(body: ModelRequest): readonly Middleware[] {
  if (!body.messages.some(hasExactText)) return []
  const text = serialiseRequest(body)
  return [(request, next) => next({ ...request, body: text })]
}

/** How much an event adds to the response. An empty chunk only shows that the stream is alive. */
function measureEvent(event: RawMessageStreamEvent): StreamChunk | undefined {
  switch (event.type) {
    case "message_start":
      return {}
    case "content_block_start":
      return { beginsBlock: true, characters: charactersIn(event.content_block) }
    case "content_block_delta": {
      const characters = charactersIn(event.delta)
      return characters > 0 ? { characters } : undefined
    }
    case "message_delta":
      return event.delta?.stop_reason ? { isLast: true } : undefined
    default:
      return undefined
  }
}

/** Number of characters in all fields except the type. */
const charactersIn = ({ type: _, ...fields }: { readonly type: string }): number =>
  Object.values<unknown>(fields).reduce<number>((sum, value) => sum + charactersOf(value), 0)

function charactersOf(value: unknown): number {
  if (typeof value === "string") return value.length
  return value === null || value === undefined ? 0 : JSON.stringify(value).length
}

/** The fields that affect a request's size. The counting endpoint refuses all others. */
const COUNTED_FIELDS = new Set([
  ...["model", "tools", "system", "messages"],
  ...["tool_choice", "thinking", "output_config", "context_management"],
])

function countedPart(request: ModelRequest): ModelRequest {
  const counted = Object.entries(withoutProviderFields(request)).filter(([field]) => COUNTED_FIELDS.has(field))
  return { ...(Object.fromEntries(counted) as unknown as ModelRequest), model: requestModelName(request.model) }
}

/** Reads an error of any copy of the SDK. */
function readFailure(error: unknown): ProviderFailure | undefined {
  const { status, type, errorCode, apiMessage, message, requestID, headers } = (error ?? {}) as Partial<APIError>
  if (status === undefined && !type && !headers) return undefined // no response at all: a network failure
  return {
    status,
    type: type ?? undefined,
    code: errorCode ?? undefined,
    message: apiMessage ?? message ?? "",
    requestId: requestID ?? undefined,
    header: (name) => headers?.get(name) ?? undefined,
  }
}
