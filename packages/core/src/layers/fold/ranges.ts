/**
 * Ranges that may be folded or snipped. A range never separates a tool call from its result or the parts of a response, and never includes
 * the newest request, the current round or an earlier summary. A hidden range is included completely or not at all.
 */
import { handleOf } from "../../messages/media.ts"
import { isRequest, type Message, type Uuid } from "../../messages/messages.ts"
import { safeCuts } from "../../messages/rounds.ts"
import type { ContextView } from "../../views/context/context.ts"
import type { HiddenMessages } from "../../views/context/rendered-messages.ts"
import { lastTurn } from "../layer.ts"

/** The messages of the view from which ranges can be chosen, including hidden ones. */
export interface FoldableMessages {
  readonly messages: readonly Message[]
  /** By index: whether a range may begin or end before the message. */
  readonly cuts: readonly boolean[]
  /** Ranges are between these two indexes. */
  readonly floor: number
  readonly end: number
  /** Index of the newest request, which always stays. */
  readonly request: number
  readonly hidden: readonly HiddenMessages[]
}

export interface MessageSpan {
  readonly start: number
  /** Index after the last message. */
  readonly end: number
}

export function foldableMessages(context: ContextView): FoldableMessages {
  const messages = context.rawMessages
  const hidden = context.hiddenRanges
  const cuts = [...safeCuts(messages)]
  for (const { start, end } of hidden.map((range) => spanOf(range, messages)))
    for (let at = start + 1; at < end; at++) cuts[at] = false
  const request = messages.findLastIndex(isRequest)
  const turn = lastTurn(messages).start
  return {
    messages,
    cuts,
    floor: messages.findLastIndex((message) => message.type === "user" && message.isCompactSummary === true) + 1,
    end: request > turn ? request : Math.min(turn, messages.length),
    request,
    hidden,
  }
}

const spanOf = ({ messages: hidden }: HiddenMessages, messages: readonly Message[]): MessageSpan => ({
  start: messages.findIndex(({ uuid }) => uuid === hidden[0]!.uuid),
  end: messages.findIndex(({ uuid }) => uuid === hidden.at(-1)!.uuid) + 1,
})

/** Whether a name is this message's uuid or handle. */
export const isNamed = (uuid: Uuid, name: string): boolean => uuid === name || handleOf(uuid) === name

/** Index of the message with this uuid or handle, or -1. The line of a hidden range counts as its first message. */
export function indexOfNamed(
  name: string,
  { messages, hidden }: Pick<FoldableMessages, "messages" | "hidden">,
): number {
  const line = hidden.find(({ decision }) => isNamed(decision.uuid, name))
  if (line) return messages.indexOf(line.messages[0]!)
  return messages.findIndex(({ uuid }) => isNamed(uuid, name))
}

/** The safe range around two indexes, reduced to what may be hidden; `undefined` if nothing is left. */
export function spanAround(ground: FoldableMessages, first: number, last: number): MessageSpan | undefined {
  const { cuts, floor, end: max, request } = ground
  let start = Math.min(first, last)
  let end = Math.max(first, last) + 1
  while (!cuts[start]) start--
  while (!cuts[end]) end++
  if (start <= request && request < end) [start, end] = start < request ? [start, request] : [request + 1, end]
  start = Math.max(start, floor)
  end = Math.min(end, max)
  while (start < end && !cuts[start]) start++
  while (end > start && !cuts[end]) end--
  return start < end ? { start, end } : undefined
}

/**
 * The exchanges that can be folded individually, oldest first: a request and everything up to its answer. The newest `keep` exchanges and
 * everything hidden stay.
 */
export function foldableExchanges(ground: FoldableMessages, keep: number): readonly MessageSpan[] {
  const { messages, cuts, floor, end, hidden } = ground
  const starts: number[] = []
  let isAnswered = true
  for (let at = floor; at < Math.max(end, ground.request + 1); at++) {
    const message = messages[at]!
    if (message.type === "assistant") isAnswered = true
    if (!isRequest(message) || !isAnswered || !cuts[at]) continue
    starts.push(at)
    isAnswered = false
  }
  const spans = starts.slice(0, -1).map((start, i): MessageSpan => ({ start, end: starts[i + 1]! }))
  const covered = new Set(hidden.flatMap((range) => range.messages.map(({ uuid }) => uuid)))
  const old = keep <= 1 ? spans : spans.slice(0, Math.max(0, spans.length - (keep - 1)))
  return old.filter(
    (span) => span.end <= end && messages.slice(span.start, span.end).every(({ uuid }) => !covered.has(uuid)),
  )
}
