/** Removes the compactions of a recording: the boundaries, the summaries, and the attachments right after them. */
import type { Entry } from "@strata/core"
import type { RecordedStep } from "./recorded-steps.ts"

export function withoutCompactions(steps: readonly RecordedStep[]): readonly RecordedStep[] {
  let isRestoring = false
  return steps.filter((step) => {
    if (step.kind !== "entry") return true
    const { entry } = step
    if (isBoundary(entry) || isSummary(entry)) {
      isRestoring = true
      return false
    }
    isRestoring &&= entry.type === "attachment" || entry.type === "strata"
    return !(isRestoring && entry.type === "attachment") && !isOfCompaction(entry)
  })
}

const isBoundary = (entry: Entry) => entry.type === "system" && entry.subtype === "compact_boundary"
const isSummary = (entry: Entry) => entry.type === "user" && entry.isCompactSummary === true

const OF_COMPACTIONS: ReadonlySet<string> = new Set([
  ...["compacted", "compaction-failed", "compaction-undone", "tool-results-shortened", "spent"],
])
const isOfCompaction = (entry: Entry) => entry.type === "strata" && OF_COMPACTIONS.has(entry.subtype)
