/** `@strata/core/views`. Projections of a journal: context, files, cost. */
import "../base/node-version.ts"

export type { PaidAnew } from "../views/cache/cache-break.ts"
export type { BreakCause, CacheChange } from "../views/cache/cache-causes.ts"
export type { BreakTotal as CacheBreakTotal, CacheBreak } from "../views/cache/cache-history.ts"
export { lifetimeIn, totalBreaks } from "../views/cache/cache-history.ts"
export type { ContextView } from "../views/context/context.ts"
export { clearedByServer } from "../views/context/decision-kinds.ts"
export { buildRequest, serialiseRequest, writtenOut } from "../views/context/request.ts"
export { accountSent } from "../views/context/sent-accounting.ts"
export { estimatedSentences } from "../views/ledger/estimated-sentences.ts"
export type { Bill, Estimated as EstimatedCost } from "../views/ledger/ledger.ts"
export { billOf, dollarsFor, type LedgerLine, type LedgerSummary, summarise } from "../views/ledger/ledger.ts"
export type { Purpose as RequestPurpose } from "../views/ledger/purpose.ts"
export { PURPOSE_WORDS } from "../views/ledger/purpose.ts"
export type { SavingLayer } from "../views/ledger/saving-settlement.ts"
export type { LayerSaving } from "../views/ledger/savings-report.ts"
export { totalSaving } from "../views/ledger/savings-report.ts"
export type { Place } from "../views/path.ts"
export { Links } from "../views/path.ts"
export { type Artifacts, commandOf, fateOf } from "../views/record/artifacts.ts"
export type { FileEffect } from "../views/record/file-effect.ts"
export { fileEffects, isShellTool } from "../views/record/file-effects.ts"
export type { KeptLimit } from "../views/record/limits.ts"
export { type FinishedCall, followCalls, type OpenCall } from "../views/record/tool-calls.ts"
export type { UndoableKind } from "../views/record/undoable.ts"
export type { Word } from "../views/record/words.ts"
export type {
  CacheBreakReport,
  CachedResponseReport,
  CacheLossReport,
  CacheReport,
} from "../views/reports/cache-report.ts"
export type {
  AgentCost,
  CostReport,
  LayerSavingReport,
  SavingsReport,
  TokenReport,
} from "../views/reports/ledger-report.ts"
export { ledgerReport } from "../views/reports/ledger-report.ts"
export type {
  ArtifactsReport,
  CommandReport,
  FileReport,
  FrontierReport,
  PersonMessageReport,
  WordsReport,
} from "../views/reports/record-reports.ts"
export type { CostViews } from "../views/views.ts"
export { costViews, Views } from "../views/views.ts"
