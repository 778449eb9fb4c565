/** A separate call writes the summary, from an input that is cut to what the summariser can take. */
import type { Model } from "../../../model/model.ts"
import { limitsFrom } from "../../../model/stream-limits.ts"
import { createEstimator } from "../../../tokens/estimate.ts"
import type { LayerContext } from "../../layer.ts"
import { sourceOf } from "../install.ts"
import { summariseDirectly } from "../summarise/direct.ts"
import { withOriginals } from "../summarise/originals.ts"
import type { Route } from "./route.ts"
import { recordOf } from "./shared.ts"

const INPUT_SHARE = 0.5 // of the window: what can be sent in one call, with room for the answer

export function direct(model: Model): Route {
  return {
    name: "direct",
    cut: async ({ cut }) => cut,
    async summarise({ context, order, cut, cutInput, figures, instructions, onProgress }) {
      const sizes = sizesFor(model, context)
      // a summary that kept messages follow covers them too: it says what is being done
      const messages = cut.shortens ? cutInput.messages : cut.summarised
      const outcome = await summariseDirectly({
        model,
        ...sizes,
        maxOutput: context.flags.figures["summary-output"],
        retries: context.flags.figures["summary-retries"],
        shrinkings: context.flags.figures["summary-shrinks"],
        dropShare: context.flags.figures["summary-drop"] / 100,
        messages: withOriginals(messages, {
          context: context.views.context,
          room: sizes.window * INPUT_SHARE - messages.reduce((sum, each) => sum + cutInput.tokensOf(each), 0),
        }),
        media: model.name === context.model,
        kind: cut.kind,
        ...recordOf({ context, cut, figures }),
        instructions,
        purpose: sourceOf(order.trigger),
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
function sizesFor(model: Model, { model: own, thresholds, thresholdsOf, views }: LayerContext) {
  if (model.name === own) return { window: thresholds.window, estimator: views.estimator }
  const window = Math.min(model.facts.window, thresholdsOf(model).window)
  return { window, estimator: createEstimator(model.facts.family) }
}
