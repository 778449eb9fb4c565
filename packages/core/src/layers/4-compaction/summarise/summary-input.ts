/**
 * Step 3, summarise. What a directly called summariser reads: the messages as the API takes them, without thinking, media and listings.
 * Long texts lose their middle. The list is always valid: it begins with a user message, and every call has its result.
 */
import { renderAttachment } from "../../../messages/attachments.ts"
import {
  asServerResult,
  asServerUse,
  type Block,
  isMedia,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  resultBlocks,
  type TextBlock,
  type ToolResult,
  type ToolUse,
  textOf,
} from "../../../messages/blocks.ts"
import { type FlatMessage, type FlattenOptions, flatten } from "../../../messages/flatten.ts"
import { contentOf, type Message } from "../../../messages/messages.ts"
import { mapBlocks } from "../../../views/context/changed-messages.ts"
import { previewedText } from "../../../views/context/render-decisions.ts"
import type { Views } from "../../../views/views.ts"
import { cutMiddle } from "../cut-text.ts"

/** The most characters that stay of each. */
export interface InputLimits {
  /** A tool result, and a string in a call's input. */
  readonly result: number
  /** Anything else that was said or attached. */
  readonly text: number
}

interface SummaryInputOptions extends FlattenOptions {
  readonly limits?: InputLimits
  /** What the model thought, as text. Default: left out. */
  readonly thinking?: boolean
  /** Pictures and documents as they are. Default: by name. */
  readonly media?: boolean
}

/** About 5,000 and 20,000 tokens: enough to see what a file is about, and all of a long message. */
export const INPUT_LIMITS: InputLimits = { result: 20_000, text: 80_000 }

/** Attachments that are sent again after a compaction or found when needed, including other programs' names for them. */
const LISTINGS = new Set(["skill_listing", "skill_discovery"])
/** What servers encrypt in their results. No one else can read it. */
const SEALED_FIELDS = new Set(["encrypted_content", "encrypted_index", "encrypted_stdout", "cache_control"])

export function summaryInput(messages: readonly Message[], options: SummaryInputOptions = {}): readonly FlatMessage[] {
  const { limits = INPUT_LIMITS, thinking = false, media = false, ...flattening } = options
  const readable = messages
    .filter((message) => !isListing(message))
    .map((message) => withReadableBlocks(message, { thinking, media }))
  const { messages: flat } = flatten(readable, flattening)
  return flat.map(({ role, content }) => ({ role, content: content.map((block) => shortened(block, limits)) }))
}

function isListing(message: Message): boolean {
  if (message.type !== "attachment") return false
  const { attachment } = message
  return LISTINGS.has(attachment.type === "foreign" ? attachment.kind : attachment.type)
}

type Shown = Required<Pick<SummaryInputOptions, "thinking" | "media">>

function withReadableBlocks(message: Message, shown: Shown): Message {
  if (message.type === "attachment" && message.attachment.type === "system_message") {
    const text = textOf(renderAttachment(message.attachment)) // not every model takes system messages
    return { ...message, attachment: { type: "foreign", kind: "system_message", data: {}, text } }
  }
  if (message.type !== "user" && message.type !== "assistant") return message
  const content = contentOf(message).flatMap((block): readonly Block[] =>
    isThinking(block) ? (shown.thinking ? thoughtOf(block) : []) : [readable(block, shown)],
  )
  if (message.type === "assistant") return { ...message, message: { ...message.message, content } } as Message
  const { asSent: _, ...joined } = message // a caller's message is joined with its neighbours like any other
  return { ...joined, message: { role: "user", content } } as Message
}

/** A signature binds thinking to its place, so it is shown as text. */
const thoughtOf = (block: Block): readonly TextBlock[] =>
  block.type === "thinking" && block.thinking !== "" ? [asText(`[thinking] ${block.thinking}`)] : []

/** Bytes that the request carries itself. A reference may need more than the request has. */
const isCarried = (block: Block): boolean => isMedia(block) && block.source.type === "base64"

/** Calls and results with the fields that every model takes, everything else as text. */
function readable(block: Block, { media }: Shown): Block {
  if (isText(block)) return asText(block.text) // without citations
  if (media && isCarried(block)) return block
  if (isToolUse(block)) return { type: "tool_use", id: block.id, name: block.name, input: block.input }
  if (isToolResult(block)) return readableResult(block, media)
  const use = asServerUse(block)
  if (use) return asText(`[${use.name} ${JSON.stringify(use.input)}]`)
  const result = asServerResult(block)
  if (result) return asText(`[${result.type}] ${readableJson(result.content)}`)
  // images, documents and anything else: by name
  const { type, content } = block as { type: string; content?: unknown }
  return asText(type === "compaction" && typeof content === "string" && content !== "" ? content : `[${type}]`)
}

const asText = (text: string): TextBlock => ({ type: "text", text })

function readableResult(result: ToolResult, media: boolean): ToolResult {
  const texts = resultBlocks(result).map((block) =>
    isText(block) ? block.text : isMedia(block) ? `[${block.type}]` : readableJson(block),
  )
  const { type, tool_use_id, is_error } = result
  const pictures = media && !is_error ? resultBlocks(result).filter(isCarried) : []
  const content = pictures.length > 0 ? [asText(texts.join("\n")), ...pictures] : texts.join("\n")
  return { type, tool_use_id, content, ...(is_error === undefined ? {} : { is_error }) } as ToolResult
}

function readableJson(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => (SEALED_FIELDS.has(key) ? undefined : inner)) ?? ""
}

function shortened(block: Block, limits: InputLimits): Block {
  if (isText(block)) return block.text.length <= limits.text ? block : asText(cutMiddle(block.text, limits.text))
  if (isToolUse(block)) return shortenedCall(block, limits.result)
  if (!isToolResult(block) || typeof block.content !== "string" || block.content.length <= limits.result) return block
  return { ...block, content: cutMiddle(block.content, limits.result) }
}

/** A call keeps its form where possible: long strings in its input are cut, each to its share. */
function shortenedCall(call: ToolUse, limit: number): ToolUse {
  if (charactersIn(call.input) <= limit) return call
  const input = shortenedValue(call.input, limit / stringsIn(call.input))
  if (charactersIn(input) <= limit) return { ...call, input }
  return { ...call, input: { shortened: cutMiddle(JSON.stringify(call.input), limit) } }
}

function shortenedValue(value: unknown, limit: number): unknown {
  if (typeof value === "string") return cutMiddle(value, limit)
  if (Array.isArray(value)) return value.map((item) => shortenedValue(item, limit))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortenedValue(inner, limit)]))
}

/** How much text a value holds: its strings, and a little for everything around them. */
function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null) return String(value).length
  return Object.entries(value).reduce((sum, [key, inner]) => sum + key.length + charactersIn(inner), 0)
}

function stringsIn(value: unknown): number {
  if (typeof value === "string") return 1
  if (typeof value !== "object" || value === null) return 0
  return Object.values(value).reduce((sum: number, inner: unknown) => sum + stringsIn(inner), 0)
}

const CHARACTERS_PER_TOKEN = 3 // fewer than usual, so that the estimate is on the safe side
const LEAST = 300 // characters of one result; less would say no more than its residue

interface Originals {
  readonly context: Views["context"]
  /** Tokens that all of them may take. */
  readonly room: number
}

/**
 * Cleared results as their tools gave them, for a summariser that is sent the messages anyway. They take the room that is left, no more.
 */
export function withOriginals(messages: readonly Message[], { context, room }: Originals): readonly Message[] {
  const cleared = new Set(
    messages.flatMap((message) =>
      message.type === "user"
        ? contentOf(message).flatMap((block) =>
            isToolResult(block) && context.isCleared(block.tool_use_id) ? block.tool_use_id : [],
          )
        : [],
    ),
  )
  const limit = Math.min(INPUT_LIMITS.result, Math.floor((room * CHARACTERS_PER_TOKEN) / Math.max(1, cleared.size)))
  if (cleared.size === 0 || limit < LEAST) return messages
  return messages.map((message) =>
    mapBlocks(message, (block) => {
      const original =
        isToolResult(block) && cleared.has(block.tool_use_id) && context.originalResult(block.tool_use_id)
      return original ? { ...original, content: cutMiddle(previewedText(original), limit) } : block
    }),
  )
}
