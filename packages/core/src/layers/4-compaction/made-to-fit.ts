/**
 * Steps 1 and 2, decide and cut. Before a model is asked, what will be there afterwards is computed and made to fit. Files get what the
 * rest leaves; then fewer messages are kept, then the record is shorter. Where even that does not fit, the compaction is refused, and
 * nothing was paid.
 */
import { grouped } from "../../base/text.ts"
import { inSlices } from "../../base/work.ts"
import type { Refusal } from "../layer.ts"
import { appendixRoom } from "./check/check.ts"
import { type CompactionFigures, type Reduced, reducedFigures, SHORTEST_SUMMARY } from "./figures.ts"
import { type Carried, carried, tokensIn } from "./restore/carried.ts"
import {
  assess,
  type Begun,
  isRefusal,
  LEAST_NEW_SHARE,
  measureSteps,
  type Situation,
  situationWith,
} from "./situation.ts"

/** Shares of the usual figures, tried in this order. */
const STEPS = [
  { kept: 1, record: 1 },
  { kept: 0.5, record: 1 },
  { kept: 0.2, record: 1 },
  { kept: 0, record: 1 },
  { kept: 0, record: 0.4 },
  { kept: 0, record: 0.1 },
] as const
/** The last one where a budget is given. The same for every budget, so that the least that a refusal names is enough. */
const LEAST: Reduced = { kept: 0, record: 0, summary: SHORTEST_SUMMARY }

const RESTORED_SHARE = 0.5 // of the conversation, with the summary and all that is kept: a compaction is to make room
const SUMMARY_SHARE = 0.3 // of what it summarises, where that is short
const AROUND_SUMMARY = 300 // tokens of the text around it

/** What a compaction starts from, made to fit before anyone is asked. */
export async function situationFor(begun: Begun): Promise<Situation | Refusal> {
  const { views, signal } = begun.context
  await inSlices(views.catchUpSteps(), { signal }) // what the record shows is read below
  await inSlices(measureSteps(begun.context), { signal })
  const situation = assess(begun)
  return isRefusal(situation) ? situation : madeToFit(situation)
}

async function madeToFit(situation: Situation): Promise<Situation | Refusal> {
  const goals = goalsOf(situation)
  let least: Carried | undefined
  let fitting: Situation | undefined
  for (const step of stepsFor(situation)) {
    const tried = withRoom(situation, reducedFigures(situation.figures, step), goals)
    const after = await carried({ situation: tried, cut: tried.cut, summary: largestSummary(tried) })
    if (after.tokens <= goals.wanted) return tried
    if (after.tokens <= goals.most) fitting = tried
    if (!least || after.tokens < least.tokens) least = after
  }
  return fitting ?? (least!.tokens > goals.budget ? overBudget : noGain)(situation, least!)
}

function stepsFor(situation: Situation): readonly Reduced[] {
  if (situation.order.budget !== undefined) return [...STEPS, LEAST]
  return mayShortenRecord(situation) ? STEPS : STEPS.filter(({ record }) => record === 1)
}

/** By hand, while there is room, nothing is taken from the record: a few tokens fewer are not worth facts that go out of view. */
const mayShortenRecord = ({ order, context, limits }: Situation): boolean =>
  order.trigger === "auto" || order.target !== undefined || context.size.tokens >= limits.autoCompact

interface Goals {
  /** The whole context afterwards, where that can be reached. */
  readonly wanted: number
  /** More is refused. */
  readonly most: number
  /** What the order allows, with system prompt and tools. */
  readonly budget: number
  /** With files that are shown again. */
  readonly restored: number
}

function goalsOf({ context, figures, limits, order }: Situation): Goals {
  const size = context.size.tokens
  const prompt = context.views.context.promptTokens
  const worthIt = Math.floor(size * (1 - figures.progress))
  // after it there must be room for new content
  const roomy = limits.blocking - Math.floor(limits.window * LEAST_NEW_SHARE)
  const isByHand = order.trigger === "manual"
  const isForced = context.fill.state === "blocked" // little room is better than no request at all
  const budget = order.budget === undefined ? Number.POSITIVE_INFINITY : prompt + order.budget
  const most = Math.min(worthIt, budget, isByHand || isForced ? limits.blocking - 1 : roomy)
  return {
    wanted: isByHand ? most : Math.min(most, limits.autoCompact - 1),
    ...{ most, budget },
    restored: prompt + Math.floor(Math.max(0, size - prompt) * RESTORED_SHARE),
  }
}

/** With figures that leave room: for the files, and for a summary of what is summarised then. */
function withRoom(situation: Situation, figures: CompactionFigures, { wanted, restored }: Goals): Situation {
  const tried = situationWith(situation, {
    ...figures,
    target: Math.min(figures.target, wanted),
    restored: Math.min(figures.restored, wanted, restored),
  })
  const summary = Math.max(SHORTEST_SUMMARY, Math.floor(tokensIn(tried.cut.summarised, tried) * SUMMARY_SHARE))
  return { ...tried, figures: { ...tried.figures, summary: Math.min(figures.summary, summary) } }
}

/** Tokens of the largest summary that is taken: up to its budget, with what the audit adds and the text around it. */
function largestSummary(situation: Situation): number {
  const { figures, order, context } = situation
  if (order.written) return context.views.estimator.text(order.written.text) + AROUND_SUMMARY
  return figures.summary + appendixRoom(situation) + AROUND_SUMMARY
}

function overBudget({ context, order }: Situation, { tokens, summary, others, kept }: Carried): Refusal {
  const prompt = context.views.context.promptTokens
  const parts = `summary ${rounded(summary)}, record and files ${rounded(others - prompt)}, newest messages ${rounded(kept)}`
  return {
    kind: "refused",
    why: "no-gain",
    message: `A compaction cannot leave as little as ${grouped(order.budget!)} tokens here: the least is ${rounded(tokens - prompt)} (${parts}). Nothing was changed, and no model was asked. Allow more tokens.`,
  }
}

const rounded = (tokens: number): string => grouped(Math.ceil(tokens))

function noGain({ context, order }: Situation, least: Carried): Refusal {
  const size = grouped(context.size.tokens)
  const after = rounded(least.tokens)
  const prompt = grouped(Math.ceil(context.views.context.promptTokens))
  const instead =
    order.trigger === "manual"
      ? "Go on, or clear tool results with /clear-results."
      : "Go back to an earlier message, use fewer tools, or use a model with a larger window."
  return {
    kind: "refused",
    why: "no-gain",
    message: `Compacting would not make enough room: it would leave about ${after} of ${size} tokens, and ${prompt} of them are system prompt and tools. Nothing was changed, and no model was asked. ${instead}`,
  }
}
