/**
 * Layer 4: when the window fills, it replaces the conversation by a summary, the facts, and what is needed to go on. In six steps, each of
 * which hands on a value: decide and cut (`situation`, `cut`, `made-to-fit`), summarise, check, restore (`choose` runs these for each route),
 * install. Only a compaction that is worth it is journaled, all at once. A failure leaves the conversation as it was.
 */
import { CompactionFailedError } from "../../base/errors.ts"
import { grouped } from "../../base/text.ts"
import { cacheState } from "../2-microcompact/survey.ts"
import type { DraftHolder } from "../3-session-memory/draft.ts"
import type { CompactionOrder, Compactor, LayerContext, Outcome, Refusal, Tail, UpcomingCompaction } from "../layer.ts"
import {
  gainOf,
  MIN_GAIN,
  mayPlan,
  openingOf,
  outlookOf,
  plannedCompaction,
  worthOfCompaction,
} from "../planner/outlook.ts"
import { isSinceBoundary, NO_TAIL, tailAfter } from "../planner/tail.ts"
import { type Choice, choose, planOf } from "./choose.ts"
import { askHooks, install, type NotesUse } from "./install.ts"
import { situationFor } from "./made-to-fit.ts"
import { type CompactionOptions, realTime } from "./options.ts"
import { type Begun, isRefusal, type Situation, waitsForContent } from "./situation.ts"
import { routesOf } from "./summarise/routes.ts"

const ALIVE_MS = 30_000 // how often a long compaction shows that it is still running
const NOTHING: Outcome = { drafts: [] }
const ANNOUNCED = "This conversation is due for a compaction. It begins with your next message."

export function compaction(options: CompactionOptions): Compactor {
  const { reads, notes, timing = realTime } = options
  const routes = routesOf(options)
  const fromNotesOnly = routes.all.filter(({ name }) => name === "notes")
  /** A hook has refused an early compaction: it is not asked again before every request. */
  let isBlockedByHook = false
  /** Refusals that were reported to the person already. */
  const reported = new Set<string>()
  const begun = (context: LayerContext, order: CompactionOrder): Begun => ({ context, order, around: options })

  return {
    name: "compaction",

    async beforeRequest(context) {
      const draft = draftIn(context)
      const order = dueNow(context)
      if (!order) {
        // someone who interrupts a task leaves no pause before it in which notes could be written
        if (openingOf(context) === "request" && !context.isOnlyOpened) draft?.follow(context, "answered")
        return undefined
      }
      const isForced = context.fill.state === "blocked"
      if (context.isOnlyOpened && !isForced) return announced(context, order)
      if (!draft) return compact(context, order)
      const made = await fromNotes(draft, begun(context, order))
      if (made || context.signal.aborted) return made
      if (isForced) return compact(context, order)
      // this request writes a cold cache again: after its answer the update reads from it
      if (cacheState(context).state !== "cold") draft.follow(context, "answered")
      return undefined
    },

    compact,

    async plan(context, order) {
      const situation = await situationFor(begun(context, order))
      return isRefusal(situation) ? situation : planOf(situation, routes.routesFor(situation))
    },

    upcoming,
    drop: (context) => notes?.draft.drop(context) ?? false,

    /** Files that were restored are no longer in view. A read that is in view again was forgotten: the file is read once more. */
    undone() {
      for (const [path, { toolUseId }] of [...(reads?.entries() ?? [])])
        if (toolUseId === undefined) reads?.forget(path)
    },
  }

  /** The notes, where they are written ahead of a compaction and become its summary. */
  function draftIn({ flags: { on } }: LayerContext): DraftHolder | undefined {
    return notes?.asksModel && on.notes && on["compact-from-notes"] && on["compact-ahead"] ? notes.draft : undefined
  }

  /** What would be kept verbatim after the summary that is ready. Without a model that is a quotation of everything. */
  function tail(context: LayerContext): Tail | undefined {
    const draft = draftIn(context)
    if (!draft) return options.parent ? undefined : NO_TAIL
    const text = draft.ready(context)
    return text && tailAfter(context, text.through)
  }

  function upcoming(context: LayerContext): UpcomingCompaction {
    const draft = draftIn(context)
    const state = draft?.state(context) ?? "not-begun"
    const kept = tail(context)
    if (kept === undefined || !mayPlan(context) || isBlockedByHook)
      return { state: state === "ready" ? "not-begun" : state, isNow: false }
    const outlook = outlookOf(context, kept)
    if (gainOf(outlook) < MIN_GAIN) return { state: "not-begun", tail: kept, isNow: false }
    const worth = worthOfCompaction(outlook, context.flags.figures["expected-turns"])
    return { state, tail: kept, isNow: dueNow(context) !== undefined, worth }
  }

  /** Nothing where the notes cannot be installed as they are: then they are updated first. */
  async function fromNotes(draft: DraftHolder, begins: Begun): Promise<Outcome | undefined> {
    const { context } = begins
    const text = draft.ready(context)
    const situation = text && (await situationFor(begins))
    if (!situation || isRefusal(situation)) return undefined
    const choice = await choose({ situation, routes: fromNotesOnly, instructions: [], isStrict: true })
    if (context.signal.aborted) return undefined
    if (choice.kind !== "weighed") {
      draft.unfit(context)
      return undefined
    }
    const { blocked, wishes } = await allowed(situation)
    if (blocked) return blocked
    if (wishes !== text.wishes) {
      draft.wishes = wishes
      draft.unfit(context)
      return undefined
    }
    return install(situation, choice, { isPrepared: true, paidBefore: draft.installed(), notes: "used" })
  }

  /** For telemetry: why the notes are the summary, or are not. */
  async function notesUse({ context, order }: Situation, choice: Choice): Promise<NotesUse | undefined> {
    if (order.trigger === "manual") return undefined
    if (choice.kind === "weighed" && choice.route.name === "notes") return "used"
    if (!notes || !draftIn(context)) return "off"
    const through = context.views.notes.throughUuid
    if (through === undefined) return "none"
    if ((await notes.summary(context)) === undefined) return "empty-template"
    return isSinceBoundary(context, through) ? "too-large" : "position-unknown"
  }

  async function compact(context: LayerContext, order: CompactionOrder): Promise<Outcome> {
    const begins = begun(context, order)
    if (order.overflowed && !context.flags.on["compact-reactive"]) return refuse(SWITCHED_OFF, begins)
    const situation = await situationFor(begins)
    if (isRefusal(situation)) return refuse(situation, begins)
    return whileAlive(context, async () => {
      const { blocked, instructions } = await allowed(begins)
      if (blocked) return blocked
      const choice = await choose({ situation, routes: routes.routesFor(situation), instructions })
      const use = await notesUse(situation, choice)
      return install(situation, choice, use ? { notes: use } : {})
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
    const planned = mayPlan(context) && !isBlockedByHook ? plannedCompaction(context, tail(context)) : undefined
    if (planned === undefined || waitsForContent(context, planned)) return undefined
    return { trigger: "auto", planned }
  }

  /** After failures no model is asked again. Where nothing more fits, quotations are still better than the end of the conversation. */
  function routesLeft({ fill, flags, views }: LayerContext): Pick<CompactionOrder, "routes"> {
    const hasFailed = views.compactions.failures >= flags.figures["compact-failures"]
    const hasQuotations = options.offline !== undefined && flags.on["compact-offline"]
    return fill.state === "blocked" && hasFailed && hasQuotations ? { routes: ["offline"] } : {}
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
    const { blocked, ...wanted } = await askHooks(begins)
    isBlockedByHook = begins.order.planned !== undefined && blocked !== undefined
    return { ...wanted, blocked: blocked === undefined ? undefined : refuse(blockedBy(blocked), begins) }
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
