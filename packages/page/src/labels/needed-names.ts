/** Describes how many of the names used after a compaction were still in view. */

import { formatNumber, formatPercent, pluralize } from "@strata/core/base"
import type { BoundaryNames, NeededNames } from "@strata/transcripts"

/** `61% of 132 names`, or a phrase that there were none or that the number is unknown. */
export function describeNamesInView(needed: BoundaryNames | undefined): string {
  if (needed === "unrecorded") return "unknown, because the file begins with this compaction"
  if (!needed) return "no answer followed"
  return needed.names === 0
    ? "no name was used again"
    : `${formatShareInView(needed)} of ${pluralize(needed.names, "name")}`
}

/** `src/a.ts, readToken and 30 more`: names up to `max` lost names. */
export function describeLostNames(needed: BoundaryNames | undefined, max = Number.POSITIVE_INFINITY): string {
  if (!needed || needed === "unrecorded") return ""
  const named = needed.lost.slice(0, max)
  const more = needed.names - needed.inView - named.length
  return `${named.join(", ")}${more > 0 ? ` and ${formatNumber(more)} more` : ""}`
}

/** Rounded share. 100% only if all names were in view. */
function formatShareInView({ names, inView }: NeededNames): string {
  const rounded = formatPercent(inView, names)
  return rounded === "100%" && inView < names ? "99%" : rounded
}
