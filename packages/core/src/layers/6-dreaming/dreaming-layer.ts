import { streamLimits } from "../../model/stream.ts"
import type { Flags } from "../../settings/flags.ts"
import type { RateLimitState } from "../budget.ts"
import { memorySpending, spendingOf } from "../budget.ts"
import type { Layer, LayerContext, LayerResult } from "../layer.ts"
import type { MemoryBudget } from "../memory-budget.ts"
import type { DreamController, DreamFigures, DreamPostponement, DreamReservation, DreamResult } from "./dreaming.ts"

export interface DreamingLayer extends Layer {
  /** Starts a dream immediately. The layer result has no message, because the caller reports the end. */
  now(context: LayerContext): Promise<{ readonly end: DreamResult; readonly outcome: LayerResult | undefined }>
}

export interface DreamLimits {
  readonly quota?: RateLimitState
  readonly budget?: MemoryBudget
}

export function dreamingLayer(dreaming: DreamController, { quota, budget }: DreamLimits = {}): DreamingLayer {
  const orderFor = ({ flags, conversation, signal }: LayerContext) => ({
    figures: dreamSettings(flags),
    ...{ conversation, signal, patience: streamLimits(flags) },
  })
  return {
    name: "dreaming",

    async now(context) {
      const end = await dreaming.dream({ ...orderFor(context), force: true })
      const { message: _, failures: __, ...outcome } = layerResult(end, context) ?? { drafts: [] }
      return { end, outcome: outcome.drafts.length > 0 || outcome.counts ? outcome : undefined }
    },

    async afterQuery(context) {
      if (!context.flags.on.dreaming || context.signal.aborted) return undefined
      const takeShare = budget && ((expected: number) => reserveShare(context, { budget, expected }))
      const order = { ...orderFor(context), hold: postponementFor(context, quota), takeShare }
      return layerResult(await dreaming.dream(order), context)
    },
  }
}

/** Reason to postpone a dream: it must not use up a low rate limit, or delay an answer that the user is waiting for. */
function postponementFor(
  { views, now }: LayerContext,
  quota: RateLimitState | undefined,
): DreamPostponement | undefined {
  if (views.context.queued.length > 0)
    return { gate: "waiting", message: "A message of yours was waiting for an answer." }
  const shortage = quota?.shortage(now)
  return shortage === undefined ? undefined : { gate: "quota", message: `It waits because ${shortage}.` }
}

interface ReservationInput {
  readonly budget: MemoryBudget
  /** Expected cost in dollars. */
  readonly expected: number
}

/** Reserves the cost of a dream. Dreams and extractions share one limit. */
async function reserveShare(context: LayerContext, { budget, expected }: ReservationInput): Promise<DreamReservation> {
  const { journal, views, flags, now } = context
  const { project, id } = journal.address
  const limit = flags.figures["background-share"]
  const own = { project, id, ...memorySpending(views.ledger) }
  const share = await budget.take({ work: "dream", own, limit, expected: () => expected, now })
  if (share.state === "taken") return share
  if (share.state !== "wait") return { state: "wait", message: "Another dream is running." }
  const taken = `Memory work had taken ${Math.round(share.taken)}% of what your conversations here cost`
  const next = `A dream might have made it ${Math.round(share.next)}%`
  return { state: "wait", message: `${taken}. ${next}, and the limit is ${limit}% (background-share).` }
}

export const dreamSettings = ({ on, figures }: Flags): DreamFigures => ({
  isOn: on.dreaming,
  gapHours: figures["dream-interval"],
  rescanMinutes: figures["dream-check-interval"],
  conversations: figures["dream-conversations"],
  maxTurns: figures["dream-turns"],
  dailyLimit: figures["memory-daily-limit"],
})

/** The layer result of a dream. A dream that did not start reports nothing, because this is checked after every query. */
function layerResult(end: DreamResult, { signal }: LayerContext): LayerResult | undefined {
  if (end.state === "skipped" || end.state === "locked") return undefined
  const failures = end.state === "failed" && !signal.aborted ? [end.error] : []
  return {
    drafts: spendingOf(end.responses, "dream"),
    failures,
    counts: { [`dreams.${end.state}`]: 1 },
    ...(end.state === "failed" || end.state === "killed" ? {} : { message: end.message }),
  }
}
