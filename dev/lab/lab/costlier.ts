/** Recordings on which Strata's policy costs more than another policy. */
import type { ReplayResult } from "./worker.ts"

export const OURS = "strata"
const COSTLIER = 1.01 // up to one percent more counts as equal

export interface Dearer {
  readonly name: string
  /** Strata's cost divided by that of the cheapest other policy. */
  readonly ratio: number
}

/**
 * Recordings on which Strata costs more, worst first. Recordings that lack one of the other policies are skipped. The cost of memories is
 * excluded: they serve later conversations, and other policies have none.
 */
export function costlierThan(
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
    .filter(({ ratio }) => ratio > COSTLIER)
    .toSorted((a, b) => b.ratio - a.ratio)
}

export function costIn({ reports }: ReplayResult["replay"], name: string): number {
  return reports.find(({ policy }) => policy === name)?.totals.dollars ?? Number.NaN
}

const memoriesIn = ({ reports }: ReplayResult["replay"], name: string): number =>
  reports.find(({ policy }) => policy === name)?.totals.byPurpose.memory ?? 0
