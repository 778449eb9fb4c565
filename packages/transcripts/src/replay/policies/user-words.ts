import { layered } from "./layered.ts"
import { storage, UNLIMITED } from "./storage.ts"
import { summarising } from "./summarising.ts"

const WORDS = 20_000

export const userWords = layered({
  name: "user-words",
  about:
    "At 90% of the window a summary and up to 20K tokens of the person's messages replace everything. No tool result stays.",
  layers: () => [
    storage(),
    summarising({
      name: "user-words",
      when: ({ size, thresholds }) => size.tokens >= thresholds.window * 0.9,
      words: WORDS,
    }),
  ],
  figures: UNLIMITED,
})
