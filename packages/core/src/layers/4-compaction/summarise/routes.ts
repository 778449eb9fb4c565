/** Step 3, summarise. The routes that are open, and the order in which they are tried: the cheapest first. */
import { cacheState } from "../../2-microcompact/cache-state.ts"
import { type PlannedSummary, ROUTES, type RouteName } from "../../compaction-order.ts"
import { type CompactionOptions, realTime } from "../options.ts"
import type { Situation } from "../situation.ts"
import { direct } from "./direct.ts"
import { fromNotes } from "./from-notes.ts"
import type { Route, RouteInput } from "./route.ts"
import { costsLess, server } from "./server.ts"
import { shared } from "./shared.ts"

const BY_HAND: readonly RouteName[] = ["server", "shared", "direct", "offline"] // from notes only if asked for
/** Without its cache a fork reads everything at full price, and it does not see what was cleared. A direct call does. */
const COLD_ORDER: readonly RouteName[] = ["notes", "direct", "server", "shared", "offline"]

export function routesOf({ notes, parent, summariser, offline, timing = realTime }: CompactionOptions) {
  const all = [
    notes && fromNotes({ source: notes, wait: timing.wait }),
    parent && server(parent),
    parent && shared(parent),
    parent && direct(summariser ?? parent.model),
    offline,
  ].filter((route): route is Route => route !== undefined)

  function routesFor(situation: Situation): readonly Route[] {
    const { context, order } = situation
    const { trigger, routes: wanted, written: given } = order
    if (given) return [written(given)]
    const usual = trigger === "manual" ? BY_HAND : ROUTES
    const names = wanted ?? (costsLess(situation) ? usual : usual.filter((name) => name !== "server"))
    const open = all.filter(({ name }) => names.includes(name))
    const cache = cacheState(context)
    return cache.state === "cold" && cache.why !== "no response yet" ? open.toSorted(forkLast) : open
  }

  return { all, routesFor }
}

const forkLast = (a: Route, b: Route): number => COLD_ORDER.indexOf(a.name) - COLD_ORDER.indexOf(b.name)

/** A summary that a plan wrote and a person accepted. No model is asked again. */
const written = ({ text, route: name, last }: PlannedSummary): Route => ({
  name,
  cut: async (input) => (covers(input, last) ? input.cut : undefined),
  summarise: async (input) =>
    covers(input, last)
      ? { kind: "summary", text, cut: input.cut, responses: [] }
      : {
          kind: "failed",
          why: "no_summary",
          message: "the conversation has changed since the summary was written",
          responses: [],
        },
})

const covers = ({ cut }: RouteInput, last: string): boolean => cut.summarised.at(-1)?.uuid === last
