import { microcompaction } from "../../layers/2-microcompact/microcompaction.ts"
import { compaction } from "../../layers/4-compaction/compaction.ts"
import { offline } from "../../layers/4-compaction/routes/offline.ts"
import { layered } from "./layered.ts"
import { storage } from "./storage.ts"
import { SUMMARY_TOKENS } from "./summarising.ts"

/** What the chat does by default: it keeps the cache warm. The summary is the extractive one, with the budget of all policies. */
export const strata = layered({
  name: "strata",
  about: "Layers 1, 2 and 4 with the planner, and the cache kept warm, as the chat runs them by default.",
  layers: () => [storage(), microcompaction(), compaction({ offline: offline() })],
  figures: { "offline-summary-limit": SUMMARY_TOKENS },
  server: "forgets",
  lifetime: "5m",
  keepsWarm: true,
  recalls: true,
})
