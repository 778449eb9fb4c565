/** `@strata/core/memory-files`. How memories and the record of their changes lie in files, for `@strata/sync`. */
import "../base/node-version.ts"

export { commit } from "../memory/changes/commit.ts"
export { ERASED } from "../memory/changes/erase.ts"
export {
  CHANGES,
  changePath,
  HEAD,
  hashOf,
  sealed,
  sourceAfter,
  TEXTS,
  textPath,
  unsealed,
} from "../memory/changes/history.ts"
export { mergeFile } from "../memory/changes/merge.ts"
export type { Snapshot } from "../memory/changes/snapshot.ts"
export { factsOf, SnapshotReader } from "../memory/changes/snapshot.ts"
export { INDEX_FILE, isTopicFile, MAX_MEMORY_BYTES } from "../memory/file-names.ts"
export { lessTrusted, refusalOf, trespassOf } from "../memory/instruction-guard.ts"
export { SPEAKERS } from "../memory/memory.ts"
export { freePlace } from "../memory/take-over.ts"
export { parseMemory } from "../memory/topic-file.ts"
