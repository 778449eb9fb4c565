/**
 * The Model port: what the loop needs from a model of any provider. A model streams responses and describes its capabilities. It also
 * retries, recognizes errors and places cache breakpoints, so that the loop does not have to.
 */

import type { CacheLifetime, RequestSource } from "../base/enums.ts"
import type { RequestTrace, Telemetry } from "../base/telemetry.ts"
import type { Usage } from "../messages/messages.ts"
import type { ModelRequest } from "../messages/request.ts"
import {
  type ModelAccepts,
  type ModelFacts,
  type ModelLookup,
  OFFLINE_MODEL_FACTS,
  tokenCounts,
} from "../tokens/models.ts"
import { ModelError } from "./errors.ts"

export interface Model {
  /** The name that the user gave. */
  readonly name: string
  readonly provider: string
  /** The server's address without secrets. A limit learned from a refusal applies to this model at this address. */
  readonly address?: string
  /** Window, output, prices and accepted features. */
  readonly facts: ModelFacts
  /** Request features that the model accepts but this adapter does not pass on. */
  readonly omits?: readonly (keyof ModelAccepts)[]
  /** Streams the response; the last event is `response`. Throws a `ModelError` if no response arrives. */
  stream(request: ModelRequest, options?: StreamOptions): AsyncIterable<ModelEvent>
  /**
   * Repeats a request without output, so that the server keeps its cached prefix for longer. Absent if the provider has no such request.
   * Resolves with `undefined` if this request cannot be sent that way.
   */
  warm?(request: ModelRequest, options?: WarmOptions): Promise<WarmResponse | undefined>
  /** Counts the tokens of a request, if the provider can. */
  count?(request: ModelRequest, options?: { readonly signal?: AbortSignal }): Promise<number>
  /** Another model of the same provider, with the same client and options. */
  sibling?(name: string): Model
  /** Looks up a model that is not in the built-in table at the provider. `facts` contains the result from then on. */
  learn?(options?: { readonly signal?: AbortSignal }): Promise<ModelLookup>
}

/** Time limits of a response, in milliseconds. */
export interface StreamLimits {
  /** Maximum time until the response starts. */
  readonly firstTokenMs: number
  /** Maximum silence of the connection, once it has sent something. */
  readonly idleMs: number
  /** Maximum time without new content, on a connection that is still alive. */
  readonly stallMs: number
  /** Maximum time for the entire response. */
  readonly responseMs: number
}

/** Options for sending a request. */
export interface StreamOptions {
  readonly signal?: AbortSignal
  /** False for forks that share the parent's cache: they write no entries of their own. */
  readonly writesCache?: boolean
  /** For a fork with several requests: how many leading messages are the parent's. */
  readonly sharedMessages?: number
  /** How long the server caches. Default: five minutes. */
  readonly lifetime?: CacheLifetime
  /** The purpose of a request outside the conversation, for telemetry. */
  readonly purpose?: RequestSource
  /** Time limits. The model's own options take precedence. */
  readonly limits?: Partial<StreamLimits>
  /** The id of the preceding response. If the provider can explain a cache miss after it, it is asked to. */
  readonly previous?: string
  /** Is notified of each attempt and its cost, even if the attempt ends early. */
  readonly attempts?: AttemptObserver
}

/** Observes the attempts of a request. For a model that does not report them, responses that end early are estimated. */
export interface AttemptObserver {
  /** An attempt is sent now. Retries are preceded by a pause, in which the user may interrupt. */
  sending(): void
  /** The response has started, with the billed input usage. */
  started(answer: Pick<ModelResponse, "id" | "model" | "usage">): void
  failed(error: unknown): void
  /** The server refused the requested output size. The attempt continues with a smaller one. */
  refused?(error: unknown): void
}

/** Options of a keep-warm request. */
export type WarmOptions = Pick<StreamOptions, "signal" | "lifetime" | "writesCache" | "sharedMessages">

/** Usage of a keep-warm request. */
export type WarmResponse = Pick<ModelResponse, "id" | "model" | "usage">

/** Events of a streamed response. */
export type ModelEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /** A chunk of a tool call's input, as JSON text. */
  | { readonly type: "tool-input"; readonly id: string; readonly name: string; readonly text: string }
  /** The attempt failed and will be repeated. Discard what it streamed. */
  | { readonly type: "retry"; readonly attempt: number; readonly delayMs: number; readonly reason: string }
  | { readonly type: "response"; readonly response: ModelResponse; readonly limits?: readonly RateLimit[] }

/** The remaining amount of one of the account's limits, if the provider reports it. */
export interface RateLimit {
  /** What is limited, in the plural: `requests`, `input tokens`. */
  readonly what: string
  readonly limit: number
  readonly remaining: number
  /** When the full limit is available again. */
  readonly resets: Date
}

/** Whether the model only quotes. Layers then write nothing that could be taken for a model's own text. */
export const isOffline = ({ name }: Pick<Model, "name">): boolean => name === OFFLINE_MODEL_FACTS.id

/** A complete response, compatible with the official SDK's type. */
export interface ModelResponse {
  readonly id: string
  readonly model: string
  /** Tool inputs keep the model's own spelling where it matters. */
  readonly content: readonly unknown[]
  readonly stop_reason: string | null
  readonly stop_sequence?: string | null
  readonly usage: Usage
  /** Edits that the server made in its copy of the request, if requested. */
  readonly context_management?: { readonly applied_edits?: readonly unknown[] } | null
  /** The provider's explanation of a cache miss, if requested. */
  readonly diagnostics?: unknown
}

// Wraps the requests of a model. Everything else is passed through.

export interface ModelWrapper {
  readonly stream: Model["stream"]
  /** Default: the wrapped model's. Ignored if the wrapped model has none. */
  readonly warm?: NonNullable<Model["warm"]>
  /** Wraps another model of the same provider in the same way. */
  readonly wrapSibling: (sibling: Model) => Model
}

export function wrapModel(model: Model, { stream, warm, wrapSibling }: ModelWrapper): Model {
  const { sibling, learn, count } = model
  return {
    name: model.name,
    provider: model.provider,
    // looking the model up may change them
    get facts() {
      return model.facts
    },
    ...(model.address ? { address: model.address } : {}),
    ...(model.omits ? { omits: model.omits } : {}),
    stream,
    ...(model.warm ? { warm: warm ?? model.warm.bind(model) } : {}),
    ...(count ? { count: count.bind(model) } : {}),
    ...(sibling ? { sibling: (name) => wrapSibling(sibling.call(model, name)) } : {}),
    ...(learn ? { learn: learn.bind(model) } : {}),
  }
}

// Repeats a request with less output if the server refuses only the output size, as small and local models do. A refusal comes before the
// first event, so no event is repeated.

interface FitOutputOptions {
  readonly attempt: (request: ModelRequest) => AsyncIterable<ModelEvent>
  readonly watch?: AttemptObserver | undefined
}

export async function* fitOutput(
  request: ModelRequest,
  { attempt, watch }: FitOutputOptions,
): AsyncGenerator<ModelEvent> {
  try {
    yield* attempt(request)
  } catch (error) {
    const max = error instanceof ModelError ? error.maxOutput : undefined
    if (max === undefined || max >= request.max_tokens) throw error
    watch?.refused?.(error)
    yield* attempt({ ...request, max_tokens: max })
  }
}

// A local server often has one slot: it processes one request at a time and caches one prefix. Background work would delay the user, so it
// waits until no query runs, and is aborted when the next query starts. Its request is then sent again.

/** Sources of requests that the user does not wait for. */
const BACKGROUND_SOURCES: ReadonlySet<RequestSource> = new Set(["notes", "memory", "dream", "progress"])

/** AI SDK providers that run on the user's own machine. */
const LOCAL_PROVIDER = /^(?:ollama|llama|llamacpp|lm-?studio)\b/i

const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)

/** Whether the address is on this machine. */
export const isOnThisMachine = (address: string | undefined): boolean =>
  address !== undefined && URL.canParse(address) && isLoopback(new URL(address))

/** How many requests the model's server processes at a time. `undefined`: many. */
export const modelSlots = ({ facts, provider }: Pick<Model, "facts" | "provider">, set?: number): number | undefined =>
  set ?? facts.slots ?? (LOCAL_PROVIDER.test(provider) ? 1 : undefined)

/** Gives the slot to the queries of a conversation or to background work. */
export class RequestSlot {
  #queries = 0
  /** Aborted when a query starts. */
  #lent = new AbortController()
  #freed = Promise.withResolvers<void>()

  /** Called when a query starts. Returns a function that ends it. */
  claim(): () => void {
    this.#queries++
    this.#lent.abort(new Error("the conversation goes on"))
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      if (--this.#queries > 0) return
      this.#lent = new AbortController()
      this.#freed.resolve()
      this.#freed = Promise.withResolvers()
    }
  }

  /** Resolves when no query runs, with a signal that aborts when the next one starts. */
  async waitUntilIdle(signal: AbortSignal): Promise<AbortSignal> {
    while (this.#queries > 0) {
      signal.throwIfAborted()
      const { promise, reject } = Promise.withResolvers<never>()
      const stop = () => reject(signal.reason)
      signal.addEventListener("abort", stop, { once: true })
      await Promise.race([this.#freed.promise, promise]).finally(() => signal.removeEventListener("abort", stop))
    }
    return this.#lent.signal
  }
}

export function singleSlotModel(model: Model, slot: RequestSlot): Model {
  return wrapModel(model, {
    stream: (request, options = {}) =>
      options.purpose && BACKGROUND_SOURCES.has(options.purpose)
        ? streamWhenFree(model, { request, options, slot })
        : model.stream(request, options),
    wrapSibling: (sibling) => singleSlotModel(sibling, slot),
  })
}

interface BackgroundRequest {
  readonly request: ModelRequest
  readonly options: StreamOptions
  readonly slot: RequestSlot
}

async function* streamWhenFree(
  model: Model,
  { request, options, slot }: BackgroundRequest,
): AsyncGenerator<ModelEvent> {
  const own = options.signal ?? new AbortController().signal
  for (let attempt = 1; ; attempt++) {
    const lent = await slot.waitUntilIdle(own)
    try {
      return yield* model.stream(request, { ...options, signal: AbortSignal.any([own, lent]) })
    } catch (error) {
      if (own.aborted || !lent.aborted) throw error
      yield { type: "retry", attempt, delayMs: 0, reason: "the conversation goes on" }
    }
  }
}

// A model whose requests appear in telemetry, with one span each: from sending to the complete response or the failure.

export interface TracingOptions {
  readonly telemetry: Telemetry
  /** The conversation that the requests belong to. */
  readonly conversation: () => string
  /** The id of the current context. */
  readonly context: () => string | undefined
  /** The purpose of requests that do not specify one. Default: `main`. */
  readonly source?: RequestSource | undefined
}

/** The model inside each traced model. A sub-agent gets its lead's model, and its requests must not be counted twice. */
const untraced = new WeakMap<Model, Model>()

export function tracedModel(given: Model, tracing: TracingOptions): Model {
  const model = untraced.get(given) ?? given
  const traced = wrapModel(model, {
    stream: (request, options) => traceStream(model, { request, options, tracing }),
    warm: (request, options) => traceWarm(model, { request, options, tracing }),
    wrapSibling: (sibling) => tracedModel(sibling, tracing),
  })
  untraced.set(traced, model)
  return traced
}

interface TracedRequest {
  readonly request: ModelRequest
  readonly options: StreamOptions | undefined
  readonly tracing: TracingOptions
}

function startTrace(model: Model, { request, options, tracing }: TracedRequest): RequestTrace {
  return tracing.telemetry.request({
    conversation: tracing.conversation(),
    model: model.name,
    provider: model.provider,
    maxTokens: request.max_tokens,
    purpose: options?.purpose ?? tracing.source ?? "main",
    context: tracing.context(),
    input: () => request.messages,
  })
}

async function traceWarm(
  model: Model,
  { request, options, tracing }: TracedRequest,
): Promise<WarmResponse | undefined> {
  const asked = { ...options, purpose: "keep-warm" as const }
  const trace = startTrace(model, { request: { ...request, max_tokens: 0 }, options: asked, tracing })
  try {
    const response = await model.warm?.(request, options)
    if (response) {
      const { id: responseId, model: responseModel, usage } = response
      trace.answered({ responseId, responseModel, counts: tokenCounts(usage), output: () => [] })
    }
    return response
  } catch (error) {
    trace.failed(error)
    throw error
  } finally {
    trace.abandoned()
  }
}

async function* traceStream(model: Model, sending: TracedRequest): ReturnType<Model["stream"]> {
  const { request, options } = sending
  const trace = startTrace(model, sending)
  try {
    for await (const event of model.stream(request, options)) {
      if (event.type === "response") {
        const { id, model: responseModel, stop_reason, usage, content } = event.response
        trace.answered({
          responseId: id,
          responseModel,
          ...(stop_reason ? { stopReason: stop_reason } : {}),
          ...(usage ? { counts: tokenCounts(usage) } : {}),
          output: () => content,
        })
      }
      yield event
    }
  } catch (error) {
    trace.failed(error)
    throw error
  } finally {
    trace.abandoned()
  }
}
