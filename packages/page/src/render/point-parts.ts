/**
 * What the context of each turn consists of. Messages are estimated; the API counts only the whole. The system prompt and the tools are what
 * the first request of a context has beyond its messages, and they stay the same. What is left over later is not broken down: thinking that
 * is not recorded, reminders, and the error of the estimate.
 */
import type { RecordedTurn } from "@strata/transcripts"
import { CLASSES } from "@strata/transcripts/replay"
import type { TimelinePoint } from "./content.ts"
import type { ClassSums, TurnClasses } from "./turn-classes.ts"

export type PointParts = Pick<TimelinePoint, "classes" | "rest">

export interface ClassifiedTurns {
  readonly turns: readonly Pick<RecordedTurn, "turn" | "context">[]
  /** The turns that began after a compaction. */
  readonly boundaries: readonly number[]
  readonly classes: Pick<TurnClasses, "sumsFor">
}

/** By turn. Turns without classes of their own have the shares of the turn before. */
export function pointParts({ turns, boundaries, classes }: ClassifiedTurns): readonly PointParts[] {
  const starts = [...boundaries]
  let prompt: number | undefined
  let noted: { readonly sums: ClassSums; readonly messages: number } | undefined
  return turns.map(({ turn, context }) => {
    const sums = classes.sumsFor(turn)
    if (sums) {
      const known = sumClasses(sums)
      let isFirst = prompt === undefined
      for (; starts[0] !== undefined && starts[0] <= turn; starts.shift()) isFirst = true
      // a compaction does not make the prompt larger: what is more then is what was attached and not recorded
      if (isFirst) prompt = Math.min(prompt ?? Number.POSITIVE_INFINITY, Math.max(0, context - known))
      noted = { sums, messages: Math.max(0, context - prompt!) }
    }
    return noted ? scaleParts({ ...noted, context, prompt: prompt! }) : {}
  })
}

interface TurnEstimate {
  readonly context: number
  readonly prompt: number
  /** Estimated, without the prompt. */
  readonly sums: ClassSums
  /** Tokens beyond the prompt at the turn that the sums are from. */
  readonly messages: number
}

function scaleParts({ context, prompt, sums, messages }: TurnEstimate): PointParts {
  const room = Math.max(0, context - prompt)
  const known = sumClasses(sums)
  const grown = messages === 0 ? 1 : room / messages
  const scale = known === 0 ? 0 : Math.min(grown, room / known)
  const scaled = Object.fromEntries(CLASSES.map((name) => [name, sums[name] * scale])) as ClassSums
  const classes = { ...scaled, prompt: Math.min(prompt, context) }
  return { classes, rest: Math.max(0, room - known * scale) }
}

const sumClasses = (sums: ClassSums) => CLASSES.reduce((sum, name) => sum + sums[name], 0)
