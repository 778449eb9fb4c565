/** A scorecard as the rows of a table. */
import type { Part, Score, Scorecard } from "@strata/core/internal/replay/scorecard"

const ratio = (value: number | undefined) => (value === undefined ? "" : value.toFixed(2))
const percent = ({ share }: Partial<Part> = {}) => (share === undefined ? "" : `${(100 * share).toFixed(1)}%`)

export const scoreRows = ({ scores }: Scorecard) => scores.map(rowOf)

const rowOf = (score: Score) => ({
  policy: score.policy,
  cost: `$${score.cost.toFixed(2)}`,
  "of none": ratio(score.relative.none),
  "of claude-style": ratio(score.relative["claude-style"]),
  "of optimum": ratio(score.relative.optimum),
  cached: percent({ share: score.hitRatio }),
  peak: `${Math.round(score.peak / 1_000)}K`,
  "does not fit": score.invalid,
  "names in view": percent(score.namesInView),
  "or found": percent(score.namesWithinSearch),
  "files named": percent(score.trailRecall),
  "paths true": percent(score.trailPrecision),
  rules: percent(score.rulesVerbatim),
  compactions: score.compactions,
  "waited min": (score.blockedMs / 60_000).toFixed(0),
  "took s": score.processingMs === undefined ? "" : (score.processingMs / 1_000).toFixed(1),
})
