/** How costs, times and shares read in reports, on screens and pages. */
import { dollars, percent, short } from "@strata/core/base"
import type { CostUnit, Part } from "@strata/transcripts/replay"

/** `$1.23`, or `12.3K` weighed tokens. */
export const costIn = (amount: number, unit: CostUnit): string => (unit === "dollars" ? dollars(amount) : short(amount))

/** The same where no title says the unit. */
export const costWithUnit = (amount: number, unit: CostUnit): string =>
  `${costIn(amount, unit)}${unit === "tokens" ? " tokens" : ""}`

/** `40 ms`, `1.2 s`, `45 s`, `7 min` */
export function timeWords(ms: number): string {
  const seconds = ms / 1_000
  if (ms > 0 && seconds < 1) return `${Math.round(ms)} ms`
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`
}

/** `31%`, or `-` where there was nothing to count. */
export const shareOf = ({ share }: Part): string => (share === undefined ? "-" : wholePercent(share))

/** Rounded, but only all is 100%. */
export function wholePercent(share: number): string {
  const rounded = percent(share, 1)
  return rounded === "100%" && share < 1 ? ">99%" : rounded
}
