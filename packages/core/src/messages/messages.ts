/**
 * The stored messages of a conversation: the API's content, its position, its time and its visibility. The shape follows the lines of
 * Claude Code transcripts, so that their tools can read Strata's journals.
 */

import { renderAttachment } from "./attachment-texts.ts"
import type { Attachment } from "./attachments.ts"
import {
  type Block,
  type Content,
  isText,
  isToolResult,
  resultBlocks,
  type ToolResult,
  textOf,
  toBlocks,
} from "./blocks.ts"
import type { FileChangeRecord } from "./file-change-record.ts"

/** The id of an entry in the journal. */
export type Uuid = string

interface MessageBase {
  readonly uuid: Uuid
  /** The previous message. `null` at the start and at a boundary. */
  readonly parentUuid: Uuid | null
  readonly timestamp: string
  /** Internal: not written by the user. */
  readonly isMeta?: boolean
  /** Part of a sub-agent's conversation recorded in the same file. */
  readonly isSidechain?: boolean
  readonly isVisibleInTranscriptOnly?: boolean
  /** Typed while the agent was busy. Stored at once, and sent when a decision delivers it. */
  readonly isQueued?: boolean
  readonly sessionId?: string
  /**
   * Sent by a client that resends its own message list. It stays a separate message in every request, including fields that Strata does
   * not know.
   */
  readonly asSent?: true
}

/** A message of the user: text, or results of tools. */
export interface UserMessage extends MessageBase {
  readonly type: "user"
  readonly message: { readonly role: "user"; readonly content: Content }
  readonly isCompactSummary?: boolean
  /** The same summary as the API wrote and signed it. The model that wrote it receives the block in place of the text. */
  readonly signed?: SignedSummary
  /** A task that another agent gave. It is a request, but not of the user. */
  readonly isFromAgent?: boolean
  /** Imported from another program's transcript. That the user wrote it is only that file's claim. */
  readonly isImported?: true
  /** The part that the user typed, if a program added the rest: piped input, or the text of a slash command's file. */
  readonly written?: string
  /** User text inside the message's tool results. Only importers set it, where the other program's phrases identify it. */
  readonly saidInResults?: readonly UserTextInResult[]
  /** Files that changed on disk while the calls ran. Older versions of Strata ignore this field. */
  readonly filesChanged?: readonly CallChanges[]
}

/** A signed summary, and the model that wrote it. */
export interface SignedSummary {
  readonly model: string
  /** Unchanged: one changed byte makes the signature invalid. */
  readonly block: SignedBlock
  /** The text after the block: where it comes from, and the findings of the check. */
  readonly text: string
}

/** A summary as the API signed it. */
export interface SignedBlock {
  readonly type: "compaction"
  readonly content: string
  readonly signature: string
}

/** The files that changed while a call ran, as found on disk. */
export interface CallChanges {
  readonly callId: string
  readonly files: readonly FileChange[]
  /** Number of changed files that are not listed. */
  readonly more?: number
  /** The changes of a file tool whose contents were stored. `kept` is the name on disk. */
  readonly kept?: readonly FileChangeRecord[]
}

/** A file that changed on disk. */
export interface FileChange {
  /** Absolute path. */
  readonly path: string
  readonly what: "created" | "changed" | "deleted"
}

/** User text inside a tool result. */
export interface UserTextInResult {
  readonly at: "refusal" | "answer"
  readonly text: string
}

/** A response of the model. */
export interface AssistantMessage extends MessageBase {
  readonly type: "assistant"
  readonly message: {
    /** The API's id of the response. Parts of one streamed response share it. */
    readonly id?: string
    readonly role: "assistant"
    readonly model?: string
    readonly content: Content
    readonly stop_reason?: string | null
    readonly usage?: Usage
  }
  readonly isApiErrorMessage?: boolean
  readonly requestId?: string
  /** Why the cache was not read, as reported by the API, such as `system_changed`. Only importers set it. */
  readonly cacheMissReason?: string
  /** Indexes of blocks that this version does not know. They are sent back unchanged. */
  readonly asReceived?: readonly number[]
  /** Ids of calls that Strata answers itself. Clients that resend their own message list do not see them. */
  readonly hiddenCalls?: readonly string[]
}

/** An attachment as a message. */
export interface AttachmentMessage extends MessageBase {
  readonly type: "attachment"
  readonly attachment: Attachment
}

/** A message about the conversation, such as the boundary of a compaction. */
export interface SystemMessage extends MessageBase {
  readonly type: "system"
  readonly subtype?: string
  readonly content?: string
  /** The log level for display in other programs. Boundaries of older journals have none. */
  readonly level?: string
  /** At a boundary: the previous message, since `parentUuid` is `null` there. */
  readonly logicalParentUuid?: Uuid | null
  readonly compactMetadata?: CompactMetadata
}

/** Output that a program displayed while it worked. It is never sent. */
export interface ProgressMessage extends MessageBase {
  readonly type: "progress"
  readonly data?: unknown
}

/** A message of the conversation. Only messages of the user, the model and attachments are sent. */
export type Message = UserMessage | AssistantMessage | AttachmentMessage | SystemMessage | ProgressMessage

/** The tokens that the API reports for one response. Older servers omit some fields. */
export interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_creation_input_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens?: number
    readonly ephemeral_1h_input_tokens?: number
  } | null
  /** Total of tokens deleted by cache edits. Not in the public API. */
  readonly cache_deleted_input_tokens?: number | null
  readonly iterations?: readonly UsageIteration[] | null
}

/** One of several passes of a response. With server compaction, the top-level usage excludes that pass. */
export interface UsageIteration extends Omit<Usage, "iterations"> {
  readonly type: string
}

/** Details of the compaction that a boundary ends. */
export interface CompactMetadata {
  readonly trigger: "auto" | "manual"
  readonly preTokens: number
  readonly messagesSummarized?: number
  readonly preservedMessages?: { readonly anchorUuid?: Uuid; readonly uuids: readonly Uuid[] }
  /** The preserved messages that come before the summary: messages that a client sends only once. */
  readonly headMessages?: readonly Uuid[]
  /** The client that resends its own list has summarised it. `byCaller` is the name on disk. */
  readonly byCaller?: true
  readonly [more: string]: unknown
}

export interface Boundary extends SystemMessage {
  readonly subtype: "compact_boundary"
}

const BOUNDARY = "compact_boundary"

/** Fields that are the same in every boundary that Strata writes. Claude Code writes the same. */
export const BOUNDARY_LINE = {
  type: "system",
  subtype: BOUNDARY,
  content: "Conversation compacted",
  isMeta: false,
  level: "info",
} as const
const SYNTHETIC_MODEL = "<synthetic>"

export function isBoundary(message: { readonly type: string; readonly subtype?: string }): message is Boundary {
  return message.type === "system" && message.subtype === BOUNDARY
}

export function contentOf(message: UserMessage | AssistantMessage): readonly Block[] {
  return toBlocks(message.message.content)
}

/** Whether this is an error text shown in place of a response. The model did not write it. */
export function isSyntheticError(message: Message): boolean {
  return message.type === "assistant" && message.isApiErrorMessage === true && message.message.model === SYNTHETIC_MODEL
}

/**
 * Whether a program wrote the message in the model's name. It was never requested, so it is not a turn and is no evidence about the
 * cache.
 */
export const isSynthetic = (message: Message): boolean =>
  message.type === "assistant" && message.message.model === SYNTHETIC_MODEL

/** Whether the user wrote the message, as far as the record shows. */
export const isFromUser = (message: Message): message is UserMessage => isRequest(message) && !message.isFromAgent

/** Whether the message asks for something: from the user, or from the agent that gave this one its task. */
export function isRequest(message: Message): message is UserMessage {
  return (
    message.type === "user" &&
    !message.isMeta &&
    !message.isSidechain &&
    !message.isCompactSummary &&
    !contentOf(message).every(isToolResult) &&
    !isAllFromMachine(contentOf(message))
  )
}

/** The text that the user wrote in a message, without text that a program added. */
export const userText = (message: UserMessage): string =>
  textOf(
    contentOf(message)
      .filter(isUserText)
      .map((block) => (isText(block) ? { ...block, text: withoutReminders(block.text) } : block)),
  )

const isUserText = (block: Block): boolean => isText(block) && !isMachineText(withoutReminders(block.text))

const REMINDERS = /^(?:\s*<system-reminder>[\s\S]*?<\/system-reminder>)+\s*/

/**
 * Removes the reminders that a program put in front of a text. A text of reminders only is returned unchanged, because it is the
 * program's.
 */
function withoutReminders(text: unknown): string {
  const fullText = textOrNone(text)
  const [reminders = ""] = REMINDERS.exec(fullText) ?? []
  return reminders.length === fullText.length ? fullText : fullText.slice(reminders.length)
}

function isAllFromMachine(blocks: readonly Block[]): boolean {
  const texts = blocks.filter((block) => isText(block) && !isBlank(block.text))
  return texts.length > 0 && !texts.some(isUserText)
}

/** Texts that programs put into user messages: commands and their output, reminders, editor state, task notifications. */
const MACHINE_TEXT =
  /^\s*(?:<(?:local-command-|command-(?:name|message|args|contents)\b|system-reminder|bash-|(?:task|agent)-notification|teammate-message|ide_)|\[Request interrupted|\{"task_id":"|Caveat: The messages below were generated by the user while running local commands|Operation stopped by hook: )/

/** Start of the text after a compaction, as written by Strata and by other programs. */
const CONTINUATION =
  /^\s*(?:This conversation continues an earlier one that|This session is being continued from a previous conversation|The conversation history before this point was compacted)/

/** Whether a text replaces earlier messages. The user did not write such a text. */
export const isContinuation = (text: string): boolean => CONTINUATION.test(text)

/** Whether a program put this text into a user message. */
export const isMachineText = (text: string): boolean => MACHINE_TEXT.test(textOrNone(text).slice(0, 200))
const isBlank = (text: string): boolean => textOrNone(text).trim() === ""

/** Blocks of other programs may lack their text. */
const textOrNone = (text: unknown): string => (typeof text === "string" ? text : "")

/** Whether the user sees the message in the running conversation, or in the full transcript with summaries. */
export function isShownToUser(message: Message, where: "conversation" | "transcript" = "conversation"): boolean {
  if (message.isMeta) return false
  if (message.isVisibleInTranscriptOnly || (message.type === "user" && message.isCompactSummary)) {
    return where === "transcript"
  }
  return true
}

/** Whether messages of this kind are sent to the model. */
export function isSentToModel(message: Message): boolean {
  if (message.type === "progress" || message.type === "system") return false
  return !message.isSidechain && !message.isQueued && !isSyntheticError(message)
}

/** The messages from the last boundary on, including it. All messages if there is no boundary. */
export function sinceLastBoundary(messages: readonly Message[]): readonly Message[] {
  const at = messages.findLastIndex(isBoundary)
  return at <= 0 ? messages : messages.slice(at)
}

// The repairs that make a request valid. The journal records each one.

/** A change that makes the request valid. `id` names the tool call or message it concerns. */
export interface Repair {
  readonly rule: RepairRule
  readonly id: string
}

/** The name of a repair. */
export type RepairRule =
  | "unanswered-tool-use" // a synthetic error result was added
  | "orphan-tool-result" // belongs to no call: dropped
  | "malformed-block" // not a block that the API accepts: replaced by a text with its handle
  | "unknown-field" // a field that the API does not accept: dropped
  | "half-character" // a text was cut inside a character: replaced by U+FFFD
  | "mislabelled-image" // sent with the media type that its bytes show
  | "malformed-tool-use" // the API does not accept the call's name, id or input: dropped
  | "duplicate-tool-use" // the id was used before: the later call is dropped
  | "duplicate-tool-result" // the first result is used
  | "split-tool-results" // results of one turn came in several messages: joined in the first, as the API requires
  | "late-tool-result" // an earlier request contained a synthetic result for the call, which stays
  | "unanswered-server-tool" // a server call that was cut off before its result: dropped
  | "orphan-server-result" // a server result without its call: dropped
  | "empty-text" // the API rejects empty text: dropped
  | "trailing-thinking" // a turn that consists of thinking only and has no reply: dropped, and never sent later
  | "unsigned-thinking" // cut off during streaming, or from another provider: dropped
  | "unknown-block" // a type that this version does not know, unless a response contained it and the API accepts it: dropped
  | "unsigned-summary" // the API refused the signed summary, or another model wrote it: its text is sent
  | "starts-with-assistant" // a first user message was added

// The title that a list shows for an untitled conversation: the first line that the user wrote.

const MAX_TITLE = 120 // characters, more than a list shows in a line

/** The first line of the first request that has text. */
export function firstUserLine(messages: Iterable<Message>): string | undefined {
  for (const message of messages) {
    const titleText = isRequest(message) ? titleLine(textOf(contentOf(message))) : undefined
    if (titleText !== undefined) return titleText
  }
  return undefined
}

/** The first line of a text. If it only announces the next one ("Implement this plan:"), both. */
function titleLine(text: string): string | undefined {
  const [first, next] = firstTwoLines(text)
  if (first === undefined) return undefined
  return (first.endsWith(":") && next !== undefined ? `${first} ${next.replace(/^#+\s+/, "")}` : first).slice(
    0,
    MAX_TITLE,
  )
}

/** The first two lines that are not empty. */
function firstTwoLines(text: string): readonly string[] {
  const lines: string[] = []
  for (const [line] of text.matchAll(/[^\n]+/g)) {
    if (line.trim() !== "") lines.push(line.trim())
    if (lines.length === 2) break
  }
  return lines
}

// Reads the outcome of a tool call from its result, including results in conversations that other programs recorded.

/** `denied`: the call did not run, because the user, a rule or a hook refused it. */
export type ResultState = "ok" | "failed" | "denied" | "interrupted"

/** Start of the results of calls that the user or the end of a session stopped. */
const INTERRUPTED = /^Interrupted (?:by the user )?before it finished\./

/** Start of the results of refused calls, in Strata's own and in imported conversations. */
const DENIALS = [
  /^Not allowed: /,
  /^The user doesn't want to (?:proceed with this tool use|take this action)/,
  /^Permission (?:for this tool use was|to use .{1,200} has been) denied/,
]

export function resultState(result: ToolResult): ResultState {
  if (!result.is_error) return "ok"
  const text = resultText(result)
  if (DENIALS.some((beginning) => beginning.test(text))) return "denied"
  return INTERRUPTED.test(text) ? "interrupted" : "failed"
}

/** A result as text. Other blocks are represented by their type. */
export function resultText(result: ToolResult): string {
  const blocks = resultBlocks(result)
  const others = blocks.filter(({ type }) => type !== "text").map(({ type }) => `[${type}]`)
  return [textOf(blocks), ...others].filter(Boolean).join("\n")
}

// The blocks that a stored message adds to a request: its own, or those of the rendered attachment.

export function sentBlocks(message: Message): readonly Block[] {
  if (!isSentToModel(message)) return []
  if (message.type === "attachment") return renderAttachment(message.attachment)
  return message.type === "user" || message.type === "assistant" ? contentOf(message) : []
}

// Checks the usage reported by a server or by your own loop. A single `NaN` would spread to every later size and cost, and no threshold
// would ever be reached. So values that are not counts are dropped.

/** The usage with valid counts only. Undefined if the input or output tokens are missing. */
export function usableUsage(input: unknown): Usage | undefined {
  if (!hasValidCounts(input)) return undefined
  const { iterations, ...usage } = input
  return Array.isArray(iterations) && iterations.every(hasValidCounts) ? input : usage
}

const OPTIONAL = ["cache_creation_input_tokens", "cache_read_input_tokens", "cache_deleted_input_tokens"] as const

function hasValidCounts(input: unknown): input is Usage {
  if (typeof input !== "object" || input === null) return false
  const usage = input as Usage
  const written = Object.values(usage.cache_creation ?? {})
  return (
    isCount(usage.input_tokens) &&
    isCount(usage.output_tokens) &&
    [...OPTIONAL.map((key) => usage[key]), ...written].every((value) => value == null || isCount(value))
  )
}

const isCount = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER

export const isSummary = (message: Message): boolean => message.type === "user" && message.isCompactSummary === true
