/**
 * What the planner knows before a request: how large the context is and what a compaction would leave of it, whether the cache still has
 * it, and what sending the old part again has cost since the last boundary. All amounts are in tokens of plain input.
 */
import { inputTokens } from "../../base/token-counts.ts"
import type { Message, Usage } from "../../messages/messages.ts"
import { cacheCounts } from "../../views/cache/cache-break.ts"
import type { Views } from "../../views/views.ts"
import { cacheState } from "../2-microcompact/cache-state.ts"
import type { LayerContext, Tail } from "../layer.ts"
import { type MessageFold, SettledFold } from "../settled-fold.ts"
import { type Prices, pricesOf } from "./prices.ts"
import { NO_TAIL } from "./tail.ts"

export interface Outlook {
  /** Tokens of the next request. */
  readonly context: number
  /** Tokens that a compaction would leave, and those of them that the cache keeps: system prompt and tools. */
  readonly left: number
  readonly prompt: number
  /** What the summary that is ready does not cover: it would stay as well. */
  readonly tail: Tail
  /** What sending again all that a compaction would remove has cost since the last boundary. */
  readonly rent: number
  /** Responses since the last boundary. */
  readonly responses: number
  /** The cache no longer has the conversation: everything is written again in any case. */
  readonly isCold: boolean
  readonly prices: Prices
}

export const USUAL_LEFT = 12_000 // tokens of summary, facts and newest exchanges, judging by recorded conversations

/** `tail`: what a compaction would keep in addition to what is usual. */
export function outlookOf(context: LayerContext, tail = NO_TAIL): Outlook {
  const { views, size } = context
  const prices = pricesOf(context)
  const prompt = views.context.promptTokens
  const { tokens, shares, first } = resentIn(views)
  const left = leftAfter(views, first)
  const cost = ({ read, written, plain }: Resent) => read * prices.read + written * prices.write + plain
  return {
    context: size.tokens,
    left,
    tail,
    prompt,
    rent: Math.max(0, cost(tokens) - left * cost(shares)),
    responses: views.compactions.responses,
    isCold: cacheState(context).state === "cold",
    prices,
  }
}

/** What the last compaction left without the prompt, or what is usual where that is less: it may have kept a long tail. `first`: what the API counted right after it. */
function leftAfter({ context, compactions }: Views, first: number | undefined): number {
  const { tokensAfter: expected } = compactions.last ?? {}
  const tokensAfter = expected === undefined ? undefined : Math.min(expected, first ?? expected)
  return (
    context.promptTokens +
    Math.min(USUAL_LEFT, Math.max(0, (tokensAfter ?? Number.POSITIVE_INFINITY) - context.promptTokens))
  )
}

/** Tokens that had been sent before, by how they were billed. */
interface Resent {
  read: number
  written: number
  plain: number
}

interface Sending {
  readonly tokens: Resent
  /** The same, each response as a share of what it sent again. */
  readonly shares: Resent
  /** Input of the first response since the boundary. */
  first: number | undefined
  /** Input of the response before the newest one, and the newest one. */
  before: number
  last: { readonly id: string; readonly input: number; readonly resent: Resent; readonly of: number } | undefined
}

const none = (): Resent => ({ read: 0, written: 0, plain: 0 })

const sendingIn = ({ compactions }: Views): MessageFold<Sending> => ({
  start: () => ({ tokens: none(), shares: none(), first: undefined, before: 0, last: undefined }),
  mark(state) {
    const { first, before, last } = state
    const [tokens, shares] = [{ ...state.tokens }, { ...state.shares }]
    return () => {
      Object.assign(state, { first, before, last })
      Object.assign(state.tokens, tokens)
      Object.assign(state.shares, shares)
    }
  },
  take(state, message) {
    takeResponse(state, message)
    if (message.uuid !== compactions.copiedThrough) return
    for (const counted of [state.tokens, state.shares]) Object.assign(counted, none())
  },
})

function takeResponse(state: Sending, message: Message): void {
  if (message.type !== "assistant" || !message.message.usage) return
  const id = message.message.id ?? message.uuid
  // the last piece of a response has its whole usage
  const { last } = state
  if (last?.id === id) add(state, last, -1)
  else state.before = last?.input ?? 0
  const counts = cacheCounts(message.message.usage as Usage)
  if (last === undefined || (last.id === id && state.before === 0)) state.first = inputTokens(counts)
  const resent = resentBy(counts, state.before)
  state.last = { id, input: inputTokens(counts) + counts.output, resent, of: state.before }
  add(state, state.last, 1)
}

function resentBy(counts: ReturnType<typeof cacheCounts>, before: number): Resent {
  const read = Math.min(counts.cacheRead, before)
  const written = Math.min(counts.cacheWrite5m + counts.cacheWrite1h, before - read)
  return { read, written, plain: Math.min(counts.input, before - read - written) }
}

function add({ tokens, shares }: Sending, { resent, of }: NonNullable<Sending["last"]>, sign: 1 | -1): void {
  if (of === 0) return
  for (const kind of ["read", "written", "plain"] as const) {
    tokens[kind] += sign * resent[kind]
    shares[kind] += (sign * resent[kind]) / of
  }
}

const followed = new WeakMap<Views, SettledFold<Sending>>()

function resentIn(views: Views): Sending {
  const fold = followed.get(views) ?? new SettledFold(sendingIn(views))
  followed.set(views, fold)
  return fold.over(views.context)
}
