import { cacheLifetimes, compaction, microcompaction, offline } from "@strata/core/policy"
import { layered } from "./layered.ts"
import { storage } from "./storage.ts"

/**
 * The chat's default behavior: it keeps the cache warm and attaches files again after a compaction. The summary is the extractive one, with
 * the budget of all policies.
 */
export const strata = layered({
  name: "strata",
  about:
    "As the chat runs by default: large results are offloaded, old ones cleared, the planner compacts when that is cheaper, and the cache is kept warm in pauses.",
  layers: ({ files: { reads, readFile, mayRead, forget }, notes, timing, keepsWarm }) => {
    const compacts = compaction({ offline: offline(), reads, readFile, mayRead, notes, timing })
    return [
      storage({ onOffload: forget }),
      microcompaction({ onCleared: forget, compacts: (context) => compacts.upcoming?.(context) }),
      notes,
      compacts,
      cacheLifetimes({ keepsWarm: keepsWarm ?? false }),
    ]
  },
  server: "forgets",
  lifetime: "auto",
  hasPromptBreakpoint: true,
  keepsWarm: true,
  recalls: true,
  remembers: true,
})
