/**
 * Converts an AI SDK prompt of any interface version to the Messages API. `toCallOptions` is the inverse: together they restore the prompt
 * exactly. The same prompt gives the same bytes.
 */
import { isDeepStrictEqual } from "node:util"
import {
  type Block,
  isThinking,
  isWellFormedCall,
  type Thinking,
  type ToolResult,
  type ToolUse,
} from "../../messages/blocks.ts"
import { readImageSize } from "../../messages/media.ts"
import { digestOf } from "../../messages/message-identity.ts"
import { CALL_ID, findFlaw } from "../../messages/shapes/shapes.ts"
import type { AiSdkToolOutput, FilePart, ProviderOptions } from "./interface.ts"
import { plainFile, plainReasoning } from "./prompt.ts"
import { cacheControlIn, DENIED, type ProviderMetadata, type SentPart } from "./provider-metadata.ts"
import { reasoningWithNotes, toThinking } from "./reasoning-signatures.ts"

/** A message of a prompt, of any interface version. */
export interface PromptMessage {
  readonly role: string
  readonly content: string | readonly SentPart[]
  readonly providerOptions?: ProviderOptions
}

/** The parts of a request that come from a prompt. */
export interface PromptBody {
  readonly system?: readonly Block[]
  readonly messages: readonly { readonly role: "user" | "assistant" | "system"; readonly content: readonly Block[] }[]
}

export function fromPrompt(given: readonly PromptMessage[]): PromptBody {
  const prompt = joinMessages(given)
  const first = prompt.findIndex(({ role }) => role !== "system")
  const system = prompt.slice(0, first < 0 ? prompt.length : first)
  const calls: Calls = new Map(
    prompt.flatMap(({ content }) => (typeof content === "string" ? [] : content.flatMap(callOf))),
  )
  return {
    ...(system.length > 0 ? { system: system.flatMap((message) => blocksOf(message, calls)) } : {}),
    messages: prompt.slice(system.length).map((message) => ({
      role: message.role === "tool" ? "user" : (message.role as "user"),
      content: blocksOf(message, calls),
    })),
  }
}

/**
 * Joins text and calls that were sent as separate messages into one assistant message, as the model wrote it. The results of its calls are
 * joined too, as the API requires.
 */
export function joinMessages(prompt: readonly PromptMessage[]): readonly PromptMessage[] {
  const all: PromptMessage[] = []
  for (const message of prompt) {
    const last = all.at(-1)
    if (last && isBareAnswer(last) && isBareAnswer(message))
      all[all.length - 1] = { role: "assistant", content: [...last.content, ...message.content] }
    else if (last && isToolMessage(last) && isToolMessage(message))
      all[all.length - 1] = { ...message, content: [...withMessageOptions(last), ...message.content] }
    else all.push(message)
  }
  return all
}

const isBareAnswer = (message: PromptMessage): message is PromptMessage & { content: readonly SentPart[] } =>
  message.role === "assistant" && Array.isArray(message.content) && !message.providerOptions

interface ToolMessage extends PromptMessage {
  readonly content: readonly SentPart[]
}

const isToolMessage = (message: PromptMessage): message is ToolMessage =>
  message.role === "tool" && Array.isArray(message.content)

/** Options of a message apply to its last part. */
function withMessageOptions({ content, providerOptions }: ToolMessage): readonly SentPart[] {
  const last = content.at(-1)
  if (!last || !providerOptions) return content
  return content.with(-1, { ...last, providerOptions: { ...providerOptions, ...(last.providerOptions as object) } })
}

/** Tool names by call id, from which the inverse conversion names the results. */
type Calls = ReadonlyMap<unknown, unknown>

const callOf = ({ type, toolCallId, toolName, providerExecuted }: SentPart): [unknown, unknown][] =>
  type === "tool-call" && !providerExecuted ? [[toolCallId, toolName]] : []

function blocksOf({ role, content, ...fields }: PromptMessage, calls: Calls): readonly Block[] {
  const parts: readonly SentPart[] = typeof content === "string" ? [{ type: "text", text: content }] : content
  const isResult = ({ type }: SentPart) => role === "tool" && type === "tool-result"
  const blocks =
    role === "assistant"
      ? answerBlocks(parts)
      : parts.map((part) => (isResult(part) ? resultBlock(part, calls) : toBlock(part)))
  const message = plain(fields)
  const last = blocks.at(-1)
  if (!last || Object.keys(message).length === 0) return blocks
  const kept = { ...(last as { door?: ProviderMetadata }).door, message }
  const mark =
    (last as { cache_control?: object }).cache_control ?? cacheControlIn(message.providerOptions as ProviderOptions)
  return [...blocks.slice(0, -1), withMetadata(last, kept, mark)]
}

/**
 * Parts without visible content, such as a provider's internal notes. Programs may drop them, so messages must be recognized without them.
 */
const SILENT: ReadonlySet<string> = new Set(["custom", "reasoning-file"])

/** Converts an assistant message. Silent parts are stored on its last block that is not thinking. */
export function answerBlocks(parts: readonly SentPart[]): readonly Block[] {
  const spoken = parts.filter(({ type }) => !SILENT.has(type))
  const blocks = spoken.map(answerBlock)
  const host = blocks.findLastIndex((block) => !isThinking(block))
  if (spoken.length === parts.length) return blocks
  if (host < 0) return parts.map(answerBlock)
  const silent = parts.flatMap((part, at) => (SILENT.has(part.type) ? [{ at, part: plain(part) as SentPart }] : []))
  const { door, cache_control, ...block } = blocks[host] as Block & { door?: ProviderMetadata; cache_control?: object }
  return blocks.with(host, withMetadata(block as Block, { ...door, silent }, cache_control))
}

/** Converts a part of an assistant message. The API accepts no files there. */
function answerBlock(part: SentPart): Block {
  if (part.type === "reasoning") return reasoningBlock(part)
  if (part.type === "tool-call" && !part.providerExecuted) return callBlock(part)
  return part.type === "text" ? toBlock(part) : placeholderBlock(part.type === "file" ? withTaggedData(part) : part)
}

/** Converts a part of a user message or a result. */
function toBlock(part: SentPart): Block {
  if (part.type === "text") return withUnstatedFields({ type: "text", text: String(part.text) }, part, ["text"])
  return part.type === "file" ? fileBlock(part) : placeholderBlock(part)
}

/** Stores the fields of the part that the block does not express. */
function withUnstatedFields(
  block: Block,
  { type: _, ...part }: SentPart,
  stated: readonly string[],
  more: ProviderMetadata = {},
): Block {
  const rest = plain(Object.fromEntries(Object.entries(part).filter(([field]) => !stated.includes(field))))
  return withMetadata(
    block,
    { ...(Object.keys(rest).length > 0 ? { part: rest } : {}), ...more },
    block.type === "thinking" || block.type === "redacted_thinking"
      ? undefined
      : cacheControlIn(part.providerOptions as never),
  )
}

function withMetadata(block: Block, door: ProviderMetadata, mark: object | undefined): Block {
  const { door: _, cache_control: __, ...bare } = block as Block & { door?: unknown; cache_control?: unknown }
  return {
    ...bare,
    ...(mark ? { cache_control: mark } : {}),
    ...(Object.keys(door).length > 0 ? { door } : {}),
  } as Block
}

function reasoningBlock(part: SentPart): Block {
  const { text, providerOptions } = part as { text?: string; providerOptions?: ProviderOptions }
  const block: Thinking = toThinking(text ?? "", providerOptions) ?? reasoningWithNotes(text ?? "")
  const plainPart = plainReasoning(block) as unknown as SentPart
  const isStated = (field: string) => isDeepStrictEqual(plainPart[field], part[field])
  return isStated("text") && isStated("providerOptions")
    ? withUnstatedFields(block, part, ["text", "providerOptions"])
    : withUnstatedFields(block, part, isStated("text") ? ["text"] : [])
}

function callBlock(part: SentPart): Block {
  const { toolCallId, toolName, input } = part as unknown as { toolCallId: string; toolName: string; input: unknown }
  const id = apiId(toolCallId)
  const name = apiName(toolName)
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input)
  const call: ToolUse = {
    type: "tool_use",
    id,
    name,
    input: isObject ? plain(input) : { rawInvalidInput: input ?? null },
  }
  const stated = [...(id === toolCallId ? ["toolCallId"] : []), ...(name === toolName ? ["toolName"] : [])]
  return withUnstatedFields(call, part, isObject ? [...stated, "input"] : stated)
}

/** Replaces ids and names that the API does not accept: those of some providers contain dots and colons. */
const apiId = (id: string): string => (CALL_ID.test(id) ? id : respell(id))
export const apiName = (name: string): string =>
  isWellFormedCall({ id: "id", name, input: {} }) ? name : respell(name.slice(0, 100))
const respell = (text: string): string => `${text.replaceAll(/[^A-Za-z0-9_-]/g, "_")}_${digestOf(text)}`

function resultBlock(part: SentPart, calls: Calls): Block {
  const { toolCallId, toolName, output } = part as unknown as {
    toolCallId: string
    toolName: string
    output: AiSdkToolOutput
  }
  const { content, isError = false, impliesKind = false } = resultContent(output)
  const result: ToolResult = {
    type: "tool_result",
    tool_use_id: apiId(toolCallId),
    content: content as NonNullable<ToolResult["content"]>,
    ...(isError ? { is_error: true } : {}),
  }
  const { type, providerOptions } = output as { type: AiSdkToolOutput["type"]; providerOptions?: ProviderOptions }
  const isCalled = calls.get(toolCallId) === toolName
  return withUnstatedFields(
    result,
    part,
    ["output", ...(isCalled ? ["toolCallId", "toolName"] : [])],
    impliesKind && !providerOptions
      ? {}
      : { output: plain({ type, providerOptions }) as NonNullable<ProviderMetadata["output"]> },
  )
}

interface ResultContent {
  readonly content: string | readonly Block[]
  readonly isError?: boolean
  /** The content alone implies the kind of output. */
  readonly impliesKind?: boolean
}

function resultContent(output: AiSdkToolOutput): ResultContent {
  switch (output.type) {
    case "text":
      return { content: output.value, impliesKind: true }
    case "error-text":
      return { content: output.value, isError: true, impliesKind: true }
    case "json":
      return { content: JSON.stringify(output.value) ?? "null" }
    case "error-json":
      return { content: JSON.stringify(output.value) ?? "null", isError: true }
    case "execution-denied":
      return { content: output.reason ?? DENIED }
    case "content":
      return { content: output.value.map((item) => resultItemBlock(item as SentPart)) }
    default:
      return { content: JSON.stringify(output) } // of a later interface version
  }
}

/** Converts an item of a result. Version 3 names files by the kind of their data. */
function resultItemBlock(item: SentPart): Block {
  if (item.type === "text" || item.type === "file") return toBlock(item)
  const { data, url, mediaType = item.type === "image-url" ? "image" : undefined, ...rest } = item
  const payload = typeof data === "string" ? { type: "data", data } : { type: "url", url }
  const isFile = typeof mediaType === "string" && (typeof data === "string" || typeof url === "string")
  const block = isFile ? mediaBlock({ type: "file", mediaType, data: payload } as FilePart) : undefined
  if (!block || (block as { source: { type: string } }).source.type === "text") return placeholderBlock(item)
  const part = plain({ ...rest, ...(item.mediaType === undefined ? {} : { mediaType }) })
  return withMetadata(block, { part: { type: item.type, ...part } }, undefined)
}

function fileBlock(part: SentPart): Block {
  const file = withTaggedData(part)
  const block = mediaBlock(file)
  if (!block) return placeholderBlock(file)
  const plainPart = plain(plainFile(block)!) as unknown as SentPart
  const given = plain(file) as SentPart
  const isStated = (field: string) => isDeepStrictEqual(plainPart[field], given[field])
  const isBytes = file.data.type === "data" && (block as { source: { type: string } }).source.type === "text"
  return withUnstatedFields(
    block,
    file,
    ["data", ...Object.keys(plainPart).filter(isStated)],
    isBytes ? { bytes: true } : {},
  )
}

const withTaggedData = (part: SentPart) => ({ ...part, data: tagData(part.data) }) as unknown as FilePart & SentPart

/** Version 3 sends file data without a tag. */
function tagData(data: unknown): unknown {
  if (typeof data === "string") return { type: "data", data }
  if (data instanceof Uint8Array) return { type: "data", data: base64(data) }
  if (data instanceof URL) return { type: "url", url: data }
  const { type, data: bytes } = data as { type: string; data: unknown }
  return type === "data" && bytes instanceof Uint8Array ? { type, data: base64(bytes) } : data
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")

/** Converts images, PDFs and texts. The API has no block for other files. */
function mediaBlock({ mediaType, data, filename }: FilePart): Block | undefined {
  const source = sourceOf(mediaType, data)
  if (!source) return undefined
  const isImage = mediaType === "image" || mediaType.startsWith("image/")
  const block = isImage
    ? { type: "image", source }
    : { type: "document", source, ...(filename ? { title: filename } : {}) }
  return findFlaw(block) === undefined ? (block as Block) : undefined
}

function sourceOf(mediaType: string, data: FilePart["data"]): object | undefined {
  const isImage = mediaType === "image" || mediaType.startsWith("image/")
  const isText = mediaType === "text/plain"
  if (data.type === "url")
    return isImage || mediaType === "application/pdf" ? { type: "url", url: String(data.url) } : undefined
  if (data.type === "text") return isText ? { type: "text", media_type: mediaType, data: data.text } : undefined
  if (data.type !== "data") return undefined
  const bytes = String(data.data)
  if (isText) {
    const text = Buffer.from(bytes, "base64").toString()
    return Buffer.from(text).toString("base64") === bytes
      ? { type: "text", media_type: mediaType, data: text }
      : undefined
  }
  const media_type = isImage ? (readImageSize(bytes)?.mediaType ?? mediaType) : mediaType
  return { type: "base64", media_type, data: bytes }
}

/** A text placeholder for a part that the API has no block for. */
function placeholderBlock(part: SentPart): Block {
  const whole = plain(part) as SentPart
  return withMetadata(
    { type: "text", text: describePart(whole) },
    { whole },
    cacheControlIn(part.providerOptions as ProviderOptions),
  )
}

function describePart({ type, ...part }: SentPart): string {
  const { toolName, toolCallId, mediaType, filename, kind } = part as Partial<Record<string, string>>
  const about = [toolName, toolCallId, kind, mediaType, filename].filter((each) => each !== undefined)
  return `[${[type, ...about].join(" ")}]`
}

/** The value as the journal returns it: URLs as text, bytes in base64. */
function plain<T extends object>(value: T): Record<string, unknown> {
  return asPlain(value) as Record<string, unknown>
}

function asPlain(value: unknown): unknown {
  if (value instanceof URL) return String(value)
  if (value instanceof Uint8Array) return base64(value)
  if (Array.isArray(value)) return value.map((item) => asPlain(item) ?? null)
  if (typeof value !== "object" || value === null) return value
  const fields = Object.entries(value).flatMap(([name, field]) => (field === undefined ? [] : [[name, asPlain(field)]]))
  return Object.fromEntries(fields)
}
