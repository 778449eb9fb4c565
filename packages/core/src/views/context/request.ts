/**
 * The request builder: a pure function of the views. A request contains no clock, no random id and no map order. Equal views produce
 * equal bytes.
 */

import type { DecisionEntry } from "../../journal/entries.ts"
import {
  type Block,
  declaredTools,
  findToolReferences,
  isToolResult,
  resultBlocks,
  type ToolResult,
  toolName,
} from "../../messages/blocks.ts"
import { hasExactText, stringifyExact } from "../../messages/exact-json.ts"
import type { FlatMessage } from "../../messages/flatten.ts"
import { contentOf, type Message, type Repair, type SignedSummary } from "../../messages/messages.ts"
import type { ModelRequest, RequestExtras, SystemPrompt, ToolDefinition } from "../../messages/request.ts"
import { findFlaw, isRecord } from "../../messages/shapes/shapes.ts"
import { calibrateSizes } from "../../tokens/context-size.ts"
import type { Estimator, Measure } from "../../tokens/estimate.ts"
import type { ModelAccepts } from "../../tokens/models.ts"

/** Beta header for requests that ask for a signed summary, or contain one. */
export const SIGNED_SUMMARIES = "compact-2026-09-04"

export interface RequestParts {
  /** As sent, without a `[1m]` suffix. */
  readonly model: string
  readonly maxTokens: number
  readonly system: unknown
  readonly tools: unknown
  readonly messages: readonly FlatMessage[]
  readonly thinking?: ModelRequest["thinking"]
  readonly extras?: RequestExtras
}

export function buildRequest({
  model,
  maxTokens,
  system,
  tools,
  messages,
  thinking,
  extras,
}: RequestParts): ModelRequest {
  return {
    model,
    max_tokens: maxTokens,
    ...(system ? { system: system as SystemPrompt } : {}),
    ...(Array.isArray(tools) && tools.length > 0 ? { tools: tools as ToolDefinition[] } : {}),
    messages: messages as ModelRequest["messages"],
    ...(thinking ? { thinking } : {}),
    ...extras,
  } as ModelRequest
}

/** Merges extras: all edits in order, and each beta once. */
export function mergeExtras(extras: readonly RequestExtras[]): RequestExtras {
  const edits = extras.flatMap(({ context_management }) => context_management?.edits ?? [])
  const betas = [...new Set(extras.flatMap((each) => each.betas ?? []))]
  return { ...(edits.length > 0 ? { context_management: { edits } } : {}), ...(betas.length > 0 ? { betas } : {}) }
}

/** The body of a request, with fields spelled as the model or the client wrote them. Otherwise it equals `JSON.stringify`. */
export function serialiseRequest(
  request: ModelRequest,
  written: (message: RequestMessage) => string = serialiseMessage,
): string {
  const { messages, ...rest } = request
  const front = JSON.stringify(rest)
  const texts = messages.map((message) => written(message))
  return `${front === "{}" ? "{" : `${front.slice(0, -1)},`}"messages":[${texts.join(",")}]}`
}

type RequestMessage = ModelRequest["messages"][number]

/** One message as it is sent. */
export const serialiseMessage = (message: RequestMessage): string =>
  hasExactText(message) ? stringifyExact(message) : JSON.stringify(message)

// The current prompt: everything that requests contain besides the messages, and its size.

export type RenderedPrompt = Extract<DecisionEntry, { subtype: "prompt-rendered" }>

export interface PromptSize {
  /** As measured by a response with this prompt. */
  readonly tokens?: number
  /** Ratio of a measured size to its estimate. */
  readonly ratio: number
}

export class CurrentPrompt {
  readonly #estimator: Estimator
  #prompt: RenderedPrompt | undefined
  #measure: Measure | undefined
  #texts = ""
  #size: PromptSize | undefined

  constructor(estimator: Estimator, saved?: RenderedPrompt, size?: PromptSize) {
    this.#estimator = estimator
    if (saved) this.take(saved)
    this.#size = size
  }

  get rendered(): RenderedPrompt | undefined {
    return this.#prompt
  }

  get toolNames(): readonly string[] {
    const tools = this.#prompt?.tools
    return Array.isArray(tools) ? tools.map(({ name }: { name: unknown }) => String(name)) : []
  }

  /** Tokens of system prompt, tools and preamble: as measured by a response, or estimated with the ratio of earlier prompts. */
  get tokens(): number {
    const { tokens, ratio = 1 } = this.#size ?? {}
    return Math.ceil(tokens ?? this.estimate * ratio)
  }

  get estimate(): number {
    return this.#measure ? this.#estimator.unscaled(this.#measure) : 0
  }

  /** The size as learned from responses. */
  get size(): PromptSize | undefined {
    return this.#size
  }

  /** Calibrates both estimates when the API has counted the prompt and these messages. */
  settle(counted: number, messages: Measure): void {
    const { tokens, estimate } = this
    const estimator = this.#estimator
    const settled = calibrateSizes({
      counted,
      prompt: { tokens, estimate, isMeasured: this.#size?.tokens !== undefined },
      messages: estimator.unscaled(messages),
      factor: estimator.factor,
    })
    this.#size = { tokens: settled.prompt, ratio: settled.prompt / estimate }
    estimator.factor = settled.factor
  }

  /** Returns whether the preamble has changed. */
  take(prompt: RenderedPrompt): boolean {
    const { system, tools, context } = prompt
    const offered = Array.isArray(tools) ? (tools as readonly ToolDefinition[]) : []
    const declared = declaredTools(offered)
    const texts = [toolText(system), declared.length > 0 ? JSON.stringify(declared) : "", context]
    this.#estimator.knowTools(offered)
    const hasChanged = context !== (this.#prompt?.context ?? "")
    this.#prompt = prompt
    this.#measure = this.#estimator.measure(texts.filter(Boolean).map((text) => ({ type: "text", text })))
    const isSame = texts.join("\n") === this.#texts
    this.#texts = texts.join("\n")
    if (!isSame && this.#size) this.#size = { ratio: this.#size.ratio }
    return hasChanged
  }

  /** The context preamble, which comes before all messages. */
  get preamble(): Message | undefined {
    if (!this.#prompt?.context) return undefined
    const { uuid, timestamp, context } = this.#prompt
    const message = { role: "user" as const, content: context }
    return { type: "user", uuid, parentUuid: null, timestamp, isMeta: true, message }
  }
}

const toolText = (system: unknown): string => (typeof system === "string" ? system : JSON.stringify(system ?? ""))

// References to tools that the request cannot resolve are sent as text: the model does not support references, or the tool is not in
// the request. Otherwise the API would refuse the entire conversation. A message without such a reference stays the same object.

export class ReferenceResolver {
  readonly #knowsReferences: boolean
  #tools: unknown
  #names: ReadonlySet<string> = new Set()
  #resolved = new WeakMap<FlatMessage, FlatMessage>()

  constructor(knowsReferences: boolean) {
    this.#knowsReferences = knowsReferences
  }

  resolve(messages: readonly FlatMessage[], tools: unknown): readonly FlatMessage[] {
    this.#use(tools)
    return messages.map((message) => {
      const known = this.#resolved.get(message)
      if (known) return known
      const resolved = this.#resolve(message)
      this.#resolved.set(message, resolved)
      return resolved
    })
  }

  #use(tools: unknown): void {
    if (tools === this.#tools) return
    this.#tools = tools
    this.#resolved = new WeakMap()
    const offered = this.#knowsReferences && Array.isArray(tools) ? (tools as readonly ToolDefinition[]) : []
    this.#names = new Set(offered.flatMap((tool) => toolName(tool) ?? []))
  }

  #resolve(message: FlatMessage): FlatMessage {
    const isSound = (block: Block) => {
      const names = findToolReferences(block)
      if (names.length === 0) return true
      const isMixed = names.length < resultBlocks(block as ToolResult).length
      return !isMixed && names.every((name) => this.#names.has(name))
    }
    if (message.content.every(isSound)) return message
    const content = message.content.map((block) =>
      isSound(block) || !isToolResult(block) ? block : referenceText(block),
    )
    return { ...message, content }
  }
}

function referenceText(result: ToolResult): ToolResult {
  const content = resultBlocks(result).map((block) => {
    const { type, tool_name } = block as { readonly type: string; readonly tool_name?: string }
    return type === "tool_reference"
      ? { type: "text" as const, text: `[The tool ${tool_name} was loaded here.]` }
      : block
  })
  return { ...result, content } as ToolResult
}

// A summary that the API wrote and signed. It is sent as a block before everything else, to the model that wrote it. Thinking in the
// messages that follow it directly stays valid, so nothing may come between: the preamble and Strata's own text follow those messages.

/** The signed summary of a message. A journal may contain anything, so invalid signed blocks are ignored. */
export function findSignedSummary(message: Message | undefined): SignedSummary | undefined {
  const signed: unknown = message?.type === "user" && message.isCompactSummary ? message.signed : undefined
  if (!isRecord(signed) || typeof signed.model !== "string" || typeof signed.text !== "string") return undefined
  const { block } = signed
  if (!isRecord(block) || block.type !== "compaction" || findFlaw(block)) return undefined
  const isReadable = typeof block.content === "string" && typeof block.signature === "string"
  return isReadable ? (signed as unknown as SignedSummary) : undefined
}

const signedMessages = new WeakMap<SignedSummary, FlatMessage>()

/** The first message of a request. Always the same object, so that readers need not process it again. */
export function signedMessage(signed: SignedSummary): FlatMessage {
  const known = signedMessages.get(signed)
  if (known) return known
  const message = { role: "assistant", content: [signed.block] } as unknown as FlatMessage
  signedMessages.set(signed, message)
  return message
}

/** The summary's message with only the text that follows the block. */
export const withoutSignedText = (summary: Message, { text }: SignedSummary): Message =>
  ({ ...summary, message: { role: "user", content: [{ type: "text", text }] } }) as Message

/** The repair that sends the text instead of the signed block. */
export const unsignedRepair = ({ uuid }: Pick<Message, "uuid">): Repair => ({ rule: "unsigned-summary", id: uuid })

// The tools that messages in view have loaded. A result that was cleared or compacted no longer loads anything.

export interface LoadedTools {
  /** Tools loaded by a reference in a tool result. */
  readonly referenced: ReadonlySet<string>
  /** Tools announced as loaded by an attachment. */
  readonly announced: ReadonlySet<string>
}

export function loadedTools(messages: readonly Message[]): LoadedTools {
  const referenced = new Set<string>()
  const announced = new Set<string>()
  for (const message of messages) {
    if (message.type === "user")
      for (const block of contentOf(message).filter(isToolResult))
        for (const name of findToolReferences(block)) referenced.add(name)
    if (message.type !== "attachment" || message.attachment.type !== "tool_delta") continue
    for (const { name, loaded } of message.attachment.added) if (loaded) announced.add(name)
    for (const name of message.attachment.removed) announced.delete(name)
  }
  return { referenced, announced }
}

// Newer models return thinking without its text unless a request asks for a summary of it. The text costs the same either way. Without
// it a journal contains empty thinking: nobody can read or search it, and no summary can be checked against it.

type Thinking = ModelRequest["thinking"]

/** The thinking display for a request, if the model omits the text by default and the request leaves it open. Never enables thinking. */
export function summarizedThinking(asked: Thinking, accepts: ModelAccepts): Thinking {
  if (!accepts.omitsThinking) return asked
  if (!asked) return accepts.thinksUnasked ? { type: "adaptive", display: "summarized" } : asked
  const isOpen = (asked.type === "adaptive" || asked.type === "enabled") && !asked.display
  return isOpen ? { ...asked, display: "summarized" } : asked
}
