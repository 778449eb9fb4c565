/** `@strata/core/memory`. Memories of a project: storing, recalling and consolidating them. */
import "../base/node-version.ts"

export { projectDreams } from "../agent/project-dreams.ts"
export { openProjectMemory, type ProjectMemory } from "../conversation/project-memory.ts"
export type { AttachedMemory } from "../layers/5-auto-memory/attach/memory-in-view.ts"
export {
  describeAge,
  listAttachedMemories,
  recallFor,
  sourcePhrase,
} from "../layers/5-auto-memory/attach/memory-in-view.ts"
export { standingMemory } from "../layers/5-auto-memory/attach/standing-memory.ts"
export { rememberedDraft, saveUserRules } from "../layers/5-auto-memory/auto-memory.ts"
export { extractionDollars, isWorthExtracting } from "../layers/5-auto-memory/extract/due.ts"
export { readAnswer } from "../layers/5-auto-memory/extract/extraction.ts"
export { memoryPrompt } from "../layers/5-auto-memory/prompts.ts"
export { saveProposals } from "../layers/5-auto-memory/save/save.ts"
export type { DreamEnd } from "../layers/6-dreaming/dream.ts"
export { describeChange } from "../layers/6-dreaming/dream.ts"
export type {
  DreamKillResult,
  DreamPhase,
  DreamState,
  DreamStatus,
  DreamTurn,
} from "../layers/6-dreaming/dream-task.ts"
export type {
  DreamController,
  DreamFigures,
  DreamOverview,
  DreamPostponement,
  DreamResult,
} from "../layers/6-dreaming/dreaming.ts"
export { dreamSettings } from "../layers/6-dreaming/dreaming-layer.ts"
export type { DreamGate } from "../layers/6-dreaming/due.ts"
export type { InstalledDream, PendingDream } from "../layers/6-dreaming/install.ts"
export { eraseDreamTraces } from "../layers/6-dreaming/install.ts"
export { openBank } from "../memory/bank.ts"
export type { CodeReference } from "../memory/code-references.ts"
export type { EraseCounts, EraseReport, EraseRequest } from "../memory/erase-from.ts"
export { eraseFrom } from "../memory/erase-from.ts"
export type {
  MemoryAuthor,
  MemoryBasis,
  MemoryChange,
  MemoryFileEdit,
  MemoryProposal,
  MemoryRefusal,
  MemorySource,
  MemorySpeaker,
  MemoryText,
} from "../memory/memory.ts"
export {
  isCurrentMemory,
  isUserMemory,
  MEMORY_TYPES,
  type Memory,
  type MemoryDraft,
  type MemoryType,
} from "../memory/memory.ts"
export type { PruneOptions, PruneReport } from "../memory/prune-store.ts"
export { pruneStore } from "../memory/prune-store.ts"
