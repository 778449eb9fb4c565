/** A separate call writes the summary, from an input that is cut to what the summariser can take. */
import type { Model } from "../../../model/model.ts"
import { limitsFrom } from "../../../model/stream-limits.ts"
import { createEstimator } from "../../../tokens/estimate.ts"
import type { LayerContext } from "../../layer.ts"
import { summariseDirectly } from "../summarise/direct.ts"
import type { Route } from "./route.ts"

export function direct(model: Model): Route {
  return {
    name: "direct",
    cut: async ({ cut }) => cut,
    async summarise({ context, cut, instructions, onProgress }) {
      const outcome = await summariseDirectly({
        model,
        ...sizesFor(model, context),
        messages: cut.summarised,
        kind: cut.kind,
        instructions,
        signal: context.signal,
        limits: limitsFrom(context.flags),
        onProgress,
      })
      if (outcome.kind !== "summary") return outcome
      if (outcome.dropped > 0) {
        const rounds = outcome.dropped === 1 ? "oldest round is" : `${outcome.dropped} oldest rounds are`
        context.progress({
          phase: "message",
          message: `The ${rounds} too long for the summariser and are not in the summary.`,
        })
      }
      return { ...outcome, cut }
    },
  }
}

/** A model other than the conversation's has its own window and its own tokenizer. */
function sizesFor(model: Model, { model: own, thresholds, views }: LayerContext) {
  if (model.name === own) return { window: thresholds.window, estimator: views.estimator }
  return { window: model.facts.window, estimator: createEstimator(model.facts.family) }
}
