import { layered } from "./layered.ts"
import { masked } from "./masking.ts"
import { storage, UNLIMITED } from "./storage.ts"
import { summarising } from "./summarising.ts"

export const hybrid = layered({
  name: "hybrid",
  about: "Masking first. Where the window fills all the same, a summary replaces everything.",
  layers: () => [
    storage(),
    masked(),
    summarising({ name: "hybrid", when: ({ size, thresholds }) => size.tokens >= thresholds.autoCompact }),
  ],
  figures: UNLIMITED,
})
