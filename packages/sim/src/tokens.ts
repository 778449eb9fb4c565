/**
 * Counts tokens. Claude's tokenizer is not public, so this uses o200k: counts have the right magnitude and never vary,
 * but differ from Claude's.
 *
 * - Text, thinking, names, tool inputs and schemas (as JSON): o200k tokens, counted in pieces of 2,048 characters.
 * - Each message adds 4 (role, separators). Each block that is not text adds 8 (tag, id).
 * - Each tool definition adds 12, and the first adds 300 for the instructions that come with tools.
 * - An image counts width × height / 750, at most 1,600. An image of unknown size (a URL, a file) counts 1,600.
 * - A PDF counts 1,500 per page. A document or container file known only by reference counts 3,000.
 *
 * Counts are cached by the hash of the content, so a request that repeats a long prefix costs only what is new.
 */
import { hash } from "node:crypto"
import { readImageSize } from "@strata/core/internal/messages/image-size"
import { countTokens, decode, encode } from "gpt-tokenizer/encoding/o200k_base"
import type { Block, ToolParam } from "./wire.ts"

const PIECE = 2048 // characters; the tokenizer's time grows with the square of the length of an unbroken run
export const MESSAGE_TOKENS = 4
export const TAGGED_BLOCK_TOKENS = 8
const TOOL_TOKENS = 12
export const TOOL_INSTRUCTIONS_TOKENS = 300
const PIXELS_PER_TOKEN = 750
const MAX_IMAGE_TOKENS = 1600
const PDF_PAGE_TOKENS = 1500
const REFERENCED_DOCUMENT_TOKENS = 3000
const MAX_REMEMBERED = 200_000 // blocks, about 100 bytes each

/** Counts text such as `<|endoftext|>` as plain text, never as a control token. */
const PLAIN = { disallowedSpecial: new Set<string>() }

export function countText(text: string): number {
  let tokens = 0
  for (let at = 0; at < text.length; at += PIECE) tokens += countTokens(text.slice(at, at + PIECE), PLAIN)
  return tokens
}

/** The start of the text, with at most `limit` tokens. */
export function takeTokens(text: string, limit: number): string {
  let taken = ""
  let left = limit
  for (let at = 0; at < text.length && left > 0; at += PIECE) {
    const piece = text.slice(at, at + PIECE)
    const tokens = encode(piece, PLAIN)
    taken += tokens.length <= left ? piece : decode(tokens.slice(0, left)).replace(/\uFFFD+$/u, "")
    left -= tokens.length
  }
  return taken
}

/** The identity and size of a block or tool. */
export interface Measure {
  readonly hash: string
  readonly tokens: number
}

export interface TokenCounter {
  block(block: Block): Measure
  tool(tool: ToolParam): Measure
}

export function createTokenCounter(): TokenCounter {
  const remembered = new Map<string, number>()
  const measured = new WeakMap<object, Measure>() // one request measures the same objects several times
  const measure = <T extends Block | ToolParam>(value: T, count: (value: T) => number): Measure => {
    const known = measured.get(value)
    if (known) return known
    const key = contentHash(value)
    let tokens = remembered.get(key)
    if (tokens === undefined) {
      tokens = count(value)
      remembered.set(key, tokens)
      if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value as string)
    }
    const measure = { hash: key, tokens }
    measured.set(value, measure)
    return measure
  }
  return { block: (block) => measure(block, countBlock), tool: (tool) => measure(tool, countTool) }
}

/** Hash of everything except cache marks. Key order matters, as it does on the wire. */
export function contentHash(value: unknown): string {
  const isMarked = typeof value === "object" && value !== null && "cache_control" in value
  const json = JSON.stringify(isMarked ? { ...value, cache_control: undefined } : value)
  const isMarkedInside = json.includes('"cache_control"') // visiting each key takes five times as long
  return hash("sha256", isMarkedInside ? JSON.stringify(value, withoutMarks) : json, "base64url")
}

const withoutMarks = (key: string, inner: unknown) => (key === "cache_control" ? undefined : inner)

const countTool = (tool: ToolParam) => TOOL_TOKENS + countText(JSON.stringify({ ...tool, cache_control: undefined }))

function countBlock(block: Block): number {
  switch (block.type) {
    case "text":
      return countText(block.text ?? "")
    case "thinking":
      return TAGGED_BLOCK_TOKENS + countText(block.thinking ?? "")
    case "redacted_thinking":
      return TAGGED_BLOCK_TOKENS + countText(block.data ?? "")
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return TAGGED_BLOCK_TOKENS + countText(block.name ?? "") + countText(JSON.stringify(block.input ?? {}))
    case "tool_result":
    case "compaction":
    case "search_result":
      return TAGGED_BLOCK_TOKENS + countContent(block.content)
    case "image":
      return TAGGED_BLOCK_TOKENS + countImage(block)
    case "document":
      return TAGGED_BLOCK_TOKENS + countDocument(block)
    case "container_upload":
      return REFERENCED_DOCUMENT_TOKENS
    case "cache_edits":
      return 0
    default:
      return TAGGED_BLOCK_TOKENS + countText(JSON.stringify({ ...block, cache_control: undefined }))
  }
}

function countContent(content: Block["content"]): number {
  if (typeof content === "string") return countText(content)
  return (content ?? []).reduce((sum, block) => sum + countBlock(block), 0)
}

function countImage({ source }: Block): number {
  const size = source?.type === "base64" ? readImageSize(source.data ?? "") : undefined
  return size ? Math.min(MAX_IMAGE_TOKENS, Math.ceil((size.width * size.height) / PIXELS_PER_TOKEN)) : MAX_IMAGE_TOKENS
}

function countDocument({ source }: Block): number {
  switch (source?.type) {
    case "text":
      return countText(source.data ?? "")
    case "content":
      return countContent(source.content)
    case "base64":
      return PDF_PAGE_TOKENS * countPdfPages(Buffer.from(source.data ?? "", "base64").toString("latin1"))
    default:
      return REFERENCED_DOCUMENT_TOKENS
  }
}

const countPdfPages = (pdf: string) => Math.max(1, pdf.match(/\/Type\s*\/Page(?![a-zA-Z])/g)?.length ?? 0)
