/** Dreaming as a layer: after a query it looks whether it is time, and then dreams in the background. */
import type { Flags } from "../../base/flags.ts"
import type { DecisionDraft } from "../../journal/entries.ts"
import type { ModelResponse } from "../../model/model.ts"
import { limitsFrom } from "../../model/stream-limits.ts"
import { backgroundBudget } from "../background-budget.ts"
import type { Layer, LayerContext, Outcome } from "../layer.ts"
import type { Dreamed, DreamFigures, Dreaming } from "./dreaming.ts"

export interface DreamingLayer extends Layer {
  readonly dreaming: Dreaming
}

export function dreamingLayer(dreaming: Dreaming): DreamingLayer {
  return {
    name: "dreaming",
    dreaming,

    async afterQuery(context) {
      const { flags, views, conversation, signal } = context
      if (!flags.on.dreaming || signal.aborted) return undefined
      if (!backgroundBudget(views.ledger, flags.figures["background-share"]).allowed) return undefined
      const end = await dreaming.dream({
        figures: dreamFigures(flags),
        conversation,
        signal,
        patience: limitsFrom(flags),
      })
      return outcomeOf(end, context)
    },
  }
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
    drafts: spentOn(end.responses),
    failures,
    counts: { [`dreams.${end.state}`]: 1 },
    ...(end.state === "failed" || end.state === "killed" ? {} : { message: end.message }),
  }
}

export const spentOn = (responses: readonly ModelResponse[]): readonly DecisionDraft[] =>
  responses.map(({ id, model, usage }) => ({
    ...{ type: "strata", subtype: "spent", purpose: "memory" },
    ...{ model, responseId: id, usage },
  }))
