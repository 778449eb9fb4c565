/**
 * Layer 3: a fork keeps notes in the background while the work goes on, so a compaction finds its summary ready. Updates run one at a
 * time. One that becomes due during another waits for it and then starts from the newest state.
 */
import { dayOf } from "../../base/clock.ts"
import { reasonOf } from "../../base/errors.ts"
import { grouped } from "../../base/grouped.ts"
import type { Uuid } from "../../messages/messages.ts"
import { MissingKeyError } from "../../model/errors.ts"
import { isOffline } from "../../model/model.ts"
import { limitsFrom } from "../../model/stream-limits.ts"
import type { Flags } from "../../settings/flags.ts"
import { unlessInterrupted } from "../../tools/interruption.ts"
import { type BudgetAnswer, backgroundBudget, forkSpent, spendingOf } from "../background-budget.ts"
import { type ShareOfDay, settled, takeShare } from "../daily-limit.ts"
import { dollarsFor, expectedDollars } from "../dollars-for.ts"
import type { Layer, LayerContext, Outcome } from "../layer.ts"
import { positionOf } from "../position.ts"
import { keptName, notesOfBranch } from "./branch-notes.ts"
import { areNotesDue, type NotesBudget, notesBudget } from "./due.ts"
import { extractNotes } from "./extraction.ts"
import { whereNotesAre } from "./kept-notes.ts"
import type { NotesLimits } from "./limits.ts"
import { cutSections, isBareTemplate } from "./notes.ts"
import type { Extractor } from "./notes-update.ts"
import { loadTexts } from "./prompt.ts"

export interface SessionMemory extends Layer {
  /** The update under way, until its drafts are in the journal or could not be written. */
  running(): RunningExtraction | undefined
  /** The notes, each section cut to its limit; `undefined` where there is only the bare template. */
  summary(context: LayerContext): Promise<string | undefined>
}

export interface RunningExtraction {
  readonly startedAt: Date
  /** Never rejects. */
  readonly done: Promise<void>
}

/** No model is asked. */
const FREE = { share: 100 }

interface Figures extends NotesBudget {
  readonly limits: NotesLimits
}

export function sessionMemory(options: Extractor): SessionMemory {
  let running: RunningExtraction | undefined
  /** Where the last update began, even if it failed: it is tried again when the context has grown, not at once. */
  let last: { readonly size: number; readonly throughUuid: Uuid | undefined } | undefined
  /** An update that became due during another one. Of several, only the newest runs; the one before gives up. */
  let waiting: { readonly giveUp: () => void } | undefined
  /** No model can be asked: further updates would fail like the first. */
  let isOff = false
  let isWaitReported = false
  let isDayReported = false
  /** The last failure, until an update succeeds. The same one again is not reported. */
  let lastFailure: string | undefined

  function isDue(context: LayerContext, figures: Figures): boolean {
    const size = context.size.tokens
    if (last && size < last.size) last = { ...last, size } // the context has shrunk: growth is measured from here
    const { throughUuid, contextTokens } = context.views.notes
    return areNotesDue(context, { figures, last: last ?? { throughUuid, size: contextTokens } })
  }

  function isAffordable(context: LayerContext, { share }: Figures): boolean {
    const budget = backgroundBudget(context.views.ledger, { purpose: "notes", limit: share })
    if (!budget.allowed && !isWaitReported) {
      context.progress({ phase: "message", message: waitsFor(budget) })
      isWaitReported = true
    }
    return budget.allowed
  }

  async function shareOfDay({ flags, now, size, facts, progress }: LayerContext): Promise<ShareOfDay | undefined> {
    if (!options.daily || isOffline(options.model)) return UNCOUNTED
    const [limit, expected] = [flags.figures["memory-daily-limit"], expectedDollars(forkSpent(size.tokens, facts))]
    const share = await takeShare(options.daily, { limit, expected, day: dayOf(now) }).catch(() => UNCOUNTED)
    if (share.state === "taken") return share
    if (!isDayReported) progress({ phase: "message", message: `No notes now: ${share.sentence}` })
    isDayReported = true
    return undefined
  }

  /** Waits for the update that runs. False if a newer one waits in its place. */
  async function isNewestWhenFree(signal: AbortSignal): Promise<boolean> {
    const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<void>()
    waiting?.giveUp()
    const own = { giveUp }
    waiting = own
    while (running && !signal.aborted && waiting === own)
      await unlessInterrupted(signal, Promise.race([running.done, givenUp]))
    return waiting === own
  }

  /** Sets `running` before the first await: nothing may come between the check and the start. */
  async function start(context: LayerContext, figures: Figures): Promise<Outcome | undefined> {
    const { throughUuid } = positionOf(context.views.context.storedMessages())
    last = { size: context.size.tokens, throughUuid }
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const own = { startedAt: options.toolContext.clock.now(), done }
    const end = () => {
      if (running === own) running = undefined
      resolve()
    }
    running = own
    let updated: Updated | undefined
    try {
      const share = await shareOfDay(context)
      if (share) updated = await update(options, { context, limits: figures.limits, share })
    } catch (problem) {
      if (isNews(problem, context)) throw problem
    } finally {
      if (!updated) end()
    }
    if (!updated) return undefined
    const { problem, ...outcome } = updated
    const failures = problem !== undefined && isNews(problem, context) ? [problem] : []
    if (problem === undefined) lastFailure = undefined
    return { ...outcome, failures, journaled: async () => end(), lost: end }
  }

  function isNews(problem: unknown, { signal }: LayerContext): boolean {
    if (signal.aborted) return false // the conversation was closed: nothing went wrong
    if (problem instanceof MissingKeyError) isOff = true
    const reason = reasonOf(problem)
    const isRepeated = reason === lastFailure
    lastFailure = reason
    return !isRepeated
  }

  return {
    name: "session-memory",
    running: () => running,
    summary: (context) => notesAsSummary(context, options.configDirectory),

    async afterResponse(context) {
      if (isOff || !context.flags.on.notes) return undefined
      const figures = { ...figuresFrom(context.flags), ...(isOffline(options.model) ? FREE : {}) }
      if (!isDue(context, figures) && !waiting) return undefined
      if (!isAffordable(context, figures)) return undefined
      if (running) {
        if (!(await isNewestWhenFree(context.signal))) return undefined
      } else waiting?.giveUp() // it has not noticed yet that it could run
      waiting = undefined
      // only now is it known what the previous update cost
      return context.signal.aborted || !isAffordable(context, figures) ? undefined : start(context, figures)
    },
  }
}

async function notesAsSummary(context: LayerContext, configDirectory: string | undefined): Promise<string | undefined> {
  const { journal, flags, views } = context
  const notes = await notesOfBranch(context)
  const text = notes.state === "in-place" || notes.state === "kept" ? notes.text : undefined
  if (text === undefined) return undefined
  const texts = await loadTexts(configDirectory).catch(() => undefined) // a file that cannot be read is reported when notes are taken
  if (isBareTemplate(text, texts?.template)) return undefined
  const limit = flags.figures["notes-section-limit"]
  return cutSections(text, { limit, path: journal.notesPath, estimate: (part) => views.estimator.text(part) })
}

const waitsFor = ({ taken, next, limit }: Extract<BudgetAnswer, { allowed: false }>) =>
  `The notes wait: they have taken ${Math.round(taken)}% of the conversation's cost so far. Another update would make it ${Math.round(next)}%, and the limit is ${limit}%.`

/** Without a limit, or where the sum cannot be reached: that must not cost the notes. */
const UNCOUNTED: ShareOfDay = { state: "taken", settle: async () => {} }

function figuresFrom(flags: Flags): Figures {
  const { figures } = flags
  return {
    ...notesBudget(flags),
    limits: { section: figures["notes-section-limit"], total: figures["notes-limit"] },
  }
}

interface Update {
  readonly context: LayerContext
  readonly limits: NotesLimits
  readonly share: ShareOfDay
}

interface Updated extends Pick<Outcome, "drafts" | "message"> {
  /** Why nothing was noted, if the person should know. */
  readonly problem?: unknown
}

/** Nothing where there was nothing to write and nothing was spent. */
async function update(options: Extractor, { context, limits, share }: Update): Promise<Updated | undefined> {
  const { views, journal, thresholds, signal } = context
  const path = journal.notesPath
  // now, and not when it became due: it may have gone on. The request is taken at the same moment, before anything is awaited
  const { throughUuid, openCalls } = positionOf(views.context.storedMessages())
  const room = thresholds.effective - views.context.size().tokens
  const contextTokens = context.size.tokens // growth is measured from where it became due
  const estimate = (text: string) => Math.ceil(views.estimator.text(text))
  const extraction = await settled(share, {
    work: async () => {
      const [request, current] = await Promise.all([context.request(), notesOfBranch(context)])
      return extractNotes(options, {
        ...{ journal, request, openCalls, limits, estimate, room, signal, now: context.now },
        left: current.state === "kept" ? current : undefined,
        patience: limitsFrom(context.flags),
      })
    },
    cost: (done) => (done.state === "no-room" ? 0 : dollarsFor(done.outcome.responses, context.facts)),
  })
  if (extraction.state === "no-room") return undefined
  const spent = spendingOf(extraction.outcome.responses, "notes")
  if (extraction.state === "noted" && throughUuid !== undefined) {
    const kept = await keep(extraction.text, journal)
    const tokens = estimate(extraction.text)
    const facts = { throughUuid, ...(path === undefined ? {} : { path }), tokens, contextTokens }
    return {
      drafts: [...spent, { type: "strata", subtype: "notes-updated", ...facts, ...kept }],
      message: `The notes were updated: ${grouped(tokens)} tokens ${whereNotesAre(path)}.`,
    }
  }
  const { ended, error } = extraction.outcome
  if (spent.length === 0 && ended === "failed") throw error
  const { problem } = extraction.state === "not-noted" ? extraction : {}
  return spent.length > 0 ? { drafts: spent, problem } : undefined
}

/** A failure costs only the way back to these notes from another branch. */
async function keep(text: string, journal: LayerContext["journal"]): Promise<{ readonly kept?: string }> {
  const kept = keptName(text)
  return journal.writeBlob(kept, text).then(
    () => ({ kept }),
    () => ({}),
  )
}
