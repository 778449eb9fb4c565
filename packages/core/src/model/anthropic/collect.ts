/**
 * Collects a streamed answer and reports what a person may want to see at once. Unknown blocks and fields are passed on whole. Tool inputs
 * keep the model's own spelling: their text is collected and parsed only when the answer is complete.
 */
import type { MessageDeltaUsage, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages"
import type { Usage } from "../../messages/messages.ts"
import type { ModelEvent, ModelResponse } from "../model.ts"
import { withInputText } from "../tool-input-text.ts"

type Delta = Extract<RawMessageStreamEvent, { type: "content_block_delta" }>["delta"]

/** A block while it is being streamed. */
interface GrowingBlock {
  readonly block: Record<string, unknown> & { readonly type: string }
  /** The input of a call so far; `undefined` before the first piece. */
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
          this.#message = { ...this.#message, ...rest, ...delta, usage: newest(this.#message.usage, usage) }
        }
        return undefined
      }
      default:
        return undefined
    }
  }

  /** The whole answer; `undefined` where the stream ended early. */
  response(): ModelResponse | undefined {
    return this.#message?.stop_reason === null ? undefined : this.soFar()
  }

  /** The answer as far as it came; `undefined` where it has not begun. */
  soFar(): ModelResponse | undefined {
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

/** A call is reported as soon as it begins. Its input follows in pieces. */
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
      // signatures and compaction blocks (a beta) come whole, under the names of the fields they fill
      const { type: _, ...fields } = delta as object as Record<string, unknown>
      Object.assign(block, fields)
      return undefined
    }
  }
}

/** Counts arrive twice. The later ones are final; what they leave out keeps its earlier value. */
function newest(first: Usage, last: MessageDeltaUsage): Usage {
  return { ...first, ...Object.fromEntries(Object.entries(last).filter(([, value]) => value !== null)) }
}
