/**
 * Other APIs' pieces as content blocks of the Messages API. What a model or a tool wrote stays byte for byte (MSG-5); only
 * names and ids that the API would refuse are respelled.
 */
import {
  type Block,
  type Content,
  type TextBlock,
  type Thinking,
  type ToolResult,
  type ToolUse,
  toBlocks,
} from "../messages/blocks.ts"
import { withExactInput } from "../messages/exact-json.ts"
import type { Usage } from "../messages/messages.ts"
import { asFields, type Fields, fieldsAt, parseFields, textAt } from "./foreign-json.ts"

/** Texts without which a block of a kind would be none. */
const REQUIRED_TEXTS: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  thinking: ["thinking"],
  tool_use: ["id", "name"],
  tool_result: ["tool_use_id"],
}

/** Content that is already that of the Messages API, passed on as it is. Answers with nothing if it is not. */
export function blocksFromApi(content: unknown): readonly Block[] | undefined {
  if (typeof content === "string") return toBlocks(content)
  return Array.isArray(content) && content.every(isApiBlock) ? content : undefined
}

function isApiBlock(value: unknown): value is Block {
  const block = asFields(value)
  const type = textAt(block, "type")
  if (type === undefined) return false
  const required = Object.hasOwn(REQUIRED_TEXTS, type) ? REQUIRED_TEXTS[type]! : []
  return required.every((key) => textAt(block, key) !== undefined)
}

export const textBlock = (text: string): TextBlock => ({ type: "text", text })

/** Thinking of other vendors' models has no signature that the API would accept; it is kept for people and summaries. */
export const thinkingBlock = (thinking: string, signature = ""): Thinking => ({ type: "thinking", thinking, signature })

export interface Call {
  readonly id: string
  readonly name: string
  /** The arguments as the model wrote them, or already parsed. */
  readonly input: string | Fields
}

export function toolUse({ id, name, input }: Call): ToolUse {
  const use = { type: "tool_use" as const, id: apiName(id), name: apiName(name) }
  if (typeof input !== "string") return { ...use, input }
  // the API takes objects only: a text that is none is carried as it is under a name of ours
  return parseFields(input) ? withExactInput({ ...use, input: {} }, input) : { ...use, input: { text: input } }
}

export function toolResult(callId: string, content: Content, isError = false): ToolResult {
  const result = {
    type: "tool_result" as const,
    tool_use_id: apiName(callId),
    content: content as ToolResult["content"] & {},
  }
  return isError ? { ...result, is_error: true } : result
}

/** The API takes letters, digits, "_" and "-" in the names and ids of tools. */
const apiName = (name: string) => name.replace(/[^A-Za-z0-9_-]/g, "_")

/** An image or a PDF given as `data:<type>;base64,<data>` or as a web address. Nothing for other kinds of files. */
export function mediaBlock(url: string, mime = /^data:([^;,]+)/.exec(url)?.[1] ?? "image/*"): Block | undefined {
  const kind = mime.startsWith("image/") ? "image" : mime === "application/pdf" ? "document" : undefined
  if (kind === undefined) return undefined
  const data = /^data:[^,]*;base64,/.exec(url)
  if (data) {
    return { type: kind, source: { type: "base64", media_type: mime, data: url.slice(data[0].length) } } as Block
  }
  return /^https?:/.test(url) ? { type: kind, source: { type: "url", url } } : undefined
}

/**
 * Content of OpenAI's APIs: a string, or parts of text and images under the names of either of them. Answers with nothing
 * if there is a part it does not know.
 */
export function blocksFromOpenAi(content: unknown): readonly Block[] | undefined {
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)]
  if (!Array.isArray(content)) return undefined
  const blocks = content.map((part: unknown) => blockFromOpenAi(asFields(part)))
  return blocks.every((block) => block !== undefined) ? blocks : undefined
}

const TEXT_PARTS = new Set(["text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"])

function blockFromOpenAi(part: Fields | undefined): Block | undefined {
  const type = textAt(part, "type") ?? ""
  if (TEXT_PARTS.has(type)) {
    const text = textAt(part, "text") ?? textAt(part, "refusal")
    return text === undefined ? undefined : textBlock(text)
  }
  if (type === "input_image" || type === "image_url") {
    const url = textAt(part, "image_url") ?? textAt(fieldsAt(part, "image_url"), "url")
    return url === undefined ? undefined : mediaBlock(url)
  }
  return undefined
}

/** OpenAI counts cached tokens as part of the input; the Messages API counts them apart. */
export function usageFromOpenAi(tokens: { input: number; cached: number; output: number }): Usage {
  return {
    input_tokens: tokens.input - tokens.cached,
    cache_read_input_tokens: tokens.cached,
    output_tokens: tokens.output,
  }
}
