/**
 * The identity of a message in a client's list. Clients resend the same message with different bytes: cache breakpoints move, texts
 * become blocks, fields are added, reminders come and go, tool inputs are spelled differently. The key ignores all of that. What is
 * stored and sent is never normalised.
 */

import { hash } from "node:crypto"
import { type Block, isToolResult, isToolUse, resultBlocks, type ToolResult, textOf } from "./blocks.ts"
import type { Message, UserTextInResult } from "./messages.ts"
import type { ModelRequest } from "./request.ts"

/** A message as a client sends it. Its other fields are preserved. */
export interface ClientMessage {
  readonly role: string
  readonly content?: unknown
  readonly output_config?: unknown
}

/** The identity of one message. Short, because every message of a long conversation has one. */
export interface MessageIdentity {
  /** Empty if the message has no content of its own: only reminders, only thinking, or nothing. */
  readonly key: string
  /** Set if the ids in the message are only counters: distinguishes it from messages of other users that have the same ids. */
  readonly exactKey?: string
  /** For each tool result: the id of its call and a digest of its content. */
  readonly results?: readonly (readonly [string, string])[]
  readonly thinks?: true
  /** Digests of the reminders in the message. */
  readonly reminders?: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g
const KEY_LENGTH = 16 // base64url characters, six bits each
const DIGEST_LENGTH = 11

export function identifyMessage({ role, content, output_config }: ClientMessage): MessageIdentity {
  const identifying: string[] = []
  let joinedText = "" // text of an assistant message: clients join its texts, and put them before its calls
  const exact: string[] = []
  const results: (readonly [string, string])[] = []
  const reminders: string[] = []
  let thinks = false
  for (const block of blocksIn(content)) {
    const type = String(block.type)
    if (type === "thinking" || type === "redacted_thinking") thinks = true
    else if (type === "text") {
      const { spoken, reminded } = splitReminders(String(block.text ?? ""))
      if (role === "assistant") joinedText += spoken.replaceAll(/\s+/g, "")
      else if (spoken !== "") identifying.push(spoken)
      reminders.push(...reminded)
    } else if (type === "tool_result") {
      const id = String(block.tool_use_id)
      const digested = contentDigest(block.content)
      identifying.push(`result ${id}`)
      if (!isRandomId(id)) exact.push(digested)
      results.push([id, digested])
    } else if (typeof block.id === "string") {
      identifying.push(`${type} ${block.id}`)
      if (!isRandomId(block.id)) exact.push(canonicalJson(withoutBreakpoint(block)))
    } else identifying.push(`${type} ${JSON.stringify(withoutBreakpoint(block))}`)
  }
  if (joinedText !== "") identifying.unshift(joinedText)
  if (role === "system" && output_config !== undefined) identifying.push(JSON.stringify(output_config))
  const keyOf = (parts: readonly string[]) => digest(`${role}\n${parts.join("\n")}`, KEY_LENGTH)
  return {
    key: identifying.length === 0 ? "" : keyOf(identifying),
    ...(exact.length > 0 ? { exactKey: keyOf([...identifying, ...exact]) } : {}),
    ...(results.length > 0 ? { results } : {}),
    ...(thinks ? { thinks } : {}),
    ...(reminders.length > 0 ? { reminders: reminders.map((text) => digest(text, DIGEST_LENGTH)) } : {}),
  }
}

/** Separates a text from the reminders in it. */
function splitReminders(text: string): { readonly spoken: string; readonly reminded: readonly string[] } {
  if (!text.includes("<system-reminder>")) return { spoken: text.trim(), reminded: [] }
  return { spoken: text.replaceAll(REMINDER, "").trim(), reminded: text.match(REMINDER) ?? [] }
}

/** The reminders of a message, by digest. */
export function remindersIn({ content }: ClientMessage): ReadonlyMap<string, string> {
  const texts = blocksIn(content).flatMap(({ type, text }) =>
    type === "text" ? splitReminders(String(text ?? "")).reminded : [],
  )
  return new Map(texts.map((text) => [digest(text, DIGEST_LENGTH), text]))
}

/** A digest that is the same for a string and for one text block. Reminders that clients append to results are ignored. */
function contentDigest(content: unknown): string {
  const parts = blocksIn(content).map((block) =>
    block.type === "text" ? splitReminders(String(block.text ?? "")).spoken : JSON.stringify(withoutBreakpoint(block)),
  )
  return digest(parts.filter((part) => part !== "").join("\n"), DIGEST_LENGTH)
}

/** Whether a result that differs from the stored one was only cleared: it is empty, or one line in brackets. */
export function looksCleared(content: unknown): boolean {
  const blocks = blocksIn(content)
  if (blocks.some(({ type }) => type !== "text")) return false
  const text = blocks
    .map((block) => String(block.text ?? ""))
    .join("\n")
    .trim()
  return text === "" || (CLEARED.test(text) && !WITHHELD.test(text))
}

const CLEARED = /^[[<(][^\n]{0,300}[\])>]$/
/** A result that a client removed for confidentiality must not be restored from the journal. */
const WITHHELD = /redact|secret|sensitive|confidential|private|censor|mask|credential|password|token|\bkeys?\b|\bpii\b/i

export function blocksIn(content: unknown): readonly Fields[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }]
  return Array.isArray(content) ? content.filter((block) => typeof block === "object" && block !== null) : []
}

function withoutBreakpoint({ cache_control: _, ...block }: Fields): Fields {
  return block
}

const digest = (text: string, length: number): string => hash("sha1", text, "base64url").slice(0, length)

/** Chains keys: the digest of a message's key and of all keys before it in the list. */
export const nextChainKey = (before: string, key: string): string => digest(`${before} ${key}`, KEY_LENGTH)

/** A short name for a text that does not reveal the text. */
export const digestOf = (text: string): string => digest(text, KEY_LENGTH)

/** The JSON of a value with its fields sorted by name. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  const sorted = fields.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(",")}}`
}

const LONG_RUN = /[a-z0-9]{16,}/gi
const MIN_CHANGES = 2 // changes between letters and digits
const MIN_DISTINCT_CHARACTERS = 6 // distinct characters
const MIN_DISTINCTIVE_TEXT = 40 // characters

/**
 * Whether an id is random, so that no other conversation has it by chance. Some servers only count: `call_1`, or `functions.look:0`
 * with the tool's name. Different users then have the same ids for different calls.
 */
function isRandomId(id: string): boolean {
  const runs = id.replaceAll("-", "").match(LONG_RUN) ?? []
  return runs.some((run) => {
    const changes = run.match(/[a-z](?=\d)|\d(?=[a-z])/gi)?.length ?? 0
    return new Set(run).size >= MIN_DISTINCT_CHARACTERS && (changes >= MIN_CHANGES || /^\d+$/.test(run))
  })
}

export const hasRandomCallId = ({ content }: ClientMessage): boolean =>
  blocksIn(content).some(({ type, id }) => type === "tool_use" && isRandomId(String(id)))

export const hasDistinctiveText = ({ content }: ClientMessage): boolean =>
  blocksIn(content).some(
    ({ type, text }) => type === "text" && String(text ?? "").trim().length >= MIN_DISTINCTIVE_TEXT,
  )

/** Whether no other conversation is likely to contain the same message by chance. */
export const isDistinctive = (message: ClientMessage): boolean =>
  hasRandomCallId(message) || hasDistinctiveText(message)

// User text inside tool results: the reason for refusing a call, and answers to questions. Programs wrap both in phrases of their own.
// A tool could print the same phrases, so only results of a program's own tools are read.

const REFUSED =
  /^(?:The user doesn't want to proceed with this tool use\.|Permission for this tool use was denied\.)[^\n]*\bsaid:\n([\s\S]*)$/
/** A hint that the program appends to the user's text. */
const HINT = /\n\nNote: The user's next message may contain a correction or preference\.[\s\S]*$/
const ANSWERED = /^(?:User has answered your questions|Your questions have been answered): ([\s\S]*)$/
const ONE_ANSWER = /"[^"\n]*"="([^"\n]*)"/g
export const QUESTION_TOOL = "AskUserQuestion"
/** MCP tools of servers, which can print anything. */
const SERVER_TOOL = /^mcp__/

/** The user's text in the message that a program stores as the result of a refused call. */
export function findRefusalText(text: string): string | undefined {
  const refusalText = REFUSED.exec(text)?.[1]?.replace(HINT, "")
  return refusalText === undefined || refusalText.trim() === "" ? undefined : refusalText
}

/** The user's answers in the text that a program stores for its questions. */
export const findAnswers = (text: string): readonly string[] =>
  [...(ANSWERED.exec(text)?.[1] ?? "").matchAll(ONE_ANSWER)]
    .map(([, answer]) => answer!)
    .filter((answer) => answer !== "")

/** The tools that a message calls, by call id. */
export const callsIn = (blocks: readonly Block[]): ReadonlyMap<string, string> =>
  new Map(blocks.filter(isToolUse).map(({ id, name }) => [id, name]))

/** `calls`: the tool name of each call id. */
export function findUserTextInResults(
  blocks: readonly Block[],
  calls: ReadonlyMap<string, string>,
): readonly UserTextInResult[] {
  return blocks.filter(isToolResult).flatMap((result): readonly UserTextInResult[] => {
    const tool = calls.get(result.tool_use_id)
    if (tool === undefined || SERVER_TOOL.test(tool)) return []
    const text = textOf(resultBlocks(result))
    if (result.is_error === true) {
      const refusalText = findRefusalText(text)
      return refusalText === undefined ? [] : [{ at: "refusal", text: refusalText }]
    }
    return tool === QUESTION_TOOL ? findAnswers(text).map((answer) => ({ at: "answer", text: answer })) : []
  })
}

/** Whether a tool result of this message contains user text. Such a result is never shortened in a view. */
export function containsUserText(message: Message, result: ToolResult): boolean {
  const userTexts = message.type === "user" ? (message.saidInResults ?? []) : []
  if (userTexts.length === 0) return false
  const text = textOf(resultBlocks(result))
  return userTexts.some((each) => text.includes(each.text))
}

// Fields that an adapter stores on a block: parts of a framework's own message that the Messages API has no field for, such as another
// provider's signature of a call. Journal and views preserve them, so that the adapter can return what the framework sent. The API
// does not know the field, which has its old name on disk.

type ProviderFields = Readonly<Record<string, unknown>>

export const providerFields = (item: object): ProviderFields => (item as { readonly door?: ProviderFields }).door ?? {}

/** Removes provider fields, which the API would reject. Returns the same object if it has no such fields. */
export function withoutProviderFields<T extends Pick<ModelRequest, "messages" | "system">>(request: T): T {
  const messages = mapUnlessSame(request.messages, (message) => {
    const { content } = message
    const blocks =
      typeof content === "string" ? content : mapUnlessSame(content as readonly Block[], withoutInnerProviderFields)
    return blocks === content
      ? withoutOwnProviderFields(message)
      : withoutOwnProviderFields({ ...message, content: blocks } as typeof message)
  })
  const system = Array.isArray(request.system)
    ? mapUnlessSame(request.system, withoutOwnProviderFields)
    : request.system
  return messages === request.messages && system === request.system ? request : { ...request, messages, system }
}

function withoutInnerProviderFields(block: Block): Block {
  const inner =
    isToolResult(block) && Array.isArray(block.content)
      ? mapUnlessSame(block.content as readonly Block[], withoutOwnProviderFields)
      : undefined
  return withoutOwnProviderFields(
    inner && isToolResult(block) && inner !== block.content ? ({ ...block, content: inner } as Block) : block,
  )
}

function withoutOwnProviderFields<T extends object>(item: T): T {
  if (!("door" in item)) return item
  const { door: _, ...rest } = item
  return rest as unknown as T
}

/** Returns the list itself if no item changes. */
function mapUnlessSame<T>(items: readonly T[], change: (item: T) => T): T[] {
  const changed = items.map(change)
  return changed.every((item, at) => item === items[at]) ? (items as T[]) : changed
}
