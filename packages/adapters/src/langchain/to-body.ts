/**
 * Messages, prompt and tools of LangChain as a body of the Messages API. Each message is one of the body, but the results of one round of
 * calls are together, as the API wants them. What only the provider's package reads is kept on the first block.
 */
import { blockOf } from "./parts.ts"
import { type Dialect, type Fields, isRecord, kindOf, type LangChainMessage, present, type ToolCall } from "./shapes.ts"

/** Where a message keeps what the Messages API has no place for. */
export const KEPT = "langchain_message"

export interface BodyMessage {
  readonly role: "user" | "assistant"
  readonly content: string | readonly Fields[]
}

export interface Translated {
  readonly system?: string | readonly Fields[]
  readonly messages: readonly BodyMessage[]
}

/** `undefined`: the list has a message that no request of the Messages API can have. It is sent as it is. */
export function toBody(list: readonly LangChainMessage[], dialect: Dialect): Translated | undefined {
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

const promptOf = ({ content }: LangChainMessage): Pick<Translated, "system"> => {
  if (typeof content === "string") return content === "" ? {} : { system: content }
  return Array.isArray(content) && content.length > 0 ? { system: content.map((part) => asText(part)) } : {}
}

const asText = (part: unknown): Fields => (isRecord(part) ? part : { type: "text", text: String(part) })

const translated = new WeakMap<object, Map<Dialect, BodyMessage>>()

/** Of each message once: those that came before are the same objects again. */
function bodyMessage(message: LangChainMessage, dialect: Dialect): BodyMessage {
  const known = translated.get(message)
  const before = known?.get(dialect)
  if (before && isAsBefore(message, before)) return before
  const made = newBodyMessage(message, dialect)
  sources.set(made, { content: message.content, calls: message.tool_calls })
  translated.set(message, new Map([...(known ?? []), [dialect, made]]))
  return made
}

/** A program may give a message other content. */
const sources = new WeakMap<BodyMessage, { readonly content: unknown; readonly calls: unknown }>()
const isAsBefore = ({ content, tool_calls }: LangChainMessage, made: BodyMessage): boolean => {
  const source = sources.get(made)
  return source?.content === content && source?.calls === tool_calls
}

function newBodyMessage(message: LangChainMessage, dialect: Dialect): BodyMessage {
  const kind = kindOf(message)
  if (kind === "tool") return { role: "user", content: keeping([resultOf(message, dialect)], message, dialect) }
  if (kind === "ai") return { role: "assistant", content: answerContent(message, dialect) }
  const content = contentOf(message.content, dialect)
  const kept = keeping(typeof content === "string" ? textBlocks(content) : content, message, dialect)
  return {
    role: "user",
    content: typeof content === "string" && kept.every((block) => !(KEPT in block)) ? content : kept,
  }
}

/** An answer's blocks, as the API gave them: with its calls. */
export function answerContent(message: LangChainMessage, dialect: Dialect): readonly Fields[] {
  const calls = message.tool_calls ?? []
  const parts = typeof message.content === "string" ? textBlocks(message.content) : listed(message.content)
  const blocks = parts.flatMap((part) => callOrBlock(part, { calls, dialect }))
  const there = new Set(blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id))
  const missing = calls.filter(({ id }) => !there.has(id)).map(callBlock)
  return keeping([...blocks, ...missing], message, dialect)
}

const CALLS: ReadonlySet<string> = new Set(["tool_use", "tool_call", "tool_call_chunk", "input_json_delta"])

/** A call is known by its id. While it streams its input is a text, and pieces of it are parts of their own. */
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

/** Claude gets nothing but blocks. Packages of other providers also read other fields. */
function keeping(blocks: readonly Fields[], message: LangChainMessage, dialect: Dialect): readonly Fields[] {
  if (dialect === "anthropic") return blocks
  const { name, additional_kwargs, response_metadata, id } = message
  const kind = kindOf(message)
  const { tool_calls: raw, ...kwargs } = additional_kwargs ?? {}
  const hasCalls = (message.tool_calls?.length ?? 0) > 0
  const kept = present({
    ...(kind === "system" ? { kind } : {}),
    // an agent names its answers after itself, later than we see them
    ...(kind === "ai" ? { id, response_metadata } : { name }),
    additional_kwargs: raw === undefined || hasCalls ? kwargs : additional_kwargs,
  })
  if (Object.keys(kept).length === 0) return blocks
  const [first = { type: "text", text: "" }, ...others] = blocks
  return [{ ...first, [KEPT]: kept }, ...others]
}

/** Definitions as the API has them, of whatever a model takes. Schemas that are objects of a library are left out. */
export const toolDefinition = (tool: unknown): Fields => {
  if (!isRecord(tool)) return { name: "", input_schema: NO_SCHEMA }
  if ("input_schema" in tool || (typeof tool.type === "string" && !isRecord(tool.function))) return tool
  const { name, description, parameters, schema } = (isRecord(tool.function) ? tool.function : tool) as Fields
  const given = [parameters, schema].find((each) => isRecord(each) && typeof each.type === "string")
  return { name, ...present({ description }), input_schema: given ?? NO_SCHEMA }
}

const NO_SCHEMA = { type: "object" }
