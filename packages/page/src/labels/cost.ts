/** What was spent, in words that screens and pages share. */

import { formatDollars } from "@strata/core/base"
import type { RecordedCost } from "@strata/transcripts"

export interface CostSummary {
  readonly dollars: number
  /** Models without a known price. */
  readonly unpriced: readonly string[]
  /** Some output was not recorded in full. */
  readonly isLowerBound: boolean
}

/** `$12.53`, `more than $12.53`, or `unknown`: never `$0` where no price is known. */
export function formatCost({ dollars: paid, unpriced, isLowerBound }: CostSummary): string {
  if (unpriced.length > 0 && paid === 0) return "unknown"
  return `${unpriced.length > 0 || isLowerBound ? "more than " : ""}${formatDollars(paid)}`
}

/** Of one recorded conversation. `-`: the transcript does not record what was billed. */
export const formatRecordedCost = ({ lines, stubs, ...money }: RecordedCost): string =>
  lines.length === 0 ? "-" : formatCost({ ...money, isLowerBound: stubs !== undefined })
