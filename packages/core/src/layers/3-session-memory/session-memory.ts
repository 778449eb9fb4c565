/**
 * Layer 3: keeps notes that serve as the next summary. A fork writes them in the background, so that a compaction finds its summary ready.
 * The notes live on after the compaction. `draft.ts` has their states, `isTimeForNotes` says when they are updated.
 */
import { utcDay } from "../../base/clock.ts"
import { errorReason } from "../../base/errors.ts"
import { formatNumber } from "../../base/text.ts"
import type { Message, Uuid } from "../../messages/messages.ts"
import { MissingKeyError } from "../../model/errors.ts"
import { isOffline } from "../../model/model.ts"
import { streamLimits } from "../../model/stream.ts"
import type { Flags } from "../../settings/flags.ts"
import { usageTotal } from "../../tokens/context-size.ts"
import type { ContextView } from "../../views/context/context.ts"
import { compactionBudgets } from "../4-compaction/compaction-context.ts"
import {
  type BudgetVerdict,
  type DailyReservation,
  dollarsFor,
  expectedDollars,
  notesBudget,
  reserveDailyBudget,
  spendingOf,
  withReservation,
} from "../budget.ts"
import { callsIn, type Layer, type LayerContext, type LayerResult, lastTurn, positionOf } from "../layer.ts"
import { mayPlan, preparesNow, relativePrices, type SummaryTiming } from "../planner/planner.ts"
import { isSinceBoundary, tailAfter } from "../planner/tail.ts"
import {
  DraftHolder,
  type DueInput,
  lastBoundary,
  type NotesWriteResult,
  type NotesWriter,
  type UpdateReason,
} from "./draft.ts"
import { cutSections, describeNotesLocation, isBareTemplate, loadTexts, notesCopyName, notesOfBranch } from "./notes.ts"
import { extractNotes, type NotesExtractor } from "./write.ts"

// When notes are updated. With the planner, when a compaction is foreseeable; afterwards an update is worth it once keeping the newer
// messages verbatim costs more. Without the planner, notes are updated at fixed thresholds, so that they always exist.

const GROWN = 1.1 // of the size at which it began to rest: then it is tried again
const RISK = 2 // times what an update costs: about half of them come before the end of the conversation, or before another update
const STAYS = 20 // requests with which a preserved message is sent, until the compaction after that

/** Tokens that an update needs in addition to the conversation. */
export interface UpdateTokens {
  readonly prompt: number
  readonly answer: number
}

/** Whether an update is due while the planner decides. `again`: size of an update. */
export function dueForCompaction(
  context: LayerContext,
  asked: DueInput,
  again: UpdateTokens,
): UpdateReason | undefined {
  const { draft } = asked
  if (draft.state === "resting" && context.size.tokens < draft.since * GROWN) return undefined
  const text = draft.state === "none" ? undefined : draft.text
  if (!isForeseeable(context, asked, text !== undefined)) return undefined
  if (!text) return "near"
  if (text.unfit > 0) return "unfit"
  return isWorthUpdating(context, text.through, again) ? "grown" : undefined
}

/**
 * Whether the window will be full soon, or the planner will compact soon. With existing notes the lead is shorter, because an update is all
 * that is needed.
 */
function isForeseeable(context: LayerContext, { timing, seconds }: DueInput, hasText: boolean): boolean {
  const { fill, thresholds, views } = context
  if (!mayPlan(context)) return false
  const pace = growthRate(views.context)
  const lead = hasText ? updateLead(pace, seconds) : leadFor(pace, { seconds, autoCompact: thresholds.autoCompact })
  if (fill.used >= thresholds.autoCompact - lead) return true
  return preparesNow(context, { timing, turns: seconds / pace.secondsPerTurn })
}

/** Whether keeping the newer messages verbatim costs more than updating the notes: they are written once and read with later requests. */
function isWorthUpdating(context: LayerContext, through: Uuid, { prompt, answer }: UpdateTokens): boolean {
  const { read, write, output } = relativePrices(context)
  const { shortened = 0 } = tailAfter(context, through) ?? {}
  return shortened * (write + STAYS * read) > RISK * (read * context.size.tokens + prompt + output * answer)
}

const notesThresholds = ({ figures }: Flags): NotesThresholds => ({
  first: figures["notes-start"],
  growth: figures["notes-growth"],
  toolCalls: figures["notes-tool-calls"],
})

/** Whether an update is due by thresholds: the context must have grown, and a unit of work must be finished. */
export function dueByThresholds(context: LayerContext, { draft }: DueInput): UpdateReason | undefined {
  const { views, flags, size } = context
  const { throughUuid, contextTokens } = views.notes
  const tried = draft.state === "resting" ? draft.since : undefined
  const isDue = isTimeForNotes({
    size: size.tokens,
    sizeAtLast: tried === undefined ? contextTokens : Math.max(tried, contextTokens ?? 0),
    figures: notesThresholds(flags),
    work: (max) => workSince(views.context.rawMessages, throughUuid, max),
  })
  return isDue ? (contextTokens === undefined ? "near" : "grown") : undefined
}

/**
 * Work since the last update, or since the beginning if that message no longer exists. Calls are counted from the end, up to `max`, so that
 * each response costs only what is new.
 */
export function workSince(
  messages: readonly Message[],
  throughUuid: Uuid | undefined,
  max = Number.POSITIVE_INFINITY,
): WorkSinceLast {
  let toolCalls = 0
  for (let at = messages.length - 1; at >= 0 && toolCalls < max; at--) {
    const message = messages[at]!
    if (message.uuid === throughUuid) break
    if (message.type === "assistant") toolCalls += callsIn(message).length
  }
  return { toolCalls, isCalling: lastTurn(messages).parts.some((piece) => callsIn(piece).length > 0) }
}

export interface NotesTimingInput {
  /** Tokens in the context now. */
  readonly size: number
  /** Tokens at the last update, or at the smallest size since then; `undefined` before the first update. */
  readonly sizeAtLast: number | undefined
  readonly figures: NotesThresholds
  /** Called only once the context has grown, because it scans messages. `max`: more calls than these need not be counted. */
  readonly work: (max: number) => WorkSinceLast
}

export interface NotesThresholds {
  readonly first: number
  readonly growth: number
  readonly toolCalls: number
}

export interface WorkSinceLast {
  readonly toolCalls: number
  /** Whether the last assistant turn called tools. */
  readonly isCalling: boolean
}

export function isTimeForNotes({ size, sizeAtLast, figures, work }: NotesTimingInput): boolean {
  if (sizeAtLast === undefined) return size >= figures.first
  if (size - sizeAtLast < figures.growth) return false
  const { toolCalls, isCalling } = work(figures.toolCalls)
  return toolCalls >= figures.toolCalls || !isCalling
}

/** How fast a conversation grows while the user works, so that notes can be started in time. */
interface GrowthRate {
  readonly tokensPerSecond: number
  readonly secondsPerTurn: number
  /** Tokens of the largest recent step. */
  readonly largestStep: number
}

const RECENT = 11 // responses: the growth of the last ten turns
const MAX_TURN_SECONDS = 60 // a longer gap is a pause of the user, and the work after it is as fast as before
const USUAL_TURN = 10 // seconds, where no two responses have been seen

function growthRate(context: Pick<ContextView, "recentResponses">): GrowthRate {
  return growthRateOf(
    context
      .recentResponses(RECENT)
      .map(({ timestamp, message }) => ({ at: Date.parse(timestamp) / 1_000, tokens: usageTotal(message.usage!) }))
      .toReversed(),
  )
}

/** Computes the rate from sizes of the context, oldest first. `at`: in seconds. */
export function growthRateOf(sizes: readonly { readonly at: number; readonly tokens: number }[]): GrowthRate {
  const responses = sizes.slice(-RECENT)
  const steps = responses.slice(1).map(({ at, tokens }, i) => ({
    seconds: Math.min(MAX_TURN_SECONDS, Math.max(0, at - responses[i]!.at)),
    tokens: Math.max(0, tokens - responses[i]!.tokens),
  }))
  const seconds = sum(steps.map((step) => step.seconds))
  const secondsPerTurn = seconds > 0 ? seconds / steps.length : USUAL_TURN
  const tokensPerTurn = steps.length > 0 ? sum(steps.map((step) => step.tokens)) / steps.length : 0
  return {
    secondsPerTurn,
    tokensPerSecond: tokensPerTurn / secondsPerTurn,
    largestStep: Math.max(0, ...steps.map((step) => step.tokens)),
  }
}

const MIN_LEAD = 0.1 // of the threshold: a single step can be large
const MAX_LEAD = 0.35 // of it: earlier, the conversation often ends before the threshold, and too much comes after the summary
const STEPS_OF_CAUTION = 1 // the largest of the latest ones: work comes in bursts (`npm run ahead-of-time`)

interface LeadInput {
  readonly autoCompact: number
  /** Expected duration of a summary. */
  readonly seconds: number
}

/** Tokens before the threshold at which a summary is started. */
export const leadFor = (pace: GrowthRate, { autoCompact, seconds }: LeadInput): number =>
  Math.min(autoCompact * MAX_LEAD, autoCompact * MIN_LEAD + updateLead(pace, seconds))

/** The same for an update: shorter, because a text already exists. */
const updateLead = (pace: GrowthRate, seconds: number): number =>
  pace.tokensPerSecond * seconds + STEPS_OF_CAUTION * pace.largestStep

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

export interface SessionMemory extends Layer {
  readonly draft: DraftHolder
  /** False if only quotations are written: they are instant, so nothing is prepared. */
  readonly asksModel: boolean
  /** The notes with each section cut to its limit; `undefined` if there is only the bare template. */
  summary(context: LayerContext): Promise<string | undefined>
}

const NOTES_SHARE = 8 // percent of the conversation's spend that notes at thresholds may take
const UNLIMITED = 100 // percent
const UPDATE = { prompt: 1_500, answer: 900 } // tokens, without the notes themselves

/** `write`: replaces the fork that writes the notes. */
export function sessionMemory(options: NotesExtractor, write?: WriteNotes): SessionMemory {
  const draft = new DraftHolder(notesWriter(options, write ?? forkWriter(options)))
  const follow = (moment: SummaryTiming) => async (context: LayerContext) => {
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

/** `wishes`: instructions of hooks, together with those of the user. */
export type WriteNotes = (context: LayerContext, wishes?: string) => Promise<NotesUpdateResult | undefined>

export interface NotesUpdateResult extends Pick<LayerResult, "drafts" | "message"> {
  /** Reason why nothing was noted, if the user should know. */
  readonly problem?: unknown
}

function notesWriter(options: NotesExtractor, write: WriteNotes): NotesWriter {
  /** Kinds of messages that the user has seen. Each is reported once. */
  const reported = new Set<string>()
  /** The last failure, until an update succeeds. The same one again is not reported. */
  let lastFailure: string | undefined
  const isFree = isOffline(options.model)

  /** Whether thresholds decide: without the planner, or if notes may cost any amount. Notes for a compaction are part of its price. */
  const followsFigures = ({ flags: { planner, figures, on } }: LayerContext) =>
    isFree || planner === "off" || figures["background-share"] >= UNLIMITED || !on["compact-from-notes"]

  function sayOnce({ progress }: LayerContext, kind: string, message: string): void {
    if (!reported.has(kind)) progress({ phase: "message", message })
    reported.add(kind)
  }

  function isAffordable(context: LayerContext): boolean {
    if (isFree) return true
    const limit = Math.max(NOTES_SHARE, context.flags.figures["background-share"])
    const budget = notesBudget(context.views.ledger, limit)
    if (!budget.allowed) sayOnce(context, "share", describeWait(budget))
    return budget.allowed
  }

  async function shareOfDay(context: LayerContext): Promise<DailyReservation | undefined> {
    if (!options.daily || isFree || !followsFigures(context)) return NO_RESERVATION
    const { flags, now, size, facts } = context
    const work = { cached: size.tokens, uncached: UPDATE.prompt, answer: UPDATE.answer, requests: 2 }
    const [limit, expected] = [flags.figures["memory-daily-limit"], expectedDollars(work, facts)]
    const share = await reserveDailyBudget(options.daily, { limit, expected, day: utcDay(now) }).catch(
      () => NO_RESERVATION,
    )
    if (share.state === "taken") return share
    sayOnce(context, "day", `No notes now: ${share.sentence}`)
    return undefined
  }

  /** Whether a failure is new. The same failure is reported once. */
  function isNews(problem: unknown, { signal }: LayerContext): boolean {
    if (signal.aborted) return false // the conversation was closed: nothing went wrong
    const reason = errorReason(problem)
    const isRepeated = reason === lastFailure
    lastFailure = reason
    return !isRepeated
  }

  function failed(problem: unknown, context: LayerContext, drafts: LayerResult["drafts"] = []): NotesWriteResult {
    const failures = isNews(problem, context) ? [problem] : []
    return { drafts, failures, rest: problem instanceof MissingKeyError ? "no-model" : "failed" }
  }

  return {
    findReady(context) {
      const through = context.views.notes.throughUuid
      if (through === undefined || !isSinceBoundary(context, through)) return undefined
      return { through, boundary: lastBoundary(context), unfit: 0 }
    },

    due(context, asked) {
      const { draft } = asked
      if (draft.state === "resting" && draft.reason === "no-model") return undefined
      if (followsFigures(context)) {
        if (draft.state === "ready" && draft.text.unfit > 0) return "unfit" // a compaction waits for it
        const why = dueByThresholds(context, asked)
        return why && isAffordable(context) ? why : undefined
      }
      const prompt = UPDATE.prompt + (context.views.notes.tokens ?? 0)
      return dueForCompaction(context, asked, { ...UPDATE, prompt })
    },

    async write(context, wishes): Promise<NotesWriteResult> {
      const share = await shareOfDay(context)
      if (!share) return { drafts: [], rest: "over-budget" }
      const boundary = lastBoundary(context)
      try {
        const written = await withReservation(share, {
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

const throughOf = ({ drafts }: Pick<LayerResult, "drafts">) =>
  drafts
    .flatMap((draft) => (draft.type === "strata" && draft.subtype === "notes-updated" ? draft.throughUuid : []))
    .at(-1)

const costOf = (written: NotesUpdateResult | undefined, { facts }: LayerContext): number =>
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

const describeWait = ({ taken, next, limit }: Extract<BudgetVerdict, { allowed: false }>) =>
  `The notes are not updated now: they have taken ${Math.round(taken)}% of the conversation's cost so far. Another update would make it ${Math.round(next)}%, and the limit is ${limit}%.`

/** Used without a limit, or if the daily sum cannot be read: that must not prevent notes. */
const NO_RESERVATION: DailyReservation = { state: "taken", settle: async () => {} }

/** Returns nothing if there was nothing to write and nothing was spent. */
const forkWriter =
  (options: NotesExtractor): WriteNotes =>
  async (context, wishes) => {
    const { views, journal, thresholds, signal, flags } = context
    const { "notes-section-limit": section, "notes-limit": max } = flags.figures
    // the planner expects a summary, which is shorter in a small window
    const limits = {
      section,
      total: flags.planner === "off" ? max : Math.min(max, compactionBudgets(context).summary),
    }
    const path = journal.notesPath
    // now, and not when it became due: the conversation may have continued. The request is built at the same time, before anything is
    // awaited
    const { throughUuid, openCalls } = positionOf(views.context.storedMessages())
    const room = thresholds.effective - views.context.size().tokens
    const contextTokens = context.size.tokens // growth is measured from where it became due
    const estimate = (text: string) => Math.ceil(views.estimator.text(text))
    const [request, current] = await Promise.all([context.request(), notesOfBranch(context)])
    const extractor = wishes === undefined ? options : { ...options, guidance: () => [wishes] }
    const extraction = await extractNotes(extractor, {
      ...{ journal, request, openCalls, limits, estimate, room, signal, now: context.now },
      otherBranch: current.state === "kept" ? current : undefined,
      timeLimits: streamLimits(flags),
    })
    if (extraction.state === "no-room") return undefined
    const spent = spendingOf(extraction.outcome.responses, "notes")
    if (extraction.state === "noted" && throughUuid !== undefined) {
      const kept = await storeCopy(extraction.text, journal)
      const tokens = estimate(extraction.text)
      const facts = { throughUuid, ...(path === undefined ? {} : { path }), tokens, contextTokens }
      return {
        drafts: [...spent, { type: "strata", subtype: "notes-updated", ...facts, ...kept }],
        message: `The notes were updated: ${formatNumber(tokens)} tokens ${describeNotesLocation(path)}.`,
      }
    }
    const { ended, error } = extraction.outcome
    if (spent.length === 0 && ended === "failed") throw error
    const { problem } = extraction.state === "not-noted" ? extraction : {}
    return spent.length > 0 ? { drafts: spent, problem } : undefined
  }

/** Stores a copy of the notes. If this fails, only returning to these notes from another branch is lost. */
async function storeCopy(text: string, journal: LayerContext["journal"]): Promise<{ readonly kept?: string }> {
  const kept = notesCopyName(text)
  return journal.writeBlob(kept, text).then(
    () => ({ kept }),
    () => ({}),
  )
}
