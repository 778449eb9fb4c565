/**
 * Steps 3 to 5 for each route, cheapest first: a summary is written, checked and weighed. The first that is worth installing is chosen, or
 * the best of the others. Nothing is installed yet.
 */

import { reasonOf } from "../../base/errors.ts"
import type { ModelResponse } from "../../model/model.ts"
import { ROUTE_WORDS } from "../compaction-order.ts"
import {
  ASKS_MODEL,
  type Asking,
  askAndCheck,
  type Check,
  checkFor,
  FIRST,
  isBetter,
  isWanting,
} from "./check/check.ts"
import type { Situation } from "./situation.ts"
import { limited } from "./summarise/budget.ts"
import type { Route, RouteInput, RouteOutcome } from "./summarise/route.ts"
import { type Failure, type Given, type Weighed, weighOrFail } from "./weigh.ts"

const PROGRESS_STEP = 250 // characters

export interface ToChoose {
  readonly situation: Situation
  readonly routes: readonly Route[]
  /** The user's first, then those of hooks. */
  readonly instructions: readonly string[]
  /** Takes only a summary that the check found nothing wrong with. */
  readonly isStrict?: boolean
}

/** What the routes came to, and the answers that were paid for on the way. */
export type Choice = { readonly paid: readonly ModelResponse[] } & (Weighed | Failure | { readonly kind: "given-up" })

/** A summary that is worth installing, and what was paid on the way to it. */
export type Chosen = Choice & Weighed

/** What came of one route. */
interface Tried {
  readonly paid: readonly ModelResponse[]
  /** What it leaves for the next one. */
  readonly asking: Asking
  /** `wanting`: what it says does not match the conversation. It is used, repaired, where no other route gives a better one. */
  readonly found: Weighed | Failure | (Given & { readonly kind: "wanting" }) | { readonly kind: "passed" }
}

const NO_ROUTE: Failure = { kind: "failed", why: "no_summary", message: "no route to a summary was open" }
const WANTING: Failure = {
  kind: "failed",
  why: "no_summary",
  message: "what it says is not what the conversation says",
}

export async function choose({ situation, routes, instructions, isStrict = false }: ToChoose): Promise<Choice> {
  const { signal, progress } = situation.context
  const check = checkFor(situation)
  const tried: Tried[] = []
  const paid = () => tried.flatMap((each) => each.paid)
  for (const route of routes) {
    const asking = tried.at(-1)?.asking ?? FIRST
    if (asking.isAgain && ASKS_MODEL.has(route.name)) continue
    const last = await tryRoute(situation, { route, instructions, check, asking })
    tried.push(last)
    const { found } = last
    if (signal.aborted) return { kind: "given-up", paid: paid() }
    if (found.kind === "passed") continue
    if (found.kind === "weighed") return { ...found, paid: paid() }
    progress({ phase: "message", message: `Not compacted ${ROUTE_WORDS[route.name]}: ${failureOf(found).message}` })
  }
  if (isStrict) return { kind: "given-up", paid: paid() }
  return { ...(await bestOf(situation, tried)), paid: paid() }
}

interface ToTry {
  readonly route: Route
  readonly instructions: readonly string[]
  readonly check: Check
  readonly asking: Asking
}

async function tryRoute(situation: Situation, { route, instructions, check, asking }: ToTry): Promise<Tried> {
  const { context } = situation
  context.progress({ phase: "summarising", route: route.name })
  const paid: ModelResponse[] = []
  const checked = await askAndCheck(situation, {
    ...{ route, instructions, check, asking },
    async ask(wanted) {
      const onProgress = inSteps((characters) =>
        context.progress({ phase: "summarising", route: route.name, characters }),
      )
      const answer = await answerOf(route, { ...situation, instructions: wanted, onProgress })
      if (answer.kind !== "passed") paid.push(...answer.responses)
      return answer.kind === "summary" ? limited(situation, route, answer) : answer
    },
  })
  const { outcome } = checked
  const found = async (): Promise<Tried["found"]> => {
    if (context.signal.aborted) return { kind: "passed" }
    if (outcome.kind === "passed") return { kind: "passed" }
    if (outcome.kind === "failed") return { kind: "failed", why: outcome.why, message: outcome.message }
    // quotations are the last resort: a repaired one is better than a full window
    if (route.name !== "offline" && isWanting(outcome)) return { kind: "wanting", route, outcome }
    return weighOrFail(situation, { route, outcome })
  }
  return { paid, asking: checked.asking, found: await found() }
}

/** A route that throws must not keep the next one from being tried. */
async function answerOf(route: Route, input: RouteInput): Promise<RouteOutcome> {
  try {
    return await route.summarise(input)
  } catch (error) {
    return { kind: "failed", why: "no_summary", message: reasonOf(error), responses: [] }
  }
}

/** Reports in steps, not for every word. An answer that was discarded counts from zero again. */
function inSteps(report: (characters: number) => void): (characters: number) => void {
  let reported = 0
  return (characters) => {
    if (characters < reported) reported = 0
    if (reported > 0 && characters - reported < PROGRESS_STEP) return
    reported = characters
    report(characters)
  }
}

/** The best of those that the check found wanting. */
async function bestOf(
  situation: Situation,
  tried: readonly Tried[],
): Promise<Weighed | Failure | { readonly kind: "given-up" }> {
  const all = tried.map(({ found }) => found)
  let failure = all.reduce<Failure>((before, found) => (found.kind === "passed" ? before : failureOf(found)), NO_ROUTE)
  const wanting = all.filter((found) => found.kind === "wanting")
  for (const given of wanting.toSorted(betterFirst)) {
    const weighed = await weighOrFail(situation, given)
    if (situation.context.signal.aborted) return { kind: "given-up" }
    if (weighed.kind === "weighed") return weighed
    failure = weighed
  }
  return situation.context.signal.aborted ? { kind: "given-up" } : failure
}

const failureOf = (found: Exclude<Tried["found"], { kind: "passed" }>): Failure =>
  found.kind === "failed" ? found : WANTING

const betterFirst = ({ outcome: a }: Given, { outcome: b }: Given): number =>
  Number(isBetter(b, a)) - Number(isBetter(a, b))
