/**
 * Steps 3 to 5 for each route, cheapest first: writes, checks and evaluates a summary. Chooses the first that is worth installing, or the
 * best of the others. Nothing is installed yet. `routes.ts` lists the routes.
 */
import { errorReason } from "../../base/errors.ts"
import type { CompactionFailureReason } from "../../base/telemetry.ts"
import { formatNumber, NO_TOKENS } from "../../base/text.ts"
import type { AuditFigures } from "../../journal/entries.ts"
import type { Attachment } from "../../messages/attachments.ts"
import type { SignedSummary } from "../../messages/messages.ts"
import type { ModelResponse } from "../../model/model.ts"
import { toWholeTokens } from "../../tokens/context-size.ts"
import { costOf } from "../../tokens/models.ts"
import { RECALL_TOOL } from "../../tools/session/recall-source.ts"
import { COMPACTION_ROUTE_LABELS, type CompactionPlan, type CompactionRoute } from "../layer.ts"
import { MIN_GAIN } from "../planner/planner.ts"
import {
  askAndCheck,
  type CheckedSummary,
  checkFor,
  isBetter,
  isMismatched,
  MODEL_ROUTES,
  NO_CARRYOVER,
  type RouteCarryover,
  type SummaryCheck,
} from "./check/check.ts"
import type { CompactionContext } from "./compaction-context.ts"
import { type Cut, isEndOf, tailOf } from "./cut.ts"
import {
  buildPostCompactionContext,
  type PostCompactionContext,
  roomForSummary,
  tokensIn,
} from "./restore/post-compaction-context.ts"
import { WORDS_PER_TOKEN } from "./summarise/direct.ts"
import { continuationText, limited } from "./summarise/prompts.ts"
import type { Route, RouteInput, RouteResult, SignedRouteSummary } from "./summarise/route.ts"
import { recordOptions } from "./summarise/shared.ts"

// Step 5, restore. Decides whether a summary is worth installing: whether the context is small enough with everything that follows it. This
// changes nothing, so that a plan can do it too.

/** A checked summary and the route that produced it. */
export interface CandidateSummary {
  readonly route: Route
  readonly outcome: CheckedSummary
}

/** A summary that is worth installing. */
export interface AcceptedSummary {
  readonly kind: "accepted"
  readonly route: Route
  readonly summary: string
  /** The block that the API signed, and the text that follows it. */
  readonly signed?: SignedRouteSummary & Pick<SignedSummary, "text">
  readonly audit?: AuditFigures
  readonly cut: Cut
  /** The summary including the text around it. */
  readonly text: string
  readonly after: PostCompactionContext
}

export interface SummaryFailure {
  readonly kind: "failed"
  readonly reason: CompactionFailureReason
  readonly message: string
}

export async function evaluateSummary(
  situation: CompactionContext,
  { route, outcome }: CandidateSummary,
): Promise<AcceptedSummary | SummaryFailure> {
  const { context, limits } = situation
  context.progress({ phase: "restoring", route: route.name })
  const { text, signed } = withFrame(situation, outcome)
  const after = await buildPostCompactionContext({ situation, cut: outcome.cut, summary: text })
  if (route.mustReachThreshold && after.tokens >= limits.autoCompact)
    return tooLarge("the context would be full again immediately")
  if (after.tokens > maxAfter(situation, route))
    return tooLarge(
      `it would leave ${formatNumber(after.tokens)} of ${formatNumber(context.size.tokens)} tokens, which saves too little`,
    )
  const large = reasonAboveTarget(situation, route, after)
  if (large !== undefined) return tooLarge(large)
  const { text: summary, cut, audit } = outcome
  return {
    kind: "accepted",
    ...{ route, summary, cut, text, after },
    ...(signed ? { signed } : {}),
    ...(audit ? { audit } : {}),
  }
}

/** Like `evaluateSummary`, but an error counts as a failure. Otherwise every request would pay for the summary again. */
export const evaluateOrFail = (
  situation: CompactionContext,
  candidate: CandidateSummary,
): Promise<AcceptedSummary | SummaryFailure> =>
  evaluateSummary(situation, candidate).catch((error: unknown) => ({
    kind: "failed",
    reason: "no_summary",
    message: errorReason(error),
  }))

const tooLarge = (message: string): SummaryFailure => ({ kind: "failed", reason: "threshold_exceeded", message })

/** The text that replaces the messages. A signed summary stays unchanged and is followed by a separate text. */
function withFrame(
  { context, order, dependencies, cutInput }: CompactionContext,
  { cut, text, signed }: CheckedSummary,
) {
  const [first, last] = [cut.summarised.at(0), cut.summarised.at(-1)]
  const frame = {
    transcriptPath: context.journal.file,
    mode: order.trigger === "manual" ? "by-hand" : dependencies.autonomous ? "autonomous" : "automatic",
    keptMessages: tailOf(cut).length > 0,
    replaced: first && last ? { first: first.uuid, last: last.uuid } : undefined,
    recall: context.canRecall ? RECALL_TOOL : undefined,
  } as const
  return {
    text: continuationText({ ...frame, summary: text }),
    signed:
      signed && isEndOf(cut, cutInput)
        ? { ...signed, text: continuationText({ ...frame, summary: signed.notes ?? "", isSigned: true }) }
        : undefined,
  }
}

/** Reason to reject a summary although it fits: a later route, which preserves only the newest messages, would reach the target size. */
function reasonAboveTarget(
  { order, budgets }: CompactionContext,
  route: Route,
  after: PostCompactionContext,
): string | undefined {
  if (order.trigger !== "auto" || order.planned !== undefined) return undefined // the gain of a planned compaction was evaluated before
  if (!route.mustReachThreshold || after.tokens <= budgets.target) return undefined
  if (after.others + budgets.summary + budgets.newest.budget > budgets.target) return undefined
  return `it would leave ${formatNumber(after.tokens)} tokens, and ${formatNumber(budgets.target)} are aimed for`
}

/** Maximum size of the context after which a compaction is worth it. */
export function maxAfter(
  { context, order, budgets, limits }: CompactionContext,
  { mustReachThreshold }: Route,
): number {
  const size = context.size.tokens
  const gain = order.planned === undefined ? 0 : MIN_GAIN
  const budget =
    order.budget === undefined ? Number.POSITIVE_INFINITY : context.views.context.promptTokens + order.budget
  const worthIt = Math.min(size * (1 - budgets.progress), size - gain, budget)
  return mustReachThreshold ? Math.min(worthIt, limits.autoCompact - 1) : worthIt
}

const PROGRESS_STEP = 250 // characters

export interface ChoiceInput {
  readonly situation: CompactionContext
  readonly routes: readonly Route[]
  /** Instructions of the user, then those of hooks. */
  readonly instructions: readonly string[]
  /** Accepts only a summary without findings. */
  readonly isStrict?: boolean
}

/** Result of all routes, and the answers that were paid for. */
export type SummaryChoice = { readonly paid: readonly ModelResponse[] } & (
  | AcceptedSummary
  | SummaryFailure
  | { readonly kind: "given-up" }
)

/** An accepted summary, and the answers that were paid for on the way to it. */
export type ChosenSummary = SummaryChoice & AcceptedSummary

interface RouteAttempt {
  readonly paid: readonly ModelResponse[]
  readonly carryover: RouteCarryover
  /** `mismatched`: the summary does not match the conversation. It is repaired and used if no other route produces a better one. */
  readonly found:
    | AcceptedSummary
    | SummaryFailure
    | (CandidateSummary & { readonly kind: "mismatched" })
    | { readonly kind: "passed" }
}

const NO_ROUTE: SummaryFailure = { kind: "failed", reason: "no_summary", message: "no route to a summary was open" }
const MISMATCH: SummaryFailure = {
  kind: "failed",
  reason: "no_summary",
  message: "what it says is not what the conversation says",
}

export async function chooseSummary({
  situation,
  routes,
  instructions,
  isStrict = false,
}: ChoiceInput): Promise<SummaryChoice> {
  const { signal, progress } = situation.context
  const check = checkFor(situation)
  const tried: RouteAttempt[] = []
  const paid = () => tried.flatMap((each) => each.paid)
  for (const route of routes) {
    const carryover = tried.at(-1)?.carryover ?? NO_CARRYOVER
    if (carryover.isAgain && MODEL_ROUTES.has(route.name)) continue
    const last = await tryRoute(situation, { route, instructions, check, carryover })
    tried.push(last)
    const { found } = last
    if (signal.aborted) return { kind: "given-up", paid: paid() }
    if (found.kind === "passed") continue
    if (found.kind === "accepted") return { ...found, paid: paid() }
    progress({
      phase: "message",
      message: `Not compacted ${COMPACTION_ROUTE_LABELS[route.name]}: ${failureOf(found).message}`,
    })
  }
  if (isStrict) return { kind: "given-up", paid: paid() }
  return { ...(await bestOf(situation, tried)), paid: paid() }
}

interface RouteAttemptInput {
  readonly route: Route
  readonly instructions: readonly string[]
  readonly check: SummaryCheck
  readonly carryover: RouteCarryover
}

async function tryRoute(
  situation: CompactionContext,
  { route, instructions, check, carryover }: RouteAttemptInput,
): Promise<RouteAttempt> {
  const { context } = situation
  context.progress({ phase: "summarising", route: route.name })
  const paid: ModelResponse[] = []
  const checked = await askAndCheck(situation, {
    ...{ route, instructions, check, carryover: carryover },
    async ask(wanted) {
      const onProgress = throttleProgress((characters) =>
        context.progress({ phase: "summarising", route: route.name, characters }),
      )
      const answer = await summariseSafely(route, { ...situation, instructions: wanted, onProgress })
      if (answer.kind !== "passed") paid.push(...answer.responses)
      return answer.kind === "summary" ? limited(situation, route, answer) : answer
    },
  })
  const { result } = checked
  const found = async (): Promise<RouteAttempt["found"]> => {
    if (context.signal.aborted) return { kind: "passed" }
    if (result.kind === "passed") return { kind: "passed" }
    if (result.kind === "failed") return { kind: "failed", reason: result.reason, message: result.message }
    // quotations are the last resort: a repaired one is better than a full window
    if (route.name !== "offline" && isMismatched(result)) return { kind: "mismatched", route, outcome: result }
    return evaluateOrFail(situation, { route, outcome: result })
  }
  return { paid, carryover: checked.carryover, found: await found() }
}

/** Runs a route. An exception counts as a failure, so that the next route is tried. */
async function summariseSafely(route: Route, input: RouteInput): Promise<RouteResult> {
  try {
    return await route.summarise(input)
  } catch (error) {
    return { kind: "failed", reason: "no_summary", message: errorReason(error), responses: [] }
  }
}

/** Reports progress in steps. A discarded answer counts from zero again. */
function throttleProgress(report: (characters: number) => void): (characters: number) => void {
  let reported = 0
  return (characters) => {
    if (characters < reported) reported = 0
    if (reported > 0 && characters - reported < PROGRESS_STEP) return
    reported = characters
    report(characters)
  }
}

/** The best of the summaries that did not match the conversation. */
async function bestOf(
  situation: CompactionContext,
  tried: readonly RouteAttempt[],
): Promise<AcceptedSummary | SummaryFailure | { readonly kind: "given-up" }> {
  const all = tried.map(({ found }) => found)
  let failure = all.reduce<SummaryFailure>(
    (before, found) => (found.kind === "passed" ? before : failureOf(found)),
    NO_ROUTE,
  )
  const mismatched = all.filter((found) => found.kind === "mismatched")
  for (const candidate of mismatched.toSorted(betterFirst)) {
    const evaluated = await evaluateOrFail(situation, candidate)
    if (situation.context.signal.aborted) return { kind: "given-up" }
    if (evaluated.kind === "accepted") return evaluated
    failure = evaluated
  }
  return situation.context.signal.aborted ? { kind: "given-up" } : failure
}

const failureOf = (found: Exclude<RouteAttempt["found"], { kind: "passed" }>): SummaryFailure =>
  found.kind === "failed" ? found : MISMATCH

const betterFirst = ({ outcome: a }: CandidateSummary, { outcome: b }: CandidateSummary): number =>
  Number(isBetter(b, a)) - Number(isBetter(a, b))

// The plan of a compaction: what would be summarized, what would be preserved, and what it would cost. A dry run prints it. Creating a plan
// changes nothing.

/** Routes that cost nothing: the plan uses their real summary. */
const FREE_ROUTES: ReadonlySet<string> = new Set<CompactionRoute>(["notes", "offline"])
const MIN_SHARE = 1 / 4 // of what is asked for: a first summary by the simulator had 0.3 to 0.9 of it, a recorded one 0.6 and more
const FRAME = 250 // tokens of the text around a summary, and of what the check adds

interface OpenRoute {
  readonly route: Route | undefined
  readonly cut: Cut
  readonly after: PostCompactionContext
  /** Absent if the summary is already written. */
  readonly expected?: ReturnType<typeof expectedSummary>
}

export async function planOf(situation: CompactionContext, routes: readonly Route[]): Promise<CompactionPlan> {
  const { context, order } = situation
  const quiet = { ...situation, context: { ...context, progress: () => undefined } }
  const open: CompactionRoute[] = []
  let first: OpenRoute | undefined
  for (const route of routes) {
    if (open.length === 0) first = await openRoute(quiet, route)
    const isOpen = open.length > 0 ? await route.cut(inputFor(quiet)) : first
    if (isOpen) open.push(route.name)
  }
  first ??= await expectedRoute(quiet, { route: undefined, cut: situation.cut })
  const { route, cut, after, expected } = first
  const figures = planSizes(situation, first)
  const dollars = expected && priceOf(route, situation, first)
  const { min = after.summary, max = after.summary } = expected ?? {}
  const withSummary = (tokens: number) => figures.expectedAfter + Math.round(tokens) - after.summary
  return {
    trigger: order.trigger,
    kind: cut.kind,
    routes: open,
    summarised: {
      messages: cut.summarised.length,
      tokens: figures.summarised,
      first: cut.summarised[0]!.uuid,
      last: cut.summarised.at(-1)!.uuid,
    },
    kept: {
      uuids: cut.preserved.map(({ uuid }) => uuid),
      tokens: figures.kept,
      ...(figures.keptAfter < figures.kept ? { shortenedTo: figures.keptAfter } : {}),
    },
    fixed: figures.fixed,
    restored: after.attachments.map(titleOf),
    added: figures.added,
    summary: {
      tokens: after.summary,
      ...(expected ? { is: "expected", earlier: expected.earlier } : { is: "written" }),
    },
    ...(order.written ? { written: order.written } : {}),
    tokensBefore: context.size.tokens,
    expectedAfter: figures.expectedAfter,
    between: [withSummary(min), withSummary(max)],
    isWorthIt: after.tokens <= context.size.tokens * (1 - situation.budgets.progress),
    ...(dollars === undefined ? {} : { dollars }),
  }
}

/**
 * Sizes that add up before and after, none of them negative. The total follows the API's count; the rounding difference goes to the
 * summarized messages.
 */
function planSizes({ context, cutInput }: CompactionContext, { cut, after }: Pick<OpenRoute, "cut" | "after">) {
  const { size, views } = context
  const fixed = Math.min(size.tokens, Math.ceil(views.context.promptTokens))
  const kept = Math.min(size.tokens - fixed, Math.ceil(tokensIn(cut.preserved, { cutInput })))
  const keptAfter = Math.min(kept, Math.ceil(after.preserved))
  const added = Math.max(0, toWholeTokens(after.tokens) - keptAfter - fixed - after.summary)
  const expectedAfter = fixed + keptAfter + added + after.summary
  return { expectedAfter, kept, keptAfter, added, fixed, summarised: size.tokens - fixed - kept }
}

/** Evaluates a route for the plan. A route whose summary is available but unusable is skipped, as it will be in the compaction. */
async function openRoute(situation: CompactionContext, route: Route): Promise<OpenRoute | undefined> {
  const input = inputFor(situation)
  const cut = await route.cut(input)
  if (!cut) return undefined
  if (!FREE_ROUTES.has(route.name) && !situation.order.written) return expectedRoute(situation, { route, cut })
  const { result } = await askAndCheck(situation, {
    ...{ route, instructions: [], carryover: NO_CARRYOVER, check: checkFor(situation) },
    ask: () => route.summarise(input),
  })
  if (result.kind !== "summary" || (isMismatched(result) && !situation.order.written)) return undefined
  const evaluated = await evaluateSummary(situation, { route, outcome: result })
  return evaluated.kind === "accepted" ? { route, cut: evaluated.cut, after: evaluated.after } : undefined
}

const inputFor = (situation: CompactionContext): RouteInput => ({
  ...situation,
  instructions: [],
  onProgress: () => undefined,
})

async function expectedRoute(
  situation: CompactionContext,
  { route, cut }: Pick<OpenRoute, "route" | "cut">,
): Promise<OpenRoute> {
  const expected = expectedSummary(situation, cut)
  // a whole number: the view rounds once, so a second rounding would make the plan differ by a token
  const after = await buildPostCompactionContext({ situation, cut, summary: Math.ceil(expected.tokens) })
  return { route, cut, after, expected }
}

/**
 * Expected tokens of the summary that a model will write: the average of the last two here, because a summary takes in the one before it. A
 * first summary is expected to have the requested length.
 */
function expectedSummary(situation: CompactionContext, cut: Cut) {
  const { compactions, estimator } = situation.context.views
  const max = situation.budgets.summary + FRAME
  const written = compactions.summaries.filter(({ route }) => !FREE_ROUTES.has(route))
  const sizes = written.map(({ measure }) => Math.min(max, estimator.tokens(measure)))
  const { words = Number.POSITIVE_INFINITY } = recordOptions({ ...situation, cut })
  const requested = Math.min(roomForSummary(situation, cut), words / WORDS_PER_TOKEN)
  const last = sizes.at(-1)
  if (last === undefined) return { tokens: requested, min: requested * MIN_SHARE, max, earlier: 0 }
  const wider = 1 + 1 / sizes.length // a recorded second one had 0.86 to 1.19 of the first, a quoted one up to 1.7
  const [min, largest] = [Math.min(...sizes) / wider, Math.max(...sizes) * wider]
  return { tokens: (last + (sizes.at(-2) ?? last)) / 2, min, max: Math.min(max, largest), earlier: sizes.length }
}

/** Price of the model call. A fork and the API itself read from the cache; a direct call sends its messages uncached. */
function priceOf(
  route: Route | undefined,
  situation: CompactionContext,
  { cut, after }: Pick<OpenRoute, "cut" | "after">,
): number | undefined {
  if (!route || FREE_ROUTES.has(route.name)) return undefined
  const { context, cutInput } = situation
  const own = route.ownRequest?.({ ...inputFor(situation), cut })
  const part = Math.ceil(cut.summarised.reduce((sum, each) => sum + cutInput.tokensOf(each), 0))
  const read = route.name === "server" ? context.views.context.promptTokens + part : context.size.tokens
  const input = own ? { input: Math.ceil(own.tokens) } : { cacheRead: read }
  const cost = costOf(own?.facts ?? context.facts, { ...NO_TOKENS, ...input, output: after.summary })
  return cost.known ? cost.dollars : undefined
}

function titleOf(attachment: Attachment): string {
  const subject = "path" in attachment ? attachment.path : "name" in attachment ? attachment.name : ""
  return [attachment.type.replaceAll("_", " "), subject].filter(Boolean).join(": ")
}
