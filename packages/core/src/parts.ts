/**
 * `@strata/core/parts`: what the library is made of, for programs that look into conversations: flattening and validating, estimating and
 * pricing, journals line by line, other programs' transcripts, views fed by hand.
 */
export { FIGURES, type FigureName, SWITCHES, type SwitchName } from "./base/flag-names.ts"
export { createFlags, type Flags } from "./base/flags.ts"
export { ENVIRONMENT } from "./base/settings.ts"
export { settingsSchema } from "./base/settings-schema.ts"
export { addCounts, inputTokens, NO_TOKENS } from "./base/token-counts.ts"
export { renderAttachment } from "./conversation/attachments.ts"
export { isText, isThinking, isToolResult, isToolUse, resultBlocks, textOf, toBlocks } from "./conversation/blocks.ts"
export { parseExact, stringifyExact, withExactInput } from "./conversation/exact-json.ts"
export { flatten } from "./conversation/flatten.ts"
export {
  contentOf,
  isBoundary,
  isHuman,
  isSentToModel,
  isShownToPerson,
  isSyntheticError,
  sinceLastBoundary,
} from "./conversation/messages.ts"
export { type Round, rounds } from "./conversation/rounds.ts"
export { type CheckedInput, checkToolInput, invalidInputResult } from "./conversation/tool-input.ts"
export { RULE_NAMES, validateRequest } from "./conversation/validate/validator.ts"
export * from "./index.ts"
export { isDecision, isMessage } from "./journal/entries.ts"
export { importTranscript } from "./journal/import/import-file.ts"
export type { ForeignFile } from "./journal/import/importer.ts"
export { mainPath } from "./journal/import/main-path.ts"
export { decodeLine, isWhole } from "./journal/line.ts"
export { memoryStore } from "./journal/memory-store.ts"
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
export { type Artifacts, commandOf } from "./views/artifacts.ts"
export type { BreakCause, CacheChange } from "./views/cache-causes.ts"
export {
  type BreakTotal,
  type CacheBreak,
  type CachedResponse,
  type CacheHistory,
  cacheHistory,
  totalBreaks,
} from "./views/cache-history.ts"
export type { LedgerLine, PurposeTotal } from "./views/ledger.ts"
export { PURPOSES, summarise } from "./views/ledger.ts"
export { isOnPath, Links } from "./views/path.ts"
export { type LayerSaving, totalSaving } from "./views/savings-report.ts"
export { accountSent } from "./views/sent-accounting.ts"
export { Views } from "./views/views.ts"
