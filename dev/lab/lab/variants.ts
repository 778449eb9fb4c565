/** `strata` with other settings than the chat uses, and a second bound. These are rows of the table, not policies to compare with. */
import { ALL_POLICIES, type Policy } from "@strata/transcripts/replay"
import { layered } from "../../../packages/transcripts/src/replay/policies/layered.ts"
import type { LayeredPolicy } from "../../../packages/transcripts/src/replay/policies/layered-policy.ts"
import { bestPlaces, optimum } from "../../../packages/transcripts/src/replay/policies/optimum.ts"
import { strata } from "../../../packages/transcripts/src/replay/policies/strata.ts"

const variant = (name: string, about: string, other: Partial<LayeredPolicy>) =>
  layered({ ...strata, name, about, ...other })

export const NOT_WARMED = variant(
  "strata-not-warmed",
  "strata as a plain openConversation has it: no request keeps the cache warm in a pause, and without an owner there are no memories.",
  { keepsWarm: false, settings: { switches: { "auto-memory": false } } },
)

export const ECONOMY = variant("strata-economy", "strata with the planner on economy: it compacts wherever it pays.", {
  settings: { planner: "economy" },
})

export const PLANNER_OFF = variant("strata-off", "strata with the planner off: only the window decides.", {
  settings: { planner: "off" },
  keepsWarm: false,
})

/** Policies that start to compact at smaller or larger sizes than the default. */
const SIZES = [60_000, 150_000, 232_000, 400_000].map((size) =>
  variant(`strata-${size / 1_000}k`, `strata that compacts to save money from ${size / 1_000}K tokens on.`, {
    figures: { "compact-early": size },
  }),
)

export const LISTS_FORGOTTEN = variant(
  "strata-no-lists",
  "strata where a name in a list after a compaction counts as forgotten.",
  { listsCount: false },
)

export const VARIANTS: readonly Policy[] = [NOT_WARMED, LISTS_FORGOTTEN, ...SIZES, ECONOMY, PLANNER_OFF]

/** All policies that the lab can run, in the order of its table. */
export const LAB_POLICIES: readonly Policy[] = ALL_POLICIES.flatMap((policy) => [
  ...(policy === optimum ? [bestPlaces] : []),
  policy,
  ...(policy === strata ? VARIANTS : []),
])
