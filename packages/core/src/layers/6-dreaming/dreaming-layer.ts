import { limitsFrom } from "../../model/stream-limits.ts"
import type { Flags } from "../../settings/flags.ts"
import { backgroundBudget, spendingOf } from "../background-budget.ts"
import type { Layer, LayerContext, Outcome } from "../layer.ts"
import type { Quota } from "../quota.ts"
import type { Dreamed, DreamFigures, Dreaming, Hold } from "./dreaming.ts"

export interface DreamingLayer extends Layer {
  /** Dreams at once. The outcome has no message: the caller reports the end. */
  now(context: LayerContext): Promise<{ readonly end: Dreamed; readonly outcome: Outcome | undefined }>
}

export function dreamingLayer(dreaming: Dreaming, quota?: Quota): DreamingLayer {
  const orderFor = ({ flags, conversation, signal }: LayerContext) => ({
    figures: dreamFigures(flags),
    ...{ conversation, signal, patience: limitsFrom(flags) },
  })
  return {
    name: "dreaming",

    async now(context) {
      const end = await dreaming.dream({ ...orderFor(context), force: true })
      const { message: _, failures: __, ...outcome } = outcomeOf(end, context) ?? { drafts: [] }
      return { end, outcome: outcome.drafts.length > 0 || outcome.counts ? outcome : undefined }
    },

    async afterQuery(context) {
      if (!context.flags.on.dreaming || context.signal.aborted) return undefined
      return outcomeOf(await dreaming.dream({ ...orderFor(context), hold: holdFor(context, quota) }), context)
    },
  }
}

/** A dream can wait: it must not take from the person's share, from a short quota, or from an answer that they wait for. */
function holdFor({ views, flags, now }: LayerContext, quota: Quota | undefined): Hold | undefined {
  if (views.context.queued.length > 0)
    return { gate: "waiting", message: "A message of yours was waiting for an answer." }
  const shortage = quota?.shortage(now)
  if (shortage !== undefined) return { gate: "quota", message: `It waits because ${shortage}.` }
  const budget = backgroundBudget(views.ledger, { purpose: "memory", limit: flags.figures["background-share"] })
  if (budget.allowed) return undefined
  const taken = `Background work had taken ${Math.round(budget.taken)}% of that conversation's cost`
  const next = `A dream might have made it ${Math.round(budget.next)}%`
  return { gate: "share", message: `${taken}. ${next}, and the limit is ${budget.limit}% (background-share).` }
}

export const dreamFigures = ({ on, figures }: Flags): DreamFigures => ({
  isOn: on.dreaming,
  gapHours: figures["dream-gap"],
  rescanMinutes: figures["dream-rescan"],
  conversations: figures["dream-conversations"],
  maxTurns: figures["dream-turns"],
  dailyLimit: figures["memory-daily-limit"],
})

/** A dream that did not start says nothing: it is looked at after every query. */
function outcomeOf(end: Dreamed, { signal }: LayerContext): Outcome | undefined {
  if (end.state === "skipped" || end.state === "locked") return undefined
  const failures = end.state === "failed" && !signal.aborted ? [end.error] : []
  return {
    drafts: spendingOf(end.responses, "dream"),
    failures,
    counts: { [`dreams.${end.state}`]: 1 },
    ...(end.state === "failed" || end.state === "killed" ? {} : { message: end.message }),
  }
}
