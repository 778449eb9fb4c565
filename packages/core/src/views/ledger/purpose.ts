/** What requests are for, and how that reads. */
import type { RequestSource } from "../../base/vocabulary.ts"

/** `sidechain`: agents that another program recorded in the same journal. */
export type Purpose = RequestSource | "sidechain"

/** The purpose of a request, as it reads in reports. */
export const PURPOSE_WORDS: Readonly<Record<Purpose, string>> = {
  main: "conversation",
  notes: "notes",
  compaction: "compaction",
  "by-hand": "compaction by hand",
  memory: "memories",
  dream: "dreams",
  agent: "agents",
  progress: "progress lines",
  "keep-warm": "keeping the cache warm",
  sampling: "requests of MCP servers",
  search: "web searches",
  sidechain: "sub-agents",
}
