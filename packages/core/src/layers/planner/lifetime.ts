/**
 * How long the server is asked to keep what it caches: five minutes or an hour, for tools and system prompt and for the messages. An hour
 * costs more to write, and reads again after a pause of up to an hour.
 *
 * A conversation begins with what is expected: an hour where the caller asks for one, or where it would have paid in earlier conversations
 * of this owner. That ends where a pause may compact: then a longer life no longer pays.
 *
 * After that the rule is: an hour is chosen once it would have saved, over the pauses so far, at least what it costs now, and the account
 * allows it. It is chosen only where that part is written again in any case, so a change never costs a cache. It ends at once where it no
 * longer pays.
 */
import type { ChosenLifetimes } from "../../journal/entries.ts"
import { LIFETIME_MS } from "../../model/cache/known-entries.ts"
import { lifetimeIn } from "../../views/cache/cache-history.ts"
import { type Pauses, withNewestPause } from "../../views/cache/pauses.ts"
import { cacheState, lastUse } from "../2-microcompact/cache-state.ts"
import type { Layer, LayerContext } from "../layer.ts"
import { accountOf } from "./account.ts"
import { amountOf, earlySize } from "./compact-now.ts"
import { canKeepWarm } from "./keep-warm.ts"
import { type LifetimePrices, lifetimePrices } from "./prices.ts"

export interface LifetimeOptions {
  /** The cache is kept warm in pauses. That costs less than writing for an hour. */
  readonly keepsWarm?: boolean
}

/** Decides before every request and journals each change. */
export function cacheLifetimes({ keepsWarm = false }: LifetimeOptions = {}): Layer {
  return {
    name: "cache-lifetime",
    async beforeRequest(context) {
      const { flags, views } = context
      if (flags.cacheLifetime !== "auto") return undefined
      const chosen = canChoose(context)
        ? (expectedLifetimes(context, keepsWarm) ?? (keepsWarm ? SHORT : chosenLifetimes(context)))
        : SHORT
      if (lifetimeIn(chosen) === lifetimeIn(views.cacheHistory.chosen)) return undefined
      const why =
        chosen === HOUR || chosen === HOUR_FOR_PROMPT
          ? reasonForExpected(chosen, context)
          : chosen.forPrompt === "5m"
            ? reasonForShort(flags, keepsWarm)
            : reasonFor(chosen, context)
      return { drafts: [{ type: "strata", subtype: "cache-lifetime", ...chosen, why }], message: why }
    },
  }
}

/** A model with one price for both has one lifetime. */
function canChoose(context: LayerContext): boolean {
  const { short, long } = lifetimePrices(context)
  return canKeepWarm(context) && short < long
}

const SHORT: ChosenLifetimes = { forPrompt: "5m", forMessages: "5m" }
const HOUR: ChosenLifetimes = { forPrompt: "1h", forMessages: "1h" }
const HOUR_FOR_PROMPT: ChosenLifetimes = { forPrompt: "1h", forMessages: "5m" }

/** Up to the first compaction, where an hour is expected to pay. */
function expectedLifetimes(context: LayerContext, keepsWarm: boolean): ChosenLifetimes | undefined {
  const { views, size } = context
  if (views.compactions.count > 0 || !expectsHour(context, keepsWarm)) return undefined
  return size.tokens < earlySize(context) ? HOUR : HOUR_FOR_PROMPT
}

const LEAST_CONVERSATIONS = 3 // before they say anything

/** Keeping the cache warm costs less than an hour, so then only the caller's own wish counts. */
function expectsHour(context: LayerContext, keepsWarm: boolean): boolean {
  const { asked, earlier, isProgram = false } = context.prior ?? {}
  if (asked !== undefined) return asked === "1h"
  if (keepsWarm || isProgram || !earlier || earlier.conversations < LEAST_CONVERSATIONS) return false
  const { read, short, long } = lifetimePrices(context)
  return (short - read) * earlier.withinHour.tokens > (long - short) * (earlier.grown + earlier.beyondHour.tokens)
}

/** What an hour would have saved over the pauses so far, and what writing this part for an hour costs more now. In tokens of plain input. */
interface Gain {
  readonly gain: number
  readonly premium: number
}

function chosenLifetimes(context: LayerContext): ChosenLifetimes {
  const { views, size, prior } = context
  const { pauses, chosen = SHORT } = views.cacheHistory
  const prices = lifetimePrices(context)
  const prompt = views.context.promptTokens
  const { owed, limit } = accountOf(pauses, {
    ...{ prices, size: size.tokens, comesBack: true }, // the rule looks only at pauses that were
    choosesLifetime: prior?.asked !== "1h",
  })
  const gains = gainsOf(pauses, { prices, prompt, size: size.tokens })
  const pays = ({ gain, premium }: Gain, spent = 0) => gain >= premium && owed + spent + premium <= limit
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

interface Parts {
  readonly prices: LifetimePrices
  /** Tokens of tools and system prompt, and of the whole request. */
  readonly prompt: number
  readonly size: number
}

function gainsOf(pauses: Pauses, { prices: { read, short, long }, prompt, size }: Parts) {
  const { withinHour, beyondHour } = withNewestPause(pauses)
  const more = long - short
  const messagesIn = ({ count, tokens }: Pauses["withinHour"]) => Math.max(0, tokens - count * prompt)
  return {
    prompt: {
      gain: ((short - read) * withinHour.count - more * (1 + beyondHour.count)) * prompt,
      premium: more * prompt,
    },
    messages: {
      gain: (short - read) * messagesIn(withinHour) - more * (pauses.grown + messagesIn(beyondHour)),
      premium: more * Math.max(0, size - prompt),
    },
  } satisfies Record<string, Gain>
}

/** Everything after the prompt is written by this request. */
function areMessagesWritten(context: LayerContext): boolean {
  return cacheState(context).state === "cold" || context.views.cacheHistory.changes.includes("compaction")
}

/** The prompt may live longer than the messages. */
function isPromptCold(context: LayerContext): boolean {
  const { views, now } = context
  const cache = cacheState(context)
  const last = views.context.lastResponse
  if (cache.state !== "cold" || cache.why !== "idle" || !last) return cache.state === "cold"
  const idle = now.getTime() - Date.parse(lastUse(last, views).timestamp)
  return idle > LIFETIME_MS[views.cacheHistory.chosen?.forPrompt ?? "5m"]
}

function reasonForExpected(chosen: ChosenLifetimes, { prior }: LayerContext): string {
  if (chosen === HOUR_FOR_PROMPT)
    return "Messages are cached for five minutes again: from this size on, a pause may compact, and then an hour no longer pays."
  const because =
    prior?.asked === "1h" ? "your requests ask for it" : "it would have saved money in your earlier conversations"
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

function reasonFor({ forMessages }: ChosenLifetimes, context: LayerContext): string {
  const { pauses } = context.views.cacheHistory
  const prices = lifetimePrices(context)
  const parts = { prices, prompt: context.views.context.promptTokens, size: context.size.tokens }
  const gains = gainsOf(pauses, parts)
  const { count } = withNewestPause(pauses).withinHour
  const after = `${count} ${count === 1 ? "pause" : "pauses"} of 5 to 60 minutes so far`
  if (forMessages === "1h")
    return `Everything is cached for an hour: with ${after}, that would have saved ${amountOf(gains.messages.gain + gains.prompt.gain, context)}.`
  return `Tools and system prompt are cached for an hour, messages for five minutes: with ${after}, the hour would have saved ${amountOf(gains.prompt.gain, context)} on the prompt.`
}
