/**
 * Counts tokens. Claude's tokenizer is not public, so this uses o200k: counts have the right magnitude and never vary, but differ from
 * Claude's.
 *
 * - Text, thinking, names, tool inputs and schemas (as JSON): o200k tokens, counted in chunks of 2,048 characters.
 * - Each message adds 4 (role, separators). Each block that is not text adds 8 (tag, id).
 * - Each tool definition adds 12, and the first adds 300 for the instructions that come with tools.
 * - An image counts width × height / 750, at most 1,600. An image of unknown size (a URL, a file) counts 1,600.
 * - A PDF counts 1,500 per page. A document or container file known only by reference counts 3,000.
 *
 * Measured content is cached by its long strings, and then by the hash of its content, so a request that repeats a long prefix costs little
 * more than its new content.
 */

import { hash } from "node:crypto"
import { readImageSize } from "@strata/core/messages"
import { decode, encode } from "gpt-tokenizer/encoding/o200k_base"
import type { Block, ToolParam } from "./wire.ts"
import { countPiece, PIECE, PLAIN } from "./word-tokens.ts"

// The outline of a block or tool: its JSON without its cache breakpoint, with a number in place of each long string. Two values with the
// same outline are equal. An outline takes less time than JSON and its hash, because a known string is only compared.

const LONG = 200 // characters
const MAX_CHARACTERS = 16 * 1024 * 1024 // in the strings of one generation; two generations are cached

interface KnownString {
  readonly text: string
  /** Never reused for another text. A text that comes again after it was dropped gets a new number. */
  readonly number: number
  generation: number
  /** The string that came after this one last time. Requests repeat each other, so it is tried first, which is faster than a lookup. */
  next?: KnownString | undefined
}

export class Outlines {
  #young = new Map<string, KnownString>()
  #old = new Map<string, KnownString>()
  #generation = 0
  #characters = 0
  #numbers = 0
  #latest: KnownString | undefined

  of(value: object): string {
    return this.#fields(value, "cache_control")
  }

  #outline(value: unknown): string {
    if (typeof value === "string") return value.length > LONG ? `#${this.#numberOf(value)}` : JSON.stringify(value)
    if (typeof value !== "object" || value === null) return String(value)
    return Array.isArray(value) ? `[${value.map((inner) => this.#outline(inner)).join()}]` : this.#fields(value)
  }

  #fields(value: object, except?: string): string {
    let text = "{"
    for (const [key, inner] of Object.entries(value))
      if (key !== except) text += `${JSON.stringify(key)}:${this.#outline(inner)},`
    return `${text}}`
  }

  #numberOf(text: string): number {
    const expected = this.#latest?.next
    if (expected?.generation !== this.#generation || expected.text !== text) {
      const found = this.#young.get(text) ?? this.#keep(text)
      if (this.#latest) this.#latest.next = found
      this.#latest = found
    } else this.#latest = expected
    return this.#latest.number
  }

  #keep(text: string): KnownString {
    if (this.#characters + text.length > MAX_CHARACTERS) this.#startGeneration()
    const known = this.#old.get(text) ?? { text, number: this.#numbers++, generation: 0 }
    known.generation = this.#generation
    this.#young.set(text, known)
    this.#characters += text.length
    return known
  }

  #startGeneration(): void {
    for (const dropped of this.#old.values()) dropped.next = undefined
    this.#old = this.#young
    this.#young = new Map()
    this.#characters = 0
    this.#generation++
  }
}

export const MESSAGE_TOKENS = 4
export const TAGGED_BLOCK_TOKENS = 8
const TOOL_TOKENS = 12
export const TOOL_INSTRUCTIONS_TOKENS = 300
const PIXELS_PER_TOKEN = 750
const MAX_IMAGE_TOKENS = 1600
const PDF_PAGE_TOKENS = 1500
const REFERENCED_DOCUMENT_TOKENS = 3000
const MAX_HASHES = 200_000 // blocks, about 100 bytes each
const MAX_OUTLINES = 50_000 // blocks, about 400 bytes each

export function countText(text: string): number {
  let tokens = 0
  for (let at = 0; at < text.length; at += PIECE) tokens += countPiece(text.slice(at, at + PIECE))
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
  const outlines = new Outlines()
  const measures = new Map<string, Measure>()
  const tokensByHash = new Map<string, number>()
  const measure = <T extends Block | ToolParam>(value: T, count: (value: T) => number): Measure => {
    const outline = outlines.of(value)
    const known = measures.get(outline)
    if (known) return known
    const key = contentHash(value)
    const found = { hash: key, tokens: tokensByHash.get(key) ?? count(value) }
    tokensByHash.set(key, found.tokens)
    measures.set(outline, found)
    keepNewest(tokensByHash, MAX_HASHES)
    keepNewest(measures, MAX_OUTLINES)
    return found
  }
  return { block: (block) => measure(block, countBlock), tool: (tool) => measure(tool, countTool) }
}

/** Drops half of the entries at once: each deletion makes the search for the next oldest entry slower. */
function keepNewest(known: Map<string, unknown>, max: number): void {
  if (known.size <= max) return
  for (const oldest of known.keys()) if (known.size > max / 2) known.delete(oldest)
}

/** Hash of everything except cache breakpoints. Key order matters, as it does on the wire. */
export function contentHash(value: unknown): string {
  const isMarked = typeof value === "object" && value !== null && "cache_control" in value
  const json = JSON.stringify(isMarked ? { ...value, cache_control: undefined } : value)
  const isMarkedInside = json.includes('"cache_control"') // visiting each key takes five times as long
  return hash("sha256", isMarkedInside ? JSON.stringify(value, withoutBreakpoints) : json, "base64url")
}

const withoutBreakpoints = (key: string, inner: unknown) => (key === "cache_control" ? undefined : inner)

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
