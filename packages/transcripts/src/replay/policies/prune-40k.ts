import { clearing, type ShownResult } from "./clearing.ts"
import { layered } from "./layered.ts"
import { storage, UNLIMITED } from "./storage.ts"
import { summarising } from "./summarising.ts"

const PROTECTED_TURNS = 2
const PROTECTED_TOKENS = 40_000
const LEAST = 20_000
const TAIL = { share: 0.1, least: 2_000, most: 15_000 }

export const prune40k = layered({
  name: "prune-40k",
  about:
    "Results beyond the newest 40K tokens and 2 turns are cleared once they make 20K. A full window is summarised, and 2K to 15K tokens of its end stay.",
  layers: () => [
    storage(),
    clearing({ name: "prune-40k", choose: (results) => prunable(results) }),
    summarising({
      name: "prune-40k",
      when: ({ size, thresholds }) => size.tokens >= thresholds.autoCompact,
      keep: ({ thresholds }) => Math.min(TAIL.most, Math.max(TAIL.least, thresholds.window * TAIL.share)),
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
  return old.reduce((sum, { tokens }) => sum + tokens, 0) > LEAST ? old : []
}
