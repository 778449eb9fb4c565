/**
 * By what a message of a caller's list is known again. Callers send the same message with other bytes each time: marks move, texts become
 * blocks, fields are added, reminders come and go, tool inputs are spelled in another way. The key leaves all of that out. What is stored
 * and sent is never normalised.
 */

import { hash } from "node:crypto"
import { type Block, isToolResult, isToolUse, resultBlocks, type ToolResult, textOf } from "./blocks.ts"
import type { Message, UserTextInResult } from "./messages.ts"
import type { ModelRequest } from "./request.ts"

/** A message as a caller sends it. What else it puts there is kept. */
export interface CallerMessage {
  readonly role: string
  readonly content?: unknown
  readonly output_config?: unknown
}

/** What is known of one message: short, because every message of a long conversation has one. */
export interface MessageTrace {
  /** Empty where the message says nothing of its own: only reminders, only thinking, nothing. */
  readonly key: string
  /** Where its ids only count: what tells it apart from the messages of other people, which have the same ids. */
  readonly exactKey?: string
  /** Of each tool result: its call and a digest of its content. */
  readonly results?: readonly (readonly [string, string])[]
  readonly thinks?: true
  /** Digests of its reminders. */
  readonly reminders?: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g
const KEY_LENGTH = 16 // characters of six bits
const DIGEST_LENGTH = 11

export function traceOf({ role, content, output_config }: CallerMessage): MessageTrace {
  const said: string[] = []
  let words = "" // of an answer: callers join its texts, and put them before its calls
  const exact: string[] = []
  const results: (readonly [string, string])[] = []
  const reminders: string[] = []
  let thinks = false
  for (const block of blocksIn(content)) {
    const type = String(block.type)
    if (type === "thinking" || type === "redacted_thinking") thinks = true
    else if (type === "text") {
      const { spoken, reminded } = split(String(block.text ?? ""))
      if (role === "assistant") words += spoken.replaceAll(/\s+/g, "")
      else if (spoken !== "") said.push(spoken)
      reminders.push(...reminded)
    } else if (type === "tool_result") {
      const id = String(block.tool_use_id)
      const digested = contentDigest(block.content)
      said.push(`result ${id}`)
      if (!isTellingId(id)) exact.push(digested)
      results.push([id, digested])
    } else if (typeof block.id === "string") {
      said.push(`${type} ${block.id}`)
      if (!isTellingId(block.id)) exact.push(jsonInOrder(withoutMark(block)))
    } else said.push(`${type} ${JSON.stringify(withoutMark(block))}`)
  }
  if (words !== "") said.unshift(words)
  if (role === "system" && output_config !== undefined) said.push(JSON.stringify(output_config))
  const keyOf = (parts: readonly string[]) => digest(`${role}\n${parts.join("\n")}`, KEY_LENGTH)
  return {
    key: said.length === 0 ? "" : keyOf(said),
    ...(exact.length > 0 ? { exactKey: keyOf([...said, ...exact]) } : {}),
    ...(results.length > 0 ? { results } : {}),
    ...(thinks ? { thinks } : {}),
    ...(reminders.length > 0 ? { reminders: reminders.map((text) => digest(text, DIGEST_LENGTH)) } : {}),
  }
}

/** A text without the reminders in it, and those. */
function split(text: string): { readonly spoken: string; readonly reminded: readonly string[] } {
  if (!text.includes("<system-reminder>")) return { spoken: text.trim(), reminded: [] }
  return { spoken: text.replaceAll(REMINDER, "").trim(), reminded: text.match(REMINDER) ?? [] }
}

/** The reminders of a message by their digests. */
export function remindersIn({ content }: CallerMessage): ReadonlyMap<string, string> {
  const texts = blocksIn(content).flatMap(({ type, text }) =>
    type === "text" ? split(String(text ?? "")).reminded : [],
  )
  return new Map(texts.map((text) => [digest(text, DIGEST_LENGTH), text]))
}

/** The same for a text and for one block with it; reminders that clients append to results do not count. */
function contentDigest(content: unknown): string {
  const parts = blocksIn(content).map((block) =>
    block.type === "text" ? split(String(block.text ?? "")).spoken : JSON.stringify(withoutMark(block)),
  )
  return digest(parts.filter((part) => part !== "").join("\n"), DIGEST_LENGTH)
}

/** Whether a result that differs from what we have was only cleared: nothing, or one line in brackets, is left of it. */
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
/** What a caller takes out because no one is to see it must not come back from our journal. */
const WITHHELD = /redact|secret|sensitive|confidential|private|censor|mask|credential|password|token|\bkeys?\b|\bpii\b/i

export function blocksIn(content: unknown): readonly Fields[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }]
  return Array.isArray(content) ? content.filter((block) => typeof block === "object" && block !== null) : []
}

function withoutMark({ cache_control: _, ...block }: Fields): Fields {
  return block
}

const digest = (text: string, length: number): string => hash("sha1", text, "base64url").slice(0, length)

/** Where a list has come to: the key of each message with those before it. */
export const nextLink = (before: string, key: string): string => digest(`${before} ${key}`, KEY_LENGTH)

/** A short name for a text, which does not show the text. */
export const digestOf = (text: string): string => digest(text, KEY_LENGTH)

/** The JSON of a value, whatever the order of its fields. */
export function jsonInOrder(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonInOrder).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  const sorted = fields.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([name, field]) => `${JSON.stringify(name)}:${jsonInOrder(field)}`).join(",")}}`
}

const LONG_RUN = /[a-z0-9]{16,}/gi
const TELLING_CHANGES = 2 // between letters and digits
const TELLING_CHARACTERS = 6 // that differ
const TELLING_TEXT = 40 // characters

/**
 * Whether no other conversation has the same id by chance: it is random. Some servers only count: `call_1`, or `functions.look:0` with the
 * name of the tool. Two people then have the same ids for different calls.
 */
function isTellingId(id: string): boolean {
  const runs = id.replaceAll("-", "").match(LONG_RUN) ?? []
  return runs.some((run) => {
    const changes = run.match(/[a-z](?=\d)|\d(?=[a-z])/gi)?.length ?? 0
    return new Set(run).size >= TELLING_CHARACTERS && (changes >= TELLING_CHANGES || /^\d+$/.test(run))
  })
}

export const hasTellingCall = ({ content }: CallerMessage): boolean =>
  blocksIn(content).some(({ type, id }) => type === "tool_use" && isTellingId(String(id)))

export const hasTellingText = ({ content }: CallerMessage): boolean =>
  blocksIn(content).some(({ type, text }) => type === "text" && String(text ?? "").trim().length >= TELLING_TEXT)

/** Whether no other conversation has the same message by chance. */
export const isTelling = (message: CallerMessage): boolean => hasTellingCall(message) || hasTellingText(message)

// What the person said inside tool results: with the refusal of a call, and as answers to questions. Programs frame both in their own
// words. A tool could print the same frame, so only results of a program's own tools count.

const REFUSED =
  /^(?:The user doesn't want to proceed with this tool use\.|Permission for this tool use was denied\.)[^\n]*\bsaid:\n([\s\S]*)$/
/** The program adds a hint of its own after the person's words. */
const HINT = /\n\nNote: The user's next message may contain a correction or preference\.[\s\S]*$/
const ANSWERED = /^(?:User has answered your questions|Your questions have been answered): ([\s\S]*)$/
const ONE_ANSWER = /"[^"\n]*"="([^"\n]*)"/g
export const ASKING_TOOL = "AskUserQuestion"
/** Tools of servers, which can print anything. */
const SERVER_TOOL = /^mcp__/

/** What a program says in the place of a refused call's result: the person's own words in it. */
export function refusalIn(text: string): string | undefined {
  const said = REFUSED.exec(text)?.[1]?.replace(HINT, "")
  return said === undefined || said.trim() === "" ? undefined : said
}

/** The answers in the text that a program gives for its questions. */
export const answersIn = (text: string): readonly string[] =>
  [...(ANSWERED.exec(text)?.[1] ?? "").matchAll(ONE_ANSWER)].map(([, answer]) => answer!).filter((said) => said !== "")

/** The tools that a message calls, by the id of the call. */
export const callsIn = (blocks: readonly Block[]): ReadonlyMap<string, string> =>
  new Map(blocks.filter(isToolUse).map(({ id, name }) => [id, name]))

/** `calls`: the tool of each call. */
export function saidInResults(
  blocks: readonly Block[],
  calls: ReadonlyMap<string, string>,
): readonly UserTextInResult[] {
  return blocks.filter(isToolResult).flatMap((result): readonly UserTextInResult[] => {
    const tool = calls.get(result.tool_use_id)
    if (tool === undefined || SERVER_TOOL.test(tool)) return []
    const text = textOf(resultBlocks(result))
    if (result.is_error === true) {
      const said = refusalIn(text)
      return said === undefined ? [] : [{ at: "refusal", text: said }]
    }
    return tool === ASKING_TOOL ? answersIn(text).map((said) => ({ at: "answer", text: said })) : []
  })
}

/** Whether a result of this message holds words of the person. Such a result stays in view as it is. */
export function holdsUsersWords(message: Message, result: ToolResult): boolean {
  const said = message.type === "user" ? (message.saidInResults ?? []) : []
  if (said.length === 0) return false
  const text = textOf(resultBlocks(result))
  return said.some((each) => text.includes(each.text))
}

// What a door keeps on a block: fields of a framework's own message that the Messages API has no place for, such as another provider's
// signature of a call. Blocks keep it in the journal and in every view, so that the door can give back what the framework sent. The API
// does not know the field.

type FieldsOfDoor = Readonly<Record<string, unknown>>

export const doorOf = (item: object): FieldsOfDoor => (item as { readonly door?: FieldsOfDoor }).door ?? {}

/** A request that the API takes. The same object where no door has kept anything. */
export function withoutDoors<T extends Pick<ModelRequest, "messages" | "system">>(request: T): T {
  const messages = mapped(request.messages, (message) => {
    const { content } = message
    const blocks = typeof content === "string" ? content : mapped(content as readonly Block[], bare)
    return blocks === content ? outside(message) : outside({ ...message, content: blocks } as typeof message)
  })
  const system = Array.isArray(request.system) ? mapped(request.system, outside) : request.system
  return messages === request.messages && system === request.system ? request : { ...request, messages, system }
}

function bare(block: Block): Block {
  const inner =
    isToolResult(block) && Array.isArray(block.content) ? mapped(block.content as readonly Block[], outside) : undefined
  return outside(
    inner && isToolResult(block) && inner !== block.content ? ({ ...block, content: inner } as Block) : block,
  )
}

function outside<T extends object>(item: T): T {
  if (!("door" in item)) return item
  const { door: _, ...rest } = item
  return rest as unknown as T
}

/** The list itself where nothing changes. */
function mapped<T>(items: readonly T[], change: (item: T) => T): T[] {
  const changed = items.map(change)
  return changed.every((item, at) => item === items[at]) ? (items as T[]) : changed
}
