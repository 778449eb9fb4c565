/** `@strata/core/views`. Projections of a journal: context, files, cost. */
import "../base/node-version.ts"

export type { CacheBreak, CacheBreakTotal } from "../views/cache/cache-history.ts"
export { messageLifetime, totalBreaks } from "../views/cache/cache-history.ts"
export type { BreakCause, CacheChange, CacheMissCost } from "../views/cache/pauses.ts"
export type { ContextView } from "../views/context/context.ts"
export { accountContext } from "../views/context/context.ts"
export { clearedByServer } from "../views/context/overlay.ts"
export { buildRequest, serialiseMessage, serialiseRequest } from "../views/context/request.ts"
export type { Bill, EstimatedCost, RequestPurpose } from "../views/ledger/ledger.ts"
export {
  describeEstimates,
  dollarsFor,
  findBill,
  type LedgerLine,
  type LedgerSummary,
  PURPOSE_LABELS,
  summarise,
} from "../views/ledger/ledger.ts"
export type { SavingLayer } from "../views/ledger/savings.ts"
export type { LayerSaving } from "../views/ledger/savings-report.ts"
export { totalSaving } from "../views/ledger/savings-report.ts"
export type { PathPosition } from "../views/path.ts"
export { ParentLinks } from "../views/path.ts"
export { type Artifacts, commandLine, fileFate } from "../views/record/artifacts.ts"
export type { StoredLimit, UndoableKind } from "../views/record/decisions.ts"
export type { FileEffect } from "../views/record/file-effect.ts"
export { fileEffects, isShellTool } from "../views/record/file-effects.ts"
export { type FinishedCall, followCalls, type OpenCall } from "../views/record/open-work.ts"
export type { UserMessageText } from "../views/record/user-messages.ts"
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
  UserMessageReport,
  UserMessagesReport,
  WorkStateReport,
} from "../views/reports/record-reports.ts"
export type { CostViews } from "../views/views.ts"
export { costViews, Views } from "../views/views.ts"
