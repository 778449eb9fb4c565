/** What `add` and `record` accept, checked and turned into drafts. Bad content is refused before it reaches the journal. */
import { errorReason, InvalidContentError } from "../base/errors.ts"
import type { EntryDraft, MessageDraft } from "../journal/entries.ts"
import { attachmentFlaw } from "../messages/attachment-texts.ts"
import { type Block, type Content, isText, isToolUse, type TextBlock, toBlocks } from "../messages/blocks.ts"
import { NotJsonError, plainJson } from "../messages/exact-json.ts"
import { REQUEST_BYTES } from "../messages/media.ts"
import { callsIn, findUserTextInResults } from "../messages/message-identity.ts"
import { type CallChanges, contentOf, type Usage, usableUsage } from "../messages/messages.ts"
import { describeFlaw, isRecord } from "../messages/shapes/shapes.ts"
import { type ContentSource, findProblem, isUnknownBlock } from "../messages/usable.ts"
import type { Views } from "../views/views.ts"

// Message objects of other libraries, known by their shape. A plain text is taken. For the rest, which would lose a part, the error names
// the object and what to use instead.

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

/** A message in the shape of the Messages API. */
export interface IncomingMessage {
  /** `system` is part of the SDK's type. It is refused: pass it as the option `system`. */
  readonly role: "user" | "assistant" | "system"
  readonly content: Content
  /** Not the person's own words: written by your program. */
  readonly isMeta?: boolean
  /** @internal A task that another agent gave. */
  readonly isFromAgent?: boolean
  /** @internal The part that the person typed. Default: all of it. */
  readonly written?: string
  /** @internal What changed on disk while the calls of its results ran. */
  readonly filesChanged?: readonly CallChanges[]
}

/** Text, blocks, one message, or many. */
export type Incoming = Content | IncomingMessage | OtherMessage | readonly (IncomingMessage | OtherMessage)[]

/** The model's answer. A response of the Anthropic SDK fits; `content` is enough. */
export interface IncomingResponse {
  /** Blocks, or a text. */
  readonly content: string | readonly unknown[]
  readonly id?: string
  readonly model?: string
  readonly stop_reason?: string | null
  readonly stop_sequence?: string | null
  readonly usage?: Usage | null
  /** What the server cleared from its own copy of the request, if it was asked to. */
  readonly context_management?: { readonly applied_edits?: readonly unknown[] } | null
  /** What the provider says about a lost cache, if it was asked. */
  readonly diagnostics?: unknown
  /** @internal Ids of calls that a caller with its own list does not see. */
  readonly hiddenCalls?: readonly string[]
}

/** In the order they were given. */
export function messageDrafts(incoming: Incoming): readonly MessageDraft[] {
  if (!isMessages(incoming)) return [messageDraft(incoming)]
  return incoming.map((message, index) => messageDraft(message, `messages[${index}]`))
}

/** A list of messages, and not of blocks, if one of its items has a role, or is a message of another library. */
function isMessages(incoming: Incoming): incoming is readonly (IncomingMessage | OtherMessage)[] {
  if (!Array.isArray(incoming)) return false
  if (incoming.length === 0) throw new InvalidContentError("the list is empty")
  return incoming.some((item: Partial<IncomingMessage> | null) => typeof item?.role === "string" || isOthers(item))
}

/** `name` says which of several messages it is. */
function messageDraft(incoming: Content | IncomingMessage | OtherMessage, name?: string): MessageDraft {
  const isMessage = typeof incoming === "object" && incoming !== null && !Array.isArray(incoming)
  const { role, content, isMeta, isFromAgent, written, filesChanged }: IncomingMessage = isMessage
    ? (ownShape(incoming, name ?? "it") as IncomingMessage)
    : { role: "user", content: incoming as Content }
  if (role !== "user" && role !== "assistant") throw new InvalidContentError(wrongRole(role, name))
  const checked = checkedCopy(content, role, name)
  const meta = isMeta ? { isMeta: true } : {}
  const ofAgent = isFromAgent ? { isFromAgent } : {}
  const said = written === undefined ? {} : { written }
  const onDisk = filesChanged ? { filesChanged: asPlainJson(filesChanged, "filesChanged") } : {}
  return role === "user"
    ? { type: "user", message: { role, content: checked }, ...meta, ...ofAgent, ...said, ...onDisk }
    : { type: "assistant", message: { role, content: checked }, ...meta }
}

function wrongRole(role: unknown, name = "it"): string {
  const hint = role === "system" ? 'Pass it as the option "system" of openConversation()' : 'Use "user" or "assistant"'
  return `${name} has the role ${JSON.stringify(role)}. ${hint}`
}

/** A frozen copy of content that a request can carry. The caller may change its own object later. */
export function checkedCopy(content: unknown, role: "user" | "assistant", name?: string): Content {
  const subject = name === undefined ? "its content" : `the content of ${name}`
  if (typeof content === "string") {
    if (content.trim() === "") throw new InvalidContentError(`${name ?? "it"} is empty`)
    if (content.length > REQUEST_BYTES) throw new InvalidContentError(tooLong(name ?? "it"))
    return content
  }
  if (!Array.isArray(content) || content.length === 0)
    throw new InvalidContentError(`${subject} must be a text or a list of blocks`)
  return copyOf(content, { role, subject, path: name === undefined ? "content" : `${name}.content` })
}

const tooLong = (name: string) => `${name} is longer than the ${REQUEST_BYTES} bytes that a request may have`

/** Frozen lists of blocks, and the role that they were checked for. */
const checkedAs = new WeakMap<readonly unknown[], ContentSource["role"]>()

function copyOf(given: readonly unknown[], checked: ContentSource): readonly Block[] {
  const blocks = asPlainJson(given, checked.path ?? "content")
  const problem = findProblem(blocks, checked)
  if (problem !== undefined) throw new InvalidContentError(problem)
  const long = blocks.findIndex((block) => isText(block as Block) && (block as TextBlock).text.length > REQUEST_BYTES)
  if (long >= 0) throw new InvalidContentError(tooLong(`block ${long} of ${checked.subject}`))
  checkedAs.set(blocks, checked.role)
  return blocks as readonly Block[]
}

/** A frozen copy as the journal would return it. */
export function asPlainJson<T>(value: T, path: string): T {
  try {
    return plainJson(value, path)
  } catch (error) {
    if (error instanceof NotJsonError) throw new InvalidContentError(`${error.at} ${error.message}`)
    throw new InvalidContentError(`${path} cannot be read (${errorReason(error)})`)
  }
}

/** The last check before the journal, for whatever writes a message: a layer, a hook, an attachment, the agent itself. */
export function checkDraft(draft: EntryDraft): void {
  if (draft.type === "attachment") {
    const flaw = attachmentFlaw(draft.attachment)
    if (flaw) throw new InvalidContentError(`the attachment ${describeFlaw(flaw)}`)
  } else if ((draft.type === "user" || draft.type === "assistant") && !draft.asSent) {
    const { content } = draft.message
    const role = draft.type === "user" ? "user" : "response"
    if (typeof content === "string" || checkedAs.get(content) === role) return
    const problem = findProblem(content, { role, subject: `a message of the ${draft.type}` })
    if (problem !== undefined) throw new InvalidContentError(problem)
  }
}

export type ResponseDraft = MessageDraft & { readonly type: "assistant" }

/** `model` is the conversation's own, for answers that do not say which model wrote them. */
export function responseDraft(response: IncomingResponse, model: string): ResponseDraft {
  const content = blocksOf(ownShape(response, "the response"))
  const usage = usableUsage(response.usage ?? undefined)
  const { id, model: answering, hiddenCalls } = response
  const asReceived = content.flatMap((block, at) => (isUnknownBlock({ ...block }) ? at : []))
  return {
    type: "assistant",
    ...(asReceived.length > 0 ? { asReceived } : {}),
    ...(hiddenCalls ? { hiddenCalls: [...hiddenCalls] } : {}),
    message: {
      ...(typeof id === "string" ? { id } : {}),
      type: "message",
      role: "assistant",
      model: typeof answering === "string" ? answering : model,
      content,
      stop_reason: stopReason(response, content),
      stop_sequence: response.stop_sequence ?? null,
      ...(usage ? { usage } : {}),
    } as ResponseDraft["message"],
  }
}

function blocksOf(response: unknown): readonly Block[] {
  const given: unknown = isRecord(response) ? response.content : undefined
  const content = typeof given === "string" ? (given === "" ? [] : [{ type: "text", text: given }]) : given
  if (!Array.isArray(content))
    throw new InvalidContentError("the content of the response must be a text or a list of blocks")
  return copyOf(content, { role: "response", subject: "the response", path: "content" })
}

/** An answer that does not say why it ended has ended with its calls, or as a final answer. */
function stopReason({ stop_reason }: IncomingResponse, content: readonly Block[]): string | null {
  if (typeof stop_reason === "string" || stop_reason === null) return stop_reason
  return content.some(isToolUse) ? "tool_use" : "end_turn"
}

// The person's own words inside tool results: remarks in refusals, answers to questions. They are found where messages come in.

/** `views`: those before the messages, which know the newest calls. */
export function withUsersWords(drafts: readonly MessageDraft[], { context }: Views): readonly MessageDraft[] {
  const last = context.lastResponse
  const calls = new Map(last ? callsIn(contentOf(last)) : [])
  return drafts.map((draft) => {
    if (draft.type === "assistant") {
      for (const [id, tool] of callsIn(toBlocks(draft.message.content))) calls.set(id, tool)
      return draft
    }
    if (draft.type !== "user" || draft.saidInResults) return draft
    const said = findUserTextInResults(toBlocks(draft.message.content), calls)
    return said.length > 0 ? { ...draft, saidInResults: said } : draft
  })
}
