/**
 * `@strata/core/parts`: what the library is made of, for programs that look into conversations: flattening and validating, estimating and
 * pricing, journals line by line, other programs' transcripts, views fed by hand.
 */
export { FIGURES, type FigureName, SWITCHES, type SwitchName } from "./base/flag-names.ts"
export { createFlags, type Flags } from "./base/flags.ts"
export { promptText } from "./base/prompt-file.ts"
export { ENVIRONMENT } from "./base/settings.ts"
export { settingsSchema } from "./base/settings-schema.ts"
export { addCounts, inputTokens, NO_TOKENS } from "./base/token-counts.ts"
export { importTranscript } from "./import/import-file.ts"
export type { ForeignFile } from "./import/importer.ts"
export { mainPath } from "./import/main-path.ts"
export * from "./index.ts"
export { isDecision, isMessage } from "./journal/entries.ts"
export { decodeLine, isWhole } from "./journal/line.ts"
export { memoryStore } from "./journal/memory-store.ts"
export { renderAttachment } from "./messages/attachments.ts"
export { isText, isThinking, isToolResult, isToolUse, resultBlocks, textOf, toBlocks } from "./messages/blocks.ts"
export { parseExact, stringifyExact, withExactInput } from "./messages/exact-json.ts"
export { flatten } from "./messages/flatten.ts"
export {
  contentOf,
  isBoundary,
  isHuman,
  isSentToModel,
  isShownToPerson,
  isSyntheticError,
  sinceLastBoundary,
} from "./messages/messages.ts"
export { type Round, rounds } from "./messages/rounds.ts"
export { type CheckedInput, checkToolInput, invalidInputResult } from "./messages/tool-input.ts"
export { RULE_NAMES, validateRequest } from "./messages/validate/validator.ts"
export { compareRequests, type RequestComparison } from "./model/cache/compare-requests.ts"
export { describeBreak } from "./model/cache/describe-break.ts"
export { CacheForecast } from "./model/cache/forecast.ts"
export { account, percentages } from "./tokens/accounting.ts"
export { contextSize, usageTotal } from "./tokens/context-size.ts"
export { createEstimator } from "./tokens/estimate.ts"
export { MODEL_FACTS, MODEL_FACTS_DATE } from "./tokens/model-facts.ts"
export { canonicalModelId, findModel, sentModelName } from "./tokens/models.ts"
export { costOf, tokenCounts } from "./tokens/price.ts"
export { type RepeatedReads, repeatedReads } from "./tokens/repeated-reads.ts"
export { fillOf, resolveThresholds, resolveWindow } from "./tokens/window.ts"
export type { BreakCause, CacheChange } from "./views/cache/cache-causes.ts"
export {
  type BreakTotal,
  type CacheBreak,
  type CachedResponse,
  type CacheHistory,
  cacheHistory,
  totalBreaks,
} from "./views/cache/cache-history.ts"
export { accountSent } from "./views/context/sent-accounting.ts"
export type { LedgerLine, PurposeTotal } from "./views/ledger/ledger.ts"
export { PURPOSES, summarise } from "./views/ledger/ledger.ts"
export { type LayerSaving, totalSaving } from "./views/ledger/savings-report.ts"
export { isOnPath, Links } from "./views/path.ts"
export { type Artifacts, commandOf } from "./views/record/artifacts.ts"
export { Views } from "./views/views.ts"
