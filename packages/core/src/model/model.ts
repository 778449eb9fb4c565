/**
 * The Model port: what the loop needs from a model of any provider. A model streams the answer to a request and says what it can do. It also
 * retries, recognises errors and places cache breakpoints, so the loop does not have to.
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
  /** As the user named it. */
  readonly name: string
  readonly provider: string
  /** Where requests go, without anything secret. A limit that a refusal shows holds for this model at this address. */
  readonly address?: string
  /** Window, output, prices, what a request may carry. */
  readonly facts: ModelFacts
  /** Request features that the model accepts but this adapter does not pass on. */
  readonly omits?: readonly (keyof ModelAccepts)[]
  /** Streams the answer; the last event is the `response`. Throws a `ModelError` if no answer comes. */
  stream(request: ModelRequest, options?: StreamOptions): AsyncIterable<ModelEvent>
  /**
   * Sends a request once more and asks for no output, so that the server keeps what it cached of it for longer. Absent where the provider
   * has no such request. Resolves with nothing where this one cannot be sent that way.
   */
  warm?(request: ModelRequest, options?: WarmOptions): Promise<WarmResponse | undefined>
  /** The size of a request in tokens, where the provider counts. */
  count?(request: ModelRequest, options?: { readonly signal?: AbortSignal }): Promise<number>
  /** Another model of the same provider, with the same client and options. */
  sibling?(name: string): Model
  /** Asks the provider about a model that is not in the built-in table. The answer is in `facts` from then on. */
  learn?(options?: { readonly signal?: AbortSignal }): Promise<ModelLookup>
}

/** Times in milliseconds. */
export interface StreamLimits {
  /** The longest wait for an answer to begin. */
  readonly firstTokenMs: number
  /** The longest silence of the connection, once it has sent something. */
  readonly idleMs: number
  /** The longest time without a new piece of the answer, on a connection that still sends signs of life. */
  readonly stallMs: number
  /** The longest time for one answer. */
  readonly responseMs: number
}

/** How to send a request. */
export interface StreamOptions {
  readonly signal?: AbortSignal
  /** Forks that share the parent's cache write no entries of their own. */
  readonly writesCache?: boolean
  /** In a fork that makes several requests: how many of its messages, from the first, are the parent's. */
  readonly sharedMessages?: number
  /** How long the server keeps what it caches. Default: five minutes. */
  readonly lifetime?: CacheLifetime
  /** What a request beside the conversation is for. For telemetry. */
  readonly purpose?: RequestSource
  /** How long the model may take. What its own options say comes first. */
  readonly limits?: Partial<StreamLimits>
  /** The id of the answer before. Where the provider can say why its cache lost what that request left, it is asked. */
  readonly previous?: string
  /** Learns what each attempt costs, also one that ends early. */
  readonly attempts?: AttemptObserver
}

/** Follows the attempts of a request. A model that does not tell is counted by estimates where an answer ends early. */
export interface AttemptObserver {
  /** An attempt is sent now. Before all but the first there was a pause, in which the person may leave. */
  sending(): void
  /** The server has begun to answer, and says what the input is billed as. */
  started(answer: Pick<ModelResponse, "id" | "model" | "usage">): void
  failed(error: unknown): void
  /** The server refused the size of the answer. The attempt goes on with a smaller one. */
  refused?(error: unknown): void
}

/** How to keep a cache warm. */
export type WarmOptions = Pick<StreamOptions, "signal" | "lifetime" | "writesCache" | "sharedMessages">

/** What keeping the cache warm was billed as. */
export type WarmResponse = Pick<ModelResponse, "id" | "model" | "usage">

/** What a model streams. */
export type ModelEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /** A piece of a tool call's input, as JSON text. */
  | { readonly type: "tool-input"; readonly id: string; readonly name: string; readonly text: string }
  /** The attempt failed and will be repeated. Discard what was streamed of it. */
  | { readonly type: "retry"; readonly attempt: number; readonly delayMs: number; readonly reason: string }
  | { readonly type: "response"; readonly response: ModelResponse; readonly limits?: readonly RateLimit[] }

/** What is left of one of the account's limits, where the provider says so with its answers. */
export interface RateLimit {
  /** In the plural: `requests`, `input tokens`. */
  readonly what: string
  readonly limit: number
  readonly remaining: number
  /** When all of it is there again. */
  readonly resets: Date
}

/** Whether a model only quotes. Layers then write nothing that a reader could take for a model's own words. */
export const isOffline = ({ name }: Pick<Model, "name">): boolean => name === OFFLINE_MODEL_FACTS.id

/** A whole response. The official SDK's response fits. */
export interface ModelResponse {
  readonly id: string
  readonly model: string
  /** Tool inputs keep the model's own spelling where it matters. */
  readonly content: readonly unknown[]
  readonly stop_reason: string | null
  readonly stop_sequence?: string | null
  readonly usage: Usage
  /** What the server cleared from its own copy of the request, where it was asked to. */
  readonly context_management?: { readonly applied_edits?: readonly unknown[] } | null
  /** What the provider says about a lost cache, where it was asked. */
  readonly diagnostics?: unknown
}

// A model that does something around the requests of another one. Everything else is the other's.

export interface ModelWrapper {
  readonly stream: Model["stream"]
  /** Default: the other's. It counts only where the other has one. */
  readonly warm?: NonNullable<Model["warm"]>
  /** Does the same around another model of the provider. */
  readonly wrapSibling: (sibling: Model) => Model
}

export function wrapModel(model: Model, { stream, warm, wrapSibling }: ModelWrapper): Model {
  const { sibling, learn, count } = model
  return {
    name: model.name,
    provider: model.provider,
    // learning may change them
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

// Asks again with less output where a server refuses only the size of the answer: small and local models have less room than was asked for.
// A refusal comes before the first event, so nothing is sent twice.

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

// A local server often has one slot: it works on one request at a time and remembers one prefix. Work in the background would make the person
// wait for it, so it waits until no query runs, and gives the slot up when the next one begins. What it sent is then sent again.

/** The person does not wait for these. */
const BACKGROUND_SOURCES: ReadonlySet<RequestSource> = new Set(["notes", "memory", "dream", "progress"])

/** Providers of the AI SDK that stand for a server on the person's own machine. */
const LOCAL_PROVIDER = /^(?:ollama|llama|llamacpp|lm-?studio)\b/i

const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)

/** Whether requests to this address go to a program on this machine. */
export const isOnThisMachine = (address: string | undefined): boolean =>
  address !== undefined && URL.canParse(address) && isLoopback(new URL(address))

/** How many requests the model's server works on at a time. `undefined`: many. */
export const modelSlots = ({ facts, provider }: Pick<Model, "facts" | "provider">, set?: number): number | undefined =>
  set ?? facts.slots ?? (LOCAL_PROVIDER.test(provider) ? 1 : undefined)

/** Who has the slot: the queries of a conversation, or work in the background. */
export class RequestSlot {
  #queries = 0
  /** Aborted when a query begins. */
  #lent = new AbortController()
  #freed = Promise.withResolvers<void>()

  /** A query begins. Returns a function that ends it. */
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

  /** Resolves when no query runs, with a signal that ends when one begins. */
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

// A model whose requests show up in telemetry: one span for each, from sending it to the whole answer or the failure.

export interface TracingOptions {
  readonly telemetry: Telemetry
  /** The conversation that the requests belong to. */
  readonly conversation: () => string
  /** The id of its present context. */
  readonly context: () => string | undefined
  /** What requests are for that do not say it themselves. Default: `main`. */
  readonly source?: RequestSource | undefined
}

/** What each traced model passes its requests to. A sub-agent gets its lead's model, and its requests must not be counted twice. */
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
