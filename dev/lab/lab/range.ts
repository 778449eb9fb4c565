/** Confidence interval of a ratio: it is computed again for many random samples of the recordings. */
import { costIn } from "./costlier.ts"
import type { ReplayResult } from "./worker.ts"

export interface ValueRange {
  readonly value: number
  /** Lower and upper bound: 95% of the samples are between them. */
  readonly min: number
  readonly max: number
}

const SAMPLES = 2_000

export function ratioRange(replayed: readonly ReplayResult[], [ours, other]: readonly [string, string]): ValueRange {
  const costs = replayed.map(({ replay }) => [costIn(replay, ours), costIn(replay, other)] as const)
  const ratio = (of: typeof costs) => sum(of.map(([mine]) => mine)) / sum(of.map(([, theirs]) => theirs))
  const random = randomFrom(1)
  const samples = Array.from({ length: SAMPLES }, () =>
    ratio(costs.map(() => costs[Math.floor(random() * costs.length)]!)),
  ).toSorted((a, b) => a - b)
  const at = (share: number) => samples[Math.floor(share * SAMPLES)]!
  return { value: ratio(costs), min: at(0.025), max: at(0.975) }
}

/** Text such as `0.71 (95%: 0.66 to 0.77)`. */
export const rangeText = ({ value, min, max }: ValueRange): string =>
  `${value.toFixed(2)} (95%: ${min.toFixed(2)} to ${max.toFixed(2)})`

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)

/** The mulberry32 generator, which yields the same samples in every run. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
