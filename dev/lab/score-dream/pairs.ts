import pairs from "./pairs.json" with { type: "json" }

export interface Pair {
  readonly earlier: string
  readonly later: string
}

/**
 * Pairs of consecutive statements of one user. Replaced: the later one clearly states a change, so the earlier one no longer holds. Side by
 * side: both are true. The held-out pairs were written before facts were compared by their attribute.
 */
export const PAIRS: Readonly<Record<string, readonly Pair[]>> = pairs
