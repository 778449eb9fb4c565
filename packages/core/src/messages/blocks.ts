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
import type { ToolDefinition } from "./request.ts"
import { CALL_ID } from "./shapes/shapes.ts"

/** A content block as the API defines it. */
export type Block = ContentBlockParam
export type TextBlock = TextBlockParam
export type ToolUse = ToolUseBlockParam
export type ToolResult = ToolResultBlockParam
export type Thinking = ThinkingBlockParam | RedactedThinkingBlockParam
export type Media = ImageBlockParam | DocumentBlockParam
/** The content of a message in any form that a client may pass. */
export type Content = string | readonly Block[]

export const isText = (block: Block): block is TextBlock => block.type === "text"
export const isToolUse = (block: Block): block is ToolUse => block.type === "tool_use"
export const isToolResult = (block: Block): block is ToolResult => block.type === "tool_result"
export const isThinking = (block: Block): block is Thinking =>
  block.type === "thinking" || block.type === "redacted_thinking"
export const isMedia = (block: Block): block is Media => block.type === "image" || block.type === "document"

/** A call that the API's server, or an MCP server connected to it, runs within one assistant message. */
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

/** Ids of the server calls at the end of a turn, where the server paused. */
export function trailingServerCalls(blocks: readonly Block[]): ReadonlySet<string> {
  const from = blocks.findLastIndex((block) => !asServerUse(block) && !asServerResult(block)) + 1
  return new Set(blocks.slice(from).flatMap((block) => asServerUse(block)?.id ?? []))
}

/** Ids of server calls whose result follows in the same turn. */
export function pairServerTools(blocks: readonly Block[]): ReadonlySet<string> {
  const called = new Set<string>()
  const served = new Set<string>()
  for (const block of blocks) {
    const use = asServerUse(block)
    if (use) called.add(use.id)
    const result = asServerResult(block)
    if (result && called.has(result.tool_use_id)) served.add(result.tool_use_id)
  }
  return served
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

/** Whether the API accepts the call in a later request. Models also write calls that it does not accept. */
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

/**
 * Removes the cache breakpoints of a block, including those inside a tool result. Breakpoints are set for each request; one that came
 * with the content would stay forever.
 */
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

/** The block types that the API accepts in each place. */
const MEDIA_AND_TEXT = ["text", "image", "document", "search_result"]

export const USER_BLOCKS: ReadonlySet<string> = new Set([...MEDIA_AND_TEXT, ...["tool_result", "container_upload"]])

export const ASSISTANT_BLOCKS: ReadonlySet<string> = new Set([
  ...["text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use", "container_upload"],
  ...["compaction", "fallback", "mcp_tool_listing"],
])

/** Block types of a system message between the others. */
export const SYSTEM_BLOCKS: ReadonlySet<string> = new Set(["text", "tool_addition", "tool_removal"])

/** Block types inside a tool result. */
export const RESULT_BLOCKS: ReadonlySet<string> = new Set([...MEDIA_AND_TEXT, "tool_reference", "browser_state"])

/** Whether a type is the result of a call that the server ran, such as `web_search_tool_result`. */
export const isServerResult = (type: string): boolean => type !== "tool_result" && /^.+_tool_result$/.test(type)

// Replaces half characters (lone surrogates) in every text of a JSON value. The API refuses a request that contains one.

/** Returns the value itself if it has no lone surrogates. */
export function toWellFormed<T>(value: T): T {
  return isWellFormed(value) ? value : (fixStrings(value) as T)
}

/** Nearly every value is well formed, so this check runs first. It allocates nothing but the keys. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed()
  if (typeof value !== "object" || value === null) return true
  if (Array.isArray(value)) return value.every(isWellFormed)
  for (const key of Object.keys(value))
    if (!key.isWellFormed() || !isWellFormed((value as Readonly<Record<string, unknown>>)[key])) return false
  return true
}

function fixStrings(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed()
  if (Array.isArray(value)) {
    const items = value.map(fixStrings)
    return items.every((item, at) => item === value[at]) ? value : items
  }
  if (typeof value !== "object" || value === null) return value
  let copy: Record<PropertyKey, unknown> | undefined
  for (const [key, item] of Object.entries(value)) {
    const [name, inner] = [key.toWellFormed(), fixStrings(item)]
    if (name === key && inner === item) continue
    copy ??= { ...value } as Record<PropertyKey, unknown>
    if (name !== key) delete copy[key]
    Object.defineProperty(copy, name, { value: inner, enumerable: true, writable: true, configurable: true })
  }
  return copy ?? value
}

// Tools that a request carries but the model does not see yet (`defer_loading`), and the references in tool results that load them. The API
// puts the definition in the place of the reference, so loading changes nothing before it.

export type ToolReference = Extract<
  Exclude<ToolResultBlockParam["content"], string | undefined>[number],
  { type: "tool_reference" }
>

export const isDeferred = (tool: unknown): boolean =>
  typeof tool === "object" && tool !== null && (tool as { readonly defer_loading?: unknown }).defer_loading === true

/** The tools that are part of the prompt, without deferred ones. */
export const declaredTools = <T>(tools: readonly T[]): readonly T[] =>
  tools.some(isDeferred) ? tools.filter((tool) => !isDeferred(tool)) : tools

/** Names of the tools that a tool result loads. */
export function findToolReferences(block: { readonly type: string; readonly content?: unknown }): readonly string[] {
  if (block.type !== "tool_result" || !Array.isArray(block.content)) return []
  return block.content.filter(isReference).map(({ tool_name }) => tool_name)
}

const isReference = (block: unknown): block is ToolReference =>
  (block as Partial<ToolReference> | null)?.type === "tool_reference" &&
  typeof (block as Partial<ToolReference>).tool_name === "string"

export const toolName = (tool: ToolDefinition): string | undefined =>
  "name" in tool && typeof tool.name === "string" ? tool.name : undefined

// Puts a value from outside (a path, a command, a todo) on a line of generated text. The value cannot end the line, open or close a
// tag, or be mistaken for the rest of the line.

/** Safe without quotes: no control characters or tags, no quote or bracket at the start, no white space at either end. */
const PLAIN = /^(?![\s"'[])[^<\p{Cc}\p{Zl}\p{Zp}]+(?<!\s)$/u
const BEYOND_JSON = /[<\u007f-\u009f\u2028\u2029]/g // JSON leaves these unescaped, but they could break the line

/** The bare text if it is safe, otherwise a JSON string. */
export function inline(text: string): string {
  return PLAIN.test(text) ? text.toWellFormed() : quoted(text)
}

/** Always a JSON string: for a sentence from outside that could be mistaken for generated text. */
export const quoted = (text: string): string => JSON.stringify(text.toWellFormed()).replace(BEYOND_JSON, escaped)

/** At most `max` characters of the text, with a note if there are more. */
export function inlineUpTo(max: number, text: string): string {
  if (text.length <= max) return inline(text)
  return `${inline(text.slice(0, max).toWellFormed())} [cut: ${max} of ${text.length} characters]`
}

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

// Code fences in markdown: which one is open after a line. Code that truncates a text closes the fence that the cut left open.

/** A fence may be indented or start a list item. Backticks after it on the same line would make it inline code. */
const FENCE = /^\s*(?:[-*+][ \t]+)?(`{3,}(?!.*`)|~{3,})/

/** The fence that is open after a line, if any. Only a line with nothing else on it closes a fence. */
export function fenceAfter(line: string, open: string | undefined): string | undefined {
  const fence = FENCE.exec(line)?.[1]
  if (fence === undefined) return open
  if (open === undefined) return fence
  const closes = fence.startsWith(open) && line.trim() === fence
  return closes ? undefined : open
}

/** The fence that a text leaves open, if any. */
export const findOpenFence = (text: string): string | undefined =>
  text.split("\n").reduce<string | undefined>((open, line) => fenceAfter(line, open), undefined)

/** The text with its open fence closed, if it has one. */
export function withFencesClosed(text: string): string {
  const open = findOpenFence(text)
  return open === undefined ? text : `${text}${text.endsWith("\n") ? "" : "\n"}${open}`
}
