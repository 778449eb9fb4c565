/**
 * Compacting without a wait: with a summary that was written in the background, or with the notes. It decides when one is written, when it
 * is installed, and when another would be paid for nothing.
 */
import { grouped } from "../../base/grouped.ts"
import type { Uuid } from "../../messages/messages.ts"
import { cacheState } from "../2-microcompact/cache-state.ts"
import type { Refusal } from "../compaction-order.ts"
import type { LayerContext, Outcome, PreparedState } from "../layer.ts"
import type { Moment } from "../planner/compact-now.ts"
import { ahead, cutFor, dueSoon, preparedFrom, type Writing } from "./ahead.ts"
import { choose } from "./choose.ts"
import { install, notInstalled, spent } from "./install.ts"
import { situationFor } from "./made-to-fit.ts"
import type { CompactionOptions } from "./options.ts"
import { assess, type Begun, isRefusal, type Situation, situationWith } from "./situation.ts"
import type { Routes } from "./summarise/routes.ts"
import { weigh } from "./weigh.ts"

const MOST_UNFIT = 2 // between two boundaries: then the conversation grows too fast, and a full window waits

/** What it shares with compacting at once. */
interface Parts {
  readonly options: CompactionOptions
  readonly routes: Routes
  allowed(begun: Begun): Promise<{ readonly instructions: readonly string[]; readonly blocked: Outcome | undefined }>
  refuse(refusal: Refusal, begun: Begun): Outcome
  mayPlan(context: LayerContext): boolean
  whileAlive<T>(context: LayerContext, work: () => Promise<T>): Promise<T>
}

export function inAdvance({ options, routes, allowed, refuse, mayPlan, whileAlive }: Parts) {
  /** Only where a model writes: notes and quotations are there at once. */
  const background = options.background ?? (options.parent && ahead(options.parent.toolContext.clock))
  const notesRoute = routes.all.find(({ name }) => name === "notes")
  /** The notes that could not serve, by how far they go. They are not tried again until they go further. */
  let failedNotes: Uuid | undefined
  /** The boundary since which the notes would serve as a summary. */
  let notesServeSince: { readonly boundary: Uuid | undefined } | undefined
  /** Prepared summaries that could not be installed, since this boundary. */
  let unfit: { readonly boundary: Uuid | undefined; readonly count: number } | undefined

  return {
    isOn,
    isReady,
    atOnce,
    fromPrepared,
    later,
    prepareSoon,
    state: (): PreparedState => (background?.ready() ? "ready" : background?.isRunning ? "being-written" : "not-begun"),
    stop: () => background?.stop(),
    forget,

    /** Waits for the summary that is being written, and shows that it does. */
    async finished(context: LayerContext): Promise<void> {
      if (background?.isRunning) await whileAlive(context, () => background.finished(context))
    },
  }

  function forget(): boolean {
    return background?.forget() ?? false
  }

  function isOn({ flags }: LayerContext): boolean {
    return background !== undefined && flags.on["compact-ahead"]
  }

  /** Whether a compaction would make no one wait. */
  function isReady(context: LayerContext): boolean {
    const notesServe = notesServeSince !== undefined && notesServeSince.boundary === boundaryOf(context)
    return background?.ready() !== undefined || notesServe
  }

  /** Without asking a model: with a summary that is ready, or from the notes. */
  async function atOnce(begun: Begun): Promise<Outcome | undefined> {
    const { context } = begun
    const through = context.views.notes.throughUuid
    const notes = notesRoute && through !== failedNotes ? notesRoute : undefined
    if (!background?.ready() && !notes) return undefined
    const situation = await situationFor(begun)
    if (isRefusal(situation)) return undefined
    const made = await fromPrepared(situation)
    if (made || !notes) return made
    // they are there with the next request
    if (options.notes?.running()) return undefined
    const choice = await choose({ situation, routes: [notes], instructions: [], isStrict: true })
    if (choice.kind !== "weighed") {
      if (!context.signal.aborted) failedNotes = through
      notesServeSince = undefined
      return undefined
    }
    const { blocked } = await allowed(begun)
    return blocked ?? install(situation, choice, { forget })
  }

  async function fromPrepared(situation: Situation): Promise<Outcome | undefined> {
    const ready = background?.ready()
    if (!ready) return undefined
    const cut = cutFor(situation, ready)
    const weighed = cut && (await weigh(situation, { route: ready.route, outcome: { ...ready.outcome, cut } }))
    if (situation.context.signal.aborted) return undefined
    if (weighed?.kind === "weighed") {
      const { wasAnswered } = ready
      return install(situation, { ...weighed, paid: [] }, { isPrepared: true, wasAnswered, forget })
    }
    background?.forget()
    if (weighed) unfit = { boundary: boundaryOf(situation.context), count: unfitSince(situation.context) + 1 }
    return undefined
  }

  /** A summary is written in the background, and the request goes out as it is. */
  function later({ context, order }: Begun): undefined {
    // this request writes the cache again: after its answer the summary reads from it
    if (growsTooFast(context) || cacheState(context).state === "cold") return
    if (!background!.isRunning)
      background!.start(context, (now) => write({ context: now, order, around: options }, { isAhead: false }))
  }

  async function prepareSoon(context: LayerContext, moment: Moment): Promise<undefined> {
    if (!background || !isOn(context) || background.isRunning || background.ready()) return undefined
    if (!mayPlan(context) || growsTooFast(context)) return undefined
    const order = dueSoon(context, { seconds: background.seconds, moment })
    if (!order) return undefined
    if (await notesServe({ context, order, around: options })) {
      notesServeSince = { boundary: boundaryOf(context) }
      return undefined
    }
    if (!background.isRunning)
      background.start(context, (now) => write({ context: now, order, around: options }, { isAhead: true }))
    return undefined
  }

  /** Summaries since the last boundary could not be installed. Another would be paid for nothing. */
  function growsTooFast(context: LayerContext): boolean {
    return unfitSince(context) >= MOST_UNFIT
  }

  function unfitSince(context: LayerContext): number {
    return unfit && unfit.boundary === boundaryOf(context) ? unfit.count : 0
  }

  /** Whether the notes would do, as far as that is known without checking them. */
  async function notesServe(begun: Begun): Promise<boolean> {
    const { context } = begun
    const through = context.views.notes.throughUuid
    if (!notesRoute || (through !== undefined && through === failedNotes)) return false
    if (options.notes?.running()) return true
    const quiet = { ...begun, context: { ...context, progress: () => undefined } }
    const situation = assess(quiet, { isAhead: true })
    if (isRefusal(situation)) return false
    const cut = await notesRoute.cut({ ...situation, instructions: [], onProgress: () => undefined })
    if (!cut) return false
    const outcome = { kind: "summary" as const, text: "", cut, responses: [] }
    const weighed = await weigh(situation, { route: notesRoute, outcome })
    return weighed.kind === "weighed" && weighed.doubt === undefined
  }

  /** Writes a summary for later. */
  async function write(begun: Begun, how: { readonly isAhead: boolean }): Promise<Writing> {
    const situation = await situationFor(begun, how)
    if (isRefusal(situation)) return how.isAhead ? { drafts: [] } : refuse(situation, begun)
    const { blocked, instructions } = await allowed(begun)
    if (blocked) return blocked
    const asked = routes.routesFor(situation).filter(({ name }) => name !== "notes")
    // it covers all there is: what is kept beside it is decided when it is installed
    const { figures } = situation
    const whole = situationWith(situation, { ...figures, newest: { ...figures.newest, budget: 0 } })
    const choice = await choose({ situation: whole, routes: asked, instructions })
    if (choice.kind !== "weighed") return notInstalled(whole, choice)
    const { context, order } = begun
    const message = `The next compaction is prepared: ${grouped(choice.cut.summarised.length)} messages are summarised. It is installed when it is due.`
    if (!context.signal.aborted) context.progress({ phase: "message", message })
    return { drafts: spent(choice.paid, order.trigger), prepared: preparedFrom(whole, choice) }
  }
}

const boundaryOf = ({ views }: LayerContext): Uuid | undefined => views.compactions.last?.boundary
