/**
 * Whether the cache is kept warm while the person is away. A request without output reads what is cached, and the server keeps it for
 * another five minutes. That costs a tenth of plain input; writing it all again costs more than ten times as much.
 *
 * In recorded conversations a third of the pauses beyond five minutes end within ten, and two thirds within twenty. After that too few
 * people come back for the next five minutes to pay.
 */

import type { Views } from "../../views/views.ts"
import { cacheLifetime } from "../2-microcompact/cache-state.ts"
import type { LayerContext } from "../layer.ts"
import { costsMoney } from "./compact-now.ts"
import { pricesOf } from "./prices.ts"

export const PING_EVERY_MS = 4.5 * 60_000 // shortly before what is cached expires
const MOST_PINGS = 3
const LIFE_MS = 5 * 60_000
const REACH_MS = PING_EVERY_MS * MOST_PINGS + LIFE_MS
const LEAST_CONTEXT = 20_000 // tokens: writing less again costs next to nothing
const RECENT_PAUSES = 3

/** How many times the cache is kept warm in a pause that begins now. 0: it is let go. */
export function pingsFor(context: LayerContext): number {
  const { flags, size } = context
  if (flags.planner === "off" || size.tokens < LEAST_CONTEXT || !costsMoney(context)) return 0
  const { read, write } = pricesOf(context)
  if (read >= write || cacheLifetime(context.views) === "1h") return 0
  const affordable = Math.floor((write - read) / read) // never more pings than a new write costs
  return staysAway(context.views) ? 0 : Math.min(MOST_PINGS, affordable)
}

/** Whether the last pauses were all so long that keeping the cache warm did not help. */
function staysAway({ cacheHistory }: Views): boolean {
  const times = cacheHistory.responses.flatMap(({ at }) => (at === undefined ? [] : Date.parse(at)))
  const pauses = times.slice(1).map((time, i) => time - times[i]!)
  const long = pauses.filter((pause) => pause > LIFE_MS).slice(-RECENT_PAUSES)
  return long.length === RECENT_PAUSES && long.every((pause) => pause > REACH_MS)
}
