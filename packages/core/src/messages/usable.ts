/**
 * The form in which views read a stored message. A journal may contain anything: an older version wrote it, a user edited it, or
 * another program's transcript was imported. Blocks that no request can contain are replaced here and reported as a repair; the journal
 * preserves them. Blocks keep their indexes, so handles stay valid.
 */

import { attachmentFlaw } from "./attachment-texts.ts"
import { ASSISTANT_BLOCKS, type Block, isServerResult, RESULT_BLOCKS, toWellFormed, USER_BLOCKS } from "./blocks.ts"
import { handleFor, readImageSize } from "./media.ts"
import {
  type AssistantMessage,
  type AttachmentMessage,
  type Boundary,
  isBoundary,
  type Message,
  type Repair,
  type UserMessage,
  usableUsage,
} from "./messages.ts"
import {
  describeFlaw,
  type Flaw,
  findFlaw,
  hasCitations,
  isKnownType,
  isOptionalField,
  isRecord,
  json,
  wrong,
} from "./shapes/shapes.ts"

const REPAIRS = Symbol("repairs made when the message was read")
/** Recognised by identity, so that requests contain no trace of it. */
const unusableBlocks = new WeakSet<object>()
const receivedBlocks = new WeakSet<object>()

/** The repairs that made a message usable. */
export const repairsOf = (message: Message): readonly Repair[] =>
  (message as { readonly [REPAIRS]?: readonly Repair[] })[REPAIRS] ?? []

/** Whether the block is only a placeholder for one that cannot be sent. */
export const isUnusable = (block: Block): boolean => unusableBlocks.has(block)

/** Whether the block came in a response and this version does not know it. */
export const isAsReceived = (block: Block): boolean => receivedBlocks.has(block)

type Fields = Readonly<Record<string, unknown>>

const usableMessages = new WeakMap<Message, Message>()

/** Returns the message itself if there is nothing to repair. */
export function usable(message: Message): Message {
  const known = usableMessages.get(message)
  if (known) return known
  const result = repair(message)
  usableMessages.set(message, result)
  if (result !== message) usableMessages.set(result, result)
  return result
}

function repair(message: Message): Message {
  const dated = isDate(message.timestamp) ? message : { ...message, timestamp: EPOCH }
  if (dated.type === "user" || dated.type === "assistant") return withUsableContent(dated)
  if (dated.type === "attachment") return withUsableAttachment(dated)
  return isBoundary(dated) ? withUsableMetadata(dated) : dated
}

const EPOCH = "1970-01-01T00:00:00.000Z"
const isDate = (value: unknown) => typeof value === "string" && !Number.isNaN(Date.parse(value))

function withUsableContent(message: UserMessage | AssistantMessage): Message {
  const repairs: Repair[] = []
  const stored: unknown = message.message
  const inner = isRecord(stored) ? stored : {}
  const { content } = inner
  const context = { message, repairs }
  const blocks = contentBlocks(content, context)
  const fields = message.type === "assistant" ? usableResponse(inner) : inner
  if (repairs.length === 0 && blocks === content && fields === stored) return message
  const repairedMessage = {
    ...message,
    message: { ...fields, role: message.type, content: blocks },
  } as unknown as Message
  return repairs.length === 0 ? repairedMessage : Object.assign(repairedMessage, { [REPAIRS]: repairs })
}

interface BlockContext {
  readonly message: UserMessage | AssistantMessage
  readonly repairs: Repair[]
}

/** Returns the content itself if every block is usable. */
function contentBlocks(content: unknown, context: BlockContext): unknown {
  if (typeof content === "string" && content.isWellFormed()) return content
  const items = typeof content === "string" ? [{ type: "text", text: content }] : content
  if (!Array.isArray(items))
    return [replaceUnusable(context, context.message.uuid, wrong("a text or a list of blocks"))]
  const blocks = items.map((block: unknown, at) => usableBlock(block, at, context))
  return blocks.every((block, at) => block === items[at]) ? content : blocks
}

function usableBlock(block: unknown, at: number, context: BlockContext): unknown {
  const address = `${context.message.uuid}.${at}`
  if (!isRecord(block) || typeof block.type !== "string" || block.type === "")
    return replaceUnusable(context, address, wrong("a block with a type"))
  const { type } = block
  const isAssistant = context.message.type === "assistant"
  if (context.message.asSent && isSentUnusually(block, context.message.type))
    return passThrough(block, address, context)
  if (isAssistant && isFromNewerServer(block, at, context.message as AssistantMessage)) {
    return passThrough(block, address, context)
  }
  const allowed = isAssistant ? ASSISTANT_BLOCKS.has(type) || isServerResult(type) : USER_BLOCKS.has(type)
  if (!allowed) {
    // unknown types are dropped by the flattener, with the other repairs of the turn
    return isAssistant && !isKnownType(type)
      ? block
      : replaceUnusable(context, address, wrong("a type that fits its message", "type"))
  }
  if (type === "tool_result") return usableResult(block, address, context)
  return usableShape(block, address, context)
}

/** Whether a client's block is unusual. It is sent unchanged: the server accepted it before, or can refuse it. */
function isSentUnusually(block: Fields, type: "user" | "assistant"): boolean {
  if (block.type === "tool_use" || block.type === "tool_result") return false // the flattener repairs calls and results
  if (block.type === "text" && typeof block.text === "string" && block.text.trim() === "") return true
  const isKnown = type === "user" ? USER_BLOCKS.has(String(block.type)) : ASSISTANT_BLOCKS.has(String(block.type))
  return !isKnown || findFlaw(block) !== undefined
}

function passThrough(block: Fields, address: string, context: BlockContext): Fields {
  const { cache_control: _, ...received } = withWellFormedText(block, address, context)
  receivedBlocks.add(received)
  return received
}

/** Whether a block has a type, or calls a server tool, that this version does not know. Such blocks were recorded as received. */
function isFromNewerServer(block: Fields, at: number, { asReceived }: AssistantMessage): boolean {
  if (!Array.isArray(asReceived) || !asReceived.includes(at)) return false
  return isUnknownBlock(block) && json(block) === undefined
}

/** Whether a block of a response has a type, or calls a server tool, that this version does not know. */
export function isUnknownBlock({ type, id, name, input }: Fields): boolean {
  if (type !== "server_tool_use") return !isKnownType(type)
  return (
    typeof id === "string" &&
    typeof name === "string" &&
    isRecord(input) &&
    findFlaw({ type, id, name, input })?.at === "name"
  )
}

/** Drops invalid optional fields. A block that is invalid in another way is replaced. */
function usableShape(block: Fields, address: string, context: BlockContext): unknown {
  let current = block
  const inUserText = context.message.type === "user"
  const next = () =>
    shapeFlaw(current) ?? (inUserText && hasCitations(current) ? wrong("empty", "citations") : undefined)
  for (let flaw = next(); flaw; flaw = next()) {
    const [field = ""] = /^[^.[]+/.exec(flaw.at) ?? []
    if (flaw.kind === "extra" && context.message.asSent) return passThrough(current, address, context)
    const isSpare = flaw.kind === "extra" || isOptionalField(String(block.type), field)
    if (!isSpare) return replaceUnusable(context, address, flaw, block)
    current = without(current, field)
    context.repairs.push({ rule: "unknown-field", id: `${address}.${field}` })
  }
  return withRightMediaType(withWellFormedText(current, address, context), address, context)
}

/**
 * The flaw of a block, except those that the flattener repairs under its own name: odd names or ids of calls and results, and unsigned
 * thinking.
 */
function shapeFlaw(block: Fields): Flaw | undefined {
  const { type } = block
  if (type === "tool_use") {
    if (typeof block.id !== "string") return wrong("a text", "id")
    if (typeof block.name !== "string") return wrong("a text", "name")
    return findFlaw({ ...block, id: "id", name: "name" })
  }
  if (type === "tool_result") return findFlaw({ ...block, tool_use_id: "id" })
  if (type === "thinking" && typeof block.signature !== "string") return findFlaw({ ...block, signature: "" })
  return findFlaw(block)
}

function usableResult(block: Fields, address: string, context: BlockContext): unknown {
  if (typeof block.tool_use_id !== "string")
    return replaceUnusable(context, address, wrong("a text", "tool_use_id"), block)
  const { content } = block
  const listed = Array.isArray(content)
    ? content.map((inner, at) => usableInner(inner, `${address}.${at}`, context))
    : undefined
  const isSame = listed === undefined || listed.every((inner, at) => inner === (content as unknown[])[at])
  const isContent = content === undefined || typeof content === "string" || listed !== undefined
  if (!isContent) {
    const stub = replaceUnusable(context, address, wrong("a text or a list of blocks", "content"))
    return { type: "tool_result", tool_use_id: block.tool_use_id, content: [stub] }
  }
  return usableShape(isSame ? block : { ...block, content: listed }, address, context)
}

function usableInner(inner: unknown, address: string, context: BlockContext): unknown {
  if (!isRecord(inner) || !RESULT_BLOCKS.has(String(inner.type)))
    return replaceUnusable(context, address, wrong("a block that a result can have"))
  return usableShape(inner, address, context)
}

/** Replaces lone surrogates, which arise when a text is cut inside a character. The API refuses them as invalid JSON. */
function withWellFormedText(block: Fields, address: string, { repairs }: BlockContext): Fields {
  const fixed = toWellFormed(block)
  if (fixed === block) return block
  repairs.push({ rule: "half-character", id: address })
  return fixed
}

/** Corrects the media type of an image. The API compares it with the bytes, and tools guess it from a file name. */
function withRightMediaType(block: Fields, address: string, { repairs }: BlockContext): Fields {
  const { type, source } = block
  if (type !== "image" || !isRecord(source) || source.type !== "base64") return block
  const size = readImageSize(String(source.data))
  if (size === undefined || size.mediaType === source.media_type) return block
  repairs.push({ rule: "mislabelled-image", id: address })
  return { ...block, source: { ...source, media_type: size.mediaType } }
}

/**
 * Replaces a block that cannot be sent. In a user message, a text tells the model that something is missing. An assistant message only
 * loses the block.
 */
function replaceUnusable({ message, repairs }: BlockContext, address: string, flaw: Flaw, block: Fields = {}): Fields {
  const rule = block.type === "tool_use" ? "malformed-tool-use" : "malformed-block"
  repairs.push({ rule, id: rule === "malformed-tool-use" && typeof block.id === "string" ? block.id : address })
  if (message.type === "assistant" || block.type === "tool_result") {
    const nothing = { type: "text", text: "" }
    unusableBlocks.add(nothing)
    return nothing
  }
  return {
    type: "text",
    text: `[A block here cannot be sent: it ${describeFlaw(flaw)}. Its handle is ${handleFor(address)}.]`,
  }
}

function usableResponse(response: Fields): Fields {
  const { usage, id, stop_reason, model } = response
  const counted = usage === undefined ? undefined : usableUsage(usage)
  const odd = [
    ...(usage !== undefined && counted === undefined ? ["usage"] : []),
    ...(id !== undefined && typeof id !== "string" ? ["id"] : []),
    ...(stop_reason != null && typeof stop_reason !== "string" ? ["stop_reason"] : []),
    ...(model !== undefined && typeof model !== "string" ? ["model"] : []),
  ]
  const fields = odd.reduce(without, response)
  const losesIterations =
    counted !== undefined && counted.iterations === undefined && isRecord(usage) && usage.iterations != null
  return losesIterations ? { ...fields, usage: counted } : fields
}

function withUsableAttachment(message: AttachmentMessage): Message {
  if (attachmentFlaw(message.attachment) === undefined) return message
  const repairs: readonly Repair[] = [{ rule: "malformed-block", id: message.uuid }]
  const attachment = { type: "foreign" as const, kind: "malformed", data: message.attachment }
  return Object.assign({ ...message, attachment }, { [REPAIRS]: repairs })
}

function withUsableMetadata(boundary: Boundary): Message {
  const { compactMetadata } = boundary
  const preserved: unknown = isRecord(compactMetadata) ? compactMetadata.preservedMessages : compactMetadata
  const isRight = preserved === undefined || (isRecord(preserved) && Array.isArray(preserved.uuids))
  if (isRight) return boundary
  const { compactMetadata: _, ...rest } = boundary
  return rest as Message
}

function without(fields: Fields, name: string): Fields {
  const { [name]: _, ...rest } = fields
  return rest
}

// Checks content from outside before it reaches the journal: from your program, a tool or a model. Content that no request can contain
// is refused, with the path of the flaw.

export interface ContentSource {
  /** The sender of the blocks. A `response` may contain new types, because the server decides what it contains. */
  readonly role: "user" | "assistant" | "response" | "result"
  /** How a sentence refers to the content. */
  readonly subject: string
  /** The path of the content: `messages[3].content`. */
  readonly path?: string
}

/** Describes the first block that cannot be used, if any: `block 2 of its content needs "text" (content[2].text)`. */
export function findProblem(
  blocks: readonly unknown[],
  { role, subject, path = "content" }: ContentSource,
): string | undefined {
  for (const [index, block] of blocks.entries()) {
    const problem = blockProblem(block, role, `${path}[${index}]`)
    if (problem !== undefined) return `block ${index} of ${subject} ${problem}`
  }
  return undefined
}

function blockProblem(block: unknown, role: ContentSource["role"], path: string): string | undefined {
  if (!isRecord(block) || typeof block.type !== "string" || block.type === "") return `has no type (${path})`
  const { type } = block
  if (!isAllowed(type, role)) return `has the type ${JSON.stringify(type)}, which ${WHERE[role]} cannot have (${path})`
  if (type === "tool_result") return resultProblem(block, path)
  const flaw = intolerableFlaw(block, role)
  return flaw && `${describeFlaw(flaw)} (${path}.${flaw.at})`
}

const WHERE = {
  user: "a message of the user",
  assistant: "a message of the assistant",
  response: "a response",
  result: "a tool result",
}

function isAllowed(type: string, role: ContentSource["role"]): boolean {
  if (role === "response") return type !== "tool_result"
  if (role === "user") return USER_BLOCKS.has(type)
  if (role === "result") return RESULT_BLOCKS.has(type)
  return ASSISTANT_BLOCKS.has(type) || (isServerResult(type) && isKnownType(type))
}

/** The flaw for which a block is refused. Flaws that a request can leave out are accepted: the view drops them and records a repair. */
function intolerableFlaw(block: Readonly<Record<string, unknown>>, role: ContentSource["role"]): Flaw | undefined {
  const flaw = findFlaw(block)
  if (role === "user")
    return flaw ?? (hasCitations(block) ? wrong("empty in a message of the user", "citations") : undefined)
  if (flaw === undefined) return undefined
  return isRepairable(block as { readonly type: string }, flaw) ? undefined : flaw
}

/** Whether the view can send the block, or the rest of its message, without the invalid part. */
function isRepairable(block: { readonly type: string }, flaw: Flaw): boolean {
  const [field = ""] = /^[^.[]+/.exec(flaw.at) ?? []
  if (flaw.kind === "extra" || isOptionalField(block.type, field)) return true
  // models write calls that the API later refuses, and other providers do not sign their thinking
  if (block.type === "tool_use") return field !== "id" || isOddId(flaw)
  if (block.type === "thinking") return field === "signature"
  return block.type === "server_tool_use" && field === "name"
}

function resultProblem(result: Readonly<Record<string, unknown>>, path: string): string | undefined {
  const { content } = result
  if (content !== undefined && typeof content !== "string" && !Array.isArray(content))
    return `has a content that is neither a text nor a list of blocks (${path}.content)`
  if (Array.isArray(content)) {
    const problem = findProblem(content, { role: "result", subject: "its result", path: `${path}.content` })
    if (problem !== undefined) return `cannot be used: ${problem}`
  }
  const flaw = findFlaw({ ...result, content: "" })
  // its call is one that the API refuses: the request drops both
  if (flaw === undefined || isOddId(flaw)) return undefined
  return `${describeFlaw(flaw)} (${path}.${flaw.at})`
}

/** Whether a flaw is an id that is a string the API does not accept. */
const isOddId = ({ at, must }: Flaw) => (at === "id" || at === "tool_use_id") && must.startsWith("a text that matches")

/** Whether this version knows the type of a response's block. */
export const isKnownBlock = ({ type }: Block): boolean =>
  ASSISTANT_BLOCKS.has(type) || (isServerResult(type) && isKnownType(type))
