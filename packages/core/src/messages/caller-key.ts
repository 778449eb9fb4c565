/**
 * By what a message of a caller's list is known again. Callers send the same message with other bytes each time: marks move, texts become
 * blocks, fields are added, reminders come and go, tool inputs are spelled in another way. The key leaves all of that out. What is stored and sent
 * is never normalised.
 */
import { hash } from "node:crypto"

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
  const results: (readonly [string, string])[] = []
  const reminders: string[] = []
  let thinks = false
  for (const block of blocksIn(content)) {
    const type = String(block.type)
    if (type === "thinking" || type === "redacted_thinking") thinks = true
    else if (type === "text") {
      const { spoken, reminded } = split(String(block.text ?? ""))
      if (spoken !== "") said.push(spoken)
      reminders.push(...reminded)
    } else if (type === "tool_result") {
      said.push(`result ${String(block.tool_use_id)}`)
      results.push([String(block.tool_use_id), contentDigest(block.content)])
    } else if (typeof block.id === "string") said.push(`${type} ${block.id}`)
    else said.push(`${type} ${JSON.stringify(withoutMark(block))}`)
  }
  if (role === "system" && output_config !== undefined) said.push(JSON.stringify(output_config))
  return {
    key: said.length === 0 ? "" : digest(`${role}\n${said.join("\n")}`, KEY_LENGTH),
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

/** Whether a result that differs from what we have is what is left after the caller cleared or cut it, and not another text. */
export function looksCleared(content: unknown): boolean {
  const blocks = blocksIn(content)
  const text = blocks
    .map((block) => (block.type === "text" ? String(block.text ?? "") : ""))
    .join("\n")
    .trim()
  if (blocks.some(({ type }) => type !== "text")) return false
  return text === "" || CLEARED.test(text)
}

/** One line in brackets, or a text with such a line in it or at its end: what callers put in the place of what they took away. */
const CLEARED =
  /^[[<(][^\n]{0,300}[\])>]$|[[<(][^\n]{0,200}\b(?:cleared|truncated|omitted|removed|elided|pruned|compacted|trimmed)\b[^\n]{0,200}[\])>]/i

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

/** Characters of an id that no other conversation has by chance. Some servers only count: `call_1`. */
const TELLING_ID = /[a-z0-9]{16}/i
const TELLING_TEXT = 40 // characters

export const hasTellingCall = ({ content }: CallerMessage): boolean =>
  blocksIn(content).some(({ type, id }) => type === "tool_use" && TELLING_ID.test(String(id).replaceAll("-", "")))

/** Whether no other conversation has the same message by chance. */
export const isTelling = (message: CallerMessage): boolean =>
  hasTellingCall(message) ||
  blocksIn(message.content).some(
    ({ type, text }) => type === "text" && String(text ?? "").trim().length >= TELLING_TEXT,
  )
