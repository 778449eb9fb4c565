/**
 * The form in which views read a stored message. A journal may hold anything: an older version wrote it, a person edited it, another program's
 * transcript was imported. What no request can carry is set aside here and named as a repair; the journal keeps it as it is. Blocks keep
 * their places, so handles stay right.
 */

import { attachmentFlaw } from "./attachment-texts.ts"
import { ASSISTANT_BLOCKS, type Block, isServerResult, RESULT_BLOCKS, USER_BLOCKS, wellFormed } from "./blocks.ts"
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
  type Flaw,
  flawOf,
  hasCitations,
  inWords,
  isKnownType,
  isOptionalField,
  isRecord,
  json,
  wrong,
} from "./shapes/shapes.ts"

const REPAIRS = Symbol("repairs made when the message was read")
/** Known by identity, so that requests carry no trace of it. */
const setAsideBlocks = new WeakSet<object>()
const receivedBlocks = new WeakSet<object>()

/** The repairs that made a message usable. */
export const repairsOf = (message: Message): readonly Repair[] =>
  (message as { readonly [REPAIRS]?: readonly Repair[] })[REPAIRS] ?? []

/** Whether the block only keeps the place of one that cannot be sent. */
export const isSetAside = (block: Block): boolean => setAsideBlocks.has(block)

/** Whether a response brought the block and this version does not know it. */
export const isAsReceived = (block: Block): boolean => receivedBlocks.has(block)

type Fields = Readonly<Record<string, unknown>>

const seen = new WeakMap<Message, Message>()

/** The message itself if there is nothing to repair. */
export function usable(message: Message): Message {
  const known = seen.get(message)
  if (known) return known
  const result = repaired(message)
  seen.set(message, result)
  if (result !== message) seen.set(result, result)
  return result
}

function repaired(message: Message): Message {
  const dated = isDate(message.timestamp) ? message : { ...message, timestamp: BEGINNING_OF_TIME }
  if (dated.type === "user" || dated.type === "assistant") return withUsableContent(dated)
  if (dated.type === "attachment") return withUsableAttachment(dated)
  return isBoundary(dated) ? withUsableMetadata(dated) : dated
}

const BEGINNING_OF_TIME = "1970-01-01T00:00:00.000Z"
const isDate = (value: unknown) => typeof value === "string" && !Number.isNaN(Date.parse(value))

function withUsableContent(message: UserMessage | AssistantMessage): Message {
  const repairs: Repair[] = []
  const given: unknown = message.message
  const inner = isRecord(given) ? given : {}
  const { content } = inner
  const place = { message, repairs }
  const blocks = contentBlocks(content, place)
  const fields = message.type === "assistant" ? usableResponse(inner) : inner
  if (repairs.length === 0 && blocks === content && fields === given) return message
  const whole = { ...message, message: { ...fields, role: message.type, content: blocks } } as unknown as Message
  return repairs.length === 0 ? whole : Object.assign(whole, { [REPAIRS]: repairs })
}

interface Place {
  readonly message: UserMessage | AssistantMessage
  readonly repairs: Repair[]
}

/** The content itself if every block is usable. */
function contentBlocks(content: unknown, place: Place): unknown {
  if (typeof content === "string" && content.isWellFormed()) return content
  const given = typeof content === "string" ? [{ type: "text", text: content }] : content
  if (!Array.isArray(given)) return [setAside(place, place.message.uuid, wrong("a text or a list of blocks"))]
  const blocks = given.map((block: unknown, at) => usableBlock(block, at, place))
  return blocks.every((block, at) => block === given[at]) ? content : blocks
}

function usableBlock(block: unknown, at: number, place: Place): unknown {
  const address = `${place.message.uuid}.${at}`
  if (!isRecord(block) || typeof block.type !== "string" || block.type === "")
    return setAside(place, address, wrong("a block with a type"))
  const { type } = block
  const isAssistant = place.message.type === "assistant"
  if (place.message.asSent && isOddlySent(block, place.message.type)) return asItCame(block, address, place)
  if (isAssistant && isFromNewerServer(block, at, place.message as AssistantMessage)) {
    return asItCame(block, address, place)
  }
  const allowed = isAssistant ? ASSISTANT_BLOCKS.has(type) || isServerResult(type) : USER_BLOCKS.has(type)
  if (!allowed) {
    // types that the view does not know are left out by name, with the other repairs of the turn
    return isAssistant && !isKnownType(type)
      ? block
      : setAside(place, address, wrong("a type that fits its message", "type"))
  }
  if (type === "tool_result") return usableResult(block, address, place)
  return usableShape(block, address, place)
}

/** What a caller sent goes to the server as it came: the server took it, or is the one to say that it does not. */
function isOddlySent(block: Fields, type: "user" | "assistant"): boolean {
  if (block.type === "tool_use" || block.type === "tool_result") return false // pairs are repaired by name
  if (block.type === "text" && typeof block.text === "string" && block.text.trim() === "") return true
  const isKnown = type === "user" ? USER_BLOCKS.has(String(block.type)) : ASSISTANT_BLOCKS.has(String(block.type))
  return !isKnown || flawOf(block) !== undefined
}

function asItCame(block: Fields, address: string, place: Place): Fields {
  const { cache_control: _, ...received } = inWellFormedText(block, address, place)
  receivedBlocks.add(received)
  return received
}

/** A type that this version does not know, or a server's tool that it does not know, marked when the response was recorded. */
function isFromNewerServer(block: Fields, at: number, { asReceived }: AssistantMessage): boolean {
  if (!Array.isArray(asReceived) || !asReceived.includes(at)) return false
  return isNewToUs(block) && json(block) === undefined
}

/** Whether a block of a response has a type, or is a call of a server's tool, that this version does not know. */
export function isNewToUs({ type, id, name, input }: Fields): boolean {
  if (type !== "server_tool_use") return !isKnownType(type)
  return (
    typeof id === "string" &&
    typeof name === "string" &&
    isRecord(input) &&
    flawOf({ type, id, name, input })?.at === "name"
  )
}

/** Leaves out optional fields that are wrong. A block that is wrong in another way is set aside. */
function usableShape(block: Fields, address: string, place: Place): unknown {
  let current = block
  const inUserText = place.message.type === "user"
  const next = () =>
    shapeFlaw(current) ?? (inUserText && hasCitations(current) ? wrong("empty", "citations") : undefined)
  for (let flaw = next(); flaw; flaw = next()) {
    const [field = ""] = /^[^.[]+/.exec(flaw.at) ?? []
    if (flaw.kind === "extra" && place.message.asSent) return asItCame(current, address, place)
    const isSpare = flaw.kind === "extra" || isOptionalField(String(block.type), field)
    if (!isSpare) return setAside(place, address, flaw, block)
    current = without(current, field)
    place.repairs.push({ rule: "unknown-field", id: `${address}.${field}` })
  }
  return rightlyLabelled(inWellFormedText(current, address, place), address, place)
}

/** What the flattener repairs under its own name is no flaw here: calls with odd names or ids and their results, unsigned thinking. */
function shapeFlaw(block: Fields): Flaw | undefined {
  const { type } = block
  if (type === "tool_use") {
    if (typeof block.id !== "string") return wrong("a text", "id")
    if (typeof block.name !== "string") return wrong("a text", "name")
    return flawOf({ ...block, id: "id", name: "name" })
  }
  if (type === "tool_result") return flawOf({ ...block, tool_use_id: "id" })
  if (type === "thinking" && typeof block.signature !== "string") return flawOf({ ...block, signature: "" })
  return flawOf(block)
}

function usableResult(block: Fields, address: string, place: Place): unknown {
  if (typeof block.tool_use_id !== "string") return setAside(place, address, wrong("a text", "tool_use_id"), block)
  const { content } = block
  const listed = Array.isArray(content)
    ? content.map((inner, at) => usableInner(inner, `${address}.${at}`, place))
    : undefined
  const isSame = listed === undefined || listed.every((inner, at) => inner === (content as unknown[])[at])
  const isContent = content === undefined || typeof content === "string" || listed !== undefined
  if (!isContent) {
    const stub = setAside(place, address, wrong("a text or a list of blocks", "content"))
    return { type: "tool_result", tool_use_id: block.tool_use_id, content: [stub] }
  }
  return usableShape(isSame ? block : { ...block, content: listed }, address, place)
}

function usableInner(inner: unknown, address: string, place: Place): unknown {
  if (!isRecord(inner) || !RESULT_BLOCKS.has(String(inner.type)))
    return setAside(place, address, wrong("a block that a result can have"))
  return usableShape(inner, address, place)
}

/** Half a character, where a text was cut in the middle of one, is not valid JSON for the API. */
function inWellFormedText(block: Fields, address: string, { repairs }: Place): Fields {
  const fixed = wellFormed(block)
  if (fixed === block) return block
  repairs.push({ rule: "half-character", id: address })
  return fixed
}

/** The API compares an image with its label, and tools guess the label from a file name. */
function rightlyLabelled(block: Fields, address: string, { repairs }: Place): Fields {
  const { type, source } = block
  if (type !== "image" || !isRecord(source) || source.type !== "base64") return block
  const size = readImageSize(String(source.data))
  if (size === undefined || size.mediaType === source.media_type) return block
  repairs.push({ rule: "mislabelled-image", id: address })
  return { ...block, source: { ...source, media_type: size.mediaType } }
}

/** In a message of the user the model reads that something is missing. The assistant's own turn only loses the block. */
function setAside({ message, repairs }: Place, address: string, flaw: Flaw, block: Fields = {}): Fields {
  const rule = block.type === "tool_use" ? "malformed-tool-use" : "malformed-block"
  repairs.push({ rule, id: rule === "malformed-tool-use" && typeof block.id === "string" ? block.id : address })
  if (message.type === "assistant" || block.type === "tool_result") {
    const nothing = { type: "text", text: "" }
    setAsideBlocks.add(nothing)
    return nothing
  }
  return {
    type: "text",
    text: `[A block here cannot be sent: it ${inWords(flaw)}. Its handle is ${handleFor(address)}.]`,
  }
}

function usableResponse(given: Fields): Fields {
  const { usage, id, stop_reason, model } = given
  const counted = usage === undefined ? undefined : usableUsage(usage)
  const odd = [
    ...(usage !== undefined && counted === undefined ? ["usage"] : []),
    ...(id !== undefined && typeof id !== "string" ? ["id"] : []),
    ...(stop_reason != null && typeof stop_reason !== "string" ? ["stop_reason"] : []),
    ...(model !== undefined && typeof model !== "string" ? ["model"] : []),
  ]
  const fields = odd.reduce(without, given)
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
  const kept: unknown = isRecord(compactMetadata) ? compactMetadata.preservedMessages : compactMetadata
  const isRight = kept === undefined || (isRecord(kept) && Array.isArray(kept.uuids))
  if (isRight) return boundary
  const { compactMetadata: _, ...rest } = boundary
  return rest as Message
}

function without(fields: Fields, name: string): Fields {
  const { [name]: _, ...rest } = fields
  return rest
}

// Checks content from outside before it reaches the journal: your program's, a tool's, a model's. What no request can carry is refused
// with the place of the flaw.

export interface Checked {
  /** Who sends the blocks. The server decides what a `response` contains, so there a type may be new. */
  readonly role: "user" | "assistant" | "response" | "result"
  /** Names the content in the sentence. */
  readonly subject: string
  /** The path of the content: `messages[3].content`. */
  readonly path?: string
}

/** What is wrong with the first block that cannot be used, if any: `block 2 of its content needs "text" (content[2].text)`. */
export function problemIn(
  blocks: readonly unknown[],
  { role, subject, path = "content" }: Checked,
): string | undefined {
  for (const [index, block] of blocks.entries()) {
    const problem = problemOf(block, role, `${path}[${index}]`)
    if (problem !== undefined) return `block ${index} of ${subject} ${problem}`
  }
  return undefined
}

function problemOf(block: unknown, role: Checked["role"], path: string): string | undefined {
  if (!isRecord(block) || typeof block.type !== "string" || block.type === "") return `has no type (${path})`
  const { type } = block
  if (!isAllowed(type, role)) return `has the type ${JSON.stringify(type)}, which ${WHERE[role]} cannot have (${path})`
  if (type === "tool_result") return resultProblem(block, path)
  const flaw = intolerableFlaw(block, role)
  return flaw && `${inWords(flaw)} (${path}.${flaw.at})`
}

const WHERE = {
  user: "a message of the user",
  assistant: "a message of the assistant",
  response: "a response",
  result: "a tool result",
}

function isAllowed(type: string, role: Checked["role"]): boolean {
  if (role === "response") return type !== "tool_result"
  if (role === "user") return USER_BLOCKS.has(type)
  if (role === "result") return RESULT_BLOCKS.has(type)
  return ASSISTANT_BLOCKS.has(type) || (isServerResult(type) && isKnownType(type))
}

/** The flaw for which a block is refused. What a request can leave out is admitted: the view leaves it out and records that. */
function intolerableFlaw(block: Readonly<Record<string, unknown>>, role: Checked["role"]): Flaw | undefined {
  const flaw = flawOf(block)
  if (role === "user")
    return flaw ?? (hasCitations(block) ? wrong("empty in a message of the user", "citations") : undefined)
  if (flaw === undefined) return undefined
  return isRepairable(block as { readonly type: string }, flaw) ? undefined : flaw
}

/** Whether the view can send the block, or the rest of its message, without what is wrong. */
function isRepairable(block: { readonly type: string }, flaw: Flaw): boolean {
  const [field = ""] = /^[^.[]+/.exec(flaw.at) ?? []
  if (flaw.kind === "extra" || isOptionalField(block.type, field)) return true
  // models write calls that the API does not take back, and other providers do not sign their thinking
  if (block.type === "tool_use") return field !== "id" || isOddId(flaw)
  if (block.type === "thinking") return field === "signature"
  return block.type === "server_tool_use" && field === "name"
}

function resultProblem(result: Readonly<Record<string, unknown>>, path: string): string | undefined {
  const { content } = result
  if (content !== undefined && typeof content !== "string" && !Array.isArray(content))
    return `has a content that is neither a text nor a list of blocks (${path}.content)`
  if (Array.isArray(content)) {
    const problem = problemIn(content, { role: "result", subject: "its result", path: `${path}.content` })
    if (problem !== undefined) return `cannot be used: ${problem}`
  }
  const flaw = flawOf({ ...result, content: "" })
  // it answers a call that the API does not take back: the request leaves out both
  if (flaw === undefined || isOddId(flaw)) return undefined
  return `${inWords(flaw)} (${path}.${flaw.at})`
}

/** An id that is a text, though not one that the API takes. */
const isOddId = ({ at, must }: Flaw) => (at === "id" || at === "tool_use_id") && must.startsWith("a text that matches")

/** Whether this version knows what it is, as a block of an answer. */
export const isKnownHere = ({ type }: Block): boolean =>
  ASSISTANT_BLOCKS.has(type) || (isServerResult(type) && isKnownType(type))
