/**
 * Message objects of other libraries, known by their shape. A plain text is taken. For the rest, which would lose a part, the error names
 * the object and what to use instead.
 */
import { InvalidContentError } from "../base/errors.ts"
import type { TextBlock } from "../messages/blocks.ts"
import { isRecord } from "../messages/shapes/shape.ts"

/** A message of LangChain, or one with `parts`, as the AI SDK's user interfaces and Mastra have it. Only plain texts are taken. */
export type OtherMessage =
  | { readonly content: unknown; getType(): string }
  | { readonly role: string; readonly parts: readonly unknown[] }
  | { readonly role: string; readonly content: { readonly parts: readonly unknown[] } }

type Library = "LangChain" | "the AI SDK" | "Mastra" | "OpenAI"
type Fields = Readonly<Record<string, unknown>>

interface Known {
  readonly library: Library
  /** As in "a HumanMessage of LangChain". */
  readonly what: string
  readonly role: unknown
  /** Its text, if it has nothing else. */
  readonly text?: string | readonly TextBlock[] | undefined
}

/** What follows the whole list of such a library. */
const DOORS: Readonly<Record<Library, string | undefined>> = {
  LangChain: 'strataMiddleware() of "@strata/adapters/langchain"',
  "the AI SDK": 'strataMiddleware() of "@strata/adapters/ai-sdk"',
  Mastra: 'strataProcessor() of "@strata/adapters/mastra"',
  OpenAI: undefined,
}
const LANGCHAIN_ROLES: Readonly<Record<string, string>> = { human: "user", ai: "assistant" }

/** Whether no message of the Messages API looks like this, though it has no role. */
export const isOthers = (given: unknown): boolean => isRecord(given) && (langchainType(given) ?? given.lc) !== undefined

/** The message with its text alone, if it is another library's. Anything else is returned as it is. */
export function ownShape(given: unknown, name: string): unknown {
  return isRecord(given) ? taken(given, { name, known: knownByFields(given) ?? knownByContent(given) }) : given
}

/** The same for a caller's list, in which content that no one knows is kept as it was sent. */
export function ownShapeAsSent(given: unknown, name: string): unknown {
  return isRecord(given) ? taken(given, { name, known: knownByFields(given) }) : given
}

const knownByFields = (given: Fields) => langchain(given) ?? withParts(given) ?? openAi(given)
const knownByContent = (given: Fields) => openAiParts(given) ?? aiSdkParts(given)

function taken(given: Fields, { known, name }: { readonly known: Known | undefined; readonly name: string }): unknown {
  if (!known) return given
  const { role, text } = known
  if (text !== undefined && (role === "user" || role === "assistant")) return { role, content: text }
  if (role === "system" || role === "developer") return { role: "system", content: text }
  throw new InvalidContentError(sentence(known, name))
}

function sentence({ library, what }: Known, name: string): string {
  const door = DOORS[library]
  const whole = door ? `, or let ${door} follow the whole list` : ""
  return `${name} is ${what} of ${library}, which is more than a text. Write it in the shape of the Messages API: calls as "tool_use" blocks of the assistant, results as "tool_result" blocks of the user${whole}`
}

function langchainType(given: Fields): string | undefined {
  const type = given.getType ?? given._getType
  return typeof type === "function" ? String(type.call(given)) : undefined
}

function langchain(given: Fields): Known | undefined {
  const type = langchainType(given)
  if (type === undefined)
    return given.lc === undefined ? undefined : { library: "LangChain", what: "a serialized message", role: undefined }
  const what = LANGCHAIN_NAMES[type] ?? `a message of type ${JSON.stringify(type)}`
  const isMore = hasCalls(given) || hasCalls(given.additional_kwargs) || isFilled(given.name)
  const text = isMore ? undefined : textOf(given.content, ["text"])
  return { library: "LangChain", what, role: LANGCHAIN_ROLES[type] ?? type, text }
}

const LANGCHAIN_NAMES: Readonly<Record<string, string>> = {
  human: "a HumanMessage",
  ai: "an AIMessage",
  tool: "a ToolMessage",
  function: "a FunctionMessage",
}

/** A `UIMessage` has its parts beside its role. In Mastra they are in its content. */
function withParts({ role, content, parts }: Fields): Known | undefined {
  if (typeof role !== "string") return undefined
  if (Array.isArray(parts)) return { library: "the AI SDK", what: "a UIMessage", role, text: textOf(parts, ["text"]) }
  if (!isRecord(content) || !Array.isArray(content.parts)) return undefined
  return { library: "Mastra", what: "a message", role, text: textOf(content.parts, ["text"]) }
}

/** The Chat Completions API has calls beside the content, the Responses API has items. */
function openAi(given: Fields): Known | undefined {
  const { role, type, content } = given
  const library = "OpenAI"
  if (Array.isArray(given.choices)) return { library, what: "a completion", role: undefined }
  if (typeof type === "string" && ITEM.test(type)) return { library, what: `a "${type}" item`, role: undefined }
  if (hasCalls(given)) return { library, what: "a message with calls", role: undefined }
  if (role === "function" || (role === "tool" && "tool_call_id" in given))
    return { library, what: `a message with the role "${role}"`, role: undefined }
  return role === "developer" ? { library, what: "a message", role, text: textOf(content, TEXT_PARTS) } : undefined
}

const ITEM = /^(?:function|computer|custom_tool)_call/
const TEXT_PARTS = ["text", "input_text", "output_text"]

/** The Responses API has types of its own for texts. */
function openAiParts({ role, content }: Fields): Known | undefined {
  if (!Array.isArray(content) || !content.some((part) => isRecord(part) && OPENAI_PART.test(String(part.type))))
    return undefined
  return { library: "OpenAI", what: "a message", role, text: textOf(content, TEXT_PARTS) }
}

const OPENAI_PART = /^(?:(?:input|output)_(?:text|image|file|audio)|image_url|refusal)$/

const hasCalls = (given: unknown): boolean =>
  isRecord(given) &&
  [given.tool_calls, given.invalid_tool_calls, given.function_call, given.toolInvocations].some(isFilled)

const isFilled = (value: unknown): boolean =>
  value != null && value !== "" && !(Array.isArray(value) && value.length === 0)

/** The AI SDK spells the types of its parts with a hyphen. */
function aiSdkParts({ content }: Fields): Known | undefined {
  const part = Array.isArray(content) ? content.find(isPart) : undefined
  return part ? { library: "the AI SDK", what: `a message with a "${part.type}" part`, role: undefined } : undefined
}

const isPart = (block: unknown): boolean =>
  isRecord(block) &&
  typeof block.type === "string" &&
  (block.type.includes("-") ||
    (block.type === "reasoning" && "text" in block) ||
    (block.type === "image" && "image" in block) ||
    (block.type === "file" && "mediaType" in block))

/** The text of a content that has nothing else. `step-start` says nothing. */
function textOf(content: unknown, types: readonly string[]): string | readonly TextBlock[] | undefined {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return undefined
  const said = content.filter((part) => !isRecord(part) || part.type !== "step-start")
  const isText = ({ type, text, annotations }: Fields) =>
    types.includes(String(type)) && typeof text === "string" && !isFilled(annotations)
  if (!said.every((part) => isRecord(part) && isText(part))) return undefined
  const texts = said.map(({ text }: TextBlock): TextBlock => ({ type: "text", text }))
  return texts.length === 1 ? texts[0]!.text : texts
}
