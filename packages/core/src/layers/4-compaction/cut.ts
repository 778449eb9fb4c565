/**
 * Where a conversation is cut: what is summarised, and what is kept as it was. A cut never parts a tool call from its result, nor the
 * pieces of one response (L4-7); the earlier summary and what was restored behind it are summarised again, never kept.
 */
import { isText, isToolResult } from "../../conversation/blocks.ts"
import { contentOf, type Message, type Uuid } from "../../conversation/messages.ts"
import { safeCuts } from "../../conversation/rounds.ts"
import type { CompactionRange } from "../compaction-order.ts"

export interface Cut {
  readonly kind: "all" | CompactionRange["kind"]
  readonly summarised: readonly Message[]
  readonly kept: readonly Message[]
}

export interface KeepFigures {
  /** Tokens kept at least and at most, and messages with text kept at least. */
  readonly least: number
  readonly most: number
  readonly messages: number
}

export type TokensOf = (message: Message) => number

export interface CutQuestion {
  readonly messages: readonly Message[]
  readonly tokensOf: TokensOf
  readonly figures: KeepFigures
}

/** Everything; what the user said last and nobody has answered stays in his own words. */
export function cutAll({ messages, tokensOf, figures }: CutQuestion): Cut {
  const tail = messages.slice(unansweredFrom(messages))
  const isLarge = tail.reduce((sum, message) => sum + tokensOf(message), 0) > figures.most
  return cutAt(messages, isLarge ? messages.length : messages.length - tail.length, "all")
}

/** Only what comes after a message, or only what comes before it (L4-16); `undefined` where there is no such message. */
export function cutRange(messages: readonly Message[], { kind, uuid }: CompactionRange): Cut | undefined {
  const at = messages.findIndex((message) => message.uuid === uuid)
  if (at < 0) return undefined
  return cutAt(messages, safeBefore(messages, kind === "from" ? at + 1 : at), kind)
}

/**
 * What is kept beside notes that tell everything up to a message (L4-6): from the first message they do not tell, and before it as much
 * as makes a working context. Without a position the rule counts from the end.
 */
export function cutBehindNotes(question: CutQuestion, through: Uuid | undefined): Cut | undefined {
  const { messages, tokensOf, figures } = question
  const told = messages.findIndex(({ uuid }) => uuid === through)
  if (through !== undefined && told < 0) return undefined
  const floor = restoredUntil(messages)
  let start = Math.max(floor, through === undefined ? messages.length : told + 1)
  let tokens = messages.slice(start).reduce((sum, message) => sum + tokensOf(message), 0)
  let texts = messages.slice(start).filter(hasText).length
  while (start > floor && (tokens < figures.least || texts < figures.messages)) {
    const more = tokensOf(messages[start - 1]!)
    if (tokens + more > figures.most) break
    start--
    tokens += more
    if (hasText(messages[start]!)) texts++
  }
  return cutAt(messages, Math.max(floor, safeBefore(messages, start)), "all")
}

/** A summary that was prepared earlier covers everything up to a message; all that came since is kept. */
export function cutBehind(messages: readonly Message[], through: Uuid): Cut | undefined {
  const told = messages.findIndex(({ uuid }) => uuid === through)
  if (told < 0) return undefined
  return safeCuts(messages)[told + 1] ? cutAt(messages, told + 1, "all") : undefined
}

const cutAt = (messages: readonly Message[], at: number, kind: Cut["kind"]): Cut => {
  const [before, after] = [messages.slice(0, at), messages.slice(at)]
  return kind === "from" ? { kind, summarised: after, kept: before } : { kind, summarised: before, kept: after }
}

function safeBefore(messages: readonly Message[], at: number): number {
  const safe = safeCuts(messages)
  let place = at
  while (!safe[place]) place--
  return place
}

/** Behind the newest response and its results. */
function unansweredFrom(messages: readonly Message[]): number {
  return (
    messages.findLastIndex(
      (message) => message.type === "assistant" || (message.type === "user" && contentOf(message).some(isToolResult)),
    ) + 1
  )
}

/** Behind the earlier summary and what was restored with it. */
function restoredUntil(messages: readonly Message[]): number {
  const summary = messages.findIndex((message) => message.type === "user" && message.isCompactSummary)
  if (summary < 0) return 0
  let at = summary + 1
  while (messages[at]?.type === "attachment") at++
  return at
}

function hasText(message: Message): boolean {
  return (
    (message.type === "user" || message.type === "assistant") &&
    contentOf(message).some((block) => isText(block) && block.text.trim() !== "")
  )
}
