/**
 * Converts content of other APIs into content blocks of the Messages API. Text of models and tools stays byte for byte; only
 * names and ids that the API would reject are changed.
 */
import type { Block, Content, TextBlock, ToolResult, Usage } from "@strata/core"
import { findFlaw, type Thinking, type ToolUse, toBlocks, withExactInput } from "@strata/core/messages"
import { asObject, getObject, getString, type JsonObject, parseObject } from "./json-access.ts"

/**
 * Accepts content of the Messages API unchanged, including blocks that no request can carry, which the view omits. Returns `undefined` if
 * it is not a list of blocks, or if every block lacks a required field.
 */
export function blocksFromApi(content: unknown): readonly Block[] | undefined {
  if (typeof content === "string") return toBlocks(content)
  if (!Array.isArray(content) || !content.every(isTyped)) return undefined
  return content.length > 0 && content.every(lacksField) ? undefined : content
}

function lacksField(block: Block): boolean {
  const flaw = findFlaw(block)
  return flaw?.kind === "missing" && !/[.[]/.test(flaw.at) // a field of the block itself, not of a nested block
}

const isTyped = (value: unknown): value is Block => getString(asObject(value), "type") !== undefined

export const textBlock = (text: string): TextBlock => ({ type: "text", text })

/** Thinking of other models has no signature that the API accepts. It is stored for users and summaries only. */
export const thinkingBlock = (thinking: string, signature = ""): Thinking => ({ type: "thinking", thinking, signature })

export interface ExternalCall {
  readonly id: string
  readonly name: string
  /** The arguments as the model wrote them, or already parsed. */
  readonly input: string | JsonObject
}

export function toolUse({ id, name, input }: ExternalCall): ToolUse {
  const use = { type: "tool_use" as const, id: apiName(id), name: apiName(name) }
  if (typeof input !== "string") return { ...use, input }
  // the API accepts only objects, so any other text becomes the field `text`
  return parseObject(input) ? withExactInput({ ...use, input: {} }, input) : { ...use, input: { text: input } }
}

export function toolResult(callId: string, content: Content, isError = false): ToolResult {
  const result = {
    type: "tool_result" as const,
    tool_use_id: apiName(callId),
    content: content as ToolResult["content"] & {},
  }
  return isError ? { ...result, is_error: true } : result
}

/** The API allows letters, digits, "_" and "-" in the names and ids of tools. */
const apiName = (name: string) => name.replace(/[^A-Za-z0-9_-]/g, "_")

/** An image or a PDF from `data:<type>;base64,<data>` or a web address. Returns `undefined` for other files. */
export function mediaBlock(url: string, mime = /^data:([^;,]+)/.exec(url)?.[1] ?? "image/*"): Block | undefined {
  const kind = mime.startsWith("image/") ? "image" : mime === "application/pdf" ? "document" : undefined
  if (kind === undefined) return undefined
  const data = /^data:[^,]*;base64,/.exec(url)
  if (data) {
    return { type: kind, source: { type: "base64", media_type: mime, data: url.slice(data[0].length) } } as Block
  }
  return /^https?:/.test(url) ? { type: kind, source: { type: "url", url } } : undefined
}

/** Converts content of OpenAI's APIs: a string, or parts of text and images. Returns `undefined` if a part is unknown. */
export function blocksFromOpenAi(content: unknown): readonly Block[] | undefined {
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)]
  if (!Array.isArray(content)) return undefined
  const blocks = content.map((part: unknown) => blockFromOpenAi(asObject(part)))
  return blocks.every((block) => block !== undefined) ? blocks : undefined
}

const TEXT_PARTS = new Set(["text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"])

function blockFromOpenAi(part: JsonObject | undefined): Block | undefined {
  const type = getString(part, "type") ?? ""
  if (TEXT_PARTS.has(type)) {
    const text = getString(part, "text") ?? getString(part, "refusal")
    return text === undefined ? undefined : textBlock(text)
  }
  if (type === "input_image" || type === "image_url") {
    const url = getString(part, "image_url") ?? getString(getObject(part, "image_url"), "url")
    return url === undefined ? undefined : mediaBlock(url)
  }
  return undefined
}

/** OpenAI includes cached tokens in the input; the Messages API counts them separately. */
export function usageFromOpenAi(tokens: { input: number; cached: number; written?: number; output: number }): Usage {
  const { input, cached, written = 0, output } = tokens
  return {
    input_tokens: Math.max(0, input - cached - written),
    cache_read_input_tokens: cached,
    ...(written > 0 ? { cache_creation_input_tokens: written } : {}),
    output_tokens: output,
  }
}
