/**
 * The Model port: what the loop needs from a model of any provider. A model streams the answer to a request and says what it can do. It also
 * retries, recognises errors and places cache breakpoints, so the loop does not have to.
 */
import type { CacheLifetime, RequestSource } from "../base/vocabulary.ts"
import type { Usage } from "../messages/messages.ts"
import type { ModelRequest } from "../messages/request.ts"
import { type ModelAccepts, type ModelFacts, OFFLINE_MODEL_FACTS } from "../tokens/model-facts.ts"
import type { ModelLookup } from "../tokens/models.ts"
import type { StreamLimits } from "./stream-limits.ts"

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
  readonly attempts?: AttemptWatch
}

/** Follows the attempts of a request. A model that does not tell is counted by estimates where an answer ends early. */
export interface AttemptWatch {
  /** An attempt is sent now. Before all but the first there was a pause, in which the person may leave. */
  sending(): void
  /** The server has begun to answer, and says what the input is billed as. */
  begun(answer: Pick<ModelResponse, "id" | "model" | "usage">): void
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
