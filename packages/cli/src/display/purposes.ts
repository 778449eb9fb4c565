/** The purpose of a request, as it reads on the screen. */
import type { Purpose } from "@strata/core/internal"

export const PURPOSE_WORDS: Readonly<Record<Purpose, string>> = {
  main: "conversation",
  notes: "notes",
  compaction: "compaction",
  memory: "memories",
  agent: "agents",
  sidechain: "sub-agents",
}
