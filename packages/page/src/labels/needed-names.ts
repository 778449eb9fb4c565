/** What a compaction kept of the names that were used again after it, in words. */

import { counted, grouped, percent } from "@strata/core/base"
import type { BoundaryNames, NeededNames } from "@strata/transcripts"

/** `61% of 132 names`, or that there were none, or that no one can know. */
export function keptNames(needed: BoundaryNames | undefined): string {
  if (needed === "unrecorded") return "unknown, because the file begins with this compaction"
  if (!needed) return "no answer followed"
  return needed.names === 0 ? "no name was used again" : `${shareKept(needed)} of ${counted(needed.names, "name")}`
}

/** `src/a.ts, readToken and 30 more`: at most so many by name. */
export function lostNames(needed: BoundaryNames | undefined, max = Number.POSITIVE_INFINITY): string {
  if (!needed || needed === "unrecorded") return ""
  const named = needed.lost.slice(0, max)
  const more = needed.names - needed.inView - named.length
  return `${named.join(", ")}${more > 0 ? ` and ${grouped(more)} more` : ""}`
}

/** Rounded, but only all is 100%. */
function shareKept({ names, inView }: NeededNames): string {
  const rounded = percent(inView, names)
  return rounded === "100%" && inView < names ? "99%" : rounded
}
