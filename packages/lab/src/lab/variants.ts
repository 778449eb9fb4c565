/** `strata` with other settings than the chat has, and a second bound. They are rows of the table, not policies to compare with. */
import { layered } from "@strata/core/internal"
import { ALL_POLICIES } from "@strata/core/internal/replay/policies/all"
import { bestPlaces, optimum } from "@strata/core/internal/replay/policies/optimum"
import { strata } from "@strata/core/internal/replay/policies/strata"
import type { Policy } from "@strata/core/internal/replay/policy"

const { lifetime: _, marksPrompt: __, ...asTheClientCached } = strata

export const NOT_WARMED = layered({
  ...strata,
  name: "strata-not-warmed",
  about: "strata as the library and strata run have it by default: no request keeps the cache warm in a pause.",
  keepsWarm: false,
})

export const AS_RECORDED = layered({
  ...asTheClientCached,
  name: "strata-as-cached",
  about: "strata-not-warmed with the cache lifetimes and the breakpoints of the recorded client.",
  keepsWarm: false,
})

export const VARIANTS: readonly Policy[] = [NOT_WARMED, AS_RECORDED]

/** All that the lab can run, in the order of its table. */
export const LAB_POLICIES: readonly Policy[] = ALL_POLICIES.flatMap((policy) => [
  ...(policy === optimum ? [bestPlaces] : []),
  policy,
  ...(policy === strata ? VARIANTS : []),
])
