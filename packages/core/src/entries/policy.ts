/** `@strata/core/policy`. The layers themselves, for programs that replay recorded conversations through them. */
import "../base/node-version.ts"

export { silentTelemetry } from "../base/telemetry.ts"
export { type ToolResultStorageOptions, toolResultStorage } from "../layers/1-tool-results/tool-result-storage.ts"
export { cacheLifetime, lastUse, READ_LIKE, WRITE_LIKE } from "../layers/2-microcompact/clearable-content.ts"
export type { ClearingTarget } from "../layers/2-microcompact/microcompaction.ts"
export { microcompaction } from "../layers/2-microcompact/microcompaction.ts"
export { type SessionMemory, sessionMemory, type WriteNotes } from "../layers/3-session-memory/session-memory.ts"
export { compaction } from "../layers/4-compaction/compaction.ts"
export type { Cut } from "../layers/4-compaction/cut.ts"
export { installation } from "../layers/4-compaction/install.ts"
export type { SummaryRequest } from "../layers/4-compaction/messages/compact-messages.ts"
export type {
  CompactionRecord,
  RecordCommand,
  RecordResult,
  RecordStatement,
} from "../layers/4-compaction/messages/message-record.ts"
export type { PrunedText } from "../layers/4-compaction/messages/prune-messages.ts"
export type { CompactionOptions } from "../layers/4-compaction/options.ts"
export type { ReadFileAgain, RestorableFile } from "../layers/4-compaction/restore/files.ts"
export { continuationText, summaryPrompt } from "../layers/4-compaction/summarise/prompts.ts"
export { offline } from "../layers/4-compaction/summarise/route.ts"
export { checkBudgetShare, memorySpending } from "../layers/budget.ts"
export type { PlannedRange, RangeAction, RangeEnds, RangePlan } from "../layers/fold/plan.ts"
export type {
  CompactionRange,
  CompactionRefusal,
  CompactionRefusalReason,
  CompactionRoute,
  LayerContext,
  LayerName,
  LayerResult,
  LayerTrigger,
  PlannedSummary,
  PreparedState,
  RequestSender,
  WrittenSummary,
} from "../layers/layer.ts"
export { COMPACTION_ROUTE_LABELS } from "../layers/layer.ts"
export type { LayerActed, LayerFailed } from "../layers/pipeline.ts"
export { type LayerEvents, LayerPipeline } from "../layers/pipeline.ts"
export type { ColdPrice } from "../layers/planner/cold-price.ts"
export type { PlannerReport } from "../layers/planner/lifetime.ts"
export { cacheLifetimes, nextPing, PING_EARLY, pingsThrough, SUMMARY_EARLY } from "../layers/planner/lifetime.ts"
export { type TurnPhase, turnPhase, USUAL_REMAINING } from "../layers/planner/planner.ts"
export { linesOf } from "../tools/files/line-endings.ts"
export { FileReads, forgetCalls } from "../tools/files/read-state.ts"
