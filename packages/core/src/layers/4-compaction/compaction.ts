/**
 * Layer 4: when the window fills, it replaces the conversation by a summary, the facts, and what is needed to go on. Plan, then act: only
 * a compaction that is worth it is journaled, all at once. A failure leaves the conversation as it was.
 */
import { CompactionFailedError } from "../../base/errors.ts"
import type { Accounting } from "../../tokens/accounting.ts"
import { unlessInterrupted } from "../../tools/interruption.ts"
import { accountSent } from "../../views/context/sent-accounting.ts"
import { cacheState } from "../2-microcompact/cache-state.ts"
import { type CompactionOrder, type Refusal, ROUTES, type RouteName } from "../compaction-order.ts"
import type { Compactor, LayerContext, Outcome } from "../layer.ts"
import { plannedCompaction } from "../planner/compact-now.ts"
import { ahead } from "./ahead.ts"
import { attempt, type Success } from "./attempt.ts"
import { madeToFit } from "./made-to-fit.ts"
import { type CompactionOptions, realTime } from "./options.ts"
import { planOf } from "./plan.ts"
import { direct } from "./routes/direct.ts"
import { fromNotes } from "./routes/from-notes.ts"
import type { Route } from "./routes/route.ts"
import { shared } from "./routes/shared.ts"
import { written } from "./routes/written.ts"
import { assess, isRefusal, waitsAfterUndo, waitsForContent } from "./situation.ts"

const ALIVE_MS = 30_000 // how often a long compaction shows that it is still running
const BY_HAND: readonly RouteName[] = ["shared", "direct", "offline"] // from notes only if asked for
const NOTHING: Outcome = { drafts: [] }

export function compaction(options: CompactionOptions): Compactor {
  const { reads, hooks, timing = realTime } = options
  const prepared = options.parent && ahead(options.parent)
  const routes = [
    prepared?.route,
    options.notes && fromNotes({ source: options.notes, wait: timing.wait }),
    options.parent && shared(options.parent),
    options.parent && direct(options.summariser ?? options.parent.model),
    options.offline,
  ].filter((route): route is Route => route !== undefined)
  /** A hook has refused an early compaction: it is not asked again before every request. */
  let isBlockedByHook = false
  /** Refusals that were reported to the person already. */
  const reported = new Set<string>()

  return {
    name: "compaction",

    async beforeRequest(context) {
      const isFull = context.fill.state === "compact" || context.fill.state === "blocked"
      if (isFull) return waitsForContent(context) ? undefined : compact(context, { trigger: "auto" })
      const planned = mayPlan(context) && !isBlockedByHook ? plannedCompaction(context) : undefined
      if (planned === undefined || waitsForContent(context, planned)) return undefined
      return compact(context, { trigger: "auto", planned })
    },

    compact,

    async plan(context, order) {
      const situation = await fitted(context, order)
      return isRefusal(situation) ? situation : planOf(situation, routesFor(order, context), options)
    },

    async afterResponse(context) {
      if (!prepared || !context.compaction.auto || waitsAfterUndo(context)) return undefined
      return { drafts: await prepared.prepare(context, options.guidance?.() ?? []) }
    },

    /** Files that were restored are no longer in view. A read that is in view again was forgotten: the file is read once more. */
    undone() {
      prepared?.forget()
      for (const [path, { toolUseId }] of [...(reads?.entries() ?? [])])
        if (toolUseId === undefined) reads?.forget(path)
    },
  }

  async function compact(context: LayerContext, order: CompactionOrder): Promise<Outcome> {
    if (order.overflowed && !context.flags.on["compact-reactive"]) return refuse(SWITCHED_OFF, context, order)
    const situation = await fitted(context, order)
    if (isRefusal(situation)) return refuse(situation, context, order)
    context.progress({ phase: "preparing" })
    const stop = timing.every(ALIVE_MS, aliveFrom(context))
    try {
      const before = await askHooks(context, order)
      isBlockedByHook = order.planned !== undefined && before.blocked !== undefined
      if (before.blocked !== undefined) return refuse(blockedBy(before.blocked), context, order)
      const instructions = before.instructions
      const { drafts, success } = await attempt({ situation, routes: routesFor(order, context), instructions, options })
      if (!success) return { drafts }
      const content = accountSent(context.views)
      const { restored, failed } = success.after.files
      const counts = { "files.restored": restored, "files.failed": failed }
      return { drafts, counts, journaled: (now) => installed(now, { ...success, trigger: order.trigger, content }) }
    } finally {
      stop()
    }
  }

  /** What it starts from, made to fit before anyone is asked. */
  async function fitted(context: LayerContext, order: CompactionOrder) {
    const situation = assess(context, order)
    return isRefusal(situation) ? situation : madeToFit(situation, options)
  }

  /** Forgets what the tools knew of the old view, and remembers what the new one shows. */
  async function installed(
    context: LayerContext,
    { after, summary, trigger, facts, content }: Installed,
  ): Promise<void> {
    prepared?.forget()
    for (const [path] of [...(reads?.entries() ?? [])]) reads?.forget(path)
    for (const [path, read] of after.reads) reads?.set(path, read)
    context.progress({ phase: "done", ...facts, content })
    const said = await hooks?.after({ trigger, summary, signal: context.signal })
    for (const message of said?.messages ?? []) context.progress({ phase: "message", message })
  }

  /** The user's instructions first, then those of hooks. */
  async function askHooks(context: LayerContext, { trigger, instructions = "" }: CompactionOrder) {
    const own = [instructions, ...(options.guidance?.() ?? [])].filter((text) => text.trim() !== "")
    if (!hooks) return { instructions: own, blocked: undefined }
    const { signal, progress } = context
    const about = { trigger, instructions: own.join("\n\n"), signal, progress }
    const asked = await unlessInterrupted(signal, hooks.before(about))
    if (asked.state === "interrupted") throw context.signal.reason
    const answer = asked.value
    for (const message of answer.messages) context.progress({ phase: "message", message })
    return { instructions: [answer.instructions].filter((text) => text !== ""), blocked: answer.blocked }
  }

  function routesFor(order: CompactionOrder, context: LayerContext): readonly Route[] {
    const { trigger, routes: wanted, written: given } = order
    if (given) return [written(given)]
    const names = wanted ?? (trigger === "manual" ? BY_HAND : ROUTES)
    const open = routes.filter(({ name }) => names.includes(name))
    const cache = cacheState(context)
    return cache.state === "cold" && cache.why !== "no response yet" ? open.toSorted(forkLast) : open
  }

  /** A caller who asked gets the refusal as an error. An automatic one is reported once, where the person can do something about it. */
  function refuse({ why, message }: Refusal, context: LayerContext, order: CompactionOrder): Outcome {
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

/** Without its cache a fork reads everything at full price, and it does not see what was cleared. A direct call does. */
const forkLast = (a: Route, b: Route): number => COLD_ORDER.indexOf(a.name) - COLD_ORDER.indexOf(b.name)
const COLD_ORDER: readonly RouteName[] = ["prepared", "notes", "direct", "shared", "offline"]

/** An early compaction can wait: after a failure or an undo it is left to the threshold. */
const mayPlan = (context: LayerContext): boolean =>
  context.compaction.auto && context.views.compactions.failures === 0 && !waitsAfterUndo(context)

/** A compaction that is in the journal. */
interface Installed extends Success, Pick<CompactionOrder, "trigger"> {
  /** Where the context had gone before it. */
  readonly content: Accounting
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

function aliveFrom({ progress }: LayerContext): () => void {
  let seconds = 0
  return () => {
    seconds += ALIVE_MS / 1_000
    progress({ phase: "alive", seconds })
  }
}
