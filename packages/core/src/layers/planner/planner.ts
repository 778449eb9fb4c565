/**
 * The planner's inputs before a request: the size of the context and what a compaction would leave of it, whether it is still cached, and
 * the cost of sending the old part again since the last boundary. All amounts are in tokens of plain input.
 */
import { addCounts, formatNumber, inputTokens, NO_TOKENS, weighCounts } from "../../base/text.ts"
import { isRequest, type Message, type Usage } from "../../messages/messages.ts"
import type { Flags } from "../../settings/flags.ts"
import { type ModelPrice, priceFor } from "../../tokens/models.ts"
import { cacheCounts, type PausePrior, type Pauses } from "../../views/cache/pauses.ts"
import type { Views } from "../../views/views.ts"
import { cacheLifetime, cachePrices, cacheState } from "../2-microcompact/clearable-content.ts"
import { waitsAfterUndo } from "../4-compaction/compaction-context.ts"
import type { LayerContext, VerbatimTail } from "../layer.ts"
import { IncrementalReducer, type MessageReducer } from "../pipeline.ts"
import { NO_TAIL } from "./tail.ts"

// Prices of a model's tokens, relative to uncached input.

export interface Prices {
  readonly read: number
  readonly write: number
  readonly output: number
}

/** Prices for cache lifetimes of five minutes and of an hour. */
export interface LifetimePrices {
  readonly read: number
  readonly short: number
  readonly long: number
  readonly output: number
}

const USUAL_OUTPUT = 5 // most models ask five times the price of input for output

export function relativePrices(context: LayerContext): Prices {
  const { read, short, long, output } = lifetimePrices(context)
  return { read, write: cacheLifetime(context.views) === "1h" ? long : short, output }
}

export function lifetimePrices(context: LayerContext): LifetimePrices {
  const { facts, fill } = context
  const price = priceNow(context)
  const output = price && price.input > 0 ? price.output / price.input : USUAL_OUTPUT
  const { read, write: short } = cachePrices(facts, { tokens: fill.used, lifetime: "5m" })
  return { read, short, long: cachePrices(facts, { tokens: fill.used, lifetime: "1h" }).write, output }
}

/** Price of a request as large as the current context: long prompts cost more on some models. */
export const priceNow = ({ facts, fill }: LayerContext): ModelPrice | undefined =>
  priceFor(facts, { ...NO_TOKENS, input: fill.used })

export interface PlannerInputs {
  /** Tokens of the next request. */
  readonly context: number
  /** Tokens that a compaction would leave, and the part of them that stays cached: system prompt and tools. */
  readonly remaining: number
  readonly prompt: number
  /** What the ready summary does not cover: it would stay as well. */
  readonly tail: VerbatimTail
  /** Cost since the last boundary of re-sending what a compaction would remove. */
  readonly rent: number
  /** Number of responses since the last boundary. */
  readonly responses: number
  /** Whether the conversation is no longer cached: then everything is written again in any case. */
  readonly isCold: boolean
  readonly prices: Prices
}

export const USUAL_REMAINING = 12_000 // tokens of summary, facts and newest exchanges, judging by recorded conversations

/** Collects the inputs. `tail`: what a compaction would preserve in addition to the usual amount. */
export function plannerInputs(context: LayerContext, tail = NO_TAIL): PlannerInputs {
  const { views, size } = context
  const prices = relativePrices(context)
  const prompt = views.context.promptTokens
  const { tokens, shares, first } = resentTokens(views)
  const remaining = remainingAfter(views, first)
  const cost = ({ read, written, plain }: ResentTokens) => read * prices.read + written * prices.write + plain
  return {
    context: size.tokens,
    remaining,
    tail,
    prompt,
    rent: Math.max(0, cost(tokens) - remaining * cost(shares)),
    responses: views.compactions.responses,
    isCold: cacheState(context).state === "cold",
    prices,
  }
}

/**
 * Size after the last compaction without the prompt, or the usual size if that is smaller: the compaction may have preserved a long tail.
 * `first`: the API's count right after it.
 */
function remainingAfter({ context, compactions }: Views, first: number | undefined): number {
  const { tokensAfter: expected } = compactions.last ?? {}
  const tokensAfter = expected === undefined ? undefined : Math.min(expected, first ?? expected)
  return (
    context.promptTokens +
    Math.min(USUAL_REMAINING, Math.max(0, (tokensAfter ?? Number.POSITIVE_INFINITY) - context.promptTokens))
  )
}

/** Tokens that had been sent before, by how they were billed. */
interface ResentTokens {
  read: number
  written: number
  plain: number
}

interface ResentState {
  readonly tokens: ResentTokens
  /** The same, with each response as a share of what it sent again. */
  readonly shares: ResentTokens
  /** Input tokens of the first response since the boundary. */
  first: number | undefined
  /** Input tokens of the response before the newest one. */
  before: number
  last: { readonly id: string; readonly input: number; readonly resent: ResentTokens; readonly of: number } | undefined
}

const noTokens = (): ResentTokens => ({ read: 0, written: 0, plain: 0 })

const resentReducer = ({ compactions }: Views): MessageReducer<ResentState> => ({
  start: () => ({ tokens: noTokens(), shares: noTokens(), first: undefined, before: 0, last: undefined }),
  snapshot(state) {
    const { first, before, last } = state
    const [tokens, shares] = [{ ...state.tokens }, { ...state.shares }]
    return () => {
      Object.assign(state, { first, before, last })
      Object.assign(state.tokens, tokens)
      Object.assign(state.shares, shares)
    }
  },
  add(state, message) {
    takeResponse(state, message)
    if (message.uuid !== compactions.copiedThrough) return
    for (const counted of [state.tokens, state.shares]) Object.assign(counted, noTokens())
  },
})

function takeResponse(state: ResentState, message: Message): void {
  if (message.type !== "assistant" || !message.message.usage) return
  const id = message.message.id ?? message.uuid
  // the last part of a response has its complete usage
  const { last } = state
  if (last?.id === id) add(state, last, -1)
  else state.before = last?.input ?? 0
  const counts = cacheCounts(message.message.usage as Usage)
  if (last === undefined || (last.id === id && state.before === 0)) state.first = inputTokens(counts)
  const resent = resentBy(counts, state.before)
  state.last = { id, input: inputTokens(counts) + counts.output, resent, of: state.before }
  add(state, state.last, 1)
}

function resentBy(counts: ReturnType<typeof cacheCounts>, before: number): ResentTokens {
  const read = Math.min(counts.cacheRead, before)
  const written = Math.min(counts.cacheWrite5m + counts.cacheWrite1h, before - read)
  return { read, written, plain: Math.min(counts.input, before - read - written) }
}

function add({ tokens, shares }: ResentState, { resent, of }: NonNullable<ResentState["last"]>, sign: 1 | -1): void {
  if (of === 0) return
  for (const kind of ["read", "written", "plain"] as const) {
    tokens[kind] += sign * resent[kind]
    shares[kind] += (sign * resent[kind]) / of
  }
}

const trackedReducers = new WeakMap<Views, IncrementalReducer<ResentState>>()

function resentTokens(views: Views): ResentState {
  const fold = trackedReducers.get(views) ?? new IncrementalReducer(resentReducer(views))
  trackedReducers.set(views, fold)
  return fold.over(views.context)
}

// Whether a compaction that only saves money pays off, and where it may happen. It pays off once re-sending what it would remove has cost as
// much as the compaction. In a long conversation that is the cheapest rhythm; in one that ends right after it, at most twice the minimum is
// paid.
//
// With r, w and o the prices of reading, writing and output, c the context, l what is left of it and p the prompt:
//
//     rent = Σ r·(c − l) over the requests since the last boundary       price = r·c + o·summary + w·(l − p) + loss
//
// `economy` compacts whenever that is true. `balanced` compacts only where it interrupts nothing: after a pause that cost the cache, or when a
// new request begins. It requires a size that users accept.

export interface CompactionChoice {
  readonly compacts: boolean
  readonly rent: number
  readonly price: number
  /** Whether the compaction would save enough. */
  readonly isWorthIt: boolean
}

const SUMMARY = 4_000 // tokens that a model writes: the budget of a summary
const REREAD = 6_000 // tokens that are read again after a compaction, judging by recorded conversations
const MORE_REQUESTS = 2 // for reading them
export const MIN_GAIN = 20_000 // tokens: for less the conversation is not interrupted
const MIN_RESPONSES = 5 // since the last boundary: where nothing is cached, the rule alone would compact with nearly every request

export function compactsNow(outlook: PlannerInputs): CompactionChoice {
  const { rent, responses, prices } = outlook
  const price = Math.max(0, prices.output * SUMMARY + priceOfChange(outlook))
  const isWorthIt = compactionGain(outlook) >= MIN_GAIN && responses >= MIN_RESPONSES
  return { compacts: isWorthIt && rent >= price, rent, price, isWorthIt }
}

/** Cost of a compaction without writing its summary. In a warm cache the tail after the summary is written again. */
function priceOfChange({ context, remaining, tail, prompt, isCold, prices: { read, write } }: PlannerInputs): number {
  const loss = REREAD * write + MORE_REQUESTS * read * remaining
  // reading the context for the summary takes the place of reading it for the answer; in a cold cache the smaller context saves at once
  const [whenCold, written] = isCold ? [(write - 1) * context, remaining] : [0, remaining + tail.shortened]
  return write * (written - prompt) + loss - whenCold
}

/** Tokens that the summary would replace. Content that is only shortened does not count, because that alone is not worth a compaction. */
export const compactionGain = ({ context, remaining, tail }: PlannerInputs): number => context - remaining - tail.tokens

/** What a compaction with a ready summary saves within so many turns. */
export const worthOfCompaction = (outlook: PlannerInputs, turns: number): number =>
  turns * outlook.prices.read * (outlook.context - remainingWithTail(outlook)) - priceOfChange(outlook)

/** Tokens that remain after the compaction. */
export const remainingWithTail = ({ remaining, tail }: PlannerInputs): number => remaining + tail.shortened

/** Whether a compaction is due within so many requests, so that its summary can be written meanwhile. */
export function compactsSoon(outlook: PlannerInputs, turns: number): boolean {
  const { rent, price, isWorthIt } = compactsNow(outlook)
  const perTurn = outlook.prices.read * Math.max(0, outlook.context - outlook.remaining)
  return isWorthIt && price > 0 && rent + Math.max(1, turns) * perTurn >= price
}

/** Whether the planner may compact early: after a failure or an undo it waits for the threshold. */
export function mayPlan(context: LayerContext): boolean {
  return context.compaction.auto && context.views.compactions.failures === 0 && !waitsAfterUndo(context)
}

/** When a summary may be started: while the agent works, or after its answer, when the next request comes from the user. */
export type SummaryTiming = "working" | "answered"

/** Whether a summary should be written now for a compaction that saves money. `turns`: number of requests until it is written. */
export function preparesNow(context: LayerContext, { timing, turns }: PreparationInput): boolean {
  const { planner } = context.flags
  if (planner === "off" || !costsMoney(context)) return false
  const outlook = plannerInputs(context)
  if (planner === "economy") return compactsSoon(outlook, timing === "working" ? turns : Math.max(turns, PAUSE_TURNS))
  if (timing === "working" || outlook.isCold || outlook.context < earlySize(context)) return false
  return compactsNow(outlook).compacts && mayRisk(context, outlook)
}

const EARLY_SHARE = 0.42 // of the threshold, in a window that is not long: 70,000 tokens of 200,000

/** Minimum size for `balanced` to compact to save money: at most one that people set manually for long windows. */
export const earlySize = ({
  flags,
  thresholds,
}: Pick<LayerContext, "thresholds"> & { readonly flags: Flags }): number =>
  Math.min(flags.figures["compact-early"], EARLY_SHARE * thresholds.autoCompact)

const STILL_TO_COME = 0.5 // of the requests so far: what a conversation that is as long as this one still has, at least half the time

/**
 * Whether a summary that might never be used is worth its risk: it pays off if the conversation continues for half its current length. Most
 * conversations end soon, so near the start it never is. A conversation that already used one is a long one.
 */
export function mayRisk(around: LayerContext, outlook: PlannerInputs): boolean {
  if (around.views.compactions.count > 0) return true
  const { context, remaining, responses, prices } = outlook
  const { price } = compactsNow({ ...outlook, isCold: false })
  return STILL_TO_COME * responses * prices.read * (context - remaining) >= price + prices.read * context
}

interface PreparationInput {
  readonly timing: SummaryTiming
  readonly turns: number
}

const PAUSE_TURNS = 5 // that a compaction may be away, for its summary to be written in a pause

/**
 * Reason to compact now although the window is not full; `undefined` without a reason. `tail`: what would be preserved verbatim after the
 * ready summary. Absent if no summary is ready.
 */
export function plannedCompaction(context: LayerContext, tail: VerbatimTail | undefined): string | undefined {
  const { planner } = context.flags
  if (planner === "off" || !costsMoney(context)) return undefined
  const outlook = plannerInputs(context, tail)
  const choice = compactsNow(outlook)
  const isOpen = tail !== undefined && turnPhase(context) !== "task" && outlook.context >= earlySize(context)
  const pays = worthOfCompaction(outlook, context.flags.figures["expected-turns"]) > 0
  const compacts = planner === "economy" ? choice.compacts : isOpen && choice.isWorthIt && pays
  return compacts ? reasonFor(context, { outlook, choice }) : undefined
}

function reasonFor(
  context: LayerContext,
  { outlook, choice: { rent, price } }: { readonly outlook: PlannerInputs; readonly choice: CompactionChoice },
): string {
  const old = formatNumber(Math.round(compactionGain(outlook)))
  const because = outlook.isCold
    ? "the cache is gone, so everything is written again in any case"
    : `sending them again has cost ${describeAmount(rent, context)} since the last boundary, and a compaction costs ${describeAmount(price, context)}`
  const how = context.views.compactions.planned ? "" : HOW_TO_STOP
  return `About ${old} old tokens need not be sent again: ${because}.${how}`
}

/** Shown once in a conversation. */
const HOW_TO_STOP = ' /undo takes it back, and the setting "planner": "off" keeps it from happening again.'

/** Whether tokens cost money. With a local model, or an unknown price, there is nothing to save. */
export const costsMoney = ({ facts: { price } }: LayerContext): boolean => price !== undefined && price.input > 0

/** Tokens of plain input as an amount of money, if the price is known. */
export function describeAmount(tokens: number, context: LayerContext): string {
  const price = priceNow(context)
  return price && price.input > 0
    ? `$${((tokens * price.input) / 1_000_000).toFixed(2)}`
    : `as much as ${formatNumber(Math.round(tokens))} tokens of input`
}

/**
 * `pause`: the cache is lost, so everything is written again in any case. `request`: the user asks for something new. `task`: the agent is
 * working on the last request.
 */
export type TurnPhase = "pause" | "request" | "task"

export function turnPhase(context: LayerContext): TurnPhase {
  const cache = cacheState(context)
  if (cache.state === "cold" && cache.reason !== "no response yet") return "pause"
  return beginsRequest(context) ? "request" : "task"
}

/** Whether a request came after the newest answer. */
function beginsRequest({ views }: LayerContext): boolean {
  const messages = views.context.journaledMessages()
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!
    if (message.type === "assistant") return false
    if (isRequest(message)) return true
  }
  return false
}

// What keeping the cache longer than five minutes has cost and saved in this conversation. Cost: the requests that keep it warm, and the
// premium of an hour that the planner chose. Savings: what was read after a longer pause, which would have been written again otherwise.
// All amounts are in tokens of plain input.

export interface KeepWarmAccount {
  /** Cost minus savings. Negative once it has paid off. */
  readonly owed: number
  /** Maximum that may be owed: 1% of the conversation's cost, or, if earlier pauses suggest more, 20% of the cost of one cache write. */
  readonly limit: number
}

const MAX_OWED = 0.01
const INITIAL_SHARE = 0.2

export interface KeepWarmAccountInput {
  readonly prices: LifetimePrices
  /** Tokens of the context. */
  readonly size: number
  /** Whether the planner chooses the lifetime. The cost of an hour by a setting is not charged to the planner. */
  readonly choosesLifetime: boolean
  /** Whether earlier pauses suggest that the user comes back. Otherwise most conversations end soon. */
  readonly comesBack: boolean
}

export function keepWarmAccount(pauses: Pauses, input: KeepWarmAccountInput): KeepWarmAccount {
  const { pings, requests, saved } = pauses
  const { prices, size, choosesLifetime, comesBack } = input
  const { read, short, long } = prices
  const premium = choosesLifetime ? (long - short) * requests.cacheWrite1h : 0
  const spent = weighCounts(pings, weightsOf(prices)) + premium
  const cost = costSoFar(pauses, prices)
  return {
    owed: spent - (short - read) * saved,
    limit: Math.max(MAX_OWED * cost, comesBack ? INITIAL_SHARE * (short - read) * size : 0),
  }
}

/** Cost of the requests of the conversation and of those that kept its cache warm. */
const costSoFar = ({ requests, pings }: Pick<Pauses, "requests" | "pings">, prices: LifetimePrices): number =>
  weighCounts(addCounts(requests, pings), weightsOf(prices))

const weightsOf = ({ read, short, long, output }: LifetimePrices) => ({
  ...{ input: 1, cacheRead: read, cacheWrite5m: short, cacheWrite1h: long, output },
})

const MIN_CONVERSATIONS = 3 // before they say anything
const OFTEN = 0.25 // of the times that no one answered for five minutes: then keeping the cache has paid twice over

/** Whether users came back within an hour often enough in earlier conversations. Each of those had one pause without an end. */
export function usuallyComesBack(prior: PausePrior | undefined): boolean {
  if (!prior?.earlier || prior.isProgram) return false
  const { conversations, withinHour, beyondHour } = prior.earlier
  const all = withinHour.count + beyondHour.count + conversations
  return conversations >= MIN_CONVERSATIONS && withinHour.count >= OFTEN * all
}
