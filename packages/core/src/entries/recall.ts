/** `@strata/core/recall`. Search in conversations and memories, and the text that a recall returns. */
import "../base/node-version.ts"

export { BlockReader, type BlockText, plainText } from "../recall/block-texts.ts"
export {
  type IndexShape,
  isBusy,
  isDamage,
  isFromSqlite,
  removeDatabase,
  SqliteIndexFile,
} from "../recall/index/index-file.ts"
export { PassageIndex } from "../recall/index/passage-index.ts"
export {
  type JournalQuestion,
  type JournalSearch,
  type JournalSearchResult,
  journalSearchIn,
} from "../recall/journal-search.ts"
export { MemorySearch, PersistentIndex } from "../recall/memory-search.ts"
export { splitBlock } from "../recall/passages/passage.ts"
export {
  quoteMatch,
  type ReadableConversation,
  resolveHandle,
  resolveRange,
  shortConversationId,
  textsIn,
} from "../recall/resolve-handle.ts"
export type { EmbedFunction } from "../recall/vectors/embedded-passages.ts"
export { DEFAULT_BUDGET, MIN_BUDGET } from "../tools/session/recall-input.ts"
export {
  RECALL_KINDS,
  RECALL_TOOL,
  type RecallInput,
  type RecallMatches,
  type RecallSearch,
  type RecallSource,
} from "../tools/session/recall-source.ts"
export { runRecall } from "../tools/session/recall-text.ts"
