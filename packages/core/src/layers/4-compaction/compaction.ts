/**
 * Layer 4: when the window fills, it replaces the conversation by a summary, the facts, and what is needed to go on. Plan, then act: only
 * a compaction that is worth it is journaled, all at once. A failure leaves the conversation as it was.
 */
import { CompactionFailedError } from "../../base/errors.ts"
import { grouped } from "../../base/grouped.ts"
import { inSlices } from "../../base/in-slices.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { Accounting } from "../../tokens/accounting.ts"
import { accountSentSteps } from "../../views/context/sent-accounting.ts"
import { cacheState } from "../2-microcompact/cache-state.ts"
import type { CompactionOrder, Refusal } from "../compaction-order.ts"
import type { Compactor, LayerContext, Outcome } from "../layer.ts"
import { type Moment, plannedCompaction } from "../planner/compact-now.ts"
import { ahead, cutFor, dueSoon, preparedFrom, type Writing } from "./ahead.ts"
import { askHooks } from "./ask-hooks.ts"
import { type Attempt, attempt, type Chosen, choose, install, isChosen, type Success, weigh } from "./attempt.ts"
import { spent } from "./install.ts"
import { madeToFit } from "./made-to-fit.ts"
import { type CompactionOptions, realTime } from "./options.ts"
import { planOf } from "./plan.ts"
import { routesOf } from "./routes/routes.ts"
import {
  assess,
  isRefusal,
  measureSteps,
  type Situation,
  situationWith,
  waitsAfterUndo,
  waitsForContent,
} from "./situation.ts"

const ALIVE_MS = 30_000 // how often a long compaction shows that it is still running
const NOTHING: Outcome = { drafts: [] }

export function compaction(options: CompactionOptions): Compactor {
  const { reads, hooks, timing = realTime } = options
  /** Only where a model writes: notes and quotations are there at once. */
  const background = options.background ?? (options.parent && ahead(options.parent.toolContext.clock))
  const { all: routes, routesFor } = routesOf(options)
  /** A hook has refused an early compaction: it is not asked again before every request. */
  let isBlockedByHook = false
  /** Refusals that were reported to the person already. */
  const reported = new Set<string>()
  /** The notes that could not serve, by how far they go. They are not tried again until they go further. */
  let failedNotes: Uuid | undefined
  /** The boundary since which the notes would serve as a summary. */
  let notesServeSince: { readonly boundary: Uuid | undefined } | undefined
  /** Prepared summaries that could not be installed, since this boundary. */
  let unfit: { readonly boundary: Uuid | undefined; readonly count: number } | undefined

  return {
    name: "compaction",

    async beforeRequest(context) {
      const order = dueNow(context)
      if (!order) return undefined
      const isForced = context.fill.state === "blocked"
      if (context.isOnlyOpened && !isForced) return announced(context, order)
      if (!isAhead(context)) return compact(context, order)
      if (isForced) await waitFor(context)
      const made = await atOnce(context, order)
      if (made || context.signal.aborted) return made
      return isForced ? compact(context, order) : later(context, order)
    },

    compact,

    async plan(context, order) {
      const situation = await fitted(context, order)
      return isRefusal(situation) ? situation : planOf(situation, routesFor(situation), options)
    },

    afterResponse: async (context) => prepareSoon(context, "working"),
    afterQuery: async (context) => prepareSoon(context, "answered"),
    beforeExpiry: async (context) => prepareSoon(context, "expiring"),

    prepared: () => (background?.ready() ? "ready" : background?.isRunning ? "being-written" : "not-begun"),
    drop: () => background?.forget() ?? false,

    /** Files that were restored are no longer in view. A read that is in view again was forgotten: the file is read once more. */
    undone() {
      background?.forget()
      for (const [path, { toolUseId }] of [...(reads?.entries() ?? [])])
        if (toolUseId === undefined) reads?.forget(path)
    },
  }

  async function compact(context: LayerContext, order: CompactionOrder): Promise<Outcome> {
    if (order.overflowed && !context.flags.on["compact-reactive"]) return refuse(SWITCHED_OFF, context, order)
    const situation = await fitted(context, order)
    if (isRefusal(situation)) return refuse(situation, context, order)
    if (order.overflowed) await waitFor(context)
    const made = order.trigger === "auto" && !order.routes ? await fromPrepared(situation) : undefined
    if (made) return made
    background?.stop()
    context.progress({ phase: "preparing" })
    const stop = timing.every(ALIVE_MS, aliveFrom(context))
    try {
      const { blocked, instructions } = await allowed(context, order)
      if (blocked) return blocked
      return outcomeOf(situation, await attempt({ situation, routes: routesFor(situation), instructions, options }))
    } finally {
      stop()
    }
  }

  function isAhead({ flags }: LayerContext): boolean {
    return background !== undefined && flags.on["compact-ahead"]
  }

  /** Why a compaction is due, if it is. */
  function dueNow(context: LayerContext): CompactionOrder | undefined {
    const isFull = context.fill.state === "compact" || context.fill.state === "blocked"
    if (isFull) return waitsForContent(context) ? undefined : { trigger: "auto" }
    const planned = mayPlan(context) && !isBlockedByHook ? plannedCompaction(context, isPrepared(context)) : undefined
    if (planned === undefined || waitsForContent(context, planned)) return undefined
    return { trigger: "auto", planned }
  }

  /** Whether a compaction would make no one wait. */
  function isPrepared({ views }: LayerContext): boolean {
    const boundary = views.compactions.last?.boundary
    return background?.ready() !== undefined || (notesServeSince !== undefined && notesServeSince.boundary === boundary)
  }

  /** Nothing was said since the conversation was opened: it may only be looked at. */
  function announced(context: LayerContext, { planned }: CompactionOrder): undefined {
    const why =
      planned ??
      `It has ${grouped(context.size.tokens)} tokens, and ${grouped(context.thresholds.autoCompact)} are the threshold.`
    if (!reported.has(ANNOUNCED)) context.progress({ phase: "message", message: `${ANNOUNCED} ${why}` })
    reported.add(ANNOUNCED)
  }

  /** Without asking a model: with a summary that is ready, or from the notes. */
  async function atOnce(context: LayerContext, order: CompactionOrder): Promise<Outcome | undefined> {
    const through = context.views.notes.throughUuid
    const notes = routes.filter(({ name }) => name === "notes" && through !== failedNotes)
    if (!background?.ready() && notes.length === 0) return undefined
    const situation = await fitted(context, order)
    if (isRefusal(situation)) return undefined
    const made = await fromPrepared(situation)
    if (made || notes.length === 0) return made
    // they are there with the next request
    if (options.notes?.running()) return undefined
    const chosen = await choose({ situation, routes: notes, instructions: [], options, isStrict: true })
    if (!isChosen(chosen)) {
      if (!context.signal.aborted) failedNotes = through
      notesServeSince = undefined
      return undefined
    }
    const { blocked } = await allowed(context, order)
    return blocked ?? outcomeOf(situation, await install(situation, chosen))
  }

  async function fromPrepared(situation: Situation): Promise<Outcome | undefined> {
    const ready = background?.ready()
    if (!ready) return undefined
    const { route } = ready
    const cut = cutFor(situation, ready)
    const weighed = cut && (await weigh(situation, { route, outcome: { ...ready.outcome, cut }, options }))
    if (situation.context.signal.aborted) return undefined
    if (!weighed || !("after" in weighed)) {
      background?.forget()
      const boundary = situation.context.views.compactions.last?.boundary
      if (weighed) unfit = { boundary, count: 1 + (unfit && unfit.boundary === boundary ? unfit.count : 0) }
      return undefined
    }
    return outcomeOf(situation, await install(situation, { ...weighed, route, paid: [], options, isPrepared: true }))
  }

  /** A summary is written in the background, and the request goes out as it is. */
  function later(context: LayerContext, order: CompactionOrder): undefined {
    // this request writes the cache again: after its answer the summary reads from it
    if (growsTooFast(context) || cacheState(context).state === "cold") return
    if (!background!.isRunning) background!.start(context, (now) => write(now, order, { isAhead: false }))
  }

  /** Summaries since the last boundary could not be installed. Another would be paid for nothing. */
  function growsTooFast({ views }: LayerContext): boolean {
    return unfit !== undefined && unfit.boundary === views.compactions.last?.boundary && unfit.count >= MOST_UNFIT
  }

  /** Waits for the summary that is being written, and shows that it does. */
  async function waitFor(context: LayerContext): Promise<void> {
    if (!background?.isRunning) return
    context.progress({ phase: "preparing" })
    const stop = timing.every(ALIVE_MS, aliveFrom(context))
    await background.finished(context).finally(stop)
  }

  async function prepareSoon(context: LayerContext, moment: Moment): Promise<undefined> {
    if (!background || !isAhead(context) || background.isRunning || background.ready()) return undefined
    if (!mayPlan(context) || isBlockedByHook || growsTooFast(context)) return undefined
    const order = dueSoon(context, { seconds: background.seconds, moment })
    if (!order) return undefined
    if (await notesServe(context, order)) {
      notesServeSince = { boundary: context.views.compactions.last?.boundary }
      return undefined
    }
    if (!background.isRunning) background.start(context, (now) => write(now, order, { isAhead: true }))
    return undefined
  }

  /** Whether the notes would do, as far as that is known without checking them. */
  async function notesServe(context: LayerContext, order: CompactionOrder): Promise<boolean> {
    const route = routes.find(({ name }) => name === "notes")
    const through = context.views.notes.throughUuid
    if (!route || (through !== undefined && through === failedNotes)) return false
    if (options.notes?.running()) return true
    const situation = assess({ ...context, progress: () => undefined }, order, { isAhead: true })
    if (isRefusal(situation)) return false
    const cut = await route.cut({ ...situation, instructions: [], onProgress: () => undefined })
    if (!cut) return false
    const outcome = { kind: "summary" as const, text: "", cut, responses: [] }
    const weighed = await weigh(situation, { route, outcome, options })
    return "after" in weighed && weighed.doubt === undefined
  }

  /** Writes a summary for later. */
  async function write(
    context: LayerContext,
    order: CompactionOrder,
    how: { readonly isAhead: boolean },
  ): Promise<Writing> {
    const situation = await fitted(context, order, how)
    if (isRefusal(situation)) return how.isAhead ? NOTHING : refuse(situation, context, order)
    const { blocked, instructions } = await allowed(context, order)
    if (blocked) return blocked
    const asked = routesFor(situation).filter(({ name }) => name !== "notes")
    // it covers all there is: what is kept beside it is decided when it is installed
    const { figures } = situation
    const whole = situationWith(situation, { ...figures, newest: { ...figures.newest, budget: 0 } })
    const chosen = await choose({ situation: whole, routes: asked, instructions, options })
    if (!isChosen(chosen)) return { drafts: chosen.drafts }
    const prepared = preparedFrom(whole, chosen)
    if (!context.signal.aborted) context.progress({ phase: "message", message: readySentence(chosen) })
    return { drafts: spent(chosen.paid, order.trigger), prepared }
  }

  /** What the person and hooks want of a summary. `blocked`: a hook keeps it from being made. */
  async function allowed(context: LayerContext, order: CompactionOrder) {
    const { instructions, blocked } = await askHooks(options, { context, order })
    isBlockedByHook = order.planned !== undefined && blocked !== undefined
    return { instructions, blocked: blocked === undefined ? undefined : refuse(blockedBy(blocked), context, order) }
  }

  async function outcomeOf({ context, order }: Situation, { drafts, success }: Attempt): Promise<Outcome> {
    if (!success) return { drafts }
    const content = await inSlices(accountSentSteps(context.views))
    const { restored, failed } = success.after.files
    const counts = { "files.restored": restored, "files.failed": failed }
    return { drafts, counts, journaled: (now) => installed(now, { ...success, trigger: order.trigger, content }) }
  }

  /** What it starts from, made to fit before anyone is asked. */
  async function fitted(context: LayerContext, order: CompactionOrder, how?: { readonly isAhead: boolean }) {
    await inSlices(context.views.catchUpSteps(), { signal: context.signal }) // what the record shows is read below
    await inSlices(measureSteps(context), { signal: context.signal })
    const situation = assess(context, order, how)
    return isRefusal(situation) ? situation : madeToFit(situation, options)
  }

  /** Forgets what the tools knew of the old view, and remembers what the new one shows. */
  async function installed(
    context: LayerContext,
    { after, summary, trigger, facts, content }: Installed,
  ): Promise<void> {
    background?.forget()
    for (const [path] of [...(reads?.entries() ?? [])]) reads?.forget(path)
    for (const [path, read] of after.reads) reads?.set(path, read)
    context.progress({ phase: "done", ...facts, content })
    const said = await hooks?.after({ trigger, summary, signal: context.signal })
    for (const message of said?.messages ?? []) context.progress({ phase: "message", message })
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

/** An early compaction can wait: after a failure or an undo it is left to the threshold. */
const mayPlan = (context: LayerContext): boolean =>
  context.compaction.auto && context.views.compactions.failures === 0 && !waitsAfterUndo(context)

const MOST_UNFIT = 2 // between two boundaries: then the conversation grows too fast, and a full window waits
const ANNOUNCED = "This conversation is due for a compaction. It begins with your next message."

const readySentence = ({ cut }: Chosen): string =>
  `The next compaction is prepared: ${grouped(cut.summarised.length)} messages are summarised. It is installed when it is due.`

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
