/**
 * Plans to fold, snip or open ranges, as values: the ranges, the size before and after, and what the server must write to its cache again.
 * `rangeDecisions` turns a plan into drafts; nothing has changed until they are in the journal.
 */
import { formatNumber } from "../../base/text.ts"
import type { DecisionDraft, DecisionEffect } from "../../journal/entries.ts"
import { isThinking } from "../../messages/blocks.ts"
import { handleOf } from "../../messages/media.ts"
import { isRequest, type Message, sentBlocks, type Uuid } from "../../messages/messages.ts"
import { isHiddenWithRange } from "../../views/context/rendered-messages.ts"
import { cacheLifetime, cachePrices, cacheState, compactsItself } from "../2-microcompact/clearable-content.ts"
import type { LayerContext } from "../layer.ts"
import { countMessages, foldedLine, openingText, toolCallsIn } from "./line.ts"
import {
  type FoldableMessages,
  foldableExchanges,
  foldableMessages,
  indexOfNamed,
  isNamed,
  type MessageSpan,
  spanAround,
} from "./ranges.ts"

/** Whether to fold a range, hide it, or send it again. */
export type RangeAction = "fold" | "snip" | "open"

/** Planned changes of ranges, and their savings. */
export interface RangePlan {
  readonly action: RangeAction
  readonly ranges: readonly PlannedRange[]
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Tokens that the server must write to its cache again. 0 if the cache is lost anyway. */
  readonly rewrites: number
  /** Cost of writing them. Absent if no price is known. */
  readonly dollars?: number
}

/** A range of messages and its size. */
export interface PlannedRange {
  readonly from: Uuid
  readonly to: Uuid
  /** Short names of the first and the last message. */
  readonly handles: { readonly from: string; readonly to: string }
  readonly messages: number
  readonly toolCalls: number
  /** Tokens of the range in the context. */
  readonly tokens: number
  /** Beginning of the first request in the range. */
  readonly preview: string
  /** Text that replaces a folded range. */
  readonly line?: string
  /** The decision that hides the range. Only for opening. */
  readonly decision?: Uuid
}

export interface RangeRefusal {
  readonly action: "refused"
  /** For the user: what happened, what was preserved, what to do next. */
  readonly message: string
}

/** Both ends of a range, by uuid or handle. Without `to`: everything up to the next request. */
export interface RangeEnds {
  readonly from: string
  readonly to?: string
}

const NEWEST_EXCHANGES = 3 // stay when folding down to a size: what is worked on right now
const MIN = 100 // tokens: less is not worth a line
const PER_MILLION = 1_000_000

/** State of the view while ranges are planned. */
interface RangeContext {
  readonly context: LayerContext
  readonly ground: FoldableMessages
  /** Tokens of each message as it is sent, by uuid. For a hidden range, those of its line. */
  readonly tokens: ReadonlyMap<Uuid, number>
}

function rangeContext(context: LayerContext): RangeContext {
  const { context: view, estimator } = context.views
  const tokens = new Map(view.storedMessages().map((message) => [message.uuid, estimator.blocks(sentBlocks(message))]))
  return { context, ground: foldableMessages(view), tokens }
}

export function planRange(context: LayerContext, action: "fold" | "snip", order: RangeEnds): RangePlan | RangeRefusal {
  const field = rangeContext(context)
  const { ground } = field
  const from = indexOfNamed(order.from, ground)
  const to = order.to === undefined ? endOfExchange(ground, from) : indexOfNamed(order.to, ground)
  const missing = from < 0 ? order.from : to < 0 ? order.to : undefined
  if (missing !== undefined)
    return refused(
      `There is no message ${missing} in the view. Nothing was changed. Name a message since the last compaction.`,
    )
  const span = spanAround(ground, from, to)
  if (!span || messagesOf(field, span).length === 0) return refused(NOTHING_LEFT)
  return planOf(field, action, [span])
}

const NOTHING_LEFT =
  "Only finished exchanges can be taken out, and this range has none: the newest request, the work in progress and the summary stay. Nothing was changed."

/** Folds the oldest exchanges until the context has this size, or all that can be folded. */
export function planDownTo(context: LayerContext, target: number): RangePlan | RangeRefusal {
  const field = rangeContext(context)
  const { context: view } = context.views
  const before = view.size().tokens
  if (before <= target)
    return refused(`The context has only ${formatNumber(before)} tokens, so there is nothing to fold.`)
  const spans: MessageSpan[] = []
  let removed = 0
  for (const span of foldOrder(field)) {
    const saving = savingOf(field, span, foldedLine(messagesOf(field, span)))
    if (saving < MIN) continue
    spans.push(span)
    removed += saving
    if (view.sizeAfter(removed) <= target) break
  }
  if (spans.length === 0) return refused("There is no finished exchange left to fold. Nothing was changed.")
  return planOf(
    field,
    "fold",
    spans.toSorted((a, b) => a.start - b.start),
  )
}

/** Ranges in the order of folding: the oldest first, but ranges that someone opened again last. */
function foldOrder({ context, ground }: RangeContext): readonly MessageSpan[] {
  const spans = foldableExchanges(ground, NEWEST_EXCHANGES)
  const wasOpened = ({ start, end }: MessageSpan) =>
    ground.messages.slice(start, end).some(({ uuid }) => context.views.context.wasOpened(uuid))
  return [...spans.filter((span) => !wasOpened(span)), ...spans.filter(wasOpened)]
}

/** The finished exchanges that are sent completely, oldest first. */
export function listExchanges(context: LayerContext): readonly PlannedRange[] {
  const field = rangeContext(context)
  return foldableExchanges(field.ground, 1).map((span) => describe(messagesOf(field, span), tokensIn(field, span)))
}

/** Plans to open a hidden range, named by its decision or any message in it. */
export function planOpening(context: LayerContext, name: string): RangePlan | RangeRefusal {
  const { context: view, estimator } = context.views
  const found = view.hiddenRanges.find(
    ({ decision, messages }) => isNamed(decision.uuid, name) || messages.some(({ uuid }) => isNamed(uuid, name)),
  )
  if (!found)
    return refused(
      `No folded or snipped range of the view has the handle ${name}. Nothing was changed. What was hidden before a compaction can still be recalled.`,
    )
  const { decision, messages } = found
  const tokensBefore = view.size().tokens
  const tokensAfter = view.sizeWithout(decision.uuid)
  const tokens = estimator.blocks(messages.flatMap(sentBlocks))
  const range = { ...describe(messages, tokens), decision: decision.uuid }
  const field = rangeContext(context)
  const start = field.ground.messages.indexOf(messages[0]!)
  const rewrites = isCold(context) ? 0 : Math.max(0, tokensAfter - tokensUpTo(field, start))
  return { action: "open", ranges: [range], tokensBefore, tokensAfter, rewrites, ...priceOf(context, rewrites) }
}

function planOf(field: RangeContext, action: "fold" | "snip", spans: readonly MessageSpan[]): RangePlan {
  const { context } = field
  const { context: view } = context.views
  const ranges = spans.map((span): PlannedRange => {
    const messages = messagesOf(field, span)
    const line = action === "fold" ? { line: foldedLine(messages) } : {}
    return { ...describe(messages, tokensIn(field, span)), ...line }
  })
  const saved = spans.reduce((sum, span, i) => sum + savingOf(field, span, ranges[i]!.line), 0)
  const thinking = dropsThinking(field, spans[0]!) ? thinkingOutside(field, spans) : 0
  const tokensAfter = view.sizeAfter(saved + thinking)
  const start = thinking > 0 ? firstThinking(field) : spans[0]!.start
  const rewrites = isCold(context)
    ? 0
    : Math.max(0, Math.round(tokensAfter - tokensUpTo(field, Math.min(start, spans[0]!.start))))
  return {
    action,
    ranges,
    tokensBefore: view.size().tokens,
    tokensAfter,
    rewrites,
    ...priceOf(context, rewrites),
  }
}

/** The drafts of a plan. `by` and `why` are for a snip. */
export function rangeDecisions(
  context: LayerContext,
  { action, ranges, rewrites, tokensBefore, tokensAfter }: RangePlan,
  { by, why }: { readonly by: "user" | "agent"; readonly why: string },
): readonly DecisionDraft[] {
  if (action === "open")
    return ranges.map(({ decision }) => ({ type: "strata", subtype: "undone", decision: decision! }))
  const field = rangeContext(context)
  const spans = ranges.map((range) => spanOf(range, field.ground))
  const drops = dropsThinking(field, spans[0]!)
  const thinking = drops ? thinkingOutside(field, spans) : 0
  const cache = cacheState(context)
  const spares =
    cache.state === "leaving" && tokensBefore - tokensAfter > cache.excess && compactsItself(context)
      ? { spares: "compaction" as const }
      : {}
  const decisions = ranges.map(({ from, to, line }, i): DecisionDraft => {
    const saves = savingOf(field, spans[i]!, line) + (i === 0 ? thinking : 0)
    const effect: DecisionEffect = {
      saves: Math.max(0, Math.round(saves)),
      rewrites: i === 0 ? rewrites : 0,
      ...spares,
    }
    const range = { from, to, ...(drops ? { thinking: "dropped" as const } : {}), effect }
    return line === undefined
      ? { type: "strata", subtype: "snipped", why, by, ...range }
      : { type: "strata", subtype: "folded", line, ...range, ...(i > 0 ? { joined: true } : {}) }
  })
  return [...cacheEditsGone(context), ...decisions]
}

/** Clears results that were deleted in the server's cache, because that cache ends at the first change. */
function cacheEditsGone({ views }: LayerContext): readonly DecisionDraft[] {
  const { toolUseIds } = views.context.cacheEdits
  if (toolUseIds.length === 0) return []
  return [
    { type: "strata", subtype: "cache-edits-dropped", why: "a range before them was folded or snipped" },
    { type: "strata", subtype: "tool-results-cleared", toolUseIds, why: "size" },
  ]
}

function describe(messages: readonly Message[], tokens: number): PlannedRange {
  const [first, last] = [messages[0]!, messages.at(-1)!]
  return {
    from: first.uuid,
    to: last.uuid,
    handles: { from: handleOf(first.uuid), to: handleOf(last.uuid) },
    messages: countMessages(messages),
    toolCalls: toolCallsIn(messages),
    tokens: Math.round(tokens),
    preview: openingText(messages.find(isRequest) ?? first),
  }
}

const refused = (message: string): RangeRefusal => ({ action: "refused", message })

/** Index of the last message before the next request. */
function endOfExchange({ messages }: FoldableMessages, from: number): number {
  const next = messages.findIndex((message, at) => at > from && isRequest(message))
  return (next < 0 ? messages.length : next) - 1
}

/** The messages of a span that are removed. */
const messagesOf = ({ ground }: RangeContext, { start, end }: MessageSpan): readonly Message[] =>
  ground.messages.slice(start, end).filter(isHiddenWithRange)

const spanOf = ({ from, to }: PlannedRange, { messages }: FoldableMessages): MessageSpan => ({
  start: messages.findIndex(({ uuid }) => uuid === from),
  end: messages.findIndex(({ uuid }) => uuid === to) + 1,
})

function savingOf(field: RangeContext, span: MessageSpan, line: string | undefined): number {
  const { estimator } = field.context.views
  return tokensIn(field, span) - (line === undefined ? 0 : estimator.blocks([{ type: "text", text: line }]))
}

/** Tokens of a span as it is sent: a hidden range counts with its line. */
function tokensIn(field: RangeContext, { start, end }: MessageSpan): number {
  const { ground, tokens } = field
  const inside = new Set(messagesOf(field, { start, end }).map(({ uuid }) => uuid))
  const lines = ground.hidden
    .filter(({ messages }) => inside.has(messages[0]!.uuid))
    .map(({ decision }) => decision.uuid)
  return [...inside, ...lines].reduce((sum, uuid) => sum + (tokens.get(uuid) ?? 0), 0)
}

/** Tokens before a position, which stay in the server's cache. */
function tokensUpTo({ context, ground, tokens }: RangeContext, place: number): number {
  const before = new Set(ground.messages.slice(0, place).map(({ uuid }) => uuid))
  const lines = ground.hidden
    .filter(({ messages }) => before.has(messages[0]!.uuid))
    .map(({ decision }) => decision.uuid)
  const sent = [...before, ...lines].reduce((sum, uuid) => sum + (tokens.get(uuid) ?? 0), 0)
  return context.views.context.promptTokens + sent
}

const isCold = (context: LayerContext): boolean => cacheState(context).state === "cold"

function priceOf({ facts, views, fill }: LayerContext, rewrites: number): { dollars?: number } {
  if (!facts.price) return {}
  const { write } = cachePrices(facts, { tokens: fill.used, lifetime: cacheLifetime(views) })
  return { dollars: (rewrites * write * facts.price.input) / PER_MILLION }
}

/** Whether thinking after the change is bound to changed messages. */
function dropsThinking({ context, ground }: RangeContext, { start }: MessageSpan): boolean {
  if (!context.facts.accepts.boundThinking) return false
  const after = new Set<Uuid>(ground.messages.slice(start).map(({ uuid }) => uuid))
  return context.views.context
    .storedMessages()
    .some((message) => after.has(message.uuid) && sentBlocks(message).some(isThinking))
}

/** Tokens of thinking that is dropped although its messages stay. */
function thinkingOutside({ context, ground }: RangeContext, spans: readonly MessageSpan[]): number {
  const { context: view, estimator } = context.views
  const removed = new Set<Uuid>(
    spans.flatMap(({ start, end }) => ground.messages.slice(start, end).map(({ uuid }) => uuid)),
  )
  const left = view.storedMessages().filter(({ uuid }) => !removed.has(uuid))
  return estimator.blocks(left.flatMap(sentBlocks).filter(isThinking))
}

function firstThinking({ context, ground }: RangeContext): number {
  const first = context.views.context.storedMessages().find((message) => sentBlocks(message).some(isThinking))
  return first ? ground.messages.findIndex(({ uuid }) => uuid === first.uuid) : ground.messages.length
}
