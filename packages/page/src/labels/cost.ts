/** Formats costs, for screens and pages. */

import { formatDollars } from "@strata/core/base"
import type { RecordedCost } from "@strata/transcripts"

export interface CostSummary {
  readonly dollars: number
  /** Models without a known price. */
  readonly unpriced: readonly string[]
  /** Some output was not fully recorded. */
  readonly isLowerBound: boolean
}

/** `$12.53`, `more than $12.53`, or `unknown`: never `$0` where no price is known. */
export function formatCost({ dollars: paid, unpriced, isLowerBound }: CostSummary): string {
  if (unpriced.length > 0 && paid === 0) return "unknown"
  return `${unpriced.length > 0 || isLowerBound ? "more than " : ""}${formatDollars(paid)}`
}

/** Formats the cost of a recorded conversation. `-` means that the transcript does not record usage. */
export const formatRecordedCost = ({ lines, stubs, ...money }: RecordedCost): string =>
  lines.length === 0 ? "-" : formatCost({ ...money, isLowerBound: stubs !== undefined })
