import { cacheLifetime } from "@strata/core/policy"
import { butNewest, clearing } from "./clearing.ts"
import { layered } from "./layered.ts"
import { storage } from "./storage.ts"
import { type Summarising, summarising } from "./summarising.ts"

const LONG_PAUSE_MS = 60 * 60_000
const KEPT = 5
const FIXED = 167_000 // tokens: the threshold in a window of 200,000
const IDLE_FROM = 200_000 // tokens

/** Large results put aside, old ones cleared after an hour, and a summary. */
const layersWith = (how: Omit<Summarising, "name">) => () => [
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
  summarising({ name: "claude-style", ...how }),
]

const isFull: Summarising["when"] = ({ size, thresholds }) => size.tokens >= thresholds.autoCompact

/** The fixed thresholds of the specification. */
export const claudeStyle = layered({
  name: "claude-style",
  about:
    "Fixed thresholds: large results are put aside, all but 5 are cleared after a pause of an hour, and a summary replaces everything at the window less 33K.",
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
