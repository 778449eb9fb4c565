/** How fast a conversation grows while it is worked on, so that a summary can be begun in time. */
import { usageTotal } from "../../tokens/context-size.ts"
import type { ContextView } from "../../views/context/context.ts"

interface Pace {
  readonly tokensPerSecond: number
  readonly secondsPerTurn: number
  /** Tokens of the largest of the latest steps. */
  readonly largestStep: number
}

const RECENT = 11 // responses: the growth of the last ten turns
const LONGEST_TURN = 60 // seconds: a longer gap is a pause of the person, and the work after it is as fast as before
const USUAL_TURN = 10 // seconds, where no two responses have been seen

export function paceOf(context: Pick<ContextView, "recentResponses">): Pace {
  return paceIn(
    context
      .recentResponses(RECENT)
      .map(({ timestamp, message }) => ({ at: Date.parse(timestamp) / 1_000, tokens: usageTotal(message.usage!) }))
      .toReversed(),
  )
}

/** Sizes of the context, oldest first. `at`: in seconds. */
export function paceIn(sizes: readonly { readonly at: number; readonly tokens: number }[]): Pace {
  const responses = sizes.slice(-RECENT)
  const steps = responses.slice(1).map(({ at, tokens }, i) => ({
    seconds: Math.min(LONGEST_TURN, Math.max(0, at - responses[i]!.at)),
    tokens: Math.max(0, tokens - responses[i]!.tokens),
  }))
  const seconds = sum(steps.map((step) => step.seconds))
  const secondsPerTurn = seconds > 0 ? seconds / steps.length : USUAL_TURN
  const tokensPerTurn = steps.length > 0 ? sum(steps.map((step) => step.tokens)) / steps.length : 0
  return {
    secondsPerTurn,
    tokensPerSecond: tokensPerTurn / secondsPerTurn,
    largestStep: Math.max(0, ...steps.map((step) => step.tokens)),
  }
}

const LEAST_LEAD = 0.1 // of the threshold: a single step can be large
const LARGEST_LEAD = 0.35 // of it: earlier, the conversation often ends before the threshold, and too much comes after the summary
const STEPS_OF_CAUTION = 1 // the largest of the latest ones: work comes in bursts (`npm run ahead-of-time`)

interface Lead {
  readonly autoCompact: number
  /** That a summary takes. */
  readonly seconds: number
}

/** Tokens before the threshold at which a summary begins. */
export const leadFor = (pace: Pace, { autoCompact, seconds }: Lead): number =>
  Math.min(autoCompact * LARGEST_LEAD, autoCompact * LEAST_LEAD + updateLead(pace, seconds))

/** The same for an update: a text is there already, so only what the update itself needs. */
export const updateLead = (pace: Pace, seconds: number): number =>
  pace.tokensPerSecond * seconds + STEPS_OF_CAUTION * pace.largestStep

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
