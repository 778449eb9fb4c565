/** The policies by name, in display order. */

import { cacheLifetime } from "@strata/core/policy"
import type { Policy } from "../policy.ts"
import { butNewest, clearing, type ShownResult } from "./clearing.ts"
import { layered } from "./layered.ts"
import { masked, masking } from "./masking.ts"
import { none } from "./none.ts"
import { optimum } from "./optimum.ts"
import { storage, UNLIMITED } from "./storage.ts"
import { strata } from "./strata.ts"
import { type SummarizingOptions, summarizing } from "./summarizing.ts"

const LONG_PAUSE_MS = 60 * 60_000
const KEPT = 5
const FIXED = 167_000 // tokens: the threshold in a window of 200,000
const IDLE_FROM = 200_000 // tokens

/** Layers that offload large results, clear old ones after an hour, and write a summary. */
const layersWith = (how: Omit<SummarizingOptions, "name">) => () => [
  storage(),
  clearing({
    name: "claude-style",
    why: "idle",
    choose: (results, { views, now }) => {
      const last = views.context.lastResponse
      const isLong = last !== undefined && now.getTime() - Date.parse(last.timestamp) > LONG_PAUSE_MS
      return isLong ? butNewest(results, KEPT) : []
    },
  }),
  summarizing({ name: "claude-style", ...how }),
]

const isFull: SummarizingOptions["when"] = ({ size, thresholds }) => size.tokens >= thresholds.autoCompact

/** The fixed thresholds of the specification. */
export const claudeStyle = layered({
  name: "claude-style",
  about:
    "Fixed thresholds: large results are offloaded, all but 5 are cleared after a pause of an hour, and a summary replaces everything at the window less 33K.",
  layers: layersWith({ when: isFull }),
})

export const fixed167 = layered({
  name: "fixed-167k",
  about: "Fixed thresholds as in claude-style, with a summary at 167K tokens in every window.",
  layers: layersWith({ when: ({ size, thresholds }) => size.tokens >= Math.min(FIXED, thresholds.autoCompact) }),
})

export const claudeIdle = layered({
  name: "claude-idle",
  about:
    "Fixed thresholds as in claude-style. It also compacts from 200K tokens after about 54 idle minutes, before an hour's cache expires.",
  layers: layersWith({
    when: isFull,
    whenIdle: ({ size, views }) => size.tokens >= IDLE_FROM && cacheLifetime(views) === "1h",
  }),
})

const TRIGGER = 100_000
const KEPT_CLEAR_3 = 3

export const clear3 = layered({
  name: "clear-3",
  about:
    "Above 100K tokens all tool results but the newest 3 are cleared, as the server's context editing does. A full window is summarised.",
  layers: () => [
    storage(),
    clearing({
      name: "clear-3",
      choose: (results, { size }) => (size.tokens > TRIGGER ? butNewest(results, KEPT_CLEAR_3) : []),
    }),
    summarizing({ name: "clear-3", when: ({ size, thresholds }) => size.tokens >= thresholds.autoCompact }),
  ],
  figures: UNLIMITED,
})

export const half30 = layered({
  name: "half-30",
  about: "At half of the window a summary replaces all but the newest 30% of the conversation.",
  layers: () => [
    storage(),
    summarizing({
      name: "half-30",
      when: ({ size, thresholds }) => size.tokens >= thresholds.window / 2,
      keep: ({ size }) => size.tokens * 0.3,
    }),
  ],
  figures: UNLIMITED,
  summarizer: { kind: "direct" },
})

export const hybrid = layered({
  name: "hybrid",
  about: "Masking first. Where the window fills all the same, a summary replaces everything.",
  layers: () => [
    storage(),
    masked(),
    summarizing({ name: "hybrid", when: ({ size, thresholds }) => size.tokens >= thresholds.autoCompact }),
  ],
  figures: UNLIMITED,
})

const PROTECTED_TURNS = 2
const PROTECTED_TOKENS = 40_000
const MIN = 20_000
const TAIL = { share: 0.1, min: 2_000, max: 15_000 }

export const prune40k = layered({
  name: "prune-40k",
  about:
    "Results beyond the newest 40K tokens and 2 turns are cleared once they make 20K. A full window is summarised, and 2K to 15K tokens of its end stay.",
  layers: () => [
    storage(),
    clearing({ name: "prune-40k", choose: (results) => prunable(results) }),
    summarizing({
      name: "prune-40k",
      when: ({ size, thresholds }) => size.tokens >= thresholds.autoCompact,
      keep: ({ thresholds }) => Math.min(TAIL.max, Math.max(TAIL.min, thresholds.window * TAIL.share)),
    }),
  ],
  figures: UNLIMITED,
})

function prunable(results: readonly ShownResult[]): readonly ShownResult[] {
  let kept = 0
  const old = results
    .toReversed()
    .filter(({ turn, tokens }) => {
      if (turn < PROTECTED_TURNS) return false
      kept += tokens
      return kept > PROTECTED_TOKENS
    })
    .toReversed()
  return old.reduce((sum, { tokens }) => sum + tokens, 0) > MIN ? old : []
}

const RESERVE = 16_000
const TAIL_TAIL_20K = 20_000
const RESULT_LIMIT = 2_000 // characters of a result for the summarizer

export const tail20k = layered({
  name: "tail-20k",
  about:
    "At the window less 16K a summary replaces all but the newest 20K tokens. The summariser gets 2,000 characters of each result.",
  layers: () => [
    storage(),
    summarizing({
      name: "tail-20k",
      when: ({ size, thresholds }) => size.tokens >= thresholds.window - RESERVE,
      keep: () => TAIL_TAIL_20K,
      resultLimit: RESULT_LIMIT,
    }),
  ],
  figures: UNLIMITED,
  summarizer: { kind: "direct", resultLimit: RESULT_LIMIT },
})

const WORDS = 20_000

export const userWords = layered({
  name: "user-words",
  about:
    "At 90% of the window a summary and up to 20K tokens of the user's messages replace everything. No tool result stays.",
  layers: () => [
    storage(),
    summarizing({
      name: "user-words",
      when: ({ size, thresholds }) => size.tokens >= thresholds.window * 0.9,
      userMessageTokens: WORDS,
    }),
  ],
  figures: UNLIMITED,
})

export const ALL_POLICIES: readonly Policy[] = [
  ...[none, masking, hybrid, clear3, claudeStyle, fixed167, claudeIdle],
  ...[prune40k, tail20k, half30, userWords, strata, optimum],
]
