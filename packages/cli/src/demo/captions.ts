/** Phrases that the picture and the summary share. */
import { attachmentName } from "@strata/page"
import { formatCompact, pluralize } from "../display/numbers.ts"
import type { DemoCompaction, DemoState } from "./state.ts"

/** `3.4 windows` */
export function formatWindows({ work, thresholds }: DemoState): string {
  return `${(work / thresholds.window).toFixed(1)} windows`
}

/** `30.7K to 10.4K, 38 messages summarised, 5 kept` */
export function describeCompactionSizes({ tokensBefore, tokensAfter, summarised, kept }: DemoCompaction): string {
  const stayed = kept === 0 ? "" : `, ${kept} kept`
  return `${formatCompact(tokensBefore)} to ${formatCompact(tokensAfter)}, ${pluralize(summarised, "message")} summarised${stayed}`
}

/** `facts from the journal, 2 files`; empty if nothing was added. */
export function describeRestored({ restored }: DemoCompaction): string {
  return [...Map.groupBy(restored, attachmentName)]
    .map(([kind, all]) => (kind === "file" ? pluralize(all.length, "file") : kind))
    .join(", ")
}
