/**
 * Step 3, summarize. Makes the input of a summarizer fit its window. Messages that do not fit are divided into chunks of complete rounds. A
 * single round that does not fit is cut more and more. Summaries of parts that do not fit together are merged in groups.
 */
import { type CooperativeTask, runSync } from "../../../base/work.ts"
import { renderAttachment } from "../../../messages/attachment-texts.ts"
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
import { contentOf, isSentToModel, type Message } from "../../../messages/messages.ts"
import { type Round, rounds } from "../../../messages/rounds.ts"
import type { Estimator } from "../../../tokens/estimate.ts"
import { previewText } from "../../../views/context/render-decisions.ts"
import { mapBlocks } from "../../../views/context/rendered-messages.ts"
import type { Views } from "../../../views/views.ts"
import { cutMiddle } from "../cut.ts"

// Step 3, summarize. The input of a direct summarizer: the messages as the API accepts them, without thinking, media and listings. Long
// texts lose their middle. The list is always valid: it begins with a user message, and every call has a result.

/** Maximum number of characters of each item. */
export interface InputLimits {
  /** Limit for a tool result, and for a string in a call's input. */
  readonly result: number
  /** Limit for any other text or attachment. */
  readonly text: number
}

interface SummaryInputOptions extends FlattenOptions {
  readonly limits?: InputLimits
  /** Whether to include thinking as text. Default: omitted. */
  readonly thinking?: boolean
  /** Whether to include images and documents. Default: only their type. */
  readonly media?: boolean
}

/** About 5,000 and 20,000 tokens: enough to see what a file is about, and all of a long message. */
export const INPUT_LIMITS: InputLimits = { result: 20_000, text: 80_000 }

/** Types of attachments that are sent again after a compaction or found on demand, including the names that other programs use. */
const LISTINGS = new Set(["skill_listing", "skill_discovery"])
/** Fields that servers encrypt in their results and that nobody else can read. */
const SEALED_FIELDS = new Set(["encrypted_content", "encrypted_index", "encrypted_stdout", "cache_control"])

export function summaryInput(messages: readonly Message[], options: SummaryInputOptions = {}): readonly FlatMessage[] {
  const { limits = INPUT_LIMITS, thinking = false, media = false, ...flattening } = options
  const readable = messages
    .filter((message) => !isListing(message))
    .map((message) => withReadableBlocks(message, { thinking, media }))
  const { messages: flat } = flatten(readable, flattening)
  return flat.map(({ role, content }) => ({ role, content: content.map((block) => shortenBlock(block, limits)) }))
}

function isListing(message: Message): boolean {
  if (message.type !== "attachment") return false
  const { attachment } = message
  return LISTINGS.has(attachment.type === "foreign" ? attachment.kind : attachment.type)
}

type ReadableOptions = Required<Pick<SummaryInputOptions, "thinking" | "media">>

function withReadableBlocks(message: Message, shown: ReadableOptions): Message {
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

/** Converts thinking to text, because a signature binds it to its position. */
const thoughtOf = (block: Block): readonly TextBlock[] =>
  block.type === "thinking" && block.thinking !== "" ? [asText(`[thinking] ${block.thinking}`)] : []

/** Whether the request itself contains the bytes. A reference may require more than that. */
const isCarried = (block: Block): boolean => isMedia(block) && block.source.type === "base64"

/** Reduces calls and results to the fields that every model accepts, and converts everything else to text. */
function readable(block: Block, { media }: ReadableOptions): Block {
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

function shortenBlock(block: Block, limits: InputLimits): Block {
  if (isText(block)) return block.text.length <= limits.text ? block : asText(cutMiddle(block.text, limits.text))
  if (isToolUse(block)) return shortenedCall(block, limits.result)
  if (!isToolResult(block) || typeof block.content !== "string" || block.content.length <= limits.result) return block
  return { ...block, content: cutMiddle(block.content, limits.result) }
}

/** Shortens a call. It preserves its structure if possible: each long string in its input is cut to a share of the limit. */
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

/** Amount of text in a value: its strings, and a little for everything around them. */
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
const MIN = 300 // characters of one result; less would say no more than its stub

interface OriginalsInput {
  readonly context: Views["context"]
  /** Tokens available for all originals together. */
  readonly room: number
}

/**
 * Replaces cleared results by their original content, for a summarizer that receives the messages anyway. They only use the room that is
 * left.
 */
export function withOriginals(messages: readonly Message[], { context, room }: OriginalsInput): readonly Message[] {
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
  if (cleared.size === 0 || limit < MIN) return messages
  return messages.map((message) =>
    mapBlocks(message, (block) => {
      const original =
        isToolResult(block) && cleared.has(block.tool_use_id) && context.originalResult(block.tool_use_id)
      return original ? { ...original, content: cutMiddle(previewText(original), limit) } : block
    }),
  )
}

/** Token budget for the input, and how to measure it. */
export interface InputBudget {
  readonly tokens: number
  readonly estimator: Estimator
  /** Maximum size of one result or text. Default: derived from the budget. */
  readonly limits?: InputLimits
  /** Whether the summarizer accepts images and documents in the form that the conversation has them. */
  readonly media?: boolean
  /** Share of the rounds to drop if a provider finds the request too long without saying by how much. */
  readonly dropShare?: number | undefined
}

const MESSAGE_TOKENS = 4 // role and separators around each
const RESULT_SHARE = 0.1 // of the room: no single result may take more
const TEXT_SHARE = 0.4
const CHARACTERS_PER_TOKEN_FIT = 4 // where only the order of magnitude matters
const SMALLEST: InputLimits = { result: 100, text: 400 }
const CHUNK_SLACK = 50 // tokens for the line that names the part
const DIVISOR = 2 // limits are divided by this each time

export function sizeOf(messages: readonly FlatMessage[], estimator: Estimator): number {
  return messages.reduce((sum, { content }) => sum + estimator.blocks(content) + MESSAGE_TOKENS, 0)
}

/** Limits for a budget of this size: lower than usual in a small window. */
export function limitsIn({ tokens, limits }: InputBudget): InputLimits {
  if (limits) return limits
  const part = (share: number) => Math.floor(tokens * share * CHARACTERS_PER_TOKEN_FIT)
  return {
    result: Math.max(SMALLEST.result, Math.min(INPUT_LIMITS.result, part(RESULT_SHARE))),
    text: Math.max(SMALLEST.text, Math.min(INPUT_LIMITS.text, part(TEXT_SHARE))),
  }
}

/** Tokens that a round adds to a request. On its own a round would get a made-up first message, which does not count. */
export function roundSize(round: Round, room: InputBudget): number {
  const input = summaryInput(round, { limits: limitsIn(room) })
  const beginsAlone = round.find(isSentToModel)?.type === "assistant"
  return sizeOf(beginsAlone ? input.slice(1) : input, room.estimator)
}

/** Divides rounds into chunks of about equal size within the budget. A round that exceeds the budget is a chunk of its own. */
export const chunksOf = (messages: readonly Message[], room: InputBudget): Chunks => runSync(chunkSteps(messages, room))

type Chunks = readonly (readonly Round[])[]

/** `chunksOf` as a cooperative task, one step for each round. */
export function* chunkSteps(messages: readonly Message[], room: InputBudget): CooperativeTask<Chunks> {
  const sized: { readonly round: Round; readonly size: number }[] = []
  for (const round of rounds(messages)) {
    sized.push({ round, size: roundSize(round, room) })
    yield
  }
  const max = room.tokens - CHUNK_SLACK
  const total = sized.reduce((sum, { size }) => sum + size, 0)
  const target = total / Math.max(1, Math.ceil(total / max))
  const chunks: Round[][] = []
  let filled = Number.POSITIVE_INFINITY
  for (const { round, size } of sized) {
    // a chunk that has reached its share is closed, and none grows over the room
    if ((filled >= target && size > 0) || filled + size > max) {
      chunks.push([])
      filled = 0
    }
    chunks.at(-1)!.push(round)
    filled += size
  }
  return chunks
}

const MAX_MEDIA = 20 // in one request: beyond it the API takes only small pictures

/** The messages as the summarizer reads them, within the budget: with thinking and media if they fit. */
export function fitToBudget(messages: readonly Message[], room: InputBudget): readonly FlatMessage[] {
  const { tokens, estimator, media = false } = room
  let limits = limitsIn(room)
  for (const shown of media ? [{ thinking: true, media }, { thinking: true }] : [{ thinking: true }]) {
    const all = summaryInput(messages, { limits, ...shown })
    if (sizeOf(all, estimator) <= tokens && mediaIn(all) <= MAX_MEDIA) return all
  }
  let input = summaryInput(messages, { limits })
  while (sizeOf(input, estimator) > tokens) {
    if (limits.result <= SMALLEST.result && limits.text <= SMALLEST.text) return asOneText(input, room)
    limits = {
      result: Math.max(SMALLEST.result, Math.floor(limits.result / DIVISOR)),
      text: Math.max(SMALLEST.text, Math.floor(limits.text / DIVISOR)),
    }
    input = summaryInput(messages, { limits })
  }
  return input
}

const mediaIn = (messages: readonly FlatMessage[]): number =>
  messages
    .flatMap(({ content }) => content)
    .flatMap((block) => (isToolResult(block) ? resultBlocks(block) : [block]))
    .filter(isMedia).length

/** Last resort for a round of very many calls: one text, of which the beginning and the end stay. */
function asOneText(messages: readonly FlatMessage[], { tokens, estimator }: InputBudget): readonly FlatMessage[] {
  const fullText = messages.map(({ role, content }) => `${role}: ${content.map(textOfBlock).join("\n")}`).join("\n\n")
  const wrap = (text: string): readonly FlatMessage[] => [
    { role: "user", content: [{ type: "text", text: `<shortened-messages>\n${text}\n</shortened-messages>` }] },
  ]
  return wrap(textWithin(fullText, tokens, (text) => sizeOf(wrap(text), estimator)))
}

function textOfBlock(block: Block): string {
  if (isText(block)) return block.text
  if (isToolUse(block)) return `${block.name} ${JSON.stringify(block.input)}`
  return isToolResult(block) ? `result: ${textOf(resultBlocks(block))}` : `[${block.type}]`
}

/** Removes the middle of a text until it fits. */
function textWithin(text: string, budget: number, size: (text: string) => number): string {
  let shortened = text
  for (let now = size(shortened); now > budget; now = size(shortened)) {
    const shorter = cutMiddle(text, Math.floor(shortened.length * Math.min(0.9, (0.9 * budget) / now)))
    if (shorter.length >= shortened.length) return shortened // cutting further would leave nothing
    shortened = shorter
  }
  return shortened
}

/** Groups neighboring parts so that each group fits one call, with at least two parts each. */
export function groupsOf(sizes: readonly number[], budget: number): readonly (readonly number[])[] {
  const groups: number[][] = []
  let filled = 0
  sizes.forEach((size, index) => {
    const group = groups.at(-1)
    if (group && (group.length < 2 || filled + size <= budget)) {
      group.push(index)
      filled += size
    } else {
      groups.push([index])
      filled = size
    }
  })
  return groups
}
