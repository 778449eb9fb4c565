/** What `add` and `record` accept, checked and turned into drafts. Bad content is refused before it reaches the journal. */
import { InvalidContentError, reasonOf } from "../base/errors.ts"
import type { Draft, MessageDraft } from "../journal/entries.ts"
import { attachmentFlaw } from "../messages/attachments.ts"
import { type Block, type Content, isText, isToolUse, type TextBlock } from "../messages/blocks.ts"
import { type Checked, problemIn } from "../messages/check-blocks.ts"
import { REQUEST_BYTES } from "../messages/media-limits.ts"
import type { CallChanges, Usage } from "../messages/messages.ts"
import { NotJsonError, plainJson } from "../messages/plain-json.ts"
import { inWords, isRecord } from "../messages/shapes/shape.ts"
import { isNewToUs } from "../messages/usable.ts"
import { usableUsage } from "../messages/usage.ts"
import { isOthers, type OtherMessage, ownShape } from "./messages-of-others.ts"

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
const checkedAs = new WeakMap<readonly unknown[], Checked["role"]>()

function copyOf(given: readonly unknown[], checked: Checked): readonly Block[] {
  const blocks = asPlainJson(given, checked.path ?? "content")
  const problem = problemIn(blocks, checked)
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
    throw new InvalidContentError(`${path} cannot be read (${reasonOf(error)})`)
  }
}

/** The last check before the journal, for whatever writes a message: a layer, a hook, an attachment, the agent itself. */
export function checkDraft(draft: Draft): void {
  if (draft.type === "attachment") {
    const flaw = attachmentFlaw(draft.attachment)
    if (flaw) throw new InvalidContentError(`the attachment ${inWords(flaw)}`)
  } else if ((draft.type === "user" || draft.type === "assistant") && !draft.asSent) {
    const { content } = draft.message
    const role = draft.type === "user" ? "user" : "response"
    if (typeof content === "string" || checkedAs.get(content) === role) return
    const problem = problemIn(content, { role, subject: `a message of the ${draft.type}` })
    if (problem !== undefined) throw new InvalidContentError(problem)
  }
}

export type ResponseDraft = MessageDraft & { readonly type: "assistant" }

/** `model` is the conversation's own, for answers that do not say which model wrote them. */
export function responseDraft(response: IncomingResponse, model: string): ResponseDraft {
  const content = blocksOf(ownShape(response, "the response"))
  const usage = usableUsage(response.usage ?? undefined)
  const { id, model: answering, hiddenCalls } = response
  const asReceived = content.flatMap((block, at) => (isNewToUs({ ...block }) ? at : []))
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
