/** Recordings on which our policy costs more than another one. */
import type { ReplayResult } from "./worker.ts"

export const OURS = "strata"
const DEARER = 1.01 // a percent more counts as equal

export interface Dearer {
  readonly name: string
  /** Our cost divided by that of the cheapest of the others. */
  readonly ratio: number
}

/**
 * The worst first. Recordings without one of the others do not count. Memories are left out: they are for later conversations, and no
 * other policy has them.
 */
export function dearerThan(
  others: readonly string[],
  replayed: readonly ReplayResult[],
  ours = OURS,
): readonly Dearer[] {
  return replayed
    .map(({ name, replay }) => ({
      name,
      ratio:
        (costIn(replay, ours) - memoriesIn(replay, ours)) / Math.min(...others.map((other) => costIn(replay, other))),
    }))
    .filter(({ ratio }) => ratio > DEARER)
    .toSorted((a, b) => b.ratio - a.ratio)
}

export function costIn({ reports }: ReplayResult["replay"], name: string): number {
  return reports.find(({ policy }) => policy === name)?.totals.dollars ?? Number.NaN
}

const memoriesIn = ({ reports }: ReplayResult["replay"], name: string): number =>
  reports.find(({ policy }) => policy === name)?.totals.byPurpose.memory ?? 0
