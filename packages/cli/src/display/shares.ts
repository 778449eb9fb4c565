/** Formats the parts of a total so that they add up on the screen. */
import { apportion } from "@strata/core/base"
import { formatNumber } from "./numbers.ts"

export interface FormattedShare {
  readonly tokens: string
  readonly percent: string
}

/** The parts scaled to whole tokens that add up to the total, and percentages that add up to 100. */
export function formatShares(parts: readonly number[], total: number): readonly FormattedShare[] {
  const tokens = apportion(parts, Math.round(total))
  const percentages = apportion(parts, 100)
  return parts.map((part, i) => ({
    tokens: formatNumber(tokens[i]!),
    percent: percentages[i] === 0 && part > 0 ? "<1%" : `${percentages[i]}%`,
  }))
}
