/**
 * Collects a streamed response and reports content while it arrives. Unknown blocks and fields are passed on unchanged. Tool inputs keep
 * the model's own spelling: their text is parsed only when the response is complete.
 */

import type { Middleware } from "@anthropic-ai/sdk"
import type { MessageDeltaUsage, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages"
import type { Usage } from "../../messages/messages.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { InvalidModelRequestError, ModelError } from "../errors.ts"
import type { ModelEvent, ModelResponse, RateLimit } from "../model.ts"
import { withInputText } from "../tool-input-text.ts"

type Delta = Extract<RawMessageStreamEvent, { type: "content_block_delta" }>["delta"]

/** A block while it is being streamed. */
interface GrowingBlock {
  readonly block: Record<string, unknown> & { readonly type: string }
  /** The input of a call so far. `undefined` before the first chunk. */
  inputText: string | undefined
}

export class MessageCollector {
  readonly #blocks = new Map<number, GrowingBlock>()
  #message: (Record<string, unknown> & { usage: Usage; stop_reason: string | null }) | undefined

  /** Takes the next event of the stream. */
  take(event: RawMessageStreamEvent): ModelEvent | undefined {
    switch (event.type) {
      case "message_start":
        this.#message = { ...event.message, usage: event.message.usage }
        return undefined
      case "content_block_start": {
        const block = { ...event.content_block } as GrowingBlock["block"]
        this.#blocks.set(event.index, { block, inputText: undefined })
        return announce(block)
      }
      case "content_block_delta": {
        const growing = this.#blocks.get(event.index)
        return growing && grow(growing, event.delta)
      }
      case "message_delta": {
        const { type: _, delta, usage, ...rest } = event
        if (this.#message) {
          this.#message = { ...this.#message, ...rest, ...delta, usage: mergeUsage(this.#message.usage, usage) }
        }
        return undefined
      }
      default:
        return undefined
    }
  }

  /** The complete response. `undefined` if the stream ended early. */
  response(): ModelResponse | undefined {
    return this.#message?.stop_reason === null ? undefined : this.partialResponse()
  }

  /** The response so far. `undefined` if it has not started. */
  partialResponse(): ModelResponse | undefined {
    const message = this.#message
    if (!message) return undefined
    const content = [...this.#blocks.values()].map(({ block, inputText }) =>
      inputText === undefined
        ? block
        : withInputText({ input: {}, ...block }, { text: inputText, stopReason: message.stop_reason }),
    )
    return { ...message, content } as unknown as ModelResponse
  }
}

/** A call is reported as soon as it starts. Its input follows in chunks. */
function announce({ type, id, name }: GrowingBlock["block"]): ModelEvent | undefined {
  return type === "tool_use" ? { type: "tool-input", id: String(id), name: String(name), text: "" } : undefined
}

function grow(growing: GrowingBlock, delta: Delta): ModelEvent | undefined {
  const { block } = growing
  switch (delta.type) {
    case "text_delta":
      block.text = `${block.text ?? ""}${delta.text}`
      return { type: "text", text: delta.text }
    case "thinking_delta":
      block.thinking = `${block.thinking ?? ""}${delta.thinking}`
      return { type: "thinking", text: delta.thinking }
    case "input_json_delta":
      growing.inputText = `${growing.inputText ?? ""}${delta.partial_json}`
      if (block.type !== "tool_use" || delta.partial_json === "") return undefined
      return { type: "tool-input", id: String(block.id), name: String(block.name), text: delta.partial_json }
    case "citations_delta":
      block.citations = [...((block.citations as unknown[] | null) ?? []), delta.citation]
      return undefined
    default: {
      // signatures and compaction blocks (a beta) arrive complete, under the names of their fields
      const { type: _, ...fields } = delta as object as Record<string, unknown>
      Object.assign(block, fields)
      return undefined
    }
  }
}

/** Merges the two usage reports of a response. The later counts are final; counts that it omits keep their earlier value. */
function mergeUsage(first: Usage, last: MessageDeltaUsage): Usage {
  return { ...first, ...Object.fromEntries(Object.entries(last).filter(([, value]) => value !== null)) }
}

// Data of a response that the SDK does not expose: the account's limits in the headers, and the bytes of a stream as they arrive. The SDK
// hides pings; without them, a silent connection looks like one that only waits for content.

const KINDS = {
  requests: "requests",
  tokens: "tokens",
  "input-tokens": "input tokens",
  "output-tokens": "output tokens",
}

/** Passes on the limits of each response. Without such headers, it passes nothing on. */
export const watchLimits =
  (onLimits: (limits: readonly RateLimit[]) => void): Middleware =>
  async (request, next) => {
    const response = await next(request)
    onLimits(readLimits(response.headers))
    return response
  }

function readLimits(headers: Headers): readonly RateLimit[] {
  return Object.entries(KINDS).flatMap(([kind, what]) => {
    const header = (name: string) => headers.get(`anthropic-ratelimit-${kind}-${name}`) ?? ""
    const [limit, remaining, resets] = [header("limit"), header("remaining"), new Date(header("reset"))]
    if (!/^\d+$/.test(limit) || !/^\d+$/.test(remaining) || Number.isNaN(resets.getTime())) return []
    return [{ what, limit: Number(limit), remaining: Number(remaining), resets }]
  })
}

const STREAM_TYPE = /^text\/event-stream\b/i

export const watchBody =
  (onBytes: (count: number) => void): Middleware =>
  async (request, next) => {
    const response = await next(request)
    if (!response.body) return response
    const type = response.headers.get("content-type") ?? "no content type"
    if (response.ok && !STREAM_TYPE.test(type)) {
      await response.body.cancel()
      throw new InvalidModelRequestError({
        provider: "anthropic",
        status: response.status,
        providerMessage: `the address answers with ${type}, not with a stream of events. Check the address`,
      })
    }
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          onBytes(chunk.byteLength)
          controller.enqueue(chunk)
        },
      }),
    )
    return new Response(counted, response)
  }

// Asks the provider why its cache lost what an earlier request had left. A server that does not know the field refuses the request: it is
// then sent without the field, like all later ones. A refusal comes before the first event, so no event is repeated.

export class CacheDiagnosis {
  #isKnown = true

  /** `previous` is the id of the preceding response. */
  async *ask(
    { request, previous }: { readonly request: ModelRequest; readonly previous: string | undefined },
    attempt: (request: ModelRequest) => AsyncIterable<ModelEvent>,
  ): AsyncGenerator<ModelEvent> {
    if (previous === undefined || !this.#isKnown) return yield* attempt(request)
    try {
      yield* attempt({ ...request, diagnostics: { previous_message_id: previous } })
    } catch (error) {
      if (!(error instanceof ModelError) || !/diagnostics|previous_message_id/.test(error.providerMessage ?? ""))
        throw error
      this.#isKnown = false
      yield* attempt(request)
    }
  }
}
