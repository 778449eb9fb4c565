/**
 * How long the server is asked to keep what it caches: five minutes or an hour, for tools and system prompt and for the messages. An hour
 * costs more to write, and reads again after a pause of up to an hour.
 *
 * A conversation begins with what is expected: an hour where the caller asks for one, or where it would have paid in earlier conversations
 * of this owner. That ends where a pause may compact: then a longer life no longer pays. What was expected is journaled, so that closing
 * the conversation changes nothing.
 *
 * After that the rule is: an hour is chosen once it would have saved, over the pauses so far, at least what it costs now, and the account
 * allows it. It is chosen only where that part is written again in any case, so a change never costs a cache. It ends at once where it no
 * longer pays.
 */
import type { ChosenLifetimes } from "../../journal/entries.ts"
import { LIFETIME_MS } from "../../model/cache/known-entries.ts"
import { type ExpectedFrom, lifetimeIn } from "../../views/cache/cache-history.ts"
import { type Pauses, withNewestPause } from "../../views/cache/pauses.ts"
import { cacheState, lastUse } from "../2-microcompact/cache-state.ts"
import type { Layer, LayerContext } from "../layer.ts"
import { accountOf } from "./account.ts"
import { amountOf, earlySize } from "./compact-now.ts"
import { canKeepWarm } from "./keep-warm.ts"
import { lifetimePrices } from "./prices.ts"

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
      const { chosen, expected } = decided(context, { keepsWarm })
      if (lifetimeIn(chosen) === lifetimeIn(views.cacheHistory.chosen)) return undefined
      const why = expected
        ? reasonForExpected(chosen, expected)
        : chosen.forPrompt === "5m"
          ? reasonForShort(flags, keepsWarm)
          : reasonFor(chosen, context)
      const draft = { type: "strata", subtype: "cache-lifetime", ...chosen, why } as const
      return { drafts: [expected ? { ...draft, expected } : draft], message: why }
    },
    nextLifetime: (context, compacted) => {
      const size = compacted === undefined ? context.size : { ...context.size, tokens: compacted }
      return lifetimeIn(decided({ ...context, size }, { keepsWarm, isCompacted: compacted !== undefined }).chosen)
    },
  }
}

interface Deciding {
  readonly keepsWarm: boolean
  /** It is asked about a request after a compaction that has not been made. */
  readonly isCompacted?: boolean
}

function decided(context: LayerContext, { keepsWarm, isCompacted = false }: Deciding) {
  if (!canChoose(context)) return { chosen: SHORT }
  const isBeginning = !isCompacted && context.views.compactions.count === 0
  const expected = isBeginning ? expectedFrom(context, keepsWarm) : undefined
  if (expected) return { chosen: context.size.tokens < earlySize(context) ? HOUR : HOUR_FOR_PROMPT, expected }
  return { chosen: keepsWarm ? SHORT : chosenLifetimes(context) }
}

/** A model with one price for both has one lifetime. */
function canChoose(context: LayerContext): boolean {
  const { short, long } = lifetimePrices(context)
  return canKeepWarm(context) && short < long
}

const SHORT: ChosenLifetimes = { forPrompt: "5m", forMessages: "5m" }
const HOUR: ChosenLifetimes = { forPrompt: "1h", forMessages: "1h" }
const HOUR_FOR_PROMPT: ChosenLifetimes = { forPrompt: "1h", forMessages: "5m" }

const LEAST_CONVERSATIONS = 3 // before they say anything

/**
 * Why an hour is expected to pay. Keeping the cache warm costs less than an hour, so then only the caller's own wish counts. Earlier
 * conversations are looked at before the first answer: later they have this one among them.
 */
function expectedFrom(context: LayerContext, keepsWarm: boolean): ExpectedFrom | undefined {
  const { asked, earlier, isProgram = false } = context.prior ?? {}
  if (asked !== undefined) return asked === "1h" ? "asked" : undefined
  if (keepsWarm || isProgram) return undefined
  const { expected, begun, turns } = context.views.cacheHistory
  if (expected || (begun && turns > begun.turns)) return expected
  if (!earlier || earlier.conversations < LEAST_CONVERSATIONS) return undefined
  const { read, short, long } = lifetimePrices(context)
  const isWorthIt =
    (short - read) * earlier.withinHour.tokens > (long - short) * (earlier.grown + earlier.beyondHour.tokens)
  return isWorthIt ? "earlier" : undefined
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
  const gains = gainsOf(context)
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

function reasonForExpected(chosen: ChosenLifetimes, expected: ExpectedFrom): string {
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

function reasonFor({ forMessages }: ChosenLifetimes, context: LayerContext): string {
  const gains = gainsOf(context)
  const { count } = withNewestPause(context.views.cacheHistory.pauses, context.now).withinHour
  const after = `${count} ${count === 1 ? "pause" : "pauses"} of 5 to 60 minutes so far`
  if (forMessages === "1h")
    return `Everything is cached for an hour: with ${after}, that would have saved ${amountOf(gains.messages.gain + gains.prompt.gain, context)}.`
  return `Tools and system prompt are cached for an hour, messages for five minutes: with ${after}, the hour would have saved ${amountOf(gains.prompt.gain, context)} on the prompt.`
}
