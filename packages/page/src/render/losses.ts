/** Lost caches as marks in a chart. */

import { dollarsOrUnknown } from "@strata/core/base"
import type { BreakCause, CacheBreak } from "@strata/core/views"
import { causeWords } from "../labels/cache-breaks.ts"
import type { Loss, LossKind } from "./content.ts"

const KINDS: Readonly<Record<BreakCause, LossKind>> = {
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

export const lossesOf = (breaks: readonly CacheBreak[]): readonly Loss[] =>
  breaks.map((lost) => ({
    turn: lost.turn,
    tokens: lost.rewrittenTokens,
    cost: dollarsOrUnknown(lost.dollars),
    kind: KINDS[lost.cause],
    why: causeWords(lost),
  }))
