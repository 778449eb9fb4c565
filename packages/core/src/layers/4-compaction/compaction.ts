/**
 * Layer 4: when the window fills up, it replaces the conversation by a summary, the facts, and what is needed to continue. Six steps, each
 * of which passes on a value: decide and cut (`compaction-context.ts`, `cut.ts`, and `fitToLimits` below), summarize, check, restore
 * (`chooseSummary` runs these for each route), install. Only a worthwhile compaction is journaled, all at once. A failure leaves the
 * conversation unchanged.
 */
import { CompactionFailedError } from "../../base/errors.ts"
import { formatNumber } from "../../base/text.ts"
import { runCooperatively } from "../../base/work.ts"
import { cacheState } from "../2-microcompact/clearable-content.ts"
import type { DraftHolder } from "../3-session-memory/draft.ts"
import type {
  CompactionRefusal,
  Compactor,
  LayerContext,
  LayerResult,
  ResolvedCompactionRequest,
  UpcomingCompaction,
  VerbatimTail,
} from "../layer.ts"
import {
  compactionGain,
  MIN_GAIN,
  mayPlan,
  plannedCompaction,
  plannerInputs,
  turnPhase,
  worthOfCompaction,
} from "../planner/planner.ts"
import { isSinceBoundary, NO_TAIL, tailAfter } from "../planner/tail.ts"
import { appendixRoom } from "./check/check.ts"
import { chooseSummary, planOf, type SummaryChoice } from "./choose.ts"
import {
  assess,
  type CompactionBudgets,
  type CompactionContext,
  type CompactionInput,
  isRefusal,
  MIN_NEW_SHARE,
  measureSteps,
  type ReducedShares,
  reducedBudgets,
  SHORTEST_SUMMARY,
  waitsForContent,
  withBudgets,
} from "./compaction-context.ts"
import { askHooks, install, type NotesUse } from "./install.ts"
import type { CompactionOptions, CompactionTiming } from "./options.ts"
import { buildPostCompactionContext, type PostCompactionContext, tokensIn } from "./restore/post-compaction-context.ts"
import { routesOf } from "./summarise/routes.ts"

const ALIVE_MS = 30_000 // how often a long compaction shows that it is still running
const NOTHING: LayerResult = { drafts: [] }
const ANNOUNCED = "This conversation is due for a compaction. It begins with your next message."

const realTime: CompactionTiming = {
  every(ms, call) {
    const timer = setInterval(call, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const timer = setTimeout(resolve, ms)
      signal.addEventListener("abort", () => {
        clearTimeout(timer)
        resolve()
      })
    }),
}

export function compaction(options: CompactionOptions): Compactor {
  const { reads, notes, timing = realTime } = options
  const routes = routesOf({ ...options, timing })
  const fromNotesOnly = routes.all.filter(({ name }) => name === "notes")
  /** Set when a hook blocks an early compaction, so that it is not asked again before every request. */
  let isBlockedByHook = false
  /** Refusals that were already reported to the user. */
  const reported = new Set<string>()
  const begun = (context: LayerContext, order: ResolvedCompactionRequest): CompactionInput => ({
    context,
    order,
    dependencies: options,
  })

  return {
    name: "compaction",

    async beforeRequest(context) {
      const draft = draftIn(context)
      const order = dueNow(context)
      if (!order) {
        // a user who interrupts a task leaves no pause before it in which notes could be written
        if (turnPhase(context) === "request" && !context.isIdleSinceOpening) draft?.follow(context, "answered")
        return undefined
      }
      const isForced = context.fill.state === "blocked"
      if (context.isIdleSinceOpening && !isForced) return announced(context, order)
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
      const situation = await prepareContext(begun(context, order))
      return isRefusal(situation) ? situation : planOf(situation, routes.routesFor(situation))
    },

    upcoming,
    drop: (context) => notes?.draft.discard(context) ?? false,

    /**
     * Forgets reads of restored files, which are no longer in view. A file whose original read is in view again is simply read once more.
     */
    undone() {
      for (const [path, { toolUseId }] of [...(reads?.entries() ?? [])])
        if (toolUseId === undefined) reads?.forget(path)
    },
  }

  /** The notes, if they are written before a compaction and become its summary. */
  function draftIn({ flags: { on } }: LayerContext): DraftHolder | undefined {
    return notes?.asksModel && on.notes && on["compact-from-notes"] && on["compact-ahead"] ? notes.draft : undefined
  }

  /** What would be preserved verbatim after the ready summary. Without a model the summary quotes everything. */
  function tail(context: LayerContext): VerbatimTail | undefined {
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
    const outlook = plannerInputs(context, kept)
    if (compactionGain(outlook) < MIN_GAIN) return { state: "not-begun", tail: kept, isNow: false }
    const worth = worthOfCompaction(outlook, context.flags.figures["expected-turns"])
    return { state, tail: kept, isNow: dueNow(context) !== undefined, worth }
  }

  /** Compacts with the notes. Returns nothing if they cannot be installed as they are; then they are updated first. */
  async function fromNotes(draft: DraftHolder, begins: CompactionInput): Promise<LayerResult | undefined> {
    const { context } = begins
    const text = draft.ready(context)
    const situation = text && (await prepareContext(begins))
    if (!situation || isRefusal(situation)) return undefined
    const choice = await chooseSummary({ situation, routes: fromNotesOnly, instructions: [], isStrict: true })
    if (context.signal.aborted) return undefined
    if (choice.kind !== "accepted") {
      draft.markUnfit(context)
      return undefined
    }
    const { blocked, wishes } = await allowed(situation)
    if (blocked) return blocked
    if (wishes !== text.wishes) {
      draft.wishes = wishes
      draft.markUnfit(context)
      return undefined
    }
    return install(situation, choice, { isPrepared: true, paidBefore: draft.takeCosts(), notes: "used" })
  }

  /** Telemetry value: whether the notes became the summary, or why not. */
  async function notesUse({ context, order }: CompactionContext, choice: SummaryChoice): Promise<NotesUse | undefined> {
    if (order.trigger === "manual") return undefined
    if (choice.kind === "accepted" && choice.route.name === "notes") return "used"
    if (!notes || !draftIn(context)) return "off"
    const through = context.views.notes.throughUuid
    if (through === undefined) return "none"
    if ((await notes.summary(context)) === undefined) return "empty-template"
    return isSinceBoundary(context, through) ? "too-large" : "position-unknown"
  }

  async function compact(context: LayerContext, order: ResolvedCompactionRequest): Promise<LayerResult> {
    const begins = begun(context, order)
    if (order.overflowed && !context.flags.on["compact-reactive"]) return refuse(SWITCHED_OFF, begins)
    const situation = await prepareContext(begins)
    if (isRefusal(situation)) return refuse(situation, begins)
    return whileAlive(context, async () => {
      const { blocked, instructions } = await allowed(begins)
      if (blocked) return blocked
      const choice = await chooseSummary({ situation, routes: routes.routesFor(situation), instructions })
      const use = await notesUse(situation, choice)
      return install(situation, choice, use ? { notes: use } : {})
    })
  }

  /** Reports a heartbeat while the work runs. */
  async function whileAlive<T>({ progress }: LayerContext, work: () => Promise<T>): Promise<T> {
    progress({ phase: "preparing" })
    let seconds = 0
    const stop = timing.every(ALIVE_MS, () => {
      seconds += ALIVE_MS / 1_000
      progress({ phase: "alive", seconds })
    })
    return work().finally(stop)
  }

  /** The compaction that is due now, if any. */
  function dueNow(context: LayerContext): ResolvedCompactionRequest | undefined {
    const isFull = context.fill.state === "compact" || context.fill.state === "blocked"
    if (isFull) return waitsForContent(context) ? undefined : { trigger: "auto", ...routesLeft(context) }
    const planned = mayPlan(context) && !isBlockedByHook ? plannedCompaction(context, tail(context)) : undefined
    if (planned === undefined || waitsForContent(context, planned)) return undefined
    return { trigger: "auto", planned }
  }

  /** After failures no model is asked again. If nothing fits any more, quotations are better than ending the conversation. */
  function routesLeft({ fill, flags, views }: LayerContext): Pick<ResolvedCompactionRequest, "routes"> {
    const hasFailed = views.compactions.failures >= flags.figures["compact-failures"]
    const hasQuotations = options.offline !== undefined && flags.on["compact-offline"]
    return fill.state === "blocked" && hasFailed && hasQuotations ? { routes: ["offline"] } : {}
  }

  /** Only announces the compaction: the user has sent nothing since opening and may just be reading. */
  function announced(context: LayerContext, { planned }: ResolvedCompactionRequest): undefined {
    const why =
      planned ??
      `It has ${formatNumber(context.size.tokens)} tokens, and compaction starts at ${formatNumber(context.thresholds.autoCompact)}.`
    if (!reported.has(ANNOUNCED)) context.progress({ phase: "message", message: `${ANNOUNCED} ${why}` })
    reported.add(ANNOUNCED)
  }

  /** Asks hooks for instructions. `blocked`: the result if a hook prevents the compaction. */
  async function allowed(begins: CompactionInput) {
    const { blocked, ...wanted } = await askHooks(begins)
    isBlockedByHook = begins.order.planned !== undefined && blocked !== undefined
    return { ...wanted, blocked: blocked === undefined ? undefined : refuse(blockedBy(blocked), begins) }
  }

  /** Refuses a compaction. A manual one throws; an automatic one is reported once if the user can do something about it. */
  function refuse({ why, message }: CompactionRefusal, { context, order }: CompactionInput): LayerResult {
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

const SWITCHED_OFF: CompactionRefusal = {
  kind: "refused",
  why: "switched-off",
  message: "Compacting after the API refused a request is switched off.",
}

const blockedBy = (why: string): CompactionRefusal => ({
  kind: "refused",
  why: "blocked-by-hook",
  message: `A hook blocked the compaction: ${why}. Nothing was changed.`,
})

// Steps 1 and 2, decide and cut. Before a model is asked, the resulting context is computed and made to fit: first files get only what the
// rest leaves, then fewer messages are preserved, then the record is shorter. If even that does not fit, the compaction is refused and
// nothing was paid.

/** Shares of the usual budgets, tried in this order. */
const REDUCTIONS = [
  { preserved: 1, record: 1 },
  { preserved: 0.5, record: 1 },
  { preserved: 0.2, record: 1 },
  { preserved: 0, record: 1 },
  { preserved: 0, record: 0.4 },
  { preserved: 0, record: 0.1 },
] as const
/** The last reduction if a budget is given. It does not depend on the budget, so that the minimum named in a refusal is sufficient. */
const MIN: ReducedShares = { preserved: 0, record: 0, summary: SHORTEST_SUMMARY }

const RESTORED_SHARE = 0.5 // of the conversation, with the summary and everything preserved: a compaction is to make room
const SUMMARY_SHARE = 0.3 // of what it summarises, where that is short
const AROUND_SUMMARY = 300 // tokens of the text around it

/** Prepares the context of a compaction, reduced until it fits, before any model is asked. */
export async function prepareContext(begun: CompactionInput): Promise<CompactionContext | CompactionRefusal> {
  const { views, signal } = begun.context
  await views.catchUp({ signal }) // what the record shows is read below
  await runCooperatively(measureSteps(begun.context), { signal })
  const situation = assess(begun)
  return isRefusal(situation) ? situation : fitToLimits(situation)
}

async function fitToLimits(situation: CompactionContext): Promise<CompactionContext | CompactionRefusal> {
  const goals = compactionGoals(situation)
  let min: PostCompactionContext | undefined
  let fitting: CompactionContext | undefined
  for (const step of stepsFor(situation)) {
    const tried = withSummaryRoom(situation, reducedBudgets(situation.budgets, step), goals)
    const after = await buildPostCompactionContext({
      situation: tried,
      cut: tried.cut,
      summary: maxSummaryTokens(tried),
    })
    if (after.tokens <= goals.target) return tried
    if (after.tokens <= goals.max) fitting = tried
    if (!min || after.tokens < min.tokens) min = after
  }
  return fitting ?? (min!.tokens > goals.budget ? overBudget : noGain)(situation, min!)
}

function stepsFor(situation: CompactionContext): readonly ReducedShares[] {
  if (situation.order.budget !== undefined) return [...REDUCTIONS, MIN]
  return mayShortenRecord(situation) ? REDUCTIONS : REDUCTIONS.filter(({ record }) => record === 1)
}

/** A manual compaction with room left does not shorten the record: a few tokens are not worth facts that go out of view. */
const mayShortenRecord = ({ order, context, limits }: CompactionContext): boolean =>
  order.trigger === "auto" || order.target !== undefined || context.size.tokens >= limits.autoCompact

interface CompactionGoals {
  /** Preferred maximum of the complete context. */
  readonly target: number
  /** Absolute maximum of the complete context. More is refused. */
  readonly max: number
  /** Maximum that the request allows, including system prompt and tools. */
  readonly budget: number
  /** Maximum including restored files. */
  readonly restored: number
}

function compactionGoals({ context, budgets, limits, order }: CompactionContext): CompactionGoals {
  const size = context.size.tokens
  const prompt = context.views.context.promptTokens
  const worthIt = Math.floor(size * (1 - budgets.progress))
  // after it there must be room for new content
  const roomy = limits.blocking - Math.floor(limits.window * MIN_NEW_SHARE)
  const isByHand = order.trigger === "manual"
  const isForced = context.fill.state === "blocked" // little room is better than no request at all
  const budget = order.budget === undefined ? Number.POSITIVE_INFINITY : prompt + order.budget
  const max = Math.min(worthIt, budget, isByHand || isForced ? limits.blocking - 1 : roomy)
  return {
    target: isByHand ? max : Math.min(max, limits.autoCompact - 1),
    ...{ max, budget },
    restored: prompt + Math.floor(Math.max(0, size - prompt) * RESTORED_SHARE),
  }
}

/** Reduces the budgets so that files and an appropriate summary fit. */
function withSummaryRoom(
  situation: CompactionContext,
  figures: CompactionBudgets,
  { target, restored }: CompactionGoals,
): CompactionContext {
  const tried = withBudgets(situation, {
    ...figures,
    target: Math.min(figures.target, target),
    restored: Math.min(figures.restored, target, restored),
  })
  const summary = Math.max(SHORTEST_SUMMARY, Math.floor(tokensIn(tried.cut.summarised, tried) * SUMMARY_SHARE))
  return { ...tried, budgets: { ...tried.budgets, summary: Math.min(figures.summary, summary) } }
}

/** Maximum tokens of a summary: its budget, what the audit appends, and the text around it. */
function maxSummaryTokens(situation: CompactionContext): number {
  const { budgets, order, context } = situation
  if (order.written) return context.views.estimator.text(order.written.text) + AROUND_SUMMARY
  return budgets.summary + appendixRoom(situation) + AROUND_SUMMARY
}

function overBudget(
  { context, order }: CompactionContext,
  { tokens, summary, others, preserved }: PostCompactionContext,
): CompactionRefusal {
  const prompt = context.views.context.promptTokens
  const parts = `summary ${roundedUp(summary)}, record and files ${roundedUp(others - prompt)}, newest messages ${roundedUp(preserved)}`
  return {
    kind: "refused",
    why: "no-gain",
    message: `A compaction cannot reduce the context to ${formatNumber(order.budget!)} tokens: the minimum is ${roundedUp(tokens - prompt)} (${parts}). Nothing was changed, and no model was called. Allow more tokens.`,
  }
}

const roundedUp = (tokens: number): string => formatNumber(Math.ceil(tokens))

function noGain({ context, order }: CompactionContext, min: PostCompactionContext): CompactionRefusal {
  const size = formatNumber(context.size.tokens)
  const after = roundedUp(min.tokens)
  const prompt = formatNumber(Math.ceil(context.views.context.promptTokens))
  const instead =
    order.trigger === "manual"
      ? "Continue, or clear tool results with /clear-results."
      : "Go back to an earlier message, use fewer tools, or use a model with a larger window."
  return {
    kind: "refused",
    why: "no-gain",
    message: `Compacting would not make enough room: it would leave about ${after} of ${size} tokens, and ${prompt} of them are system prompt and tools. Nothing was changed, and no model was called. ${instead}`,
  }
}
