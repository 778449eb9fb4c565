import { layered } from "./layered.ts"
import { storage, UNLIMITED } from "./storage.ts"
import { summarising } from "./summarising.ts"

const RESERVE = 16_000
const TAIL = 20_000
const RESULT_LIMIT = 2_000 // characters of a result that the summariser is given

export const tail20k = layered({
  name: "tail-20k",
  about:
    "At the window less 16K a summary replaces all but the newest 20K tokens. The summariser gets 2,000 characters of each result.",
  layers: () => [
    storage(),
    summarising({
      name: "tail-20k",
      when: ({ size, thresholds }) => size.tokens >= thresholds.window - RESERVE,
      keep: () => TAIL,
      resultLimit: RESULT_LIMIT,
    }),
  ],
  figures: UNLIMITED,
  summariser: { kind: "direct", resultLimit: RESULT_LIMIT },
})
