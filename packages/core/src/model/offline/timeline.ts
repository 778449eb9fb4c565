/**
 * The timeline of a conversation, read from its messages: texts of each speaker, tool calls and their results. There is no other state, so
 * an answer depends only on the request.
 *
 * The user's messages are separated from text that a client adds to them: reminders, editor events, earlier summaries.
 */
import { type CooperativeTask, runSync } from "../../base/work.ts"
import { isMachineText } from "../../messages/messages.ts"
import { firstLineOf, type Section, splitDocument } from "./document.ts"
import type { OfflineQuestion, ReadBlock, ReadMessage } from "./read-message.ts"
import { isRecord } from "./tool-schema.ts"

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** Absent until the call has a result. */
  readonly result?: OfflineToolResult
}

export interface OfflineToolResult {
  readonly text: string
  readonly failed: boolean
}

/** `answers` is the number of earlier assistant messages. */
export type TimelineEntry = { readonly answers: number } & (
  | { readonly kind: "human"; readonly text: string }
  | { readonly kind: "notice"; readonly text: string }
  | { readonly kind: "summary"; readonly text: string }
  | { readonly kind: "assistant"; readonly text: string }
  | { readonly kind: "call"; readonly call: ToolCall }
)

/** Some tools report a failed command only in the first or last line of its output. */
const EXIT_CODE = /^\W*(?:command |process )?exit(?:ed)?(?: with)?(?: code| status)?:? ?[1-9]\d*\W*$/i

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g
/** Clients use tags with several words in their name. Other markup is the user's own and stays. */
const WRAPPED = /^<([a-z]+[-_][\w-]*)(?: [^>]*)?>[\s\S]*<\/\1>$/
/** The directive of a fork, after the client's introduction. It is treated as a user message. */
const DIRECTIVE = /^<([a-z]+[-_]fork)>\n?(?:[^\n]+:\n\n)?([\s\S]*)<\/\1>$/
const MARKER = /^\[(?:earlier conversation|conversation)\b[^\]\n]*\]$/i
const CONTINUES = /\b(?:conversation|session)\b[^\n]*\bcontinu|\bcontinu\w*\b[^\n]*\b(?:conversation|session)\b/i
const SUMMARY_TITLE = /^\s*(?:#+ *)?summary\b/i
const ASKS =
  /\b(?:write|create|produce|provide|give|update|edit|fill|keep|summari[sz]e|put)\b[^.\n]{0,80}\b(?:summary|notes|conversation|session)\b/i
/** The first line of every summary made by the offline model. */
export const ORIGIN =
  "This summary is extractive: no model wrote it. Every sentence in it is quoted from the conversation."
const MAX_OPENING = 2_000 // characters before the first section that may identify a text
const FEWEST_SECTIONS = 3 // a text with fewer headings is not a summary
const SUMMARY_SECTION = /user messages|primary request|current (?:work|state)|pending tasks|next step|worklog/i

export const readTimeline = (messages: readonly ReadMessage[]): TimelineEntry[] => runSync(timelineTask(messages))

export function* timelineTask(messages: readonly ReadMessage[]): CooperativeTask<TimelineEntry[]> {
  const results = yield* resultsTask(messages)
  const moments: TimelineEntry[] = []
  let answers = 0
  for (const message of messages) {
    yield
    for (const block of message.content) {
      if (message.role === "assistant") moments.push(...readAssistantBlock({ block, answers, results }))
      else if (block.type === "text") moments.push(...readUserText({ text: block.text ?? "", message, answers }))
    }
    if (message.role === "assistant") answers++
  }
  return moments
}

/** All text of a block, at any depth. */
export function textOf(content: ReadBlock["content"]): string {
  if (content === undefined) return ""
  if (typeof content === "string") return content
  return content.map((block) => block.text ?? textOf(block.content)).join("\n")
}

/** The texts of one kind of speaker, in order. */
export function textsOfKind(
  moments: readonly TimelineEntry[],
  kind: "human" | "notice" | "summary" | "assistant",
): string[] {
  const words: string[] = []
  for (const moment of moments) if (moment.kind === kind && "text" in moment) words.push(moment.text)
  return words
}

export function listCalls(moments: readonly TimelineEntry[]): ToolCall[] {
  const calls: ToolCall[] = []
  for (const moment of moments) if (moment.kind === "call") calls.push(moment.call)
  return calls
}

function* resultsTask(messages: readonly ReadMessage[]): CooperativeTask<Map<string, OfflineToolResult>> {
  const results = new Map<string, OfflineToolResult>()
  for (const message of messages) {
    yield
    if (message.role !== "user") continue
    for (const block of message.content) {
      if (block.type !== "tool_result" || block.tool_use_id === undefined) continue
      const text = textOf(block.content)
      results.set(block.tool_use_id, { text, failed: block.is_error === true })
    }
  }
  return results
}

function readAssistantBlock(given: {
  block: ReadBlock
  answers: number
  results: ReadonlyMap<string, OfflineToolResult>
}): TimelineEntry[] {
  const { block, answers, results } = given
  if (block.type === "text" && block.text?.trim()) return [{ kind: "assistant", text: block.text, answers }]
  if (block.type === "compaction" && typeof block.content === "string") {
    return [{ kind: "summary", text: block.content, answers }]
  }
  if (block.type !== "tool_use" || block.id === undefined || block.name === undefined) return []
  const input = isRecord(block.input) ? block.input : {}
  const result = results.get(block.id)
  const call = { id: block.id, name: block.name, input }
  if (result === undefined) return [{ kind: "call", call, answers }]
  const failed = result.failed || (typeof input.command === "string" && reportsFailure(result.text))
  return [{ kind: "call", call: { ...call, result: { text: result.text, failed } }, answers }]
}

function reportsFailure(output: string): boolean {
  const text = output.trim()
  return EXIT_CODE.test(firstLineOf(text)) || EXIT_CODE.test(text.slice(text.lastIndexOf("\n") + 1))
}

function readUserText(given: { text: string; message: ReadMessage; answers: number }): TimelineEntry[] {
  const { text, message, answers } = given
  if (message.role === "system") return [{ kind: "notice", text, answers }]
  if (message.role === "summary") return [{ kind: "summary", text, answers }]
  const reminders = text.match(REMINDER) ?? []
  const rest = (reminders.length === 0 ? text : text.replace(REMINDER, "")).trim()
  const moments: TimelineEntry[] = reminders.map((reminder) => ({ kind: "notice", text: reminder, answers }))
  if (rest === "") return moments
  const directive = DIRECTIVE.exec(rest)?.[2]
  if (directive !== undefined) return [...moments, { kind: "human", text: directive.trim(), answers }]
  const kind = isSummary(rest) ? "summary" : isNotice(rest) ? "notice" : "human"
  return [...moments, { kind, text: rest, answers }]
}

const isNotice = (text: string): boolean => WRAPPED.test(text) || MARKER.test(text) || isMachineText(text)

/**
 * The text before the first section decides. A summary states there that it continues a conversation, or has no text there. A prompt for a
 * summary names the same sections, but asks for them.
 */
function isSummary(text: string): boolean {
  const sections = splitDocument(text)
  if (sections.length < FEWEST_SECTIONS) return false
  const first = sections[0]!.heading
  const opening = text.slice(0, Math.min(text.indexOf(first), MAX_OPENING))
  if (ASKS.test(opening + first)) return false
  if (opening.includes(ORIGIN) || CONTINUES.test(opening) || SUMMARY_TITLE.test(opening)) return true
  return opening.trim() === "" && sections.filter(({ title }) => SUMMARY_SECTION.test(title)).length >= 2
}

// Recognizes a request about the conversation, as opposed to one that continues it: for a summary, session notes, memories or a progress
// line. If the server compacts, the kind is given. Otherwise the prompt decides, for any client: by its form, because a user's question
// may contain any single word, such as the name of a file.

export type OfflineRequestKind = "summary" | "notes" | "memory" | "progress"

export interface OfflineRequest {
  readonly kind: OfflineRequestKind
  readonly prompt: string
  /** The sections that the prompt asks for. Empty if it names none. */
  readonly sections: readonly Section[]
  /** The conversation the prompt is about. */
  readonly timeline: readonly TimelineEntry[]
  /** Calls that were already made to answer this prompt. */
  readonly calls: readonly ToolCall[]
}

const SUMMARY_TAG = /<summary>/i
const SUMMARY_WORD = /\bsummar(?:y|ies|i[sz]e[sd]?|i[sz]ing)\b/i
const PLAIN_REQUEST =
  /^\s*(?:please |now )*(?:summari[sz]e|(?:write|create|give|provide|make) (?:me |us )?a (?:\w+ )?summary)\b[^.\n]*\b(?:conversation|session)\b/i
const CONVERSATION = /\b(?:conversation|session|transcript|dialogue|so far|above)\b/i
const NOTES = /\b(?:session|conversation|running|working)?[ -]?notes\b/i
const NOTES_WORK = /\b(?:updat|edit|keep|writ|maintain|fill|revis)\w*/i
const MEMORY_WORK = /\b(?:sav|writ|keep|extract|updat)\w*\b[^.\n]{0,80}\bmemor(?:y|ies)\b(?!\.)/i
const MEMORY_FORM = /\bfrontmatter\b/i
const QUOTED = /<([\w-]+)>[\s\S]*<\/\1>/g // a document inside the prompt, whose content is not the request
const PROGRESS =
  /^\s*(?:please |now )?(?:describe|say|tell|state|report|give)\b[^.\n]*\b(?:progress|status|doing|being done|most recent action|working on)\b(?!\.\w)/i
const BRIEFLY = /\b(?:one|a single|single|short|brief) (?:\w+ )?(?:line|sentence|phrase)\b|\bwords\b/i
const PROGRESS_PROMPT = 1500 // characters; a longer prompt asks for more than a line
const FEWEST_SECTIONS_DEMAND = 3

type Request = Pick<OfflineQuestion, "request" | "summary">

export const recognizeRequest = (asking: Request): OfflineRequest | undefined => runSync(requestTask(asking))

export function* requestTask({ request, summary }: Request): CooperativeTask<OfflineRequest | undefined> {
  if (summary) return yield* summaryRequest(request.messages, summary.instructions)
  const moments = yield* timelineTask(request.messages)
  const last = moments.findLastIndex((moment) => moment.kind === "human")
  const prompt = moments[last]
  if (prompt?.kind !== "human") return undefined
  const sections = splitDocument(prompt.text)
  const kind = classify(prompt.text, sections)
  if (kind === undefined) return undefined
  const calls = listCalls(moments.slice(last + 1))
  return { kind, prompt: prompt.text, sections, timeline: moments.slice(0, last), calls }
}

/** A summary requested by the server: the last block contains the instructions and is not part of the conversation. */
function* summaryRequest(messages: readonly ReadMessage[], prompt: string): CooperativeTask<OfflineRequest> {
  const last = messages.at(-1)
  const conversation = last ? messages.with(-1, { ...last, content: last.content.slice(0, -1) }) : messages
  return {
    kind: "summary",
    prompt,
    sections: splitDocument(prompt),
    timeline: yield* timelineTask(conversation),
    calls: [],
  }
}

function classify(prompt: string, sections: readonly Section[]): OfflineRequestKind | undefined {
  const words = prompt.replace(/<[^>]*>/g, " ")
  const structured = sections.length >= FEWEST_SECTIONS_DEMAND
  if (SUMMARY_TAG.test(prompt) && SUMMARY_WORD.test(words) && CONVERSATION.test(words)) return "summary"
  const demand = prompt.replace(QUOTED, " ")
  if (MEMORY_WORK.test(demand) && MEMORY_FORM.test(demand)) return "memory"
  if (structured && NOTES.test(words) && NOTES_WORK.test(words)) return "notes"
  if (SUMMARY_WORD.test(words) && CONVERSATION.test(words) && structured) return "summary"
  if (PLAIN_REQUEST.test(words)) return "summary"
  if (prompt.length <= PROGRESS_PROMPT && PROGRESS.test(words) && BRIEFLY.test(words)) return "progress"
  return undefined
}
