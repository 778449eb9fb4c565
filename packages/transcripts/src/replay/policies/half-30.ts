import { layered } from "./layered.ts"
import { storage, UNLIMITED } from "./storage.ts"
import { summarising } from "./summarising.ts"

export const half30 = layered({
  name: "half-30",
  about: "At half of the window a summary replaces all but the newest 30% of the conversation.",
  layers: () => [
    storage(),
    summarising({
      name: "half-30",
      when: ({ size, thresholds }) => size.tokens >= thresholds.window / 2,
      keep: ({ size }) => size.tokens * 0.3,
    }),
  ],
  figures: UNLIMITED,
  summariser: { kind: "direct" },
})
