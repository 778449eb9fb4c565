/**
 * One attempt at a compaction: it tries the routes to a summary, cheapest first, until one gives a summary that is worth installing.
 * The result is drafts. Nothing has changed until they are journaled.
 */
import { reasonOf } from "../../base/errors.ts"
import { grouped } from "../../base/grouped.ts"
import type { FailureReason } from "../../base/telemetry.ts"
import type { AuditFigures, Draft } from "../../journal/entries.ts"
import type { SignedSummary } from "../../messages/messages.ts"
import type { ModelResponse } from "../../model/model.ts"
import { wholeTokens } from "../../tokens/context-size.ts"
import { unlessInterrupted } from "../../tools/interruption.ts"
import { RECALL_TOOL } from "../../tools/session/recall-source.ts"
import type { RouteName } from "../compaction-order.ts"
import { type Aftermath, aftermath } from "./aftermath.ts"
import { ASKS_MODEL, auditorOf, type CheckedSummary, isBetter, isWanting } from "./audit/check.ts"
import { type Cut, isEndOf } from "./cut.ts"
import { hookOutput } from "./hook-output.ts"
import { installation, spent } from "./install.ts"
import type { CompactionOptions } from "./options.ts"
import { limited } from "./routes/limited.ts"
import type { Route, RouteInput, RouteOutcome, Signed } from "./routes/route.ts"
import type { Situation } from "./situation.ts"
import { continuationText } from "./summarise/continuation.ts"

const PLANNED_SLACK = 1.25 // of the target: a compaction that saves money does not pay for another summary over a little
const PROGRESS_STEP = 250 // characters

export interface AttemptParts {
  readonly situation: Situation
  readonly routes: readonly Route[]
  /** The user's first, then those of hooks. */
  readonly instructions: readonly string[]
  readonly options: CompactionOptions
  /** Takes only a summary that leaves no doubt. Else it has failed. */
  readonly isStrict?: boolean
}

export interface Attempt {
  readonly drafts: readonly Draft[]
  /** Absent where it failed. */
  readonly success?: Success
}

export interface Success {
  readonly summary: string
  readonly after: Aftermath
  readonly facts: {
    readonly route: RouteName
    readonly tokensBefore: number
    readonly tokensAfter: number
    readonly audit?: AuditFigures
  }
}

interface Failure {
  readonly why: FailureReason
  readonly message: string
}

export async function attempt(parts: AttemptParts): Promise<Attempt> {
  const chosen = await choose(parts)
  return isChosen(chosen) ? install(parts.situation, chosen) : chosen
}

export const isChosen = (found: Chosen | Attempt): found is Chosen => "after" in found

/** The first summary that is worth installing, or the best of the others. Nothing is installed yet. */
export async function choose(parts: AttemptParts): Promise<Chosen | Attempt> {
  const { situation, routes, instructions, options, isStrict = false } = parts
  const { context } = situation
  const paid: ModelResponse[] = []
  const auditor = auditorOf(situation)
  /** A summary that is used if no later route has a better one. */
  let inReserve: (Weighed & { readonly route: Route }) | undefined
  let failure: Failure = { why: "no_summary", message: "no route to a summary was open" }
  /** Summaries that the audit found wanting, repaired. The best of them is used where no other route gives a better one. */
  const held: ToWeigh[] = []
  for (const route of routes) {
    if (auditor.hasAskedAgain && ASKS_MODEL.has(route.name)) continue
    context.progress({ phase: "summarising", route: route.name })
    const outcome = await auditor.summary(route, instructions, async (wanted) => {
      const onProgress = inSteps((characters) =>
        context.progress({ phase: "summarising", route: route.name, characters }),
      )
      const answer = await tried(route, { ...situation, instructions: wanted, onProgress })
      if (answer.kind !== "passed") paid.push(...answer.responses)
      return answer.kind === "summary" ? limited(situation, route, answer) : answer
    })
    if (context.signal.aborted) return givenUp(situation, paid)
    if (outcome.kind === "passed") continue
    // quotations are the last resort: a repaired one is better than a full window
    if (outcome.kind === "summary" && route.name !== "offline" && isWanting(outcome)) {
      held.push({ route, outcome, options })
      failure = { why: "no_summary", message: "what it says is not what the conversation says" }
      context.progress({ phase: "message", message: `Not compacted ${ROUTE_WORDS[route.name]}: ${failure.message}` })
      continue
    }
    const weighed =
      outcome.kind === "summary" ? await weigh(situation, { route, outcome, options }).catch(asFailure) : outcome
    if (context.signal.aborted) return givenUp(situation, paid)
    if ("after" in weighed && (weighed.doubt === undefined || (route === routes.at(-1) && !isStrict)))
      return { ...weighed, route, paid, options }
    if ("after" in weighed) inReserve ??= { ...weighed, route }
    else failure = weighed
    context.progress({
      phase: "message",
      message: `Not compacted ${ROUTE_WORDS[route.name]}: ${"after" in weighed ? weighed.doubt : weighed.message}`,
    })
  }
  if (isStrict) return { drafts: spent(paid, situation.order.trigger) }
  if (inReserve) return { ...inReserve, paid, options }
  for (const each of held.toSorted(betterFirst)) {
    const weighed = await weigh(situation, each).catch(asFailure)
    if (context.signal.aborted) return givenUp(situation, paid)
    if ("after" in weighed) return { ...weighed, route: each.route, paid, options }
    failure = weighed
  }
  if (context.signal.aborted) return givenUp(situation, paid)
  return failed(situation, failure, paid)
}

const betterFirst = ({ outcome: a }: ToWeigh, { outcome: b }: ToWeigh): number =>
  Number(isBetter(b, a)) - Number(isBetter(a, b))

/** Only the bill has changed: answers so far are paid for. */
const givenUp = ({ order }: Situation, paid: readonly ModelResponse[]): Attempt => ({
  drafts: spent(paid, order.trigger),
})

/** A route that throws must not keep the next one from being tried. */
async function tried(route: Route, input: RouteInput): Promise<RouteOutcome> {
  try {
    return await route.summarise(input)
  } catch (error) {
    return { kind: "failed", why: "no_summary", message: reasonOf(error), responses: [] }
  }
}

/** Reports in steps, not for every word. An answer that was discarded counts from zero again. */
function inSteps(report: (characters: number) => void): (characters: number) => void {
  let reported = 0
  return (characters) => {
    if (characters < reported) reported = 0
    if (reported > 0 && characters - reported < PROGRESS_STEP) return
    reported = characters
    report(characters)
  }
}

/** A summary that cannot be used counts as a failure. Otherwise every request would pay for it again. */
const asFailure = (error: unknown): Failure => ({ why: "no_summary", message: reasonOf(error) })

interface ToWeigh {
  readonly route: Route
  readonly outcome: CheckedSummary
  readonly options: CompactionOptions
}

interface Weighed {
  readonly summary: string
  /** The block that the API signed, with the text that follows it. */
  readonly signed?: Signed & Pick<SignedSummary, "text">
  readonly audit?: AuditFigures
  readonly cut: Cut
  /** The summary with the text around it. */
  readonly text: string
  readonly after: Aftermath
  /** Why a later route may do better. */
  readonly doubt?: string
}

/** Whether a summary is worth installing. */
export async function weigh(situation: Situation, { route, outcome, options }: ToWeigh): Promise<Weighed | Failure> {
  const { context, order, limits } = situation
  context.progress({ phase: "restoring", route: route.name })
  const [first, last] = [outcome.cut.summarised.at(0), outcome.cut.summarised.at(-1)]
  const around = {
    transcriptPath: context.journal.location,
    mode: order.trigger === "manual" ? "by-hand" : options.autonomous ? "autonomous" : "automatic",
    keptMessages: outcome.cut.kept.length > 0,
    replaced: first && last ? { first: first.uuid, last: last.uuid } : undefined,
    recall: context.views.context.toolNames.includes(RECALL_TOOL) ? RECALL_TOOL : undefined,
  } as const
  const text = continuationText({ ...around, summary: outcome.text })
  const signed = outcome.signed && isEndOf(outcome.cut, situation.cutInput) ? outcome.signed : undefined
  const framed = signed && { text: continuationText({ ...around, summary: signed.notes ?? "", isSigned: true }) }
  const after = await aftermath({ situation, cut: outcome.cut, summary: text }, options)
  const before = context.size.tokens
  if (route.mustReachThreshold && after.tokens >= limits.autoCompact)
    return { why: "threshold_exceeded", message: "the context would be full again immediately" }
  if (after.tokens > mostAfter(situation, route)) {
    const message = `it would leave ${grouped(after.tokens)} of ${grouped(before)} tokens, which saves too little`
    return { why: "threshold_exceeded", message }
  }
  const { text: summary, cut, audit, doubt = tooLargeStill(situation, route, after) } = outcome
  return {
    ...{ summary, cut, text, after },
    ...(signed && framed ? { signed: { ...signed, ...framed } } : {}),
    ...(audit ? { audit } : {}),
    ...(doubt === undefined ? {} : { doubt }),
  }
}

/** Whether a later route, which keeps only the newest messages, would bring the context down to where it should be. */
function tooLargeStill({ order, figures }: Situation, route: Route, after: Aftermath): string | undefined {
  const enough = order.planned === undefined ? figures.target : figures.target * PLANNED_SLACK
  if (order.trigger !== "auto" || !route.mustReachThreshold || after.tokens <= enough) return undefined
  if (after.others + figures.summary + figures.newest.budget > figures.target) return undefined
  return `it would leave ${grouped(after.tokens)} tokens, and ${grouped(figures.target)} are aimed for`
}

/** The largest context that is worth it. */
function mostAfter({ context, figures, limits }: Situation, { mustReachThreshold }: Route): number {
  const worthIt = context.size.tokens * (1 - figures.progress)
  return mustReachThreshold ? Math.min(worthIt, limits.autoCompact - 1) : worthIt
}

/** A summary that is worth installing, and what was paid on the way to it. */
export interface Chosen extends Weighed {
  readonly route: Route
  readonly paid: readonly ModelResponse[]
  readonly options: CompactionOptions
  /** It was written in the background. */
  readonly isPrepared?: boolean
}

export async function install(situation: Situation, toInstall: Chosen): Promise<Attempt> {
  const { context, order, limits } = situation
  const { route, paid, options } = toInstall
  const reviewed = await review(situation, toInstall)
  if (reviewed === undefined || context.signal.aborted) return givenUp(situation, paid)
  if (!("after" in reviewed)) return failed(situation, reviewed, paid)
  const { summary, cut, text, after, audit, signed } = reviewed
  if (route.name === "offline") context.progress({ phase: "message", message: quotedSentence(paid.length > 0) })
  const { signal, progress } = context
  const hooks = options.hooks?.started({ signal, progress }) ?? Promise.resolve(undefined)
  const started = await unlessInterrupted(signal, hooks)
  if (started.state === "interrupted" || context.signal.aborted) return givenUp(situation, paid)
  for (const message of started.value?.messages ?? []) context.progress({ phase: "message", message })
  const said = hookOutput(started.value?.contexts ?? [], {
    room: Math.min(situation.figures.hooks, mostAfter(situation, route) - after.tokens),
    estimate: (words) => context.views.estimator.text(words),
  })
  const { last, responses } = context.views.compactions
  const figures = {
    route: route.name,
    tokensBefore: context.size.tokens,
    tokensAfter: wholeTokens(after.tokens + said.tokens),
    ...(audit ? { audit } : {}),
  }
  const drafts = installation({
    context,
    cut,
    text,
    ...(signed ? { signed } : {}),
    attachments: [...after.attachments, ...said.attachments],
    shortened: after.shortened,
    facts: {
      trigger: order.trigger,
      ...figures,
      threshold: limits.autoCompact,
      ...(toInstall.isPrepared ? { prepared: true } : {}),
      ...(order.planned === undefined ? {} : { planned: order.planned }),
      ...(last ? { previous: { boundary: last.boundary, responses } } : {}),
    },
  })
  return { drafts: [...spent(paid, order.trigger), ...drafts], success: { summary, after, facts: figures } }
}

/** What a person makes of the summary. It must still be worth it. `undefined` where they cancel. */
async function review(situation: Situation, written: Chosen): Promise<Weighed | Failure | undefined> {
  const { order } = situation
  const { route, options, cut, summary } = written
  if (!order.review) return written
  const text = (await order.review({ text: summary, route: route.name }))?.trim()
  if (!text) return undefined
  if (text === summary.trim()) return written
  const outcome = { kind: "summary" as const, text, cut, responses: [] }
  return weigh(situation, { route, outcome, options })
}

function failed({ context, order }: Situation, { why, message }: Failure, paid: readonly ModelResponse[]): Attempt {
  const instead = order.trigger === "manual" ? "Try again later" : "Try /compact"
  const sentence = `The conversation could not be compacted: ${message}. Nothing was changed and everything is kept. ${instead}, go back to an earlier message, or use a model with a larger window.`
  context.progress({ phase: "failed", message: sentence })
  return {
    drafts: [
      ...spent(paid, order.trigger),
      { type: "strata", subtype: "compaction-failed", trigger: order.trigger, reason: why, message: sentence },
    ],
  }
}

const quotedSentence = (isPaid: boolean): string =>
  `${isPaid ? "No summary that a model wrote could be used" : "No model could write the summary"}, so it is quoted from the conversation. The journal has everything. A model writes the next one.`

/** How each route is named to a person. */
export const ROUTE_WORDS: Readonly<Record<Route["name"], string>> = {
  notes: "from the notes",
  server: "by the model's API",
  shared: "by the model, from its cache",
  direct: "by the model",
  offline: "without a model",
}
