import { butNewest, clearing } from "./clearing.ts"
import { layered } from "./layered.ts"
import { storage, UNLIMITED } from "./storage.ts"
import { summarising } from "./summarising.ts"

const TRIGGER = 100_000
const KEPT = 3

export const clear3 = layered({
  name: "clear-3",
  about:
    "Above 100K tokens all tool results but the newest 3 are cleared, as the server's context editing does. A full window is summarised.",
  layers: () => [
    storage(),
    clearing({
      name: "clear-3",
      choose: (results, { size }) => (size.tokens > TRIGGER ? butNewest(results, KEPT) : []),
    }),
    summarising({ name: "clear-3", when: ({ size, thresholds }) => size.tokens >= thresholds.autoCompact }),
  ],
  figures: UNLIMITED,
})
