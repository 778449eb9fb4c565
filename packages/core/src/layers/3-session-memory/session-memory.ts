/**
 * Layer 3: the notes are the summary in the making. A fork writes them in the background, so a compaction finds its summary ready, and after
 * it they live on. `draft.ts` says what can become of them, `due.ts` when they are written.
 */
import { dayOf } from "../../base/clock.ts"
import { reasonOf } from "../../base/errors.ts"
import { grouped } from "../../base/grouped.ts"
import { MissingKeyError } from "../../model/errors.ts"
import { isOffline } from "../../model/model.ts"
import { limitsFrom } from "../../model/stream-limits.ts"
import { compactionFigures } from "../4-compaction/figures.ts"
import { type BudgetAnswer, notesBudget, spendingOf } from "../background-budget.ts"
import { type ShareOfDay, settled, takeShare } from "../daily-limit.ts"
import { dollarsFor, expectedDollars } from "../dollars-for.ts"
import type { Layer, LayerContext, Outcome } from "../layer.ts"
import type { Moment } from "../planner/compact-now.ts"
import { isSinceBoundary } from "../planner/tail.ts"
import { positionOf } from "../position.ts"
import { boundaryOf, DraftHolder, type Writer, type Written } from "./draft.ts"
import { dueByFigures, dueForCompaction } from "./due.ts"
import { extractNotes } from "./extraction.ts"
import { keptName, notesOfBranch, whereNotesAre } from "./kept-notes.ts"
import { cutSections, isBareTemplate } from "./notes.ts"
import type { Extractor } from "./notes-update.ts"
import { loadTexts } from "./prompt.ts"

export interface SessionMemory extends Layer {
  readonly draft: DraftHolder
  /** False where only quotations are written: they are there at once, so nothing is prepared. */
  readonly asksModel: boolean
  /** The notes, each section cut to its limit; `undefined` where there is only the bare template. */
  summary(context: LayerContext): Promise<string | undefined>
}

const NOTES_SHARE = 8 // percent of the conversation's spend that notes by the figures may take
const UNLIMITED = 100 // percent
const UPDATE = { prompt: 1_500, answer: 900 } // tokens, without the notes themselves

/** `write`: in place of a fork of the conversation. */
export function sessionMemory(options: Extractor, write?: WriteNotes): SessionMemory {
  const draft = new DraftHolder(notesWriter(options, write ?? forkWriter(options)))
  const follow = (moment: Moment) => async (context: LayerContext) => {
    if (context.flags.on.notes) draft.follow(context, moment)
    return undefined
  }
  return {
    name: "session-memory",
    draft,
    asksModel: write !== undefined || !isOffline(options.model),
    summary: (context) => notesAsSummary(context, options.configDirectory),
    afterResponse: follow("working"),
    afterQuery: follow("answered"),
    beforeExpiry: follow("answered"), // a task can also end without an answer
  }
}

/** `wishes`: what hooks want of them, together with the person's own. */
export type WriteNotes = (context: LayerContext, wishes?: string) => Promise<WrittenNotes | undefined>

export interface WrittenNotes extends Pick<Outcome, "drafts" | "message"> {
  /** Why nothing was noted, if the person should know. */
  readonly problem?: unknown
}

function notesWriter(options: Extractor, write: WriteNotes): Writer {
  /** What was said to the person: once each. */
  const said = new Set<string>()
  /** The last failure, until an update succeeds. The same one again is not reported. */
  let lastFailure: string | undefined
  const isFree = isOffline(options.model)

  /** Where the planner does not decide, or where notes may cost anything. Notes for a compaction are part of its price. */
  const followsFigures = ({ flags: { planner, figures, on } }: LayerContext) =>
    isFree || planner === "off" || figures["background-share"] >= UNLIMITED || !on["compact-from-notes"]

  function sayOnce({ progress }: LayerContext, kind: string, message: string): void {
    if (!said.has(kind)) progress({ phase: "message", message })
    said.add(kind)
  }

  function isAffordable(context: LayerContext): boolean {
    if (isFree) return true
    const limit = Math.max(NOTES_SHARE, context.flags.figures["background-share"])
    const budget = notesBudget(context.views.ledger, limit)
    if (!budget.allowed) sayOnce(context, "share", waitsFor(budget))
    return budget.allowed
  }

  async function shareOfDay(context: LayerContext): Promise<ShareOfDay | undefined> {
    if (!options.daily || isFree || !followsFigures(context)) return UNCOUNTED
    const { flags, now, size, facts } = context
    const work = { cached: size.tokens, fresh: UPDATE.prompt, answer: UPDATE.answer, requests: 2 }
    const [limit, expected] = [flags.figures["memory-daily-limit"], expectedDollars(work, facts)]
    const share = await takeShare(options.daily, { limit, expected, day: dayOf(now) }).catch(() => UNCOUNTED)
    if (share.state === "taken") return share
    sayOnce(context, "day", `No notes now: ${share.sentence}`)
    return undefined
  }

  /** The same failure is reported once. */
  function isNews(problem: unknown, { signal }: LayerContext): boolean {
    if (signal.aborted) return false // the conversation was closed: nothing went wrong
    const reason = reasonOf(problem)
    const isRepeated = reason === lastFailure
    lastFailure = reason
    return !isRepeated
  }

  function failed(problem: unknown, context: LayerContext, drafts: Outcome["drafts"] = []): Written {
    const failures = isNews(problem, context) ? [problem] : []
    return { drafts, failures, rest: problem instanceof MissingKeyError ? "no-model" : "failed" }
  }

  return {
    found(context) {
      const through = context.views.notes.throughUuid
      if (through === undefined || !isSinceBoundary(context, through)) return undefined
      return { through, boundary: boundaryOf(context), unfit: 0 }
    },

    due(context, asked) {
      const { draft } = asked
      if (draft.state === "resting" && draft.why === "no-model") return undefined
      if (followsFigures(context)) {
        if (draft.state === "ready" && draft.text.unfit > 0) return "unfit" // a compaction waits for it
        const why = dueByFigures(context, asked)
        return why && isAffordable(context) ? why : undefined
      }
      const prompt = UPDATE.prompt + (context.views.notes.tokens ?? 0)
      return dueForCompaction(context, asked, { ...UPDATE, prompt })
    },

    async write(context, wishes): Promise<Written> {
      const share = await shareOfDay(context)
      if (!share) return { drafts: [], rest: "over-budget" }
      const boundary = boundaryOf(context)
      try {
        const written = await settled(share, {
          work: () => write(context, wishes),
          cost: (done) => costOf(done, context),
        })
        if (!written) return { drafts: [], rest: "refused" }
        const { problem, ...outcome } = written
        const through = throughOf(outcome)
        if (through === undefined)
          return problem === undefined ? { ...outcome, rest: "failed" } : failed(problem, context, outcome.drafts)
        lastFailure = undefined
        return { ...outcome, text: { through, boundary, unfit: 0 } }
      } catch (problem) {
        return failed(problem, context)
      }
    },
  }
}

const throughOf = ({ drafts }: Pick<Outcome, "drafts">) =>
  drafts
    .flatMap((draft) => (draft.type === "strata" && draft.subtype === "notes-updated" ? draft.throughUuid : []))
    .at(-1)

const costOf = (written: WrittenNotes | undefined, { facts }: LayerContext): number =>
  dollarsFor(
    (written?.drafts ?? []).flatMap((draft) => (draft.type === "strata" && draft.subtype === "spent" ? draft : [])),
    facts,
  )

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

/** Nothing where there was nothing to write and nothing was spent. */
const forkWriter =
  (options: Extractor): WriteNotes =>
  async (context, wishes) => {
    const { views, journal, thresholds, signal, flags } = context
    const { "notes-section-limit": section, "notes-limit": most } = flags.figures
    // the planner expects a summary, which is shorter in a small window
    const limits = {
      section,
      total: flags.planner === "off" ? most : Math.min(most, compactionFigures(context).summary),
    }
    const path = journal.notesPath
    // now, and not when it became due: it may have gone on. The request is taken at the same moment, before anything is awaited
    const { throughUuid, openCalls } = positionOf(views.context.storedMessages())
    const room = thresholds.effective - views.context.size().tokens
    const contextTokens = context.size.tokens // growth is measured from where it became due
    const estimate = (text: string) => Math.ceil(views.estimator.text(text))
    const [request, current] = await Promise.all([context.request(), notesOfBranch(context)])
    const extractor = wishes === undefined ? options : { ...options, guidance: () => [wishes] }
    const extraction = await extractNotes(extractor, {
      ...{ journal, request, openCalls, limits, estimate, room, signal, now: context.now },
      left: current.state === "kept" ? current : undefined,
      patience: limitsFrom(flags),
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
