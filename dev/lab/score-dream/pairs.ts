import pairs from "./pairs.json" with { type: "json" }

export interface Pair {
  readonly earlier: string
  readonly later: string
}

/**
 * Pairs of sentences that one person says one after the other. Replaced: the later one says plainly that something changed, so the earlier
 * one is over. Side by side: both are true. The held-out ones were written before facts were compared by their attribute.
 */
export const PAIRS: Readonly<Record<string, readonly Pair[]>> = pairs
