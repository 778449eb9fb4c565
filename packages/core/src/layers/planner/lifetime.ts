/**
 * Chooses how long the server is asked to keep cached content: five minutes or an hour, separately for tools with system prompt and for
 * messages. An hour costs more to write, but survives a pause of up to an hour.
 *
 * A conversation begins with an expectation: an hour if the caller asks for it, or if it would have paid off in earlier conversations of
 * this owner. The expectation ends when a pause may compact, because then an hour no longer pays off. It is journaled, so that closing the
 * conversation changes nothing.
 *
 * After that, an hour is chosen once it would have saved, over the pauses so far, at least what it costs now, and the account allows it. It
 * is chosen only if that part is written again in any case, so a change never costs a cache. It ends as soon as it no longer pays off.
 */

import type { PlannerMode } from "../../base/enums.ts"
import { formatNumber } from "../../base/text.ts"
import type { ChosenLifetimes } from "../../journal/entries.ts"
import { type CacheEntryLifetime, LIFETIME_MS } from "../../model/cache/prefix.ts"
import { type HourExpectationReason, messageLifetime } from "../../views/cache/cache-history.ts"
import { MIN_PAUSE_MINUTES, type Pauses, withNewestPause } from "../../views/cache/pauses.ts"
import { cacheLifetime, cacheState, growthPerTurn, lastUse } from "../2-microcompact/clearable-content.ts"
import type { Layer, LayerContext, VerbatimTail } from "../layer.ts"
import {
  compactionGain,
  compactsNow,
  costsMoney,
  describeAmount,
  earlySize,
  keepWarmAccount,
  type LifetimePrices,
  lifetimePrices,
  MIN_GAIN,
  type PlannerInputs,
  plannedCompaction,
  plannerInputs,
  remainingWithTail,
  turnPhase,
  usuallyComesBack,
} from "./planner.ts"

// Whether the cache is kept warm during a pause. A request without output reads what is cached, and the server keeps it for longer. That
// costs a tenth of plain input; writing everything again costs more than ten times as much.
//
// The rule: the cache is kept warm for as long as that would have been cheapest over the latest pauses of this conversation. One typical
// pause counts with them, so there is an answer before the first.

export interface PausePlan {
  /** How long the server keeps the cache after each request. */
  readonly lifetime: CacheEntryLifetime
  /** Maximum number of requests in this pause. 0: the cache may expire. */
  readonly pings: number
  /** Minutes from the start of the pause until the cache expires. */
  readonly minutes: number
}

interface WeightedPause {
  readonly minutes: number
  readonly weight: number
}

const MS_PER_MINUTE = 60_000
const LIFE_MINUTES = LIFETIME_MS["5m"] / MS_PER_MINUTE
export const SUMMARY_EARLY = 0.85 // of its lifetime: then a summary reads what is cached, if one is to be written in the pause
export const PING_EARLY = 0.9 // of its lifetime: shortly before what is cached expires
const MAX_PINGS = 100 // in one pause: a working day at five minutes each, more than pays at any known price
const MIN_CONTEXT = 20_000 // tokens: writing less again costs next to nothing

/**
 * A typical pause: in recorded conversations a third of the pauses beyond five minutes end within ten, a third within twenty, half of the
 * rest within an hour, and the other half lasts so long that no one should wait for it.
 */
const USUAL_PAUSE: readonly WeightedPause[] = [
  { minutes: 8, weight: 1 / 3 },
  { minutes: 15, weight: 1 / 3 },
  { minutes: 30, weight: 1 / 12 },
  { minutes: 55, weight: 1 / 12 },
  { minutes: Number.POSITIVE_INFINITY, weight: 1 / 6 },
]

/** Milliseconds until the next request is due after one with this lifetime. */
export const dueAfterMs = (lifetime: CacheEntryLifetime): number => PING_EARLY * LIFETIME_MS[lifetime]

/** Plans a pause. `sent`: number of requests in it so far. */
export function pausePlan(context: LayerContext, sent = 0): PausePlan {
  const { views, size, flags } = context
  const { pauses } = views.cacheHistory
  const lifetime = flags.cacheLifetime === "auto" && pauses.hourHolds ? "1h" : "5m"
  const prices = lifetimePrices(context)
  const max = sent + affordablePings(context, prices)
  const isPossible = max > 0 && size.tokens >= MIN_CONTEXT && cacheLifetime(views) === "5m" && canKeepWarm(context)
  const own = pauses.recent.map((minutes) => ({ minutes, weight: 1 }))
  const pings = isPossible ? cheapestPingCount([...USUAL_PAUSE, ...own], { lifetime, prices, max }) : 0
  return { lifetime, pings, minutes: reachMinutes(lifetime, pings) }
}

/** Number of further requests that the account allows. */
function affordablePings({ views, size, flags, prior }: LayerContext, prices: LifetimePrices): number {
  const choosesLifetime = flags.cacheLifetime === "auto" && prior?.asked !== "1h"
  const { owed, limit } = keepWarmAccount(views.cacheHistory.pauses, {
    ...{ prices, size: size.tokens, choosesLifetime },
    comesBack: usuallyComesBack(prior),
  })
  return Math.max(0, Math.floor((limit - owed) / (prices.read * size.tokens)))
}

/** The cache lifetime of the next request in this pause; `undefined` if no request is due. */
export function nextPing(context: LayerContext, sent: number): CacheEntryLifetime | undefined {
  const { lifetime, pings } = pausePlan(context, sent)
  return sent < pings ? lifetime : undefined
}

/** Whether keeping the cache warm can save money. */
export function canKeepWarm(context: LayerContext): boolean {
  const { read, short } = lifetimePrices(context)
  return context.flags.planner !== "off" && costsMoney(context) && read < short
}

interface PingInput {
  readonly lifetime: CacheEntryLifetime
  readonly prices: LifetimePrices
  /** Maximum number of requests that the account allows. */
  readonly max: number
}

/** Number of requests that would have cost least over these pauses. Never more than the cost of writing everything again. */
function cheapestPingCount(
  pauses: readonly WeightedPause[],
  { lifetime, prices: { read, short }, max }: PingInput,
): number {
  const write = short - read
  const length = 1 + Math.min(max, Math.floor(write / read), MAX_PINGS)
  const counts = Array.from({ length }, (_, count) => count)
  const gains = counts.map((count) =>
    pauses.reduce((sum, { minutes, weight }) => {
      const isBridged = minutes > LIFE_MINUTES && minutes <= reachMinutes(lifetime, count)
      return sum + weight * ((isBridged ? write : 0) - read * sentIn(minutes, { lifetime, count }))
    }, 0),
  )
  return gains.indexOf(Math.max(...gains))
}

/** Minutes until the cache expires. Written content lives for five minutes. */
const reachMinutes = (lifetime: CacheEntryLifetime, pings: number): number =>
  pings === 0
    ? LIFE_MINUTES
    : MIN_PAUSE_MINUTES + ((pings - 1) * dueAfterMs(lifetime) + LIFETIME_MS[lifetime]) / MS_PER_MINUTE

/** Minimum number of requests that keep the cache through a pause of this length. */
export function pingsThrough(minutes: number): number {
  let pings = 0
  while (reachMinutes("1h", pings) < minutes) pings++
  return pings
}

/** How many of `count` requests are sent in a pause of this length. */
function sentIn(
  minutes: number,
  { lifetime, count }: { readonly lifetime: CacheEntryLifetime; readonly count: number },
): number {
  if (minutes <= MIN_PAUSE_MINUTES) return 0
  return Math.min(count, 1 + Math.floor(((minutes - MIN_PAUSE_MINUTES) * MS_PER_MINUTE) / dueAfterMs(lifetime)))
}

export interface LifetimeOptions {
  /** Whether the cache is kept warm in pauses, which costs less than writing for an hour. */
  readonly keepsWarm?: boolean
}

/** Creates the layer that decides before every request and journals each change. */
export function cacheLifetimes({ keepsWarm = false }: LifetimeOptions = {}): Layer {
  return {
    name: "cache-lifetime",
    async beforeRequest(context) {
      const { flags, views } = context
      if (flags.cacheLifetime !== "auto") return undefined
      const { chosen, expected } = decideLifetimes(context, { keepsWarm })
      if (messageLifetime(chosen) === messageLifetime(views.cacheHistory.chosen)) return undefined
      const why = expected
        ? reasonForExpected(chosen, expected)
        : chosen.forPrompt === "5m"
          ? reasonForShort(flags, keepsWarm)
          : reasonForHour(chosen, context)
      const draft = { type: "strata", subtype: "cache-lifetime", ...chosen, why } as const
      return { drafts: [expected ? { ...draft, expected } : draft], message: why }
    },
    nextLifetime: (context, compacted) => {
      const size = compacted === undefined ? context.size : { ...context.size, tokens: compacted }
      return messageLifetime(
        decideLifetimes({ ...context, size }, { keepsWarm, isCompacted: compacted !== undefined }).chosen,
      )
    },
  }
}

interface LifetimeInput {
  readonly keepsWarm: boolean
  /** Whether the decision is about a request after a compaction that has not happened yet. */
  readonly isCompacted?: boolean
}

function decideLifetimes(context: LayerContext, { keepsWarm, isCompacted = false }: LifetimeInput) {
  if (!canChoose(context)) return { chosen: SHORT }
  const isBeginning = !isCompacted && context.views.compactions.count === 0
  const expected = isBeginning ? expectedFrom(context, keepsWarm) : undefined
  if (expected) return { chosen: context.size.tokens < earlySize(context) ? HOUR : HOUR_FOR_PROMPT, expected }
  return { chosen: keepsWarm ? SHORT : chosenLifetimes(context) }
}

/** Whether both lifetimes have different prices. Otherwise the model has only one. */
function canChoose(context: LayerContext): boolean {
  const { short, long } = lifetimePrices(context)
  return canKeepWarm(context) && short < long
}

const SHORT: ChosenLifetimes = { forPrompt: "5m", forMessages: "5m" }
const HOUR: ChosenLifetimes = { forPrompt: "1h", forMessages: "1h" }
const HOUR_FOR_PROMPT: ChosenLifetimes = { forPrompt: "1h", forMessages: "5m" }

const MIN_CONVERSATIONS = 3 // before they say anything

/**
 * Reason why an hour is expected to pay off. Keeping the cache warm costs less than an hour, so then only the caller's request counts.
 * Earlier conversations are examined only before the first answer, because later they include this one.
 */
function expectedFrom(context: LayerContext, keepsWarm: boolean): HourExpectationReason | undefined {
  const { asked, earlier, isProgram = false } = context.prior ?? {}
  if (asked !== undefined) return asked === "1h" ? "asked" : undefined
  if (keepsWarm || isProgram) return undefined
  const { expected, begun, turns } = context.views.cacheHistory
  if (expected || (begun && turns > begun.turns)) return expected
  if (!earlier || earlier.conversations < MIN_CONVERSATIONS) return undefined
  const { read, short, long } = lifetimePrices(context)
  const isWorthIt =
    (short - read) * earlier.withinHour.tokens > (long - short) * (earlier.grown + earlier.beyondHour.tokens)
  return isWorthIt ? "earlier" : undefined
}

/**
 * What an hour would have saved over the pauses so far, and the additional cost of writing this part for an hour now. In tokens of plain
 * input.
 */
interface LifetimeGain {
  readonly gain: number
  readonly premium: number
}

function chosenLifetimes(context: LayerContext): ChosenLifetimes {
  const { views, size, prior } = context
  const { pauses, chosen = SHORT } = views.cacheHistory
  const prices = lifetimePrices(context)
  const prompt = views.context.promptTokens
  const { owed, limit } = keepWarmAccount(pauses, {
    ...{ prices, size: size.tokens, comesBack: true }, // the rule looks only at pauses that were
    choosesLifetime: prior?.asked !== "1h",
  })
  const gains = gainsOf(context)
  const pays = ({ gain, premium }: LifetimeGain, spent = 0) => gain >= premium && owed + spent + premium <= limit
  const isCold = isPromptCold(context)
  const forPrompt = isCold ? (pays(gains.prompt) ? "1h" : "5m") : chosen.forPrompt
  if (forPrompt === "5m") return SHORT
  const spent = isCold ? gains.prompt.premium : 0
  const isLong = areMessagesWritten(context)
    ? pays(gains.messages, spent)
    : chosen.forMessages === "1h" && gains.messages.gain >= 0 && owed <= limit
  if (prompt === 0 && !isLong) return SHORT // there is nothing that the hour could keep
  return { forPrompt, forMessages: isLong ? "1h" : "5m" }
}

function gainsOf(context: LayerContext) {
  const { views, size, now } = context
  const { read, short, long } = lifetimePrices(context)
  const { pauses } = views.cacheHistory
  const prompt = views.context.promptTokens
  const { withinHour, beyondHour } = withNewestPause(pauses, now)
  const more = long - short
  const messagesIn = ({ count, tokens }: Pauses["withinHour"]) => Math.max(0, tokens - count * prompt)
  return {
    prompt: {
      gain: ((short - read) * withinHour.count - more * (1 + beyondHour.count)) * prompt,
      premium: more * prompt,
    },
    messages: {
      gain: (short - read) * messagesIn(withinHour) - more * (pauses.grown + messagesIn(beyondHour)),
      premium: more * Math.max(0, size.tokens - prompt),
    },
  } satisfies Record<string, LifetimeGain>
}

/** Whether this request writes everything after the prompt. */
function areMessagesWritten(context: LayerContext): boolean {
  return cacheState(context).state === "cold" || context.views.cacheHistory.changes.includes("compaction")
}

/** Whether the prompt is no longer cached. It may live longer than the messages. */
function isPromptCold(context: LayerContext): boolean {
  const { views, now } = context
  const cache = cacheState(context)
  const last = views.context.lastResponse
  if (cache.state !== "cold" || cache.reason !== "idle" || !last) return cache.state === "cold"
  const idle = now.getTime() - Date.parse(lastUse(last, views).timestamp)
  return idle > LIFETIME_MS[views.cacheHistory.chosen?.forPrompt ?? "5m"]
}

function reasonForExpected(chosen: ChosenLifetimes, expected: HourExpectationReason): string {
  if (chosen === HOUR_FOR_PROMPT)
    return "Messages are cached for five minutes again: from this size on, a pause may compact, and then an hour no longer pays."
  const because =
    expected === "asked" ? "your requests ask for it" : "it would have saved money in your earlier conversations"
  return `Everything is cached for an hour: ${because}.`
}

function reasonForShort({ planner }: LayerContext["flags"], keepsWarm: boolean): string {
  const why =
    planner === "off"
      ? "the planner is off"
      : keepsWarm
        ? "keeping it warm in pauses costs less than an hour"
        : "an hour no longer pays"
  return `The cache is kept for five minutes again: ${why}.`
}

function reasonForHour({ forMessages }: ChosenLifetimes, context: LayerContext): string {
  const gains = gainsOf(context)
  const { count } = withNewestPause(context.views.cacheHistory.pauses, context.now).withinHour
  const after = `${count} ${count === 1 ? "pause" : "pauses"} of 5 to 60 minutes so far`
  if (forMessages === "1h")
    return `Everything is cached for an hour: with ${after}, that would have saved ${describeAmount(gains.messages.gain + gains.prompt.gain, context)}.`
  return `Tools and system prompt are cached for an hour, messages for five minutes: with ${after}, the hour would have saved ${describeAmount(gains.prompt.gain, context)} on the prompt.`
}

// The planner's current state as plain values: when it compacts, how close that is, and what happens to the cache in a pause.

export interface PlannerReport {
  readonly mode: PlannerMode
  /** When it compacts to save money. Absent if it never does. */
  readonly compaction?: PlannedCompaction | undefined
  /** Its decision for the next request with the ready summary, and the reason, in one sentence. */
  readonly decision?: string
  /** `until`: when the server's cache expires. */
  readonly cache: { readonly state: "cold" } | { readonly state: "warm"; readonly until: Date }
  /** How long the cache is kept warm in a pause. */
  readonly pause: PausePlan
  /** The chosen cache lifetimes and the reason, if the planner decided. */
  readonly lifetimes?: (ChosenLifetimes & { readonly why: string }) | undefined
}

export type PlannedCompaction =
  /** Compacts in a pause that costs the cache, or when a new request begins, from this size on. */
  | { readonly where: "between-requests"; readonly from: number }
  /** Compacts once sending the old part again has cost `due`. `at`: expected size at that time, unless the window fills up first. */
  | { readonly where: "anywhere"; readonly spent: string; readonly due: string; readonly at?: number | undefined }

const MAX_TURNS = 10_000 // to look ahead: by then every window is full

/** Builds the report. `tail`: what a compaction with the ready summary would preserve after it. Absent if none is ready. */
export function plannerReport(context: LayerContext, tail?: VerbatimTail): PlannerReport {
  const { planner: mode, cacheLifetime } = context.flags
  const { views } = context
  const last = views.context.lastResponse
  const isCold = cacheState(context).state === "cold" || !last
  const cache = isCold
    ? { state: "cold" as const }
    : { state: "warm" as const, until: expiryTime(lastUse(last, views)) }
  const lifetimes = cacheLifetime === "auto" ? views.cacheHistory.chosen : undefined
  const decision = tail === undefined || mode === "off" ? {} : { decision: decisionFor(context, tail) }
  const report = { mode, ...decision, cache, pause: pausePlan(context), ...(lifetimes ? { lifetimes } : {}) }
  if (mode === "off" || !context.compaction.auto || !costsMoney(context)) return report
  return { ...report, compaction: mode === "balanced" ? betweenRequests(context) : anywhere(context) }
}

function decisionFor(context: LayerContext, tail: VerbatimTail): string {
  const outlook = plannerInputs(context, tail)
  const gain = Math.max(0, compactionGain(outlook))
  if (gain < MIN_GAIN)
    return `Nothing is compacted now: it would replace about ${formatNumber(gain)} tokens, and ${formatNumber(MIN_GAIN)} are the least to gain.`
  const newer = tail.shortened > 0 ? `, ${formatNumber(Math.round(tail.shortened))} of them newer than its summary` : ""
  const would = `a compaction would leave about ${formatNumber(Math.round(remainingWithTail(outlook)))} of ${formatNumber(outlook.context)} tokens${newer}`
  if (plannedCompaction(context, tail) !== undefined) return `The next request compacts: ${would}.`
  const why = turnPhase(context) === "task" ? "in the middle of a task" : "now, because that does not pay yet"
  return `Nothing is compacted ${why}: ${would}. Nothing is cleared where that would save less.`
}

const betweenRequests = (context: LayerContext): PlannedCompaction => ({
  where: "between-requests",
  from: earlySize(context),
})

function anywhere(context: LayerContext): PlannedCompaction {
  const outlook = plannerInputs(context)
  const { rent, price } = compactsNow(outlook)
  const at = probableSize(outlook, context)
  return {
    where: "anywhere",
    spent: describeAmount(rent, context),
    due: describeAmount(price, context),
    ...(at === undefined ? {} : { at }),
  }
}

/** Expected size of the context at the compaction, if the conversation keeps growing as in its latest turns. */
function probableSize(outlook: PlannerInputs, context: LayerContext): number | undefined {
  const growth = growthPerTurn(context.views.context)
  if (growth === 0) return undefined
  let ahead: PlannerInputs = { ...outlook, isCold: false }
  for (let turn = 0; turn < MAX_TURNS && ahead.context < context.thresholds.autoCompact; turn++) {
    if (compactsNow(ahead).compacts) return Math.round(ahead.context)
    ahead = {
      ...ahead,
      context: ahead.context + growth,
      rent: ahead.rent + ahead.prices.read * Math.max(0, ahead.context - ahead.remaining),
      responses: ahead.responses + 1,
    }
  }
  return undefined
}

const expiryTime = ({ timestamp, lifetime }: ReturnType<typeof lastUse>): Date =>
  new Date(Date.parse(timestamp) + LIFETIME_MS[lifetime])
