/** `@strata/page`: reports as HTML files that open offline, and the pages of a local server. */

export { STATUS_LABELS } from "./labels/agents.ts"
export { attachmentLabel, attachmentName, attachmentsLabel, listNames } from "./labels/attachments.ts"
export { apiReasonLabel, CAUSE_LABELS, formatMissCost, pricePhrase } from "./labels/cache-breaks.ts"
export {
  type CompactionMetrics,
  describeAudit,
  describeCompaction,
  listAuditFindings,
  routeLabel,
} from "./labels/compaction.ts"
export { planRows, ROUTES_WITH_MODEL } from "./labels/compaction-plan.ts"
export { CONTEXT_LABELS } from "./labels/context.ts"
export { type CostSummary, formatCost, formatRecordedCost } from "./labels/cost.ts"
export { type LayerDecision, type LayerDecisionKind, listLayerDecisions } from "./labels/decisions.ts"
export { dreamProgress } from "./labels/dreams.ts"
export { LAYER_LABELS } from "./labels/layers.ts"
export {
  authorLabel,
  describeEdits,
  describeSource,
  describeSourceBriefly,
  fileStem,
  formatMinute,
  MEMORY_INDEX,
} from "./labels/memories.ts"
export { describeLostNames, describeNamesInView } from "./labels/needed-names.ts"
export { describeClearing, describeUndo } from "./labels/undo.ts"
export { toChartedMisses } from "./render/charted-misses.ts"
export type {
  CacheMissKind,
  ChartedMiss,
  ChartTimeline,
  CompactionRow,
  PageContent,
  PageConversation,
  TimelinePoint,
} from "./render/content.ts"
export { PAGE_PREFIX } from "./render/document.ts"
export {
  formatAmount,
  formatAmountWithUnit,
  formatCautiousPercent,
  formatDuration,
  formatShare,
} from "./render/format.ts"
export { html, Markup } from "./render/markup.ts"
export { type RecordedTimeline, recordedTimeline } from "./render/recorded-timeline.ts"
export { page } from "./render/report.ts"
export { SCORE_COLUMNS, type ScoreColumn } from "./render/score-columns.ts"
export { withShortNames } from "./render/short-names.ts"
export type { DeletedSessions } from "./usage/deleted-sessions.ts"
export type { AgentTotal } from "./usage/digest.ts"
export { openUsage, type ReplayRunOptions, type Usage, type UsageOptions } from "./usage/open-usage.ts"
export {
  createOverview,
  FOUND_PROGRAMS,
  type NextStep,
  type UsageNumber,
  type UsageOverview,
} from "./usage/overview.ts"
export type {
  AgentUsage,
  CacheMisses,
  CacheMissesByCause,
  CacheMissesByReason,
  CompactionUsage,
  ContextClass,
  DayCost,
  ListOrder,
  ListRequest,
  NamedCost,
  NameRetention,
  ReplayedNameRetention,
  UnreadFiles,
  UsageCost,
  UsageFilter,
  UsageList,
  UsageReport,
  UsageRow,
  UsageSavings,
} from "./usage/report-data.ts"
export type { SavingEstimate } from "./usage/sample.ts"
export {
  atLeastNote,
  compareNames,
  describeCoverage,
  formatAtLeast,
  formatInterval,
  reasonsForParts,
} from "./usage/sentences.ts"
export { isPictureReady, PICTURE_PREFIX, sharePicture, shareText } from "./usage/share.ts"
export type { IndexUpdateResult } from "./usage/update-index.ts"
export { serveUsageWorker } from "./usage/worker.ts"
