/** The causes of a lost cache, as they read on the screen. */
import type { BreakCause } from "@strata/core"

export const CAUSES: Readonly<Record<BreakCause, string>> = {
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
