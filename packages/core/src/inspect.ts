/**
 * `@strata/core/inspect`: the parts that programs need which look into conversations: blocks and messages, journals line by line, other programs'
 * transcripts, views fed by hand. Closer to the inside than the rest, and likelier to move.
 */
export { ENVIRONMENT } from "./base/settings.ts"
export { settingsSchema } from "./base/settings-schema.ts"
export { addCounts, inputTokens, NO_TOKENS } from "./base/token-counts.ts"
export { isText, isThinking, isToolResult, isToolUse, resultBlocks, textOf, toBlocks } from "./conversation/blocks.ts"
export { contentOf, isBoundary, isSentToModel, isSyntheticError } from "./conversation/messages.ts"
export { isDecision, isMessage } from "./journal/entries.ts"
export { importTranscript } from "./journal/import/import-file.ts"
export type { ForeignFile, ImportedConversation, ImportReport } from "./journal/import/importer.ts"
export { mainPath } from "./journal/import/main-path.ts"
export { decodeLine, isWhole } from "./journal/line.ts"
export { type Artifacts, commandOf } from "./views/artifacts.ts"
export type { LedgerLine } from "./views/ledger.ts"
export { isOnPath, Links } from "./views/path.ts"
export { Views } from "./views/views.ts"
