/** Labels for the causes of cache misses. */

import { formatDollars } from "@strata/core/base"
import type { BreakCause, CacheBreak, CacheBreakTotal } from "@strata/core/views"

export const CAUSE_LABELS: Readonly<Record<BreakCause, string>> = {
  compaction: "compacted",
  clearing: "old results were cleared",
  undone: "a decision was undone",
  rewound: "went back to an earlier message",
  "other-model": "another model answered",
  "prompt-changed": "system prompt or tools changed",
  "hour-over": "expired: idle for over an hour",
  "five-minutes-over": "expired: idle for over 5 minutes",
  "all-gone": "system prompt or tools changed, or evicted",
  "prompt-left": "an early message changed, or evicted",
  "history-changed": "an earlier message changed",
}

/** Labels for the reasons that the API reports for a cache miss. */
const API_REASON_LABELS: Readonly<Record<string, string>> = {
  model_changed: "another model",
  system_changed: "system prompt changed",
  tools_changed: "tools changed",
  messages_changed: "messages changed",
  previous_message_not_found: "the request before is not known there",
  unavailable: "no reason is available",
}

export const apiReasonLabel = (reason: string): string => API_REASON_LABELS[reason] ?? reason.replaceAll("_", " ")

/** The cause of a cache miss according to Strata and, if recorded, the reason of the API. */
export const describeCause = ({ cause, apiReason }: Pick<CacheBreak, "cause" | "apiReason">): string =>
  apiReason === undefined ? CAUSE_LABELS[cause] : `${CAUSE_LABELS[cause]}; the API says: ${apiReasonLabel(apiReason)}`

/** Formats the cost of cache misses. An unknown price is never $0 and makes a sum a lower bound. */
export function formatMissCost({ breaks, dollars: paid, unpriced }: CacheBreakTotal): string {
  if (breaks > 0 && unpriced === breaks) return "unknown"
  return `${unpriced > 0 ? "more than " : ""}${formatDollars(paid)}`
}

/** The cost as a phrase after "paid again". */
export const pricePhrase = (cost: string): string => (cost === "unknown" ? "at an unknown price" : `for ${cost}`)
