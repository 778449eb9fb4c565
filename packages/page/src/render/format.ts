/** Formats of costs, times and shares in reports, on screens and pages. */
import { formatCompact, formatDollars, formatPercent } from "@strata/core/base"
import type { CostUnit, ScoreShare } from "@strata/transcripts/replay"

/** `$1.23`, or `12.3K` weighted tokens. */
export const formatAmount = (amount: number, unit: CostUnit): string =>
  unit === "dollars" ? formatDollars(amount) : formatCompact(amount)

/** An amount with its unit, if no title names the unit. */
export const formatAmountWithUnit = (amount: number, unit: CostUnit): string =>
  `${formatAmount(amount, unit)}${unit === "tokens" ? " tokens" : ""}`

/** `40 ms`, `1.2 s`, `45 s`, `7 min` */
export function formatDuration(ms: number): string {
  const seconds = ms / 1_000
  if (ms > 0 && seconds < 1) return `${Math.round(ms)} ms`
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`
}

/** `31%`, or `-` if there was nothing to count. */
export const formatShare = ({ share }: ScoreShare): string => (share === undefined ? "-" : formatCautiousPercent(share))

/** Rounded percentage. 100% only if the share is complete. */
export function formatCautiousPercent(share: number): string {
  const rounded = formatPercent(share, 1)
  return rounded === "100%" && share < 1 ? ">99%" : rounded
}
