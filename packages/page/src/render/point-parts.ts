/**
 * Breaks down the context of each turn. Message sizes are estimates; the API counts only the total. System prompt and tools are the part of
 * a context's first request that its messages do not explain, and they stay constant. The remainder of later requests is not broken down:
 * unrecorded thinking, reminders, and estimation errors.
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

/** Parts of each turn. Turns without their own classes use the shares of the previous turn. */
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
      // a compaction does not enlarge the prompt: additional tokens are unrecorded attachments
      if (isFirst) prompt = Math.min(prompt ?? Number.POSITIVE_INFINITY, Math.max(0, context - known))
      noted = { sums, messages: Math.max(0, context - prompt!) }
    }
    return noted ? scaleParts({ ...noted, context, prompt: prompt! }) : {}
  })
}

interface TurnEstimate {
  readonly context: number
  readonly prompt: number
  /** Estimated sizes without the prompt. */
  readonly sums: ClassSums
  /** Tokens beyond the prompt at the turn of the estimate. */
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
