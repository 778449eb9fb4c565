/**
 * Step 5, restore. Whether a summary is worth installing: with what follows it, is the context small enough? Weighing changes nothing, so a
 * plan weighs too.
 */
import { reasonOf } from "../../base/errors.ts"
import { grouped } from "../../base/grouped.ts"
import type { FailureReason } from "../../base/telemetry.ts"
import type { AuditFigures } from "../../journal/entries.ts"
import type { SignedSummary } from "../../messages/messages.ts"
import { RECALL_TOOL } from "../../tools/session/recall-source.ts"
import { MIN_GAIN } from "../planner/compact-now.ts"
import type { CheckedSummary } from "./check/check.ts"
import { type Cut, isEndOf, tailOf } from "./cut.ts"
import { type Carried, carried } from "./restore/carried.ts"
import type { Situation } from "./situation.ts"
import { continuationText } from "./summarise/prompts.ts"
import type { Route, Signed } from "./summarise/route.ts"

/** A summary that a route gave, and that was checked. */
export interface Given {
  readonly route: Route
  readonly outcome: CheckedSummary
}

/** A summary that is worth installing. */
export interface Weighed {
  readonly kind: "weighed"
  readonly route: Route
  readonly summary: string
  /** The block that the API signed, with the text that follows it. */
  readonly signed?: Signed & Pick<SignedSummary, "text">
  readonly audit?: AuditFigures
  readonly cut: Cut
  /** The summary with the text around it. */
  readonly text: string
  readonly after: Carried
}

export interface Failure {
  readonly kind: "failed"
  readonly why: FailureReason
  readonly message: string
}

export async function weigh(situation: Situation, { route, outcome }: Given): Promise<Weighed | Failure> {
  const { context, limits } = situation
  context.progress({ phase: "restoring", route: route.name })
  const { text, signed } = framed(situation, outcome)
  const after = await carried({ situation, cut: outcome.cut, summary: text })
  if (route.mustReachThreshold && after.tokens >= limits.autoCompact)
    return tooLarge("the context would be full again immediately")
  if (after.tokens > mostAfter(situation, route))
    return tooLarge(
      `it would leave ${grouped(after.tokens)} of ${grouped(context.size.tokens)} tokens, which saves too little`,
    )
  const large = largeStill(situation, route, after)
  if (large !== undefined) return tooLarge(large)
  const { text: summary, cut, audit } = outcome
  return {
    kind: "weighed",
    ...{ route, summary, cut, text, after },
    ...(signed ? { signed } : {}),
    ...(audit ? { audit } : {}),
  }
}

/** The same, where a summary that cannot be used counts as a failure. Otherwise every request would pay for it again. */
export const weighOrFail = (situation: Situation, given: Given): Promise<Weighed | Failure> =>
  weigh(situation, given).catch((error: unknown) => ({ kind: "failed", why: "no_summary", message: reasonOf(error) }))

const tooLarge = (message: string): Failure => ({ kind: "failed", why: "threshold_exceeded", message })

/** The text that replaces the messages. A signed summary stays as it is, and a text of its own follows it. */
function framed({ context, order, around, cutInput }: Situation, { cut, text, signed }: CheckedSummary) {
  const [first, last] = [cut.summarised.at(0), cut.summarised.at(-1)]
  const frame = {
    transcriptPath: context.journal.file,
    mode: order.trigger === "manual" ? "by-hand" : around.autonomous ? "autonomous" : "automatic",
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

/** Whether a later route, which keeps only the newest messages, would bring the context down to where it should be. */
function largeStill({ order, figures }: Situation, route: Route, after: Carried): string | undefined {
  if (order.trigger !== "auto" || order.planned !== undefined) return undefined // what a planned one gains was weighed before
  if (!route.mustReachThreshold || after.tokens <= figures.target) return undefined
  if (after.others + figures.summary + figures.newest.budget > figures.target) return undefined
  return `it would leave ${grouped(after.tokens)} tokens, and ${grouped(figures.target)} are aimed for`
}

/** The largest context that is worth it. */
export function mostAfter({ context, order, figures, limits }: Situation, { mustReachThreshold }: Route): number {
  const size = context.size.tokens
  const gain = order.planned === undefined ? 0 : MIN_GAIN
  const budget =
    order.budget === undefined ? Number.POSITIVE_INFINITY : context.views.context.promptTokens + order.budget
  const worthIt = Math.min(size * (1 - figures.progress), size - gain, budget)
  return mustReachThreshold ? Math.min(worthIt, limits.autoCompact - 1) : worthIt
}
