/**
 * `@strata/core/internal`: parts of the library for the packages beside it (the program, the simulator, the lab).
 * Names in here change without notice. Programs use `@strata/core`.
 *
 * Importing a value from here loads the whole library. The sources of the program and the simulator take types from here, and values
 * from `@strata/core/internal/<folder>/<file>`, so that a command loads only what it needs.
 */

export { Agent } from "./agent/agent.ts"
export type { QueryEnd, QueryEvent } from "./agent/loop/query-events.ts"
export { withSideEvents } from "./agent/loop/side-events.ts"
export { openAgent, openAgentWith } from "./agent/open-agent.ts"
export type { AgentOptions, AskOptions } from "./agent/options.ts"
export { NO_ONE_TO_ASK, type PermissionRequest } from "./agent/permissions/admit-call.ts"
export { judge } from "./agent/permissions/permissions.ts"
export { suggestedRules } from "./agent/permissions/suggested-rules.ts"
export { manualClock, systemClock } from "./base/clock.ts"
export {
  CompactionFailedError,
  ImportError,
  JournalOpenError,
  reasonOf,
  SettingsError,
  StrataError,
} from "./base/errors.ts"
export { escaped } from "./base/escaped-text.ts"
export { grouped } from "./base/grouped.ts"
export { type Ids, isSafeId, projectName, seededIds } from "./base/ids.ts"
export {
  clockTime,
  counted,
  dollars,
  dollarsOrUnknown,
  duration,
  pause,
  percent,
  short,
  timeAgo,
} from "./base/numbers.ts"
export { localPerson, placeFor } from "./base/owner.ts"
export { promptText } from "./base/prompt-file.ts"
export { repositoryRoot } from "./base/repository.ts"
export { findSecrets, maskSecrets } from "./base/secrets/find-secrets.ts"
export { termsOf } from "./base/terms.ts"
export { addCounts, inputTokens, NO_TOKENS, type TokenCounts } from "./base/token-counts.ts"
export { PERMISSION_MODES, type PermissionMode } from "./base/vocabulary.ts"
export type { ClearingReport, ClearingRequest } from "./conversation/clear-results.ts"
export { Conversation } from "./conversation/conversation.ts"
export type { EditorState } from "./conversation/editor.ts"
export type { PlannedFile, RestorePlan } from "./conversation/plan-restore.ts"
export { projectDirectories } from "./conversation/project-directories.ts"
export { type ProjectDreams, projectDreams } from "./conversation/project-dreams.ts"
export { openProjectMemory, type ProjectMemory, type ProjectMemoryOptions } from "./conversation/project-memory.ts"
export type { RestoreReport } from "./conversation/restore-files.ts"
export type { UndoReport, UndoRequest } from "./conversation/undo.ts"
export type { ToolSurroundings } from "./forks/fork-state.ts"
export { openConversation } from "./front-door.ts"
export { importTranscript } from "./import/import-file.ts"
export type { ImportedConversation, ImportReport } from "./import/importer.ts"
export { writeImported } from "./import/into-journal.ts"
export { mainPath } from "./import/main-path.ts"
export type { DamagedLine } from "./journal/damage.ts"
export {
  type AuditFigures,
  type DecisionEntry,
  type Draft,
  type Entry,
  isDecision,
  isMessage,
} from "./journal/entries.ts"
export { fileStore } from "./journal/file/file-store.ts"
export { defaultRoot, projectDirectory } from "./journal/file/layout.ts"
export { memoryStore } from "./journal/in-memory/store.ts"
export type { MemoryFiles, MemoryPlace } from "./journal/memory-files.ts"
export { isJournal, readJournalBytes } from "./journal/read-bytes.ts"
export type { ConversationListing, FlushMode, OpeningReport, Store } from "./journal/store.ts"
export { toolResultStorage } from "./layers/1-tool-results/tool-result-storage.ts"
export type { ClearingOrder } from "./layers/2-microcompact/by-hand.ts"
export { microcompaction } from "./layers/2-microcompact/microcompaction.ts"
export { compaction } from "./layers/4-compaction/compaction.ts"
export { leadFor, paceIn } from "./layers/4-compaction/pace.ts"
export { ageOf } from "./layers/5-auto-memory/age.ts"
export type { Extraction, ExtractionTask, ExtractMemories } from "./layers/5-auto-memory/extraction.ts"
export { type OfferedMemory, offeredBy } from "./layers/5-auto-memory/offered.ts"
export { type DreamEnd, describeChange } from "./layers/6-dreaming/dream.ts"
export type { DreamState, DreamTurn, KillAnswer } from "./layers/6-dreaming/dream-task.ts"
export {
  type Dreamed,
  type DreamFigures,
  Dreaming,
  type DreamingOptions,
  type DreamOrder,
  type DreamOverview,
} from "./layers/6-dreaming/dreaming.ts"
export { dreamFigures } from "./layers/6-dreaming/dreaming-layer.ts"
export type { PendingDream } from "./layers/6-dreaming/pending.ts"
export { eraseDreamTraces } from "./layers/6-dreaming/traces.ts"
export type { CompactionOrder, CompactionPlan, CompactionProgress, RouteName } from "./layers/compaction-order.ts"
export { type DailySpend, dailySpend, dollarsFor } from "./layers/daily-limit.ts"
export type { PlannedRange, RangePlan } from "./layers/fold/plan.ts"
export type { Layer } from "./layers/layer.ts"
export type { PlannerReport } from "./layers/planner/report.ts"
export { type BankOptions, type MemoryBank, openBank } from "./memory/bank.ts"
export { type Claim, claimsOf } from "./memory/claims.ts"
export {
  isCurrent,
  MEMORY_TYPES,
  type Memory,
  type MemoryAuthor,
  type MemoryChange,
  type MemoryDraft,
  type MemoryProposal,
  type MemoryText,
  type MemoryType,
  type Provenance,
} from "./memory/memory.ts"
export { MemoryConflictError, MemoryRefusedError } from "./memory/plan-change.ts"
export { type ProjectIdentity, projectIdentity } from "./memory/project-identity.ts"
export { type Attachment, renderAttachment, type Todo } from "./messages/attachments.ts"
export {
  type Block,
  type Content,
  isMedia,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  resultBlocks,
  type ToolResult,
  textOf,
  toBlocks,
} from "./messages/blocks.ts"
export { handleOf } from "./messages/handles.ts"
export { readImageSize } from "./messages/image-size.ts"
export {
  type AssistantMessage,
  contentOf,
  isBoundary,
  isHuman,
  isSentToModel,
  isShownToPerson,
  isSyntheticError,
  type Message,
  spokenText,
  type Usage,
  type UserMessage,
} from "./messages/messages.ts"
export type { ModelRequest } from "./messages/request.ts"
export { sentBlocks } from "./messages/sent-blocks.ts"
export { validateRequest } from "./messages/validate/validator.ts"
export { anthropicModel } from "./model/anthropic/anthropic.ts"
export type { Model } from "./model/model.ts"
export type { Found, SearchAnswer } from "./recall/choose.ts"
export { JournalSearch, type JournalSearchOptions } from "./recall/journal-search.ts"
export { loadSearch } from "./recall/load-search.ts"
export { MemoryRecall, type Recalled, type RecallQuestion } from "./recall/memory-recall.ts"
export { type FoundMemory, MemorySearch, type SearchableMemory } from "./recall/memory-search.ts"
export type { Passage } from "./recall/passage.ts"
export { PassageIndex } from "./recall/passage-index.ts"
export type { Question, Weights } from "./recall/ranking.ts"
export { FIGURES, type FigureName, SWITCHES, type SwitchName } from "./settings/flag-names.ts"
export { createFlags } from "./settings/flags.ts"
export { type ProjectPart, partText, partTitle, partVariables } from "./settings/project-parts.ts"
export {
  DEFAULT_SETTINGS,
  ENVIRONMENT,
  loadSettings,
  readSettings,
  type Settings,
  type SettingsReading,
} from "./settings/settings.ts"
export { settingsSchema } from "./settings/settings-schema.ts"
export { grantTrust, leftOutSentences, revokeTrust, type Trust, trustOf } from "./settings/trust.ts"
export { listTrust } from "./settings/trust-store.ts"
export type { AgentDefinition } from "./team/definitions/definition.ts"
export type { TeamAgent, TeamAgentOptions } from "./team/open-team.ts"
export type { AgentOrder, AgentView } from "./team/order.ts"
export type { Team } from "./team/team.ts"
export { type Accounting, account, type Shares, sharesOf } from "./tokens/accounting.ts"
export { type ErrorSummary, summarizeErrors } from "./tokens/calibrate.ts"
export { CONTENT_CLASSES, forEachSegment, STATES } from "./tokens/content-class.ts"
export { type ContextSize, usageTotal } from "./tokens/context-size.ts"
export { createEstimator, type Estimator, type Measure, measureBlocks, measureText } from "./tokens/estimate.ts"
export { MODEL_FACTS, type ModelFacts, type Price } from "./tokens/model-facts.ts"
export { canonicalModelId, findModel, type ModelOverride } from "./tokens/models.ts"
export { costOf, tokenCounts } from "./tokens/price.ts"
export { type RepeatedReads, repeatedReads } from "./tokens/repeated-reads.ts"
export { type Fill, resolveThresholds, type Thresholds } from "./tokens/window.ts"
export { fileTools, openShellTools } from "./tools/coding-tools.ts"
export { FileReads } from "./tools/files/read-state.ts"
export type { SignInPerson } from "./tools/mcp/sign-in/sign-in.ts"
export { todoWrite } from "./tools/session/todo-write.ts"
export { commandFacts } from "./tools/shell/command/command-facts.ts"
export type { CommandFacts, UnusualKind, UnusualPart } from "./tools/shell/command/facts.ts"
export type { PermissionQuestion, ServerPrompt, ToolServer } from "./tools/tool.ts"
export { codingTools, mcpServers } from "./tools/toolsets.ts"
export type { BreakCause } from "./views/cache/cache-causes.ts"
export { type BreakTotal, type CacheBreak, totalBreaks } from "./views/cache/cache-history.ts"
export { accountSent } from "./views/context/sent-accounting.ts"
export { type LedgerLine, type LedgerSummary, type Purpose, summarise } from "./views/ledger/ledger.ts"
export { PURPOSE_WORDS } from "./views/ledger/purpose.ts"
export { type LayerSaving, totalSaving } from "./views/ledger/savings-report.ts"
export { isOnPath, Links } from "./views/path.ts"
export { type Artifacts, artifacts, commandOf } from "./views/record/artifacts.ts"
export { standingRules } from "./views/record/standing-rules.ts"
export type { AgentCost, CostReport } from "./views/reports/ledger-report.ts"
export { Views } from "./views/views.ts"
