/**
 * Layer 4: when the window fills, it replaces the conversation by a summary, the facts, and what is needed to go on. In six steps, each of
 * which hands on a value: decide and cut (`situation`, `cut`, `made-to-fit`), summarise, check, restore (`choose` runs these for each route),
 * install. Only a compaction that is worth it is journaled, all at once. A failure leaves the conversation as it was.
 */
import { CompactionFailedError } from "../../base/errors.ts"
import { grouped } from "../../base/grouped.ts"
import type { CompactionOrder, Refusal } from "../compaction-order.ts"
import type { Compactor, LayerContext, Outcome } from "../layer.ts"
import { plannedCompaction } from "../planner/compact-now.ts"
import { choose } from "./choose.ts"
import { askHooks } from "./hooks.ts"
import { inAdvance } from "./in-advance.ts"
import { install } from "./install.ts"
import { situationFor } from "./made-to-fit.ts"
import { type CompactionOptions, realTime } from "./options.ts"
import { planOf } from "./plan.ts"
import { type Begun, isRefusal, waitsAfterUndo, waitsForContent } from "./situation.ts"
import { routesOf } from "./summarise/routes.ts"

const ALIVE_MS = 30_000 // how often a long compaction shows that it is still running
const NOTHING: Outcome = { drafts: [] }
const ANNOUNCED = "This conversation is due for a compaction. It begins with your next message."

export function compaction(options: CompactionOptions): Compactor {
  const { reads, timing = realTime } = options
  const routes = routesOf(options)
  /** A hook has refused an early compaction: it is not asked again before every request. */
  let isBlockedByHook = false
  /** Refusals that were reported to the person already. */
  const reported = new Set<string>()
  const advance = inAdvance({ options, routes, allowed, refuse, mayPlan, whileAlive })
  const begun = (context: LayerContext, order: CompactionOrder): Begun => ({ context, order, around: options })

  return {
    name: "compaction",

    async beforeRequest(context) {
      const order = dueNow(context)
      if (!order) return undefined
      const isForced = context.fill.state === "blocked"
      if (context.isOnlyOpened && !isForced) return announced(context, order)
      if (!advance.isOn(context)) return compact(context, order)
      if (isForced) await advance.finished(context)
      const made = await advance.atOnce(begun(context, order))
      if (made || context.signal.aborted) return made
      return isForced ? compact(context, order) : advance.later(begun(context, order))
    },

    compact,

    async plan(context, order) {
      const situation = await situationFor(begun(context, order))
      return isRefusal(situation) ? situation : planOf(situation, routes.routesFor(situation))
    },

    afterResponse: (context) => advance.prepareSoon(context, "working"),
    afterQuery: (context) => advance.prepareSoon(context, "answered"),
    beforeExpiry: (context) => advance.prepareSoon(context, "expiring"),

    prepared: advance.state,
    drop: advance.forget,

    /** Files that were restored are no longer in view. A read that is in view again was forgotten: the file is read once more. */
    undone() {
      advance.forget()
      for (const [path, { toolUseId }] of [...(reads?.entries() ?? [])])
        if (toolUseId === undefined) reads?.forget(path)
    },
  }

  async function compact(context: LayerContext, order: CompactionOrder): Promise<Outcome> {
    const begins = begun(context, order)
    if (order.overflowed && !context.flags.on["compact-reactive"]) return refuse(SWITCHED_OFF, begins)
    const situation = await situationFor(begins)
    if (isRefusal(situation)) return refuse(situation, begins)
    if (order.overflowed) await advance.finished(context)
    const made = order.trigger === "auto" && !order.routes ? await advance.fromPrepared(situation) : undefined
    if (made) return made
    advance.stop()
    return whileAlive(context, async () => {
      const { blocked, instructions } = await allowed(begins)
      if (blocked) return blocked
      const choice = await choose({ situation, routes: routes.routesFor(situation), instructions })
      return install(situation, choice, { forget: advance.forget })
    })
  }

  /** Shows that it goes on, for as long as it does. */
  async function whileAlive<T>({ progress }: LayerContext, work: () => Promise<T>): Promise<T> {
    progress({ phase: "preparing" })
    let seconds = 0
    const stop = timing.every(ALIVE_MS, () => {
      seconds += ALIVE_MS / 1_000
      progress({ phase: "alive", seconds })
    })
    return work().finally(stop)
  }

  /** Why a compaction is due, if it is. */
  function dueNow(context: LayerContext): CompactionOrder | undefined {
    const isFull = context.fill.state === "compact" || context.fill.state === "blocked"
    if (isFull) return waitsForContent(context) ? undefined : { trigger: "auto", ...routesLeft(context) }
    const planned = mayPlan(context) ? plannedCompaction(context, advance.isReady(context)) : undefined
    if (planned === undefined || waitsForContent(context, planned)) return undefined
    return { trigger: "auto", planned }
  }

  /** After failures no model is asked again. Where nothing more fits, quotations are still better than the end of the conversation. */
  function routesLeft({ fill, flags, views }: LayerContext): Pick<CompactionOrder, "routes"> {
    const hasFailed = views.compactions.failures >= flags.figures["compact-failures"]
    const hasQuotations = options.offline !== undefined && flags.on["compact-offline"]
    return fill.state === "blocked" && hasFailed && hasQuotations ? { routes: ["offline"] } : {}
  }

  /** An early compaction can wait: after a failure or an undo it is left to the threshold. */
  function mayPlan(context: LayerContext): boolean {
    const { failures } = context.views.compactions
    return context.compaction.auto && failures === 0 && !waitsAfterUndo(context) && !isBlockedByHook
  }

  /** Nothing was said since the conversation was opened: it may only be looked at. */
  function announced(context: LayerContext, { planned }: CompactionOrder): undefined {
    const why =
      planned ??
      `It has ${grouped(context.size.tokens)} tokens, and ${grouped(context.thresholds.autoCompact)} are the threshold.`
    if (!reported.has(ANNOUNCED)) context.progress({ phase: "message", message: `${ANNOUNCED} ${why}` })
    reported.add(ANNOUNCED)
  }

  /** What the person and hooks want of a summary. `blocked`: a hook keeps it from being made. */
  async function allowed(begins: Begun) {
    const { instructions, blocked } = await askHooks(begins)
    isBlockedByHook = begins.order.planned !== undefined && blocked !== undefined
    return { instructions, blocked: blocked === undefined ? undefined : refuse(blockedBy(blocked), begins) }
  }

  /** A caller who asked gets the refusal as an error. An automatic one is reported once, where the person can do something about it. */
  function refuse({ why, message }: Refusal, { context, order }: Begun): Outcome {
    const failure = new CompactionFailedError(why, message)
    if (order.trigger === "manual" || order.target) throw failure
    const canBeFixed = why !== "switched-off" && why !== "nothing-to-summarise"
    if (canBeFixed && !reported.has(why)) {
      reported.add(why)
      context.progress({ phase: "message", message })
    }
    if (order.overflowed) throw failure // the loop then shows the API's own refusal
    return NOTHING
  }
}

const SWITCHED_OFF: Refusal = {
  kind: "refused",
  why: "switched-off",
  message: "Compacting after the API refused a request is switched off.",
}

const blockedBy = (why: string): Refusal => ({
  kind: "refused",
  why: "blocked-by-hook",
  message: `A hook keeps the conversation from being compacted: ${why}. Nothing was changed.`,
})
