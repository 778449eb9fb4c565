/** Validates the input of `add` and `record` and converts it to drafts. Invalid content is refused before it reaches the journal. */
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

// Message objects of other libraries, recognised by their structure. Plain texts are accepted. For others, which would lose content, the
// error names the object and an alternative.

/** A message of LangChain, or one with `parts`, as in the AI SDK's user interfaces and Mastra. Only plain texts are accepted. */
export type ExternalMessage =
  | { readonly content: unknown; getType(): string }
  | { readonly role: string; readonly parts: readonly unknown[] }
  | { readonly role: string; readonly content: { readonly parts: readonly unknown[] } }

type Library = "LangChain" | "the AI SDK" | "Mastra" | "OpenAI"
type Fields = Readonly<Record<string, unknown>>

interface KnownMessage {
  readonly library: Library
  /** Name of the object, as in "a HumanMessage of LangChain". */
  readonly what: string
  readonly role: unknown
  /** Its text, if it has no other content. */
  readonly text?: string | readonly TextBlock[] | undefined
}

/** Adapter that supports complete message lists of each library. */
const ADAPTERS: Readonly<Record<Library, string | undefined>> = {
  LangChain: 'strataMiddleware() of "@strata/adapters/langchain"',
  "the AI SDK": 'strataMiddleware() of "@strata/adapters/ai-sdk"',
  Mastra: 'strataProcessor() of "@strata/adapters/mastra"',
  OpenAI: undefined,
}
const LANGCHAIN_ROLES: Readonly<Record<string, string>> = { human: "user", ai: "assistant" }

/** Whether it is a message of another library without a role. */
export const isExternalMessage = (given: unknown): boolean =>
  isRecord(given) && (langchainType(given) ?? given.lc) !== undefined

/** Converts a message of another library to its text. Anything else is returned unchanged. */
export function toApiMessage(given: unknown, name: string): unknown {
  return isRecord(given) ? convertKnown(given, { name, known: knownByFields(given) ?? knownByContent(given) }) : given
}

/** Converts a message in a client's list, where unknown content is stored as it was sent. */
export function toApiMessageAsSent(given: unknown, name: string): unknown {
  return isRecord(given) ? convertKnown(given, { name, known: knownByFields(given) }) : given
}

const knownByFields = (given: Fields) => langchain(given) ?? withParts(given) ?? openAi(given)
const knownByContent = (given: Fields) => openAiParts(given) ?? aiSdkParts(given)

function convertKnown(
  given: Fields,
  { known, name }: { readonly known: KnownMessage | undefined; readonly name: string },
): unknown {
  if (!known) return given
  const { role, text } = known
  if (text !== undefined && (role === "user" || role === "assistant")) return { role, content: text }
  if (role === "system" || role === "developer") return { role: "system", content: text }
  throw new InvalidContentError(sentence(known, name))
}

function sentence({ library, what }: KnownMessage, name: string): string {
  const adapter = ADAPTERS[library]
  const whole = adapter ? `, or let ${adapter} follow the whole list` : ""
  return `${name} is ${what} of ${library}, which has more than text. Convert it to the format of the Messages API: calls as "tool_use" blocks of the assistant, results as "tool_result" blocks of the user${whole}`
}

function langchainType(given: Fields): string | undefined {
  const type = given.getType ?? given._getType
  return typeof type === "function" ? String(type.call(given)) : undefined
}

function langchain(given: Fields): KnownMessage | undefined {
  const type = langchainType(given)
  if (type === undefined)
    return given.lc === undefined ? undefined : { library: "LangChain", what: "a serialized message", role: undefined }
  const what = LANGCHAIN_NAMES[type] ?? `a message of type ${JSON.stringify(type)}`
  const hasMore = hasCalls(given) || hasCalls(given.additional_kwargs) || isFilled(given.name)
  const text = hasMore ? undefined : textOf(given.content, ["text"])
  return { library: "LangChain", what, role: LANGCHAIN_ROLES[type] ?? type, text }
}

const LANGCHAIN_NAMES: Readonly<Record<string, string>> = {
  human: "a HumanMessage",
  ai: "an AIMessage",
  tool: "a ToolMessage",
  function: "a FunctionMessage",
}

/** Recognises a `UIMessage`, which has `parts` next to its role. In Mastra they are in its content. */
function withParts({ role, content, parts }: Fields): KnownMessage | undefined {
  if (typeof role !== "string") return undefined
  if (Array.isArray(parts)) return { library: "the AI SDK", what: "a UIMessage", role, text: textOf(parts, ["text"]) }
  if (!isRecord(content) || !Array.isArray(content.parts)) return undefined
  return { library: "Mastra", what: "a message", role, text: textOf(content.parts, ["text"]) }
}

/** Recognises messages of the Chat Completions API, with calls next to the content, and items of the Responses API. */
function openAi(given: Fields): KnownMessage | undefined {
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

/** Recognises messages of the Responses API by its own types of text. */
function openAiParts({ role, content }: Fields): KnownMessage | undefined {
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

/** Recognises messages of the AI SDK by hyphens in the types of parts. */
function aiSdkParts({ content }: Fields): KnownMessage | undefined {
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

/** The text of a content without other parts. `step-start` parts are ignored. */
function textOf(content: unknown, types: readonly string[]): string | readonly TextBlock[] | undefined {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return undefined
  const visible = content.filter((part) => !isRecord(part) || part.type !== "step-start")
  const isText = ({ type, text, annotations }: Fields) =>
    types.includes(String(type)) && typeof text === "string" && !isFilled(annotations)
  if (!visible.every((part) => isRecord(part) && isText(part))) return undefined
  const texts = visible.map(({ text }: TextBlock): TextBlock => ({ type: "text", text }))
  return texts.length === 1 ? texts[0]!.text : texts
}

/** A message in the format of the Messages API. */
export interface IncomingMessage {
  /** `system` is part of the SDK's type, but refused: pass it as the option `system`. */
  readonly role: "user" | "assistant" | "system"
  readonly content: Content
  /** Whether your program wrote the message instead of the user. */
  readonly isMeta?: boolean
  /** @internal Whether it is a task from another agent. */
  readonly isFromAgent?: boolean
  /** @internal The part that the user typed. Default: the complete message. */
  readonly written?: string
  /** @internal Changes on disk during the calls of its results. */
  readonly filesChanged?: readonly CallChanges[]
}

/** Text, blocks, one message, or several. */
export type IncomingContent =
  | Content
  | IncomingMessage
  | ExternalMessage
  | readonly (IncomingMessage | ExternalMessage)[]

/** The model's response. A response of the Anthropic SDK is accepted; `content` is enough. */
export interface IncomingResponse {
  /** Blocks, or a text. */
  readonly content: string | readonly unknown[]
  readonly id?: string
  readonly model?: string
  readonly stop_reason?: string | null
  readonly stop_sequence?: string | null
  readonly usage?: Usage | null
  /** Edits that the server made to its own copy of the request, if requested. */
  readonly context_management?: { readonly applied_edits?: readonly unknown[] } | null
  /** The provider's diagnostics of a cache miss, if requested. */
  readonly diagnostics?: unknown
  /** @internal Ids of calls that are hidden from a client with its own list. */
  readonly hiddenCalls?: readonly string[]
}

/** Converts messages to drafts, in order. */
export function messageDrafts(incoming: IncomingContent): readonly MessageDraft[] {
  if (!isMessages(incoming)) return [messageDraft(incoming)]
  return incoming.map((message, index) => messageDraft(message, `messages[${index}]`))
}

/** Whether the input is a list of messages rather than blocks: one of its items has a role, or is a message of another library. */
function isMessages(incoming: IncomingContent): incoming is readonly (IncomingMessage | ExternalMessage)[] {
  if (!Array.isArray(incoming)) return false
  if (incoming.length === 0) throw new InvalidContentError("the list is empty")
  return incoming.some(
    (item: Partial<IncomingMessage> | null) => typeof item?.role === "string" || isExternalMessage(item),
  )
}

/** Converts one message. `name` identifies it among several. */
function messageDraft(incoming: Content | IncomingMessage | ExternalMessage, name?: string): MessageDraft {
  const isMessage = typeof incoming === "object" && incoming !== null && !Array.isArray(incoming)
  const { role, content, isMeta, isFromAgent, written, filesChanged }: IncomingMessage = isMessage
    ? (toApiMessage(incoming, name ?? "it") as IncomingMessage)
    : { role: "user", content: incoming as Content }
  if (role !== "user" && role !== "assistant") throw new InvalidContentError(wrongRole(role, name))
  const checked = checkedCopy(content, role, name)
  const meta = isMeta ? { isMeta: true } : {}
  const ofAgent = isFromAgent ? { isFromAgent } : {}
  const userPart = written === undefined ? {} : { written }
  const onDisk = filesChanged ? { filesChanged: asPlainJson(filesChanged, "filesChanged") } : {}
  return role === "user"
    ? { type: "user", message: { role, content: checked }, ...meta, ...ofAgent, ...userPart, ...onDisk }
    : { type: "assistant", message: { role, content: checked }, ...meta }
}

function wrongRole(role: unknown, name = "it"): string {
  const hint = role === "system" ? 'Pass it as the option "system" of openConversation()' : 'Use "user" or "assistant"'
  return `${name} has the role ${JSON.stringify(role)}. ${hint}`
}

/** A validated, frozen copy of content. The caller may change its own object later. */
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

/** Validated lists of blocks, and the role that they were validated for. */
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

/** A frozen copy, as the journal would return it. */
export function asPlainJson<T>(value: T, path: string): T {
  try {
    return plainJson(value, path)
  } catch (error) {
    if (error instanceof NotJsonError) throw new InvalidContentError(`${error.at} ${error.message}`)
    throw new InvalidContentError(`${path} cannot be read (${errorReason(error)})`)
  }
}

/** Validates a draft before it is written, for all authors of messages: a layer, a hook, an attachment, the agent itself. */
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

/** Converts a response. `model` is the conversation's model, for responses that do not name theirs. */
export function responseDraft(response: IncomingResponse, model: string): ResponseDraft {
  const content = blocksOf(toApiMessage(response, "the response"))
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

/** The stop reason. If the response has none, it is `tool_use` if it contains calls, else `end_turn`. */
function stopReason({ stop_reason }: IncomingResponse, content: readonly Block[]): string | null {
  if (typeof stop_reason === "string" || stop_reason === null) return stop_reason
  return content.some(isToolUse) ? "tool_use" : "end_turn"
}

// The user's text inside tool results: remarks in refusals, answers to questions. It is detected when messages are added.

/** Adds the user text found in results. `views`: the state before the messages, which contains the newest calls. */
export function withUserText(drafts: readonly MessageDraft[], { context }: Views): readonly MessageDraft[] {
  const last = context.lastResponse
  const calls = new Map(last ? callsIn(contentOf(last)) : [])
  return drafts.map((draft) => {
    if (draft.type === "assistant") {
      for (const [id, tool] of callsIn(toBlocks(draft.message.content))) calls.set(id, tool)
      return draft
    }
    if (draft.type !== "user" || draft.saidInResults) return draft
    const userTexts = findUserTextInResults(toBlocks(draft.message.content), calls)
    return userTexts.length > 0 ? { ...draft, saidInResults: userTexts } : draft
  })
}
