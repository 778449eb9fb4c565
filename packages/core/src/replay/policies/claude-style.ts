import { butNewest, clearing } from "./clearing.ts"
import { layered } from "./layered.ts"
import { storage } from "./storage.ts"
import { summarising } from "./summarising.ts"

const LONG_PAUSE_MS = 60 * 60_000
const KEPT = 5

/** The fixed thresholds of the specification: large results put aside, old ones cleared after an hour, a summary at the threshold. */
export const claudeStyle = layered({
  name: "claude-style",
  about:
    "Fixed thresholds: large results are put aside, all but 5 are cleared after a pause of an hour, and a summary replaces everything at the window less 33K.",
  layers: () => [
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
    summarising({ name: "claude-style", when: ({ size, thresholds }) => size.tokens >= thresholds.autoCompact }),
  ],
})
