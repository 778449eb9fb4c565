/**
 * Collects an answer of the AI SDK into a response of the Messages API, and reports what a person may want to see at once. Blocks are in the
 * order in which they began. A provider's own tool calls and the sources it names are left out, because the format has no place for them.
 */
import type { Block, ToolUse } from "../../messages/blocks.ts"
import type { Usage } from "../../messages/messages.ts"
import type { ModelEvent, ModelResponse } from "../model.ts"
import { withInputText } from "../tool-input-text.ts"
import type { FinishPart, ProviderOptions, StreamPart } from "./interface.ts"
import { toCarrier, toThinking } from "./provider-notes.ts"

interface Growing {
  readonly kind: "text" | "reasoning" | "call"
  readonly id: string
  readonly name: string
  text: string
  notes: ProviderOptions | undefined
}

/** The stop reason in terms of the Messages API. `error` and `interrupted` do not end an answer. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  "tool-calls": "tool_use",
  "content-filter": "refusal",
}
/** Claude's own stop reasons, which the AI SDK has no name for. */
const PASSED_ON = new Set(["pause_turn", "model_context_window_exceeded", "stop_sequence", "refusal"])

export class PartCollector {
  readonly #parts = new Map<string, Growing>()
  #finish: FinishPart | undefined
  #id = ""
  #model: string

  constructor(model: string) {
    this.#model = model
  }

  take(part: StreamPart): ModelEvent | undefined {
    switch (part.type) {
      case "response-metadata":
        this.#id = part.id ?? this.#id
        this.#model = part.modelId ?? this.#model
        return undefined
      case "text-start":
      case "text-end":
        this.#grow("text", part)
        return undefined
      case "text-delta":
        this.#grow("text", part).text += part.delta
        return { type: "text", text: part.delta }
      case "reasoning-start":
      case "reasoning-end":
        this.#grow("reasoning", part)
        return undefined
      case "reasoning-delta":
        this.#grow("reasoning", part).text += part.delta
        return { type: "thinking", text: part.delta }
      case "tool-input-start":
        if (part.providerExecuted) return undefined
        return inputEvent(this.#grow("call", { ...part, name: part.toolName }), "")
      case "tool-input-delta": {
        const call = this.#parts.get(key("call", part.id))
        if (!call) return undefined
        call.text += part.delta
        return inputEvent(call, part.delta)
      }
      case "tool-call":
        return part.providerExecuted ? undefined : this.#takeCall(part)
      case "finish":
        this.#finish = part
        return undefined
      default:
        return undefined
    }
  }

  /** The whole answer; `undefined` where the stream ended early. `estimate` counts where the provider does not. */
  response(estimate: (content: readonly Block[]) => Usage): ModelResponse | undefined {
    const finish = this.#finish
    if (!finish || finish.finishReason.unified === "error" || finish.finishReason.unified === "interrupted") {
      return undefined
    }
    const parts = [...this.#parts.values()]
    const stopReason = stopReasonOf(finish, parts)
    const content = parts.flatMap((part) => toBlocks(part, stopReason))
    return {
      id: this.#id,
      model: this.#model,
      content,
      stop_reason: stopReason,
      stop_sequence: null,
      usage: usageOf(finish) ?? estimate(content),
    }
  }

  /** A call arrives whole at its end. Providers that do not stream inputs report it only here. */
  #takeCall(part: Extract<StreamPart, { type: "tool-call" }>): ModelEvent | undefined {
    const isNew = !this.#parts.has(key("call", part.toolCallId))
    const call = this.#grow("call", { ...part, id: part.toolCallId, name: part.toolName })
    call.text = part.input
    return isNew ? inputEvent(call, part.input) : undefined
  }

  #grow(kind: Growing["kind"], { id, name = "", providerMetadata }: Noted): Growing {
    const part = this.#parts.get(key(kind, id)) ?? { kind, id, name, text: "", notes: undefined }
    part.notes = mergeNotes(part.notes, providerMetadata)
    this.#parts.set(key(kind, id), part)
    return part
  }
}

interface Noted {
  readonly id: string
  readonly name?: string
  readonly providerMetadata?: ProviderOptions
}

/** Ids are unique among parts of one kind. */
const key = (kind: Growing["kind"], id: string) => `${kind} ${id}`

const inputEvent = ({ id, name }: Growing, text: string): ModelEvent => ({ type: "tool-input", id, name, text })

function mergeNotes(first: ProviderOptions | undefined, more: ProviderOptions | undefined) {
  if (!first || !more) return first ?? more
  const providers = Object.keys({ ...first, ...more })
  return Object.fromEntries(providers.map((name) => [name, { ...first[name], ...more[name] }]))
}

function toBlocks({ kind, id, name, text, notes }: Growing, stopReason: string): readonly Block[] {
  switch (kind) {
    case "text":
      return text === "" ? [] : [...toCarrier(notes), { type: "text", text }]
    case "reasoning":
      return [toThinking(text, notes)].filter((block) => block !== undefined)
    case "call":
      return [
        ...toCarrier(notes),
        withInputText<ToolUse>({ type: "tool_use", id, name, input: {} }, { text, stopReason }),
      ]
  }
}

function stopReasonOf({ finishReason: { unified, raw } }: FinishPart, parts: readonly Growing[]): string {
  if (raw !== undefined && PASSED_ON.has(raw)) return raw
  const reason = STOP_REASONS[unified] ?? "end_turn"
  // some providers report a plain stop when they call a tool
  return reason === "end_turn" && parts.some(({ kind }) => kind === "call") ? "tool_use" : reason
}

/** The AI SDK includes cached tokens in input, the Messages API does not. `undefined` where the provider did not count. */
function usageOf({ usage: { inputTokens, outputTokens } }: FinishPart): Usage | undefined {
  const { total, noCache, cacheRead = 0, cacheWrite = 0 } = inputTokens
  const input = noCache ?? (total === undefined ? undefined : total - cacheRead - cacheWrite)
  if (input === undefined || outputTokens.total === undefined) return undefined
  return {
    input_tokens: Math.max(0, input),
    output_tokens: outputTokens.total,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  }
}
