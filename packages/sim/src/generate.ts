/** Converts a responder's answer to the API's form: with signed thinking, stop sequences and output limits. */
import type { NamedBlock } from "./ask-responder.ts"
import type { Answer, OtherBlock } from "./responder.ts"
import { type BindingState, sealThinking, shortened } from "./thinking/binding.ts"
import { extendChain } from "./thinking/prefix-chain.ts"
import { countText, takeTokens } from "./tokens.ts"
import type { ContentBlock, StopReason } from "./wire.ts"

export interface OutputLimits {
  readonly maxTokens: number
  /** Tokens left in the window after the input. */
  readonly windowLeft: number
  readonly stopSequences: readonly string[]
  readonly thinking: "on" | "off" | "omitted"
  /** Whether the answer must start with thinking, because a budget was set and the answer begins a round of tool calls. */
  readonly thinkingFirst: boolean
}

/** A block that the server adds to an answer: the result of a tool it ran. The model did not write it. */
export interface ServerResult {
  readonly type: "server_result"
  readonly block: OtherBlock
}

export type WrittenBlock = NamedBlock | ServerResult

const FIRST_THOUGHT = "Let me work out what this asks for."

export interface Generation {
  readonly content: readonly ContentBlock[]
  readonly stopReason: StopReason
  readonly stopSequence: string | null
  readonly outputTokens: number
  readonly thinkingTokens: number
}

export interface WrittenAnswer extends Omit<Answer, "content"> {
  readonly content: readonly WrittenBlock[]
}

export function generate(answer: WrittenAnswer, limits: OutputLimits, bound: () => BindingState): Generation {
  const wanted = thoughtThrough(answer.content, limits)
  const stopped = stopAtSequence(wanted, limits.stopSequences)
  const cut = cutToLimit(stopped.content, limits)
  return {
    content: finish(cut.content, { bound, omitThinking: limits.thinking === "omitted" }),
    stopReason: cut.reason ?? stopped.reason ?? stopReasonOf({ ...answer, content: cut.content }),
    stopSequence: cut.reason ? null : stopped.sequence,
    outputTokens: cut.tokens,
    thinkingTokens: cut.thinkingTokens,
  }
}

function thoughtThrough(content: readonly WrittenBlock[], limits: OutputLimits): readonly WrittenBlock[] {
  if (limits.thinking === "off") return content.filter(({ type }) => type !== "thinking")
  const lacksThinking = limits.thinkingFirst && content.length > 0 && content[0]?.type !== "thinking"
  return lacksThinking ? [{ type: "thinking", thinking: FIRST_THOUGHT }, ...content] : content
}

/** The responder's own stop reason, or the one its content implies. */
export const stopReasonOf = ({ content, stopReason }: WrittenAnswer): StopReason =>
  stopReason ?? (content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn")

interface StoppedContent {
  readonly content: readonly WrittenBlock[]
  readonly reason?: "stop_sequence"
  readonly sequence: string | null
}

/** Cuts the answer before the first stop sequence in its text. */
function stopAtSequence(content: readonly WrittenBlock[], sequences: readonly string[]): StoppedContent {
  for (const [index, block] of content.entries()) {
    if (block.type !== "text") continue
    const found = sequences
      .map((sequence) => ({ sequence, at: block.text.indexOf(sequence) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0]
    if (!found) continue
    const text = block.text.slice(0, found.at)
    const before = content.slice(0, index)
    return {
      content: text === "" ? before : [...before, { type: "text", text }],
      reason: "stop_sequence",
      sequence: found.sequence,
    }
  }
  return { content, sequence: null }
}

interface CutContent {
  readonly content: readonly WrittenBlock[]
  readonly reason?: "max_tokens" | "model_context_window_exceeded"
  readonly tokens: number
  readonly thinkingTokens: number
}

function cutToLimit(content: readonly WrittenBlock[], { maxTokens, windowLeft }: OutputLimits): CutContent {
  const limit = Math.max(0, Math.min(maxTokens, windowLeft))
  const kept: WrittenBlock[] = []
  let tokens = 0
  let thinkingTokens = 0
  for (const block of content) {
    const left = limit - tokens
    const size = countText(spokenText(block))
    const whole = size <= left
    if (whole || left > 0) kept.push(whole ? block : shorten(block, left))
    tokens += Math.min(size, left)
    if (block.type === "thinking") thinkingTokens += Math.min(size, left)
    if (!whole) {
      const reason = maxTokens <= windowLeft ? "max_tokens" : "model_context_window_exceeded"
      return { content: kept, reason, tokens, thinkingTokens }
    }
  }
  return { content: kept, tokens, thinkingTokens }
}

/** The text a model would write for a block. Its tokens are the size of the block. */
function spokenText(block: WrittenBlock): string {
  switch (block.type) {
    case "server_result":
      return ""
    case "text":
      return block.text
    case "thinking":
      return block.thinking
    case "tool_use":
      return block.name + inputTextOf(block)
    case "server_tool_use":
      return block.name + JSON.stringify(block.input)
    case "other":
      return JSON.stringify(block.block)
  }
}

const inputTextOf = (block: Extract<NamedBlock, { type: "tool_use" }>) =>
  "inputText" in block ? block.inputText : JSON.stringify(block.input ?? {})

function shorten(block: WrittenBlock, tokens: number): WrittenBlock {
  switch (block.type) {
    case "other":
    case "server_result":
    case "server_tool_use": // the server finishes the call, since its result is there
      return block
    case "text":
      return { type: "text", text: takeTokens(block.text, tokens) }
    case "thinking":
      return { type: "thinking", thinking: takeTokens(block.thinking, tokens) }
    case "tool_use": {
      const inputText = takeTokens(spokenText(block), tokens).slice(block.name.length)
      return { type: "tool_use", id: block.id, name: block.name, inputText }
    }
  }
}

interface FinishOptions {
  readonly bound: () => BindingState
  readonly omitThinking: boolean
}

/** Gives every block its response form. Thinking is signed together with everything before it. */
function finish(content: readonly WrittenBlock[], { bound, omitThinking }: FinishOptions): readonly ContentBlock[] {
  let state = content.some(({ type }) => type === "thinking") ? bound() : undefined
  return content.map((block): ContentBlock => {
    if (block.type === "thinking") {
      const before = state ?? bound()
      const thinking = omitThinking ? "" : block.thinking
      const signature = sealThinking(before, thinking)
      state = { ...before, previous: shortened(signature) }
      return { type: "thinking", thinking, signature }
    }
    if (block.type === "other" || block.type === "server_result") {
      state = state && { ...state, chain: extendChain(state.chain, "assistant", block.block) }
      return { type: "other", block: block.block }
    }
    const finished: ContentBlock =
      block.type === "text"
        ? { type: "text", text: block.text }
        : block.type === "server_tool_use"
          ? { ...block, caller: { type: "direct" } }
          : toolUse(block)
    state = state && { ...state, chain: extendChain(state.chain, "assistant", finished) }
    return finished
  })
}

/** Input that is not a complete JSON object can only be streamed. As an object it is empty. */
function toolUse(block: Extract<NamedBlock, { type: "tool_use" }>): Extract<ContentBlock, { type: "tool_use" }> {
  const use = { type: "tool_use", id: block.id, name: block.name, caller: { type: "direct" } } as const
  if (!("inputText" in block)) return { ...use, input: block.input ?? {} }
  return { ...use, input: parseObject(block.inputText) ?? {}, inputText: block.inputText }
}

function parseObject(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === "object" && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
