/** Formats a scorecard as the rows of two tables. */
import type { Score, Scorecard, ScoreShare } from "@strata/transcripts/replay"

export const ratio = (value: number | undefined) => (value === undefined ? "" : value.toFixed(2))

/** Rounds a share to percent, where only a complete share is 100%. Empty if there was nothing to count. */
export function percent({ share }: Partial<ScoreShare> = {}, decimals = 1): string {
  if (share === undefined) return ""
  if (share === 1) return "100%"
  const rounded = (100 * share).toFixed(decimals)
  return Number(rounded) === 100 ? `>${(100 - 10 ** -decimals).toFixed(decimals)}%` : `${rounded}%`
}

/** Rows by policy with costs and requests. */
export const costRows = (card: Scorecard) =>
  byPolicy(card, (score) => ({
    cost: `$${score.cost.toFixed(2)}`,
    "of none": ratio(score.relative.none),
    "of claude-style": ratio(score.relative["claude-style"]),
    "of optimum": ratio(score.relative.optimum),
    cached: percent({ share: score.hitRatio }),
    "peak K": Math.round(score.peak / 1_000),
    "too large": score.invalid,
    compactions: score.compactions,
    "waited min": Math.round(score.blockedMs / 60_000),
    "took s": score.processingMs === undefined ? "" : (score.processingMs / 1_000).toFixed(1),
  }))

/** Rows by policy with the share of names in view and found by search. */
export const evidenceRows = (card: Scorecard) =>
  byPolicy(card, (score) => ({
    "names in view": percent(score.namesInView),
    "or found": percent(score.namesWithinSearch),
    "paths true": percent(score.trailPrecision),
    "files named": percent(score.trailRecall),
    "rules kept": percent(score.rulesVerbatim),
  }))

const byPolicy = <T>({ scores }: Scorecard, row: (score: Score) => T): Record<string, T> =>
  Object.fromEntries(scores.map((score) => [score.policy, row(score)]))

export const COLUMNS = `What the columns mean
- of none, of claude-style, of optimum: the cost divided by that of this policy.
- cached: share of the input that was read from the cache. peak K: the largest context, in thousands of tokens.
- too large: requests that do not fit the window. They are priced all the same.
- names in view: of the names that answers used again, those that were in view. or found: those that one search of the journal finds count too.
- paths true: of the paths named right after a compaction, those that tools had touched.
- files named, rules kept: of the files changed so far and of the person's rules, those in view right after a compaction; rules word for word.
- waited min: minutes that the person waited for summaries, at 20 seconds each. took s: seconds that the replay of this policy took.
- Empty: there was nothing to count, or the policy has no journal to search.`
