/**
 * Step 3, summarise. Makes what a summariser reads fit its window. Messages that do not fit are divided into chunks of whole rounds. A
 * single round that does not fit is cut harder and harder. Summaries of parts that do not fit together are joined in groups.
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
import { previewedText } from "../../../views/context/render-decisions.ts"
import { mapBlocks } from "../../../views/context/shown.ts"
import type { Views } from "../../../views/views.ts"
import { cutMiddle } from "../cut.ts"

// Step 3, summarise. What a directly called summariser reads: the messages as the API takes them, without thinking, media and listings.
// Long texts lose their middle. The list is always valid: it begins with a user message, and every call has its result.

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

/** A signature binds thinking to its place, so it is shown as text. */
const thoughtOf = (block: Block): readonly TextBlock[] =>
  block.type === "thinking" && block.thinking !== "" ? [asText(`[thinking] ${block.thinking}`)] : []

/** Bytes that the request carries itself. A reference may need more than the request has. */
const isCarried = (block: Block): boolean => isMedia(block) && block.source.type === "base64"

/** Calls and results with the fields that every model takes, everything else as text. */
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
const MIN = 300 // characters of one result; less would say no more than its residue

interface OriginalsInput {
  readonly context: Views["context"]
  /** Tokens that all of them may take. */
  readonly room: number
}

/**
 * Cleared results as their tools gave them, for a summariser that is sent the messages anyway. They take the room that is left, no more.
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
      return original ? { ...original, content: cutMiddle(previewedText(original), limit) } : block
    }),
  )
}

/** The room there is, in tokens, and what measures it. */
export interface InputBudget {
  readonly tokens: number
  readonly estimator: Estimator
  /** How much of one result or text may stay. Default: by the room. */
  readonly limits?: InputLimits
  /** Whether the summariser takes pictures and documents as the conversation has them. */
  readonly media?: boolean
  /** Share of the rounds that is dropped where a provider finds the request too long without saying by how much. */
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

/** How much of one result or text may stay in a room of this size: less than usual in a small window. */
export function limitsIn({ tokens, limits }: InputBudget): InputLimits {
  if (limits) return limits
  const part = (share: number) => Math.floor(tokens * share * CHARACTERS_PER_TOKEN_FIT)
  return {
    result: Math.max(SMALLEST.result, Math.min(INPUT_LIMITS.result, part(RESULT_SHARE))),
    text: Math.max(SMALLEST.text, Math.min(INPUT_LIMITS.text, part(TEXT_SHARE))),
  }
}

/** What a round adds to a request. On its own it would get a made-up first message, which does not count. */
export function roundSize(round: Round, room: InputBudget): number {
  const input = summaryInput(round, { limits: limitsIn(room) })
  const beginsAlone = round.find(isSentToModel)?.type === "assistant"
  return sizeOf(beginsAlone ? input.slice(1) : input, room.estimator)
}

/** Groups of rounds of about equal size, each within the room. A round that exceeds the room is a group of its own. */
export const chunksOf = (messages: readonly Message[], room: InputBudget): Chunks => runSync(chunkSteps(messages, room))

type Chunks = readonly (readonly Round[])[]

/** The same in steps, one for each round. */
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

/** The messages as a summariser reads them, within the room: with what the model thought and was shown, where that fits. */
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

/** The last resort, for a round of very many calls: one text, of which the beginning and the end stay. */
function asOneText(messages: readonly FlatMessage[], { tokens, estimator }: InputBudget): readonly FlatMessage[] {
  const whole = messages.map(({ role, content }) => `${role}: ${content.map(textOfBlock).join("\n")}`).join("\n\n")
  const wrap = (text: string): readonly FlatMessage[] => [
    { role: "user", content: [{ type: "text", text: `<shortened-messages>\n${text}\n</shortened-messages>` }] },
  ]
  return wrap(textWithin(whole, tokens, (text) => sizeOf(wrap(text), estimator)))
}

function textOfBlock(block: Block): string {
  if (isText(block)) return block.text
  if (isToolUse(block)) return `${block.name} ${JSON.stringify(block.input)}`
  return isToolResult(block) ? `result: ${textOf(resultBlocks(block))}` : `[${block.type}]`
}

/** As much of a text as fits, without its middle. */
function textWithin(text: string, budget: number, size: (text: string) => number): string {
  let kept = text
  for (let now = size(kept); now > budget; now = size(kept)) {
    const shorter = cutMiddle(text, Math.floor(kept.length * Math.min(0.9, (0.9 * budget) / now)))
    if (shorter.length >= kept.length) return kept // cutting further would leave nothing
    kept = shorter
  }
  return kept
}

/** Neighbouring parts that can be joined by one call: all, or as many as fit, and at least two. */
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
