/** `@strata/core/memory`. Memories of a project: what is kept, recalled at the start and consolidated. */
import "../base/node-version.ts"

export { projectDreams } from "../agent/project-dreams.ts"
export { openProjectMemory, type ProjectMemory } from "../conversation/project-memory.ts"
export type { OfferedMemory } from "../layers/5-auto-memory/attach/shown.ts"
export { ageOf, offeredBy as memoriesOfferedIn, recallFor, sourcePhrase } from "../layers/5-auto-memory/attach/shown.ts"
export { startOf } from "../layers/5-auto-memory/attach/start.ts"
export { extractionDollars, isWorthExtracting } from "../layers/5-auto-memory/extract/due.ts"
export { readAnswer } from "../layers/5-auto-memory/extract/extraction.ts"
export { keepProposals } from "../layers/5-auto-memory/keep/keep.ts"
export { keepRulesIn, rememberedDraft } from "../layers/5-auto-memory/keep/rules.ts"
export { memoryPrompt } from "../layers/5-auto-memory/prompts.ts"
export type { DreamEnd } from "../layers/6-dreaming/dream.ts"
export { describeChange } from "../layers/6-dreaming/dream.ts"
export type {
  DreamPhase,
  DreamState,
  DreamStatus,
  DreamTurn,
  KillAnswer as DreamKillAnswer,
} from "../layers/6-dreaming/dream-task.ts"
export type {
  Dreamed,
  DreamFigures,
  Dreaming,
  DreamOverview,
  Hold as DreamHold,
} from "../layers/6-dreaming/dreaming.ts"
export { dreamFigures } from "../layers/6-dreaming/dreaming-layer.ts"
export type { GateName as DreamGate } from "../layers/6-dreaming/due.ts"
export type { Installed as InstalledDream, PendingDream } from "../layers/6-dreaming/install.ts"
export { eraseDreamTraces } from "../layers/6-dreaming/install.ts"
export { openBank } from "../memory/bank.ts"
export type { Claim as MemoryClaim } from "../memory/claims.ts"
export type { EraseCounts, EraseReport, EraseRequest } from "../memory/erase-from.ts"
export { eraseFrom } from "../memory/erase-from.ts"
export type {
  Basis as MemoryBasis,
  MemoryAuthor,
  MemoryChange,
  MemoryFileEdit,
  MemoryProposal,
  MemoryRefusal,
  MemoryText,
  Provenance as MemoryProvenance,
  Speaker as MemorySpeaker,
} from "../memory/memory.ts"
export {
  isCurrent,
  isCurrent as isCurrentMemory,
  isPersons,
  isPersons as isPersonsMemory,
  MEMORY_TYPES,
  type Memory,
  type MemoryDraft,
  type MemoryType,
} from "../memory/memory.ts"
export type { PruneOptions, PruneReport } from "../memory/prune-store.ts"
export { pruneStore } from "../memory/prune-store.ts"
