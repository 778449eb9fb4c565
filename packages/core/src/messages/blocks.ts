/**
 * Content blocks as the Messages API defines them: the only message format in this project. Guards look at `type` only, so
 * block types that the SDK does not know (betas, newer servers) pass through unchanged.
 */
import type {
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  RedactedThinkingBlockParam,
  TextBlockParam,
  ThinkingBlockParam,
  ToolResultBlockParam,
  ToolUseBlockParam,
} from "@anthropic-ai/sdk/resources/messages"
import { CALL_ID } from "./shapes/block-shapes.ts"

/** A block of a message, as the API has it. */
export type Block = ContentBlockParam
export type TextBlock = TextBlockParam
export type ToolUse = ToolUseBlockParam
export type ToolResult = ToolResultBlockParam
export type Thinking = ThinkingBlockParam | RedactedThinkingBlockParam
export type Media = ImageBlockParam | DocumentBlockParam
/** The content of a message, as callers may pass it. */
export type Content = string | readonly Block[]

export const isText = (block: Block): block is TextBlock => block.type === "text"
export const isToolUse = (block: Block): block is ToolUse => block.type === "tool_use"
export const isToolResult = (block: Block): block is ToolResult => block.type === "tool_result"
export const isThinking = (block: Block): block is Thinking =>
  block.type === "thinking" || block.type === "redacted_thinking"
export const isMedia = (block: Block): block is Media => block.type === "image" || block.type === "document"

/** A call that the API's server, or an MCP server connected to it, runs itself within one assistant message. */
export interface ServerUse {
  readonly type: "server_tool_use" | "mcp_tool_use"
  readonly id: string
  readonly name: string
  readonly input: unknown
}
export interface ServerResult {
  readonly type: string
  readonly tool_use_id: string
  readonly content: unknown
}

export function asServerUse(block: Block): ServerUse | undefined {
  const type: string = block.type
  return type === "server_tool_use" || type === "mcp_tool_use" ? (block as unknown as ServerUse) : undefined
}

export function asServerResult(block: Block): ServerResult | undefined {
  return block.type !== "tool_result" && block.type.endsWith("_tool_result")
    ? (block as unknown as ServerResult)
    : undefined
}

/** Any content as blocks. A string becomes one text block, an empty string none. */
export function toBlocks(content: Content): readonly Block[] {
  if (typeof content !== "string") return content
  return content === "" ? [] : [{ type: "text", text: content }]
}

/** The blocks inside a tool result. */
export function resultBlocks(result: ToolResult): readonly Block[] {
  return toBlocks((result.content ?? "") as Content)
}

/** The text of all text blocks, joined by line ends. */
export function textOf(content: Content): string {
  if (typeof content === "string") return content
  return content
    .filter(isText)
    .map((block) => block.text)
    .join("\n")
}

const CALL_NAME = /^[A-Za-z0-9_-]{1,128}$/

/** Whether the API accepts the call in a later request. Not every call that a model writes is. */
export function isWellFormedCall({
  id,
  name,
  input,
}: {
  readonly id: unknown
  readonly name: unknown
  readonly input: unknown
}): boolean {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input)
  const isNamed = typeof name === "string" && CALL_NAME.test(name)
  return typeof id === "string" && CALL_ID.test(id) && isNamed && isObject
}

/** Without cache breakpoints, also inside a tool result. They are set for each request; one that came with the content would stay forever. */
export function withoutBreakpoint(block: Block): Block {
  const nested = isToolResult(block) && Array.isArray(block.content) ? (block.content as readonly Block[]) : []
  const bare = nested.some(hasBreakpoint) ? ({ ...block, content: nested.map(withoutBreakpoint) } as Block) : block
  if (!("cache_control" in bare)) return bare
  const { cache_control: _, ...rest } = bare
  return rest as Block
}

export function hasBreakpoint(block: Block): boolean {
  if (typeof block !== "object" || block === null) return false
  if ("cache_control" in block) return true
  return isToolResult(block) && Array.isArray(block.content) && (block.content as readonly Block[]).some(hasBreakpoint)
}
