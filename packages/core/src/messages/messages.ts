/**
 * The messages of a conversation as they are stored: the API's content, its place, its time and who may see it. The shape is
 * that of Claude Code transcript lines, so that tools for those can read ours.
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
import type { FileChangeRecord } from "./kept-change.ts"

/** The id of an entry in the journal. */
export type Uuid = string

interface Placed {
  readonly uuid: Uuid
  /** The message before this one. `null` at the start and at a boundary. */
  readonly parentUuid: Uuid | null
  readonly timestamp: string
  /** Internal: not written by the person. */
  readonly isMeta?: boolean
  /** Part of a sub-agent's conversation recorded in the same file. */
  readonly isSidechain?: boolean
  readonly isVisibleInTranscriptOnly?: boolean
  /** Typed while the system was busy. Stored at once, sent when a decision delivers it. */
  readonly isQueued?: boolean
  readonly sessionId?: string
  /** Followed: a caller that keeps its own list of messages sent it. It is a message of its own in every request, with what we do not know in it. */
  readonly asSent?: true
}

/** A message of the user: text, or results of tools. */
export interface UserMessage extends Placed {
  readonly type: "user"
  readonly message: { readonly role: "user"; readonly content: Content }
  readonly isCompactSummary?: boolean
  /** The same summary as the API wrote and signed it. The model that wrote it gets the block in place of the text. */
  readonly signed?: SignedSummary
  /** A task that another agent gave. It is a request, but not the person's. */
  readonly isFromAgent?: boolean
  /** From another program's transcript. Whether the person said it is that file's word. */
  readonly isImported?: true
  /** The part that the person typed, where a program added the rest: what was piped in, or the text of a slash command's file. */
  readonly written?: string
  /** The person's own words inside its tool results. Only an importer sets it, where the other program's own frame shows them. */
  readonly saidInResults?: readonly UserTextInResult[]
  /** What changed on disk while its calls ran. Only names: an older version passes over them. */
  readonly filesChanged?: readonly CallChanges[]
}

/** A signed summary, and the model that wrote it. */
export interface SignedSummary {
  readonly model: string
  /** As it came: one changed byte makes the signature invalid. */
  readonly block: SignedBlock
  /** What follows it: where it comes from, and what the check found. */
  readonly text: string
}

/** A summary as the API signed it. */
export interface SignedBlock {
  readonly type: "compaction"
  readonly content: string
  readonly signature: string
}

/** The files that changed while a call ran, as they were found on disk. */
export interface CallChanges {
  readonly callId: string
  readonly files: readonly FileChange[]
  /** How many more changed than are listed. */
  readonly more?: number
  /** What a file tool changed, with the contents that were kept. */
  readonly kept?: readonly FileChangeRecord[]
}

/** A file that changed on disk. */
export interface FileChange {
  /** The whole path. */
  readonly path: string
  readonly what: "created" | "changed" | "deleted"
}

/** What the person said inside a tool result. */
export interface UserTextInResult {
  readonly at: "refusal" | "answer"
  readonly text: string
}

/** An answer of the model. */
export interface AssistantMessage extends Placed {
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
  /** Why the API says that it did not read the cache, such as `system_changed`. Only an importer sets it. */
  readonly cacheMissReason?: string
  /** The places of blocks that this version does not know. They are sent back as they came. */
  readonly asReceived?: readonly number[]
  /** Ids of calls that we answer ourselves. A caller that keeps its own list of messages does not see them. */
  readonly hiddenCalls?: readonly string[]
}

/** An attachment as a message. */
export interface AttachmentMessage extends Placed {
  readonly type: "attachment"
  readonly attachment: Attachment
}

/** A message about the conversation, such as the boundary of a compaction. */
export interface SystemMessage extends Placed {
  readonly type: "system"
  readonly subtype?: string
  readonly content?: string
  /** How another program shows it. Boundaries of older journals have none. */
  readonly level?: string
  /** At a boundary: the message before it, since `parentUuid` is `null` there. */
  readonly logicalParentUuid?: Uuid | null
  readonly compactMetadata?: CompactMetadata
}

/** What a program showed while it worked. It is never sent. */
export interface ProgressMessage extends Placed {
  readonly type: "progress"
  readonly data?: unknown
}

/** A message of the conversation. Only those of the user, the model and attachments are sent. */
export type Message = UserMessage | AssistantMessage | AttachmentMessage | SystemMessage | ProgressMessage

/** The tokens that the API reports for one response. Older servers leave out some fields. */
export interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_creation_input_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens?: number
    readonly ephemeral_1h_input_tokens?: number
  } | null
  /** All tokens deleted by cache edits so far. Not in the public API. */
  readonly cache_deleted_input_tokens?: number | null
  readonly iterations?: readonly UsageIteration[] | null
}

/** One of several passes of a response. With server compaction, the top-level usage excludes that pass. */
export interface UsageIteration extends Omit<Usage, "iterations"> {
  readonly type: string
}

/** What a boundary says about its compaction. */
export interface CompactMetadata {
  readonly trigger: "auto" | "manual"
  readonly preTokens: number
  readonly messagesSummarized?: number
  readonly preservedMessages?: { readonly anchorUuid?: Uuid; readonly uuids: readonly Uuid[] }
  /** Those of the preserved ones that come before the summary: what a caller says once. */
  readonly headMessages?: readonly Uuid[]
  /** A caller that keeps its own list has summarised it. */
  readonly byCaller?: true
  readonly [more: string]: unknown
}

export interface Boundary extends SystemMessage {
  readonly subtype: "compact_boundary"
}

const BOUNDARY = "compact_boundary"

/** What every boundary that we write begins with. Claude Code writes the same. */
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

/** An error text shown in place of an answer. The model did not write it. */
export function isSyntheticError(message: Message): boolean {
  return message.type === "assistant" && message.isApiErrorMessage === true && message.message.model === SYNTHETIC_MODEL
}

/** A message that a program wrote in the model's name. It was never requested, so it is no turn and says nothing about the cache. */
export const isSynthetic = (message: Message): boolean =>
  message.type === "assistant" && message.message.model === SYNTHETIC_MODEL

/** Whether the person wrote the message, as far as the record shows. */
export const isHuman = (message: Message): message is UserMessage => isRequest(message) && !message.isFromAgent

/** Whether someone asks for something: the person, or the agent that gave this one its task. */
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

/** What the person wrote in a message, without the pieces that a program put beside it. */
export const spokenText = (message: UserMessage): string =>
  textOf(
    contentOf(message)
      .filter(isSpoken)
      .map((block) => (isText(block) ? { ...block, text: spokenIn(block.text) } : block)),
  )

const isSpoken = (block: Block): boolean => isText(block) && !isMachineText(spokenIn(block.text))

const REMINDERS = /^(?:\s*<system-reminder>[\s\S]*?<\/system-reminder>)+\s*/

/** What follows the reminders that a program put in front of a text. Only reminders: the text itself, which is then a program's. */
function spokenIn(text: unknown): string {
  const whole = textOrNone(text)
  const [reminders = ""] = REMINDERS.exec(whole) ?? []
  return reminders.length === whole.length ? whole : whole.slice(reminders.length)
}

function isAllFromMachine(blocks: readonly Block[]): boolean {
  const texts = blocks.filter((block) => isText(block) && !isBlank(block.text))
  return texts.length > 0 && !texts.some(isSpoken)
}

/** Texts that programs put into user messages: commands and their output, reminders, what an editor shows, notices of tasks. */
const MACHINE_TEXT =
  /^\s*(?:<(?:local-command-|command-(?:name|message|args|contents)\b|system-reminder|bash-|(?:task|agent)-notification|teammate-message|ide_)|\[Request interrupted|\{"task_id":"|Caveat: The messages below were generated by the user while running local commands|Operation stopped by hook: )/

/** How the text after a compaction begins, ours and those of other programs. */
const CONTINUES =
  /^\s*(?:This conversation continues an earlier one that|This session is being continued from a previous conversation|The conversation history before this point was compacted)/

/** Whether a text takes the place of earlier messages. Then it is not the person's. */
export const isContinuation = (text: string): boolean => CONTINUES.test(text)

/** Whether a program put this text into a user message. */
export const isMachineText = (text: string): boolean => MACHINE_TEXT.test(textOrNone(text).slice(0, 200))
const isBlank = (text: string): boolean => textOrNone(text).trim() === ""

/** A block of another program may lack its text. */
const textOrNone = (text: unknown): string => (typeof text === "string" ? text : "")

/** Whether the person sees the message in the running conversation, or in the full transcript with summaries. */
export function isShownToUser(message: Message, where: "conversation" | "transcript" = "conversation"): boolean {
  if (message.isMeta) return false
  if (message.isVisibleInTranscriptOnly || (message.type === "user" && message.isCompactSummary)) {
    return where === "transcript"
  }
  return true
}

/** Whether the message can be sent to the model at all. */
export function isSentToModel(message: Message): boolean {
  if (message.type === "progress" || message.type === "system") return false
  return !message.isSidechain && !message.isQueued && !isSyntheticError(message)
}

/** The messages from the last boundary on, including it. All of them if there is no boundary. */
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
  | "unanswered-tool-use" // got a synthetic error result
  | "orphan-tool-result" // answers no call: dropped
  | "malformed-block" // not a block that the API accepts: set aside, recalled by its handle
  | "unknown-field" // a field that the API does not accept: left out
  | "half-character" // a text was cut inside a character: U+FFFD takes its place
  | "mislabelled-image" // sent with the media type that its bytes show
  | "malformed-tool-use" // the API does not accept its name, id or input: dropped
  | "duplicate-tool-use" // the id was used before: the later call is dropped
  | "duplicate-tool-result" // the first result counts
  | "split-tool-results" // results of one answer came in several messages: joined, because the API wants them in the first
  | "late-tool-result" // an earlier request answered the call synthetically: that answer stays
  | "unanswered-server-tool" // a server call cut off before its result: dropped
  | "orphan-server-result" // dropped
  | "empty-text" // the API rejects empty text: dropped
  | "trailing-thinking" // only thinking, with nothing after it: left out, and never sent later
  | "unsigned-thinking" // cut off during streaming, or from another provider: dropped
  | "unknown-block" // a type that this version does not know, and no response brought or the API refused: left out
  | "unsigned-summary" // the API refused the signed summary, or this model did not write it: its text is sent
  | "starts-with-assistant" // got a first user message

// What a list shows for a conversation without a title: the first line that the person wrote.

const MAX = 120 // characters: more than a line of a list shows

/** Of the first message that asks for something in words. */
export function firstWords(messages: Iterable<Message>): string | undefined {
  for (const message of messages) {
    const words = isRequest(message) ? wordsOf(textOf(contentOf(message))) : undefined
    if (words !== undefined) return words
  }
  return undefined
}

/** A line that only announces the next one ("Implement this plan:") is shown with it. */
function wordsOf(text: string): string | undefined {
  const [first, next] = linesOf(text)
  if (first === undefined) return undefined
  return (first.endsWith(":") && next !== undefined ? `${first} ${next.replace(/^#+\s+/, "")}` : first).slice(0, MAX)
}

/** The first two that are not empty. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = []
  for (const [line] of text.matchAll(/[^\n]+/g)) {
    if (line.trim() !== "") lines.push(line.trim())
    if (lines.length === 2) break
  }
  return lines
}

// How a tool call ended, read from its result: also in conversations that other programs recorded.

/** `denied`: it did not run, because the person, a rule or a hook refused it. */
export type ResultState = "ok" | "failed" | "denied" | "interrupted"

/** How results of calls begin that the person or the end of a session stopped. */
const INTERRUPTED = /^Interrupted (?:by the user )?before it finished\./

/** How results of refused calls begin: ours, and those in imported conversations. */
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

/** A result as text; other blocks appear by their type. */
export function resultText(result: ToolResult): string {
  const blocks = resultBlocks(result)
  const others = blocks.filter(({ type }) => type !== "text").map(({ type }) => `[${type}]`)
  return [textOf(blocks), ...others].filter(Boolean).join("\n")
}

// The blocks that a stored message adds to a request: its own, or the rendered attachment.

export function sentBlocks(message: Message): readonly Block[] {
  if (!isSentToModel(message)) return []
  if (message.type === "attachment") return renderAttachment(message.attachment)
  return message.type === "user" || message.type === "assistant" ? contentOf(message) : []
}

// Checks the usage reported by a server or by your own loop. A single `NaN` would spread to every later size and cost, and no
// threshold would ever be reached, so anything that is not a count is dropped.

/** Undefined if the input or output tokens are missing. */
export function usableUsage(given: unknown): Usage | undefined {
  if (!isCounted(given)) return undefined
  const { iterations, ...usage } = given
  return Array.isArray(iterations) && iterations.every(isCounted) ? given : usage
}

const OPTIONAL = ["cache_creation_input_tokens", "cache_read_input_tokens", "cache_deleted_input_tokens"] as const

function isCounted(given: unknown): given is Usage {
  if (typeof given !== "object" || given === null) return false
  const usage = given as Usage
  const written = Object.values(usage.cache_creation ?? {})
  return (
    isCount(usage.input_tokens) &&
    isCount(usage.output_tokens) &&
    [...OPTIONAL.map((key) => usage[key]), ...written].every((value) => value == null || isCount(value))
  )
}

const isCount = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER

export const isSummary = (message: Message): boolean => message.type === "user" && message.isCompactSummary === true
