/**
 * Collects a response of the AI SDK into a response of the Messages API, and reports content while it streams. Blocks are in the order in
 * which they started. A provider's own tool calls and sources are omitted, because the format has no place for them. For a program that
 * sends the response back itself, each block equals the one in that message, with metadata for everything that has no place.
 */
import type { Block, ToolUse } from "../../messages/blocks.ts"
import type { Usage } from "../../messages/messages.ts"
import { usableUsage } from "../../messages/messages.ts"
import type { ModelEvent, ModelResponse } from "../model.ts"
import { withInputText } from "../tool-input-text.ts"
import { answerBlocks } from "./from-prompt.ts"
import type { FinishPart, ProviderOptions, StreamPart } from "./interface.ts"
import type { SentPart } from "./provider-metadata.ts"
import { toCarrier, toThinking } from "./reasoning-signatures.ts"

interface GrowingPart {
  readonly kind: "text" | "reasoning" | "call" | "whole"
  readonly id: string
  readonly name: string
  text: string
  notes: ProviderOptions | undefined
  /** Set when the call is complete. */
  isCalled?: boolean
  /** A part that is not streamed. */
  part?: SentPart
}

export interface CollectorOptions {
  /** Whether the program sends the response back as a message of its prompt. */
  readonly preservesParts?: boolean
}

/** Maps stop reasons to those of the Messages API. `error` and `interrupted` do not end a response. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  "tool-calls": "tool_use",
  "content-filter": "refusal",
}
/** Claude's own stop reasons, which the AI SDK does not translate. */
const PASSED_ON = new Set(["pause_turn", "model_context_window_exceeded", "stop_sequence", "refusal"])

export class PartCollector {
  readonly #parts = new Map<string, GrowingPart>()
  #finish: FinishPart | undefined
  #begun: Usage | undefined
  #id = ""
  #model: string

  readonly #keeps: boolean

  constructor(model: string, { preservesParts = false }: CollectorOptions = {}) {
    this.#model = model
    this.#keeps = preservesParts
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
        if (part.providerExecuted) return this.#takeWhole(part.toolCallId, executedCall(part))
        return this.#takeCall(part)
      case "tool-result":
        return part.preliminary ? undefined : this.#takeWhole(`result ${part.toolCallId}`, executedResult(part))
      case "file":
      case "reasoning-file":
      case "custom":
        if (part.type === "custom") this.#noteBegin(part)
        return this.#takeWhole(String(this.#parts.size), asPromptPart(part))
      case "finish":
        this.#finish = part
        return undefined
      default:
        return undefined
    }
  }

  /** The complete response. `undefined` if the stream ended early. `estimate` is used if the provider does not count tokens. */
  response(estimate: (content: readonly Block[]) => Usage): ModelResponse | undefined {
    const finish = this.#finish
    if (!finish || finish.finishReason.unified === "error" || finish.finishReason.unified === "interrupted") {
      return undefined
    }
    const parts = [...this.#parts.values()]
    const stopReason = stopReasonOf(finish, parts)
    const content = this.#keeps
      ? [...answerBlocks(parts.flatMap(promptPart))]
      : parts.flatMap((part) => toBlocks(part, stopReason))
    return {
      id: this.#id,
      model: this.#model,
      content,
      stop_reason: stopReason,
      stop_sequence: null,
      usage: usageOf(finish) ?? estimate(content),
      ...appliedEdits(finish),
    }
  }

  /** What is known of an interrupted response. `undefined` if the provider has not counted yet. */
  partial(): Pick<ModelResponse, "id" | "model" | "usage"> | undefined {
    return this.#begun && { id: this.#id, model: this.#model, usage: this.#begun }
  }

  /** Claude reports the input's token count before it answers. */
  #noteBegin({ kind, providerMetadata }: Part<"custom">): void {
    const usage = kind === "anthropic.message_start" ? usableUsage(providerMetadata?.anthropic?.usage) : undefined
    this.#begun = usage ?? this.#begun
  }

  /** A complete call. Providers that do not stream inputs report the call only here. */
  #takeCall(part: Extract<StreamPart, { type: "tool-call" }>): ModelEvent | undefined {
    const isNew = !this.#parts.has(key("call", part.toolCallId))
    const call = this.#grow("call", { ...part, id: part.toolCallId, name: part.toolName })
    call.text = part.input
    call.isCalled = true
    return isNew ? inputEvent(call, part.input) : undefined
  }

  #takeWhole(id: string, part: SentPart): undefined {
    if (this.#keeps) this.#grow("whole", { id }).part = part
  }

  #grow(kind: GrowingPart["kind"], { id, name = "", providerMetadata }: NotedPart): GrowingPart {
    const part = this.#parts.get(key(kind, id)) ?? { kind, id, name, text: "", notes: undefined }
    part.notes = mergeNotes(part.notes, providerMetadata)
    this.#parts.set(key(kind, id), part)
    return part
  }
}

interface NotedPart {
  readonly id: string
  readonly name?: string
  readonly providerMetadata?: ProviderOptions
}

/** Ids are unique among parts of one kind. */
const key = (kind: GrowingPart["kind"], id: string) => `${kind} ${id}`

const inputEvent = ({ id, name }: GrowingPart, text: string): ModelEvent => ({ type: "tool-input", id, name, text })

function mergeNotes(first: ProviderOptions | undefined, more: ProviderOptions | undefined) {
  if (!first || !more) return first ?? more
  const providers = Object.keys({ ...first, ...more })
  return Object.fromEntries(providers.map((name) => [name, { ...first[name], ...more[name] }]))
}

/** The call of a provider-executed tool, as a prompt part. */
function executedCall({ toolCallId, toolName, input, providerMetadata }: Part<"tool-call">): SentPart {
  const executed = { type: "tool-call", toolCallId, toolName, input: parseInput(input), providerExecuted: true }
  return { ...executed, ...asOptions(providerMetadata) }
}

function executedResult({ toolCallId, toolName, result, isError, providerMetadata }: Part<"tool-result">): SentPart {
  const [text, json] = isError ? (["error-text", "error-json"] as const) : (["text", "json"] as const)
  const output = { type: typeof result === "string" ? text : json, value: result }
  return { type: "tool-result", toolCallId, toolName, output, ...asOptions(providerMetadata) }
}

function asPromptPart({ providerMetadata, ...part }: Part<"file" | "reasoning-file" | "custom">): SentPart {
  return { ...part, ...asOptions(providerMetadata) }
}

type Part<T> = Extract<StreamPart, { type: T }>

const asOptions = (notes: ProviderOptions | undefined) => (notes ? { providerOptions: notes } : {})

/** Text that is not JSON is passed on unchanged. */
function parseInput(text: string): unknown {
  try {
    return text.trim() === "" ? {} : JSON.parse(text)
  } catch {
    return text
  }
}

/** The part in the message that the program sends. A call with a truncated input is omitted there. */
function promptPart({ kind, id, name, text, notes, isCalled, part }: GrowingPart): SentPart[] {
  const options = asOptions(notes)
  switch (kind) {
    case "text":
      return text === "" ? [] : [{ type: "text", text, ...options }]
    case "reasoning":
      return text === "" && !notes ? [] : [{ type: "reasoning", text, ...options }]
    case "call":
      return isCalled
        ? [{ type: "tool-call", toolCallId: id, toolName: name, input: parseInput(text), ...options }]
        : []
    case "whole":
      return part ? [part] : []
  }
}

function toBlocks({ kind, id, name, text, notes }: GrowingPart, stopReason: string): readonly Block[] {
  switch (kind) {
    case "whole":
      return []
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

function stopReasonOf({ finishReason: { unified, raw } }: FinishPart, parts: readonly GrowingPart[]): string {
  if (raw !== undefined && PASSED_ON.has(raw)) return raw
  const reason = STOP_REASONS[unified] ?? "end_turn"
  // some providers report a plain stop when they call a tool
  return reason === "end_turn" && parts.some(({ kind }) => kind === "call") ? "tool_use" : reason
}

/** The AI SDK includes cached tokens in the input, the Messages API does not. `undefined` if the provider did not count. */
function usageOf({ usage: { inputTokens, outputTokens, raw } }: FinishPart): Usage | undefined {
  const { total, noCache, cacheRead = 0, cacheWrite = 0 } = inputTokens
  const input = noCache ?? (total === undefined ? undefined : total - cacheRead - cacheWrite)
  if (input === undefined || outputTokens.total === undefined) return undefined
  return {
    input_tokens: Math.max(0, input),
    output_tokens: outputTokens.total,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
    // only Claude reports this: writing for an hour costs more
    ...(isLifetimes(raw?.cache_creation) ? { cache_creation: raw.cache_creation } : {}),
  }
}

/** Edits that Claude's server made in its own copy, with the API's field names. */
function appliedEdits({ providerMetadata }: FinishPart): Pick<ModelResponse, "context_management"> {
  const { appliedEdits: edits } = (providerMetadata?.anthropic?.contextManagement ?? {}) as { appliedEdits?: unknown }
  if (!Array.isArray(edits)) return {}
  const spelled = (edit: object) => Object.entries(edit).map(([name, value]) => [inApiNames(name), value])
  return { context_management: { applied_edits: edits.map((edit) => Object.fromEntries(spelled(edit ?? {}))) } }
}

const inApiNames = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const isLifetimes = (value: unknown): value is NonNullable<Usage["cache_creation"]> =>
  typeof value === "object" && value !== null && "ephemeral_1h_input_tokens" in value
