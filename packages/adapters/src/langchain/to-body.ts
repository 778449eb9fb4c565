/**
 * Converts messages, prompt and tools of LangChain to a body of the Messages API. Each message becomes one message of the body, except that
 * the results of one round of calls are combined, as the API requires. Fields that only the provider's package reads are stored on the
 * first block.
 */
import { blockOf } from "./content-parts.ts"
import {
  type Dialect,
  definedOnly,
  type Fields,
  isRecord,
  kindOf,
  type LangChainMessage,
  type ToolCall,
} from "./shapes.ts"

/** Field for parts of a message that the Messages API cannot represent. */
export const PROVIDER_FIELDS = "langchain_message"

export interface BodyMessage {
  readonly role: "user" | "assistant"
  readonly content: string | readonly Fields[]
}

export interface TranslatedBody {
  readonly system?: string | readonly Fields[]
  readonly messages: readonly BodyMessage[]
}

/** `undefined` if the list contains a message that the Messages API does not support. The list is then sent unchanged. */
export function toBody(list: readonly LangChainMessage[], dialect: Dialect): TranslatedBody | undefined {
  const [first, ...others] = list
  const isPrompt = first !== undefined && kindOf(first) === "system"
  const messages: BodyMessage[] = []
  for (const message of isPrompt ? others : list) {
    const kind = kindOf(message)
    if (!KNOWN.has(kind) || (dialect === "anthropic" && kind === "system")) return undefined
    const next = bodyMessage(message, dialect)
    const before = messages.at(-1)
    if (kind === "tool" && before && isResults(before))
      messages[messages.length - 1] = { role: "user", content: [...blocksIn(before), ...blocksIn(next)] }
    else messages.push(next)
  }
  return { ...(isPrompt ? promptOf(first) : {}), messages }
}

const KNOWN: ReadonlySet<string> = new Set(["human", "ai", "tool", "system"])

const promptOf = ({ content }: LangChainMessage): Pick<TranslatedBody, "system"> => {
  if (typeof content === "string") return content === "" ? {} : { system: content }
  return Array.isArray(content) && content.length > 0 ? { system: content.map((part) => asText(part)) } : {}
}

const asText = (part: unknown): Fields => (isRecord(part) ? part : { type: "text", text: String(part) })

const translated = new WeakMap<object, Map<Dialect, BodyMessage>>()

/** Converts each message once: earlier messages are the same objects again. */
function bodyMessage(message: LangChainMessage, dialect: Dialect): BodyMessage {
  const known = translated.get(message)
  const before = known?.get(dialect)
  if (before && isAsBefore(message, before)) return before
  const made = newBodyMessage(message, dialect)
  sources.set(made, { content: message.content, calls: message.tool_calls })
  translated.set(message, new Map([...(known ?? []), [dialect, made]]))
  return made
}

/** Contents at the time of conversion, to detect that a program has replaced them. */
const sources = new WeakMap<BodyMessage, { readonly content: unknown; readonly calls: unknown }>()
const isAsBefore = ({ content, tool_calls }: LangChainMessage, made: BodyMessage): boolean => {
  const source = sources.get(made)
  return source?.content === content && source?.calls === tool_calls
}

function newBodyMessage(message: LangChainMessage, dialect: Dialect): BodyMessage {
  const kind = kindOf(message)
  if (kind === "tool")
    return { role: "user", content: withProviderFields([resultOf(message, dialect)], message, dialect) }
  if (kind === "ai") return { role: "assistant", content: answerContent(message, dialect) }
  const content = contentOf(message.content, dialect)
  const kept = withProviderFields(typeof content === "string" ? textBlocks(content) : content, message, dialect)
  return {
    role: "user",
    content: typeof content === "string" && kept.every((block) => !(PROVIDER_FIELDS in block)) ? content : kept,
  }
}

/** The blocks of a response, with its calls, as the API returned them. */
export function answerContent(message: LangChainMessage, dialect: Dialect): readonly Fields[] {
  const calls = message.tool_calls ?? []
  const parts = typeof message.content === "string" ? textBlocks(message.content) : listed(message.content)
  const blocks = parts.flatMap((part) => callOrBlock(part, { calls, dialect }))
  const there = new Set(blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id))
  const missing = calls.filter(({ id }) => !there.has(id)).map(callBlock)
  return withProviderFields([...blocks, ...missing], message, dialect)
}

const CALLS: ReadonlySet<string> = new Set(["tool_use", "tool_call", "tool_call_chunk", "input_json_delta"])

/** Converts a call, which is identified by its id. While streaming, its input is a text, and fragments of it are separate parts. */
function callOrBlock(
  part: unknown,
  { calls, dialect }: { readonly calls: readonly ToolCall[]; readonly dialect: Dialect },
) {
  if (!isRecord(part) || !CALLS.has(String(part.type))) return [blockOf(part, dialect)]
  const call = calls.find(({ id }) => id !== undefined && id === part.id)
  if (call) return [callBlock(call)]
  if (part.type !== "tool_use" || typeof part.id !== "string") return []
  const { index: _, ...own } = part
  return [typeof own.input === "string" ? { ...own, input: parsed(own.input) } : own]
}

const callBlock = ({ id, name, args }: ToolCall): Fields => ({ type: "tool_use", id, name, input: args ?? {} })

function parsed(text: string): unknown {
  try {
    return text === "" ? {} : JSON.parse(text)
  } catch {
    return {}
  }
}

function resultOf({ content, tool_call_id, status }: LangChainMessage, dialect: Dialect): Fields {
  return {
    type: "tool_result",
    tool_use_id: tool_call_id,
    content: contentOf(content, dialect),
    ...(status === "error" ? { is_error: true } : {}),
  }
}

const contentOf = (content: unknown, dialect: Dialect): string | readonly Fields[] =>
  typeof content === "string" ? content : listed(content).map((part) => blockOf(part, dialect))

const textBlocks = (text: string): readonly Fields[] => (text === "" ? [] : [{ type: "text", text }])

const listed = (content: unknown): readonly unknown[] => (Array.isArray(content) ? content : [])

const isResults = ({ role, content }: BodyMessage): boolean =>
  role === "user" && Array.isArray(content) && content.length > 0 && content.every(({ type }) => type === "tool_result")

const blocksIn = ({ content }: BodyMessage): readonly Fields[] =>
  typeof content === "string" ? textBlocks(content) : content

/** Stores fields that packages of other providers read. Claude receives only blocks. */
function withProviderFields(blocks: readonly Fields[], message: LangChainMessage, dialect: Dialect): readonly Fields[] {
  if (dialect === "anthropic") return blocks
  const { name, additional_kwargs, response_metadata, id } = message
  const kind = kindOf(message)
  const { tool_calls: raw, ...kwargs } = additional_kwargs ?? {}
  const hasCalls = (message.tool_calls?.length ?? 0) > 0
  const kept = definedOnly({
    ...(kind === "system" ? { kind } : {}),
    // an agent sets the name of its responses after its own, later than this conversion
    ...(kind === "ai" ? { id, response_metadata } : { name }),
    additional_kwargs: raw === undefined || hasCalls ? kwargs : additional_kwargs,
  })
  if (Object.keys(kept).length === 0) return blocks
  const [first = { type: "text", text: "" }, ...others] = blocks
  return [{ ...first, [PROVIDER_FIELDS]: kept }, ...others]
}

/** Converts any tool form to a definition of the API. Schemas that are objects of a library are omitted. */
export const toolDefinition = (tool: unknown): Fields => {
  if (!isRecord(tool)) return { name: "", input_schema: NO_SCHEMA }
  if ("input_schema" in tool || (typeof tool.type === "string" && !isRecord(tool.function))) return tool
  const { name, description, parameters, schema } = (isRecord(tool.function) ? tool.function : tool) as Fields
  const given = [parameters, schema].find((each) => isRecord(each) && typeof each.type === "string")
  return { name, ...definedOnly({ description }), input_schema: given ?? NO_SCHEMA }
}

const NO_SCHEMA = { type: "object" }
