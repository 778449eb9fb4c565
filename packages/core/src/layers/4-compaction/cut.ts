/**
 * Step 2, cut. Divides a conversation into the part to summarize and the part to preserve verbatim. A cut never separates a tool call from
 * its result, even a result that is still to come, nor the parts of one response. An earlier summary and the content restored with it are
 * never preserved after another one. `choose.ts` obtains the summary.
 */

import { formatNumber } from "../../base/text.ts"
import type { DecisionOf } from "../../journal/entries.ts"
import { isText, isToolResult, resultBlocks, type ToolResult } from "../../messages/blocks.ts"
import { containsUserText } from "../../messages/message-identity.ts"
import { contentOf, isSummary, type Message, type Uuid } from "../../messages/messages.ts"
import { safeCuts } from "../../messages/rounds.ts"
import { previewText, renderShortened } from "../../views/context/render-decisions.ts"
import { blocksOf, mapBlocks } from "../../views/context/rendered-messages.ts"
import type { Views } from "../../views/views.ts"
import { type CompactionRange, lastTurn, positionOf } from "../layer.ts"

// Cuts long texts: to their beginning, or by removing the middle. Cuts at a line end if possible, and never inside a character.

export type Estimate = (text: string) => number

interface TextToCut {
  readonly text: string
  /** Maximum number of tokens. */
  readonly limit: number
  readonly estimate: Estimate
}

// No tokenizer averages more characters per token, so a longer text need not be measured. A short text is measured in any case.
const MAX_CHARACTERS_PER_TOKEN = 16
const SHORT = 10_000 // characters

/** Maximum number of characters that can fit into a limit in tokens. */
export const charactersWithin = (tokens: number): number =>
  Math.max(SHORT, Math.ceil(tokens) * MAX_CHARACTERS_PER_TOKEN)

function fits({ text, limit, estimate }: TextToCut): boolean {
  return text.length <= charactersWithin(limit) && estimate(text) <= limit
}

/** The text itself if it fits, else its beginning. */
export function cutText({ text, limit, estimate }: TextToCut): string {
  if (fits({ text, limit, estimate })) return text
  const max = Math.min(text.length, charactersWithin(limit))
  const length = largest(max, (characters) => estimate(text.slice(0, characters)) <= limit)
  const lineEnd = text.lastIndexOf("\n", length)
  if (lineEnd > 0) return text.slice(0, lineEnd)
  return text.slice(0, splitsPair(text, length) ? length - 1 : length)
}

/** The largest number up to `max` for which the predicate holds, or 0. It must hold for all smaller numbers too. */
export function largest(max: number, holds: (count: number) => boolean): number {
  let [low, high] = [0, max]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (holds(middle)) low = middle
    else high = middle - 1
  }
  return low
}

function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  return before >= 0xd800 && before <= 0xdbff
}

const HEAD_SHARE = 2 / 3 // of what stays; the end gets its share too, since errors and totals are there
const NEAR = 1 / 4 // a line end within this part of a piece is near enough to cut there
const MIN = 100 // characters; below that a cut would leave little more than the line that reports it

/**
 * Removes the middle of a long text. The beginning says what it is, the end how it ended, and a line between them says how much is missing.
 * The result never exceeds the limit.
 */
export function cutMiddle(text: string, limit: number): string {
  const size = Math.max(MIN, Math.floor(limit))
  if (text.length <= size) return text
  const { head, tail } = aroundMiddle(text, size - gapLine(text.length).length)
  return `${text.slice(0, head)}${gapLine(text.length - head - tail)}${text.slice(text.length - tail)}`
}

/** Number of characters that stay at either end of a text that exceeds the room. */
export function aroundMiddle(text: string, room: number): { readonly head: number; readonly tail: number } {
  const forHead = Math.floor(room * HEAD_SHARE)
  return { head: beginningOf(text, forHead).length, tail: endOf(text, room - forHead).length }
}

const gapLine = (missing: number) => `\n[… ${formatNumber(missing)} characters left out here …]\n`

function beginningOf(text: string, size: number): string {
  const lineEnd = text.lastIndexOf("\n", size)
  if (lineEnd >= size * (1 - NEAR)) return text.slice(0, lineEnd)
  return text.slice(0, splitsCharacter(text, size) ? size - 1 : size)
}

function endOf(text: string, size: number): string {
  const start = text.length - size
  const lineStart = text.indexOf("\n", start - 1) + 1
  if (lineStart > 0 && lineStart <= start + size * NEAR) return text.slice(lineStart)
  return text.slice(splitsCharacter(text, start) ? start + 1 : start)
}

/** Whether a cut at this position would split a character. */
function splitsCharacter(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  return before >= 0xd800 && before <= 0xdbff
}

export interface Cut {
  readonly kind: "all" | CompactionRange["kind"]
  readonly summarised: readonly Message[]
  readonly preserved: readonly Message[]
  /** Preserved messages that come before the summary. */
  readonly head?: readonly Message[]
  /** Whether long results in preserved messages are shortened, because the summary covers those messages too. */
  readonly shortens?: boolean
}

/** The preserved messages that follow the summary. */
export const tailOf = ({ preserved, head = [] }: Pick<Cut, "preserved" | "head">): readonly Message[] =>
  preserved.slice(head.length)

export interface TailLimits {
  /** Minimum and maximum tokens to preserve, and minimum number of messages with text. */
  readonly min: number
  readonly max: number
  readonly messages: number
}

export type TokensOf = (message: Message) => number

export interface CutInput {
  readonly messages: readonly Message[]
  readonly tokensOf: TokensOf
  readonly limits: TailLimits
  readonly newest?: NewestLimits
}

/** Limits of the newest exchanges, which stay verbatim although the summary covers them. */
interface NewestLimits {
  /** Maximum tokens of all of them. */
  readonly budget: number
  /** Sizes with long results shortened. */
  readonly tokensOf: TokensOf
}

/**
 * Summarizes everything but the newest exchanges. The user's last message stays unchanged while it has no answer, and so do calls whose
 * results are missing or unread.
 */
export function cutAll(input: CutInput): Cut {
  const { messages, tokensOf, limits, newest } = input
  const open = safeBefore(messages, openFrom(messages))
  const unread = unreadFrom(input)
  const unanswered = unansweredFrom(messages)
  const start = Math.min(unanswered, open)
  const isLarge = messages.slice(start).reduce((sum, message) => sum + tokensOf(message), 0) > limits.max
  // a call of any size stays while its result may still come: nothing has been written since
  const isWaiting = unanswered === messages.length
  const latest = isLarge && !isWaiting ? messages.length : start
  const newestAt = newest && latest === start ? newestFrom(messages, { ...newest, start }) : latest
  const from = Math.min(unread, newestAt)
  return { ...cutAt(messages, from, "all"), shortens: from < messages.length }
}

/** Index of the first of the newest messages before `start` that fit the budget together. At least one answer remains to be summarized. */
function newestFrom(
  messages: readonly Message[],
  { budget, tokensOf, start }: NewestLimits & { readonly start: number },
): number {
  const safe = safeCuts(messages)
  const restored = restoredIn(messages)
  const earlier = messages.findLastIndex(isSummary) + 1
  const floor = messages.findIndex(({ type }, at) => at >= earlier && type === "assistant") + 1 || start
  let from = start
  let tokens = 0
  for (let at = start - 1; at >= floor; at--) {
    const message = messages[at]!
    if (!restored.has(message)) tokens += tokensOf(message)
    if (tokens > budget) break
    if (safe[at]) from = at
  }
  return from
}

/** Cuts after a message, or before it; `undefined` if the message does not exist. */
export function cutRange(messages: readonly Message[], { kind, uuid }: CompactionRange): Cut | undefined {
  const at = messages.findIndex((message) => message.uuid === uuid)
  if (at < 0) return undefined
  return cutAt(messages, safeBefore(messages, kind === "from" ? at + 1 : Math.min(at, openFrom(messages))), kind)
}

/**
 * The cut if notes cover everything up to a message: preserves everything after it, and before it as much as makes a working context.
 * Without a position it counts from the end.
 */
export function cutAfterNotes(input: CutInput, through: Uuid | undefined): Cut | undefined {
  const { messages, tokensOf, limits } = input
  const covered = messages.findIndex(({ uuid }) => uuid === through)
  if (through !== undefined && covered < 0) return undefined
  const floor = restoredUntil(messages)
  const unread = Math.max(floor, unreadFrom(input))
  let start = Math.max(floor, Math.min(through === undefined ? messages.length : covered + 1, openFrom(messages)))
  let tokens = messages.slice(start).reduce((sum, message) => sum + tokensOf(message), 0)
  let texts = messages.slice(start).filter(hasText).length
  while (start > floor && (tokens < limits.min || texts < limits.messages)) {
    const more = tokensOf(messages[start - 1]!)
    if (tokens + more > limits.max) break
    start--
    tokens += more
    if (hasText(messages[start]!)) texts++
  }
  const from = Math.max(floor, safeBefore(messages, start))
  return from <= unread ? cutAt(messages, from, "all") : { ...cutAt(messages, unread, "all"), shortens: true }
}

/**
 * Like `cutAfterNotes`, but preserves as little as after a summary: everything after the message and the newest exchanges that the notes
 * cover. Long results are shortened, even newer ones: the cache is written again anyway, and the model has read them.
 */
export function cutAfter({ messages, tokensOf, newest }: CutInput, through: Uuid): Cut | undefined {
  const start = messages.findIndex(({ uuid }) => uuid === through) + 1
  if (start === 0 || !safeCuts(messages)[start]) return undefined
  const from = newest ? newestFrom(messages, { budget: newest.budget, tokensOf, start }) : start
  const cut = cutAt(messages, from, "all")
  return { ...(holdsAnswer(cut) ? cut : cutAt(messages, start, "all")), shortens: true }
}

/**
 * Messages that a client with its own list sends once and that stay verbatim: its first messages and its system messages. Of system
 * messages that differ only in numbers, only the last one stays.
 */
function clientHead(messages: readonly Message[]): readonly Message[] {
  const start = messages.findIndex((message) => !isFromClient(message))
  const opening = messages.slice(0, start < 0 ? messages.length : start)
  const later = new Map(
    messages.slice(opening.length).flatMap((message) => {
      const text = systemTextOf(message)
      return text === undefined ? [] : [[text.replaceAll(/\d+/g, "0"), message] as const]
    }),
  )
  return [...opening, ...later.values()]
}

const isFromClient = (message: Message): boolean =>
  (message.type === "user" && message.asSent === true) || systemTextOf(message) !== undefined

function systemTextOf(message: Message): string | undefined {
  if (message.type !== "attachment" || message.attachment.type !== "system_message") return undefined
  return JSON.stringify(message.attachment.message)
}

/** Whether the preserved messages are the last ones without a gap. Only then does thinking in them stay valid after a signed summary. */
export function isEndOf({ preserved }: Pick<Cut, "preserved">, { messages }: Pick<CutInput, "messages">): boolean {
  const start = messages.length - preserved.length
  return preserved.every(({ uuid }, at) => messages[start + at]?.uuid === uuid)
}

const cutAt = (messages: readonly Message[], at: number, kind: Cut["kind"]): Cut => {
  const [before, after] = [messages.slice(0, at), messages.slice(at)]
  if (kind === "from") return { kind, summarised: after, preserved: before }
  const restored = restoredIn(messages)
  const head = clientHead(before)
  const isHead = new Set(head)
  return {
    kind,
    summarised: [...before.filter((message) => !isHead.has(message)), ...after.filter((each) => restored.has(each))],
    preserved: [...head, ...after.filter((message) => !restored.has(message))],
    ...(head.length > 0 ? { head } : {}),
  }
}

function safeBefore(messages: readonly Message[], at: number): number {
  const safe = safeCuts(messages)
  let position = at
  while (!safe[position]) position--
  return position
}

/** Index after the newest response and its results. */
function unansweredFrom(messages: readonly Message[]): number {
  return (
    messages.findLastIndex(
      (message) => message.type === "assistant" || (message.type === "user" && contentOf(message).some(isToolResult)),
    ) + 1
  )
}

/**
 * Index of the newest response if no response has followed its results, because the model has not read them. Otherwise the end, also if the
 * results are too large even when shortened, or nothing else could be summarized.
 */
function unreadFrom({ messages, tokensOf, limits, newest }: CutInput): number {
  const { start } = lastTurn(messages)
  const isUnread = messages
    .slice(start)
    .some((message) => message.type === "user" && contentOf(message).some(isToolResult))
  const from = isUnread ? safeBefore(messages, start) : messages.length
  const size = messages.slice(from).reduce((sum, message) => sum + (newest?.tokensOf ?? tokensOf)(message), 0)
  return size <= limits.max && holdsAnswer(cutAt(messages, from, "all")) ? from : messages.length
}

const holdsAnswer = ({ summarised }: Cut): boolean => summarised.some(({ type }) => type === "assistant")

/** Index of the newest response if it has calls without a result, else the end. */
export function openFrom(messages: readonly Message[]): number {
  const { openCalls, throughUuid } = positionOf(messages)
  return openCalls.length === 0 ? messages.length : messages.findIndex(({ uuid }) => uuid === throughUuid) + 1
}

/** Index after the earlier summary and the content restored directly after it. */
function restoredUntil(messages: readonly Message[]): number {
  const summary = messages.findLastIndex(isSummary)
  if (summary < 0) return 0
  let at = summary + 1
  while (messages[at]?.type === "attachment") at++
  return at
}

/** Earlier summaries, and the attachments that followed each in the journal. Preserved messages may be between them. */
function restoredIn(messages: readonly Message[]): ReadonlySet<Message> {
  const restored = new Set<Message>()
  let last: Uuid | undefined
  for (const message of messages) {
    const isRestored = message.type === "attachment" && last !== undefined && message.parentUuid === last
    if (!isSummary(message) && !isRestored) continue
    restored.add(message)
    last = message.uuid
  }
  return restored
}

function hasText(message: Message): boolean {
  return (
    (message.type === "user" || message.type === "assistant") &&
    contentOf(message).some((block) => isText(block) && block.text.trim() !== "")
  )
}

export type ResultShortening = DecisionOf<"tool-results-shortened">["results"][number]

interface ShortenInput {
  readonly context: Views["context"]
  /** Number of characters of a long result that stay. */
  readonly limit: number
}

const WORTH_IT = 1.5 // times the limit: a result that is hardly longer stays complete
const UNREAD = 4 // times the limit for results that no response has followed yet: the model has not read them

/**
 * Shortens long tool results in preserved messages to their beginning and end, with a handle between them. The decision stores lengths, so
 * the same bytes are sent every time. Offloaded and cleared results are short already; results with images stay complete.
 */
export function shortenResults(
  messages: readonly Message[],
  { context, limit }: ShortenInput,
): readonly ResultShortening[] {
  const unread = new Set(context.sinceResponse().map(({ uuid }) => uuid))
  return messages.flatMap((message) => {
    if (message.type !== "user") return []
    const max = unread.has(message.uuid) ? limit * UNREAD : limit
    return contentOf(message).flatMap((block, at) => {
      if (!isToolResult(block) || !context.isWhole(block.tool_use_id) || containsUserText(message, block)) return []
      // of several results for one call only the first is shown by decisions
      const isShown = context.resultAddress(block.tool_use_id) === `${message.uuid}.${at}`
      return isShown ? (shortenResult(block, max) ?? []) : []
    })
  })
}

/** Returns `undefined` for a result that is hardly longer than the limit, or contains images. */
export function shortenResult(result: ToolResult, limit: number): ResultShortening | undefined {
  if (!resultBlocks(result).every(isText)) return undefined
  const text = previewText(result)
  if (text.length <= limit * WORTH_IT) return undefined
  return { toolUseId: result.tool_use_id, ...aroundMiddle(text, limit) }
}

/** The messages as they will be sent. */
export function applyShortening(
  messages: readonly Message[],
  shortened: readonly ResultShortening[],
): readonly Message[] {
  const waiting = new Map(shortened.map((each) => [each.toolUseId, each]))
  if (waiting.size === 0) return messages
  return messages.map((message) =>
    mapBlocks(message, (block) => {
      const lengths = isToolResult(block) ? waiting.get(block.tool_use_id) : undefined
      if (!lengths || !isToolResult(block)) return block
      waiting.delete(block.tool_use_id) // the first result of a call
      return renderShortened(block, lengths, `${message.uuid}.${blocksOf(message).indexOf(block)}`)
    }),
  )
}
