/** Compares the duration of turns at the beginning and at the end of a long run. */

/** Median duration in milliseconds of the first and of the last tenth of the turns. */
export interface TurnTimes {
  readonly first: number
  readonly last: number
}

const MAX_GROWTH = 2 // factor of the time per turn from the first to the last tenth; the noise of a busy machine is smaller
const TURNS_TO_JUDGE = 500 // with fewer turns, noise dominates

export function endsOf(samples: readonly number[]): TurnTimes {
  const tenth = Math.max(1, Math.floor(samples.length / 10))
  return { first: median(samples.slice(0, tenth)), last: median(samples.slice(-tenth)) }
}

/** Problems with slow turns. Empty if a turn at the end takes about as long as one at the beginning. */
export const growthProblems = (turns: number, { first, last }: TurnTimes): readonly string[] =>
  turns >= TURNS_TO_JUDGE && last > first * MAX_GROWTH
    ? [`a turn takes ${(last / first).toFixed(1)} times as long at the end`]
    : []

const median = (samples: readonly number[]): number =>
  samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN
