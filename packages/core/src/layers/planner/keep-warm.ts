/**
 * Whether the cache is kept warm while you are away. A request without output reads what is cached, and the server keeps it for longer.
 * That costs a tenth of plain input; writing everything again costs more than ten times as much.
 *
 * The rule: the cache is kept warm for as long as that would have been cheapest over the latest pauses of this conversation. One pause of
 * a usual length counts with them, so there is an answer before the first.
 */
import { LIFETIME_MS, type Lifetime } from "../../model/cache/known-entries.ts"
import { LEAST_PAUSE_MINUTES } from "../../views/cache/pauses.ts"
import { cacheLifetime } from "../2-microcompact/cache-state.ts"
import type { LayerContext } from "../layer.ts"
import { accountOf, usuallyComesBack } from "./account.ts"
import { costsMoney } from "./compact-now.ts"
import { type LifetimePrices, lifetimePrices } from "./prices.ts"

export interface PausePlan {
  /** How long the server keeps it after each request. */
  readonly lifetime: Lifetime
  /** The most requests in this pause. 0: the cache is let go. */
  readonly pings: number
  /** Minutes from the start of the pause until the cache is gone. */
  readonly minutes: number
}

interface WeighedPause {
  readonly minutes: number
  readonly weight: number
}

const MS_PER_MINUTE = 60_000
const LIFE_MINUTES = LIFETIME_MS["5m"] / MS_PER_MINUTE
export const SUMMARY_EARLY = 0.85 // of its lifetime: then a summary reads what is cached, if one is to be written in the pause
export const PING_EARLY = 0.9 // of its lifetime: shortly before what is cached expires
const MOST_PINGS = 100 // in one pause: a working day at five minutes each, more than pays at any known price
const LEAST_CONTEXT = 20_000 // tokens: writing less again costs next to nothing

/**
 * One pause, as far as it is known: in recorded conversations a third of the pauses beyond five minutes end within ten, a third within
 * twenty, half of the rest within an hour, and the other half lasts so long that no one should wait for it.
 */
const USUAL_PAUSE: readonly WeighedPause[] = [
  { minutes: 8, weight: 1 / 3 },
  { minutes: 15, weight: 1 / 3 },
  { minutes: 30, weight: 1 / 12 },
  { minutes: 55, weight: 1 / 12 },
  { minutes: Number.POSITIVE_INFINITY, weight: 1 / 6 },
]

/** When the next request is due after one that has this lifetime. */
export const dueAfterMs = (lifetime: Lifetime): number => PING_EARLY * LIFETIME_MS[lifetime]

/** What happens in a pause. `sent`: how many requests there were in it so far. */
export function pausePlan(context: LayerContext, sent = 0): PausePlan {
  const { views, size, flags } = context
  const { pauses } = views.cacheHistory
  const lifetime = flags.cacheLifetime === "auto" && pauses.hourHolds ? "1h" : "5m"
  const prices = lifetimePrices(context)
  const most = sent + affordable(context, prices)
  const isPossible = most > 0 && size.tokens >= LEAST_CONTEXT && cacheLifetime(views) === "5m" && canKeepWarm(context)
  const own = pauses.recent.map((minutes) => ({ minutes, weight: 1 }))
  const pings = isPossible ? cheapest([...USUAL_PAUSE, ...own], { lifetime, prices, most }) : 0
  return { lifetime, pings, minutes: reach(lifetime, pings) }
}

/** How many more requests the account allows. */
function affordable({ views, size, flags, prior }: LayerContext, prices: LifetimePrices): number {
  const choosesLifetime = flags.cacheLifetime === "auto" && prior?.asked !== "1h"
  const { owed, limit } = accountOf(views.cacheHistory.pauses, {
    ...{ prices, size: size.tokens, choosesLifetime },
    comesBack: usuallyComesBack(prior),
  })
  return Math.max(0, Math.floor((limit - owed) / (prices.read * size.tokens)))
}

/** Whether one more request is sent in this pause, and for how long the server keeps the cache then. */
export function nextPing(context: LayerContext, sent: number): Lifetime | undefined {
  const { lifetime, pings } = pausePlan(context, sent)
  return sent < pings ? lifetime : undefined
}

/** Whether there is money to save. */
export function canKeepWarm(context: LayerContext): boolean {
  const { read, short } = lifetimePrices(context)
  return context.flags.planner !== "off" && costsMoney(context) && read < short
}

interface Pinging {
  readonly lifetime: Lifetime
  readonly prices: LifetimePrices
  /** The most requests that the account allows. */
  readonly most: number
}

/** How many requests would have cost least over these pauses. Never more than a new write costs. */
function cheapest(pauses: readonly WeighedPause[], { lifetime, prices: { read, short }, most }: Pinging): number {
  const write = short - read
  const length = 1 + Math.min(most, Math.floor(write / read), MOST_PINGS)
  const counts = Array.from({ length }, (_, count) => count)
  const gains = counts.map((count) =>
    pauses.reduce((sum, { minutes, weight }) => {
      const isBridged = minutes > LIFE_MINUTES && minutes <= reach(lifetime, count)
      return sum + weight * ((isBridged ? write : 0) - read * sentIn(minutes, { lifetime, count }))
    }, 0),
  )
  return gains.indexOf(Math.max(...gains))
}

/** Minutes after which the cache is gone. What was written lives for five minutes. */
const reach = (lifetime: Lifetime, pings: number): number =>
  pings === 0
    ? LIFE_MINUTES
    : LEAST_PAUSE_MINUTES + ((pings - 1) * dueAfterMs(lifetime) + LIFETIME_MS[lifetime]) / MS_PER_MINUTE

/** How many requests keep the cache through a pause of this length, at least. */
export function pingsThrough(minutes: number): number {
  let pings = 0
  while (reach("1h", pings) < minutes) pings++
  return pings
}

/** How many of `count` requests are sent in a pause of this length. */
function sentIn(minutes: number, { lifetime, count }: { readonly lifetime: Lifetime; readonly count: number }): number {
  if (minutes <= LEAST_PAUSE_MINUTES) return 0
  return Math.min(count, 1 + Math.floor(((minutes - LEAST_PAUSE_MINUTES) * MS_PER_MINUTE) / dueAfterMs(lifetime)))
}
