/** Converts cache misses to symbols in a chart. */

import { formatDollarsOrUnknown } from "@strata/core/base"
import type { BreakCause, CacheBreak } from "@strata/core/views"
import { describeCause } from "../labels/cache-breaks.ts"
import type { CacheMissKind, ChartedMiss } from "./content.ts"

const KIND_BY_CAUSE: Readonly<Record<BreakCause, CacheMissKind>> = {
  compaction: "compaction",
  clearing: "clearing",
  undone: "other",
  rewound: "other",
  "other-model": "model",
  "prompt-changed": "other",
  "hour-over": "pause",
  "five-minutes-over": "pause",
  "all-gone": "other",
  "prompt-left": "other",
  "history-changed": "other",
}

export const toChartedMisses = (breaks: readonly CacheBreak[]): readonly ChartedMiss[] =>
  breaks.map((lost) => ({
    turn: lost.turn,
    tokens: lost.rewrittenTokens,
    cost: formatDollarsOrUnknown(lost.dollars),
    kind: KIND_BY_CAUSE[lost.cause],
    reason: describeCause(lost),
  }))
