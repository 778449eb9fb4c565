/** `@strata/core/memory-files`. The file format of memories and their history, for `@strata/sync`. */
import "../base/node-version.ts"

export { freePath } from "../memory/adopt-memories.ts"
export { commit } from "../memory/changes/commit.ts"
export { ERASED } from "../memory/changes/erase.ts"
export {
  CHANGES,
  changePath,
  HEAD,
  hashOf,
  readWithChecksum,
  sourceAfter,
  TEXTS,
  textPath,
  withChecksum,
} from "../memory/changes/history.ts"
export { mergeFile } from "../memory/changes/merge.ts"
export type { Snapshot } from "../memory/changes/snapshot.ts"
export { fileFacts, SnapshotReader } from "../memory/changes/snapshot.ts"
export { INDEX_FILE, isTopicFile, MAX_MEMORY_BYTES } from "../memory/file-names.ts"
export { lessTrusted, refusalReason, ruleChangeViolation } from "../memory/instruction-guard.ts"
export { MEMORY_SPEAKERS } from "../memory/memory.ts"
export { parseMemory } from "../memory/topic-file.ts"
