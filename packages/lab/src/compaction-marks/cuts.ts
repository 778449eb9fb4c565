/** Places to compact a recording that was never compacted: every so many tokens of its messages. */
import { findModel, type Message } from "@strata/core"
import { isBoundary } from "../../../core/src/messages/messages.ts"
import { createEstimator } from "../../../core/src/tokens/estimate.ts"
import type { RecordedConversation } from "../recordings.ts"
import type { RecordedCompaction } from "./recorded-compactions.ts"
import { textSent } from "./said.ts"

const BETWEEN = 100_000 // tokens: less than most windows hold, so that short recordings count too
const LEAST_AFTER = 10 // messages: fewer use too few names to say anything

export function cutsOf({ messages, model }: RecordedConversation): RecordedCompaction[] {
  if (messages.some(isBoundary)) return []
  const estimator = createEstimator(findModel(model).facts.family)
  const cuts: { readonly at: number; readonly tokens: number }[] = []
  let tokens = 0
  messages.forEach((message, at) => {
    tokens += estimator.text(textSent(message))
    if (tokens >= BETWEEN && endsRound(messages, at)) {
      cuts.push({ at: at + 1, tokens: Math.round(tokens) })
      tokens = 0
    }
  })
  return cuts
    .map(({ at, tokens: before }, nth) => ({
      before: messages.slice(0, at),
      older: cuts[nth - 1]?.at ?? 0,
      since: messages.slice(cuts[nth - 1]?.at ?? 0, at),
      after: messages.slice(at, cuts[nth + 1]?.at),
      standing: undefined,
      restored: "",
      summary: undefined,
      tokensBefore: before,
      tokensAfter: undefined,
    }))
    .filter(({ after }) => after.length >= LEAST_AFTER)
}

/** A call and its result stay together: a cut is before a message of the assistant. */
const endsRound = (messages: readonly Message[], at: number): boolean =>
  messages[at]!.type === "user" && messages[at + 1]?.type === "assistant"
