/** The causes of a broken cache, in the words of the report. */
import type { BreakCause } from "@strata/core/parts"

export const CAUSES: Readonly<Record<BreakCause, string>> = {
  compaction: "compacted",
  clearing: "old content was cleared",
  undone: "a decision was undone",
  rewound: "went back to an earlier message",
  "other-model": "another model answered",
  "prompt-changed": "system prompt or tools changed",
  "hour-over": "expired: idle for over an hour",
  "five-minutes-over": "expired: idle for over 5 min",
  "all-gone": "prompt or tools changed, or evicted",
  "prompt-left": "history changed early, or evicted",
  "history-changed": "the history changed",
}
