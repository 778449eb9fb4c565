/** `@strata/core`: what a program needs to run a conversation or an agent. What is not exported here may change. */
import "./base/node-version.ts"

export type { Agent, Answer } from "./agent/agent.ts"
export type { Remembered } from "./agent/agent-memory.ts"
export type { Hook, HookAnswer, HookFunction, HookInput } from "./agent/hooks/hooks.ts"
export { type InitOptions, initPrompt } from "./agent/instructions/init-prompt.ts"
export type { Arrivals } from "./agent/loop/companions.ts"
export { NoAnswerError } from "./agent/loop/no-answer.ts"
export type { QueryEnd, QueryEvent } from "./agent/loop/query-events.ts"
export type { AskOptions, PlanAnswer } from "./agent/options.ts"
export type { PermissionAnswer, PermissionRequest } from "./agent/permissions/admit-call.ts"
export { type RuleLists as PermissionRules, ruleProblems } from "./agent/permissions/rules.ts"
export type { Clock } from "./base/clock.ts"
export {
  ClosedError,
  CompactionFailedError,
  ContextFullError,
  ConversationLockedError,
  ConversationNotFoundError,
  InvalidIdError,
  LockLostError,
  MailboxFullError,
  MailboxMessageError,
  MemberNameTakenError,
  MemoryChangedError,
  MemoryFileError,
  type NamedHolder,
  StrataError,
} from "./base/errors.ts"
export { type Ids, isSafeId } from "./base/ids.ts"
export { InvalidOptionError } from "./base/options.ts"
export { localPerson, type MemoryOption, type Owner } from "./base/owner.ts"
export type { FailureReason as CompactionFailureReason } from "./base/telemetry.ts"
export type { TokenCounts } from "./base/token-counts.ts"
export type { RuleList } from "./base/vocabulary.ts"
export {
  type CacheLifetime,
  type CacheLifetimeSetting,
  type HookEvent,
  PERMISSION_MODES,
  type PermissionMode,
  type RequestSource,
} from "./base/vocabulary.ts"
export type { ClearingReport, ClearingRequest } from "./conversation/clear-results.ts"
export type { CompactionRequest } from "./conversation/compact.ts"
export type { Conversation, NotedRefusal } from "./conversation/conversation.ts"
export type { EditorState } from "./conversation/editor.ts"
export type { ConversationEvents, Opened, PreparedEvent } from "./conversation/events.ts"
export type { FollowOptions, FollowReport } from "./conversation/follow/follow.ts"
export type { Incoming, IncomingMessage, IncomingResponse } from "./conversation/incoming.ts"
export type { KeptConversation, ListOptions as ListConversationsOptions, WhereKept } from "./conversation/list.ts"
export type { OtherMessage } from "./conversation/messages-of-others.ts"
export type {
  FoundInProject,
  FoundPassage,
  MemoryBankOptions,
  ProjectBank,
} from "./conversation/open-memory-bank.ts"
export type { Past, RecallAnswer } from "./conversation/open-past.ts"
export type { ConversationOptions } from "./conversation/options.ts"
export type { PlannedFile, RestorePlan } from "./conversation/plan-restore.ts"
export type { Prompt } from "./conversation/prompt.ts"
export type { FoldRequest, SnipRequest } from "./conversation/ranges.ts"
export type { PrepareOptions } from "./conversation/request-preparer.ts"
export type { RestoreReport } from "./conversation/restore-files.ts"
export type { UndoReport, UndoRequest } from "./conversation/undo.ts"
export {
  agentsOf,
  carry,
  carryAhead,
  exportTranscript,
  findTranscripts,
  foreignSessions,
  importConversations,
  inspectTranscript,
  keptTranscripts,
  listConversations,
  openAgent,
  openConversation,
  openKept,
  openMemoryBank,
  openPast,
  readEntries,
  readSettings,
  readTranscripts,
  recordedCourse,
  responsesIn,
  takeUpConversations,
  totalOf,
} from "./front-door.ts"
export type { ImportedAgentOutcome, ImportOptions, ImportOutcome } from "./import/import-conversations.ts"
export type { ImportedAgent, ImportReport } from "./import/importer.ts"
export type {
  KeepOptions,
  KeepProgress,
  KeepReport,
  KeptCheck,
  KeptList,
  KeptSession,
  KeptStore,
  KeptStoreOptions,
} from "./import/kept/kept-store.ts"
export type { KeptOptions } from "./import/kept/open-kept.ts"
export type { RestoredSession } from "./import/kept/restore.ts"
export type {
  Environment,
  FindTranscripts,
  FoundTranscript,
  Program as TranscriptProgram,
  TranscriptFile,
} from "./import/places.ts"
export type { ForeignSession, SessionsPlace } from "./import/sessions.ts"
export type { TakenUp } from "./import/take-up.ts"
export type { Exportable, ExportedTranscript, ExportOptions } from "./import/write/export.ts"
export { EXPORT_FORMATS, type ExportFormat } from "./import/write/formats.ts"
export type {
  ContextGrowth,
  Inspection,
  RecordedAgents,
  RecordedBoundary,
  RecordedCache,
  RecordedCost,
} from "./inspect/inspection.ts"
export type { BoundaryNames, NeededNames } from "./inspect/needed-names.ts"
export type { OutputStubs } from "./inspect/output-stubs.ts"
export type { Transcript } from "./inspect/read-transcripts.ts"
export type { PaidSoFar, RecordedCourse, RecordedTurn, RecordedView } from "./inspect/recorded-course.ts"
export type { RecordedResponse } from "./inspect/responses.ts"
export type { FileTotal, ToolCall, ToolTotal } from "./inspect/tool-use.ts"
export type { InspectedResponses, InspectionTotal, SharedResponses } from "./inspect/totals.ts"
export { type Budget, budgetIn } from "./journal/budget.ts"
export {
  type ContentAddress,
  type ContentChange,
  ContentDiffersError,
  type ContentFile,
  type ContentFileBytes,
  type Contents,
  contentName,
  type KeptContent,
  type KeptPlace,
  type PrunedCounts,
  type PruneWanted,
} from "./journal/contents.ts"
export type { DamagedLine, DamageFound } from "./journal/damage.ts"
export { openingProblems } from "./journal/damage-sentences.ts"
export {
  type AgentEnding,
  type AgentKind,
  type AgentStart,
  type AuditFigures,
  type BoundaryEntry,
  type ChosenLifetimes,
  type CompactionFacts,
  type Decision,
  type DecisionDraft,
  type DecisionEntry,
  type DecisionOf,
  type Draft as EntryDraft,
  type Effect as DecisionEffect,
  type Entry,
  type ForeignChange,
  type HiddenRange,
  isBoundaryEntry,
  isDecision,
  isMessage,
  type MessageDraft,
  type MessageEntry,
  type OvertakenBy,
  type SessionFacts,
  type Share as AuditShare,
  type ShortenedResult,
  type UndoneBy,
} from "./journal/entries.ts"
export type { AppendedLines, FeedLine, JournalFeed, JournalSize, LookedAt } from "./journal/feed.ts"
export { type CommittedMemoryPlace, committedMemory } from "./journal/file/committed-memory.ts"
export { type FileStoreOptions, fileStore } from "./journal/file/file-store.ts"
export { defaultRoot as strataDirectory } from "./journal/file/layout.ts"
export type { InFlightLog, KeptRequests, SentRequest } from "./journal/in-flight.ts"
export { type MemoryStoreOptions, memoryStore } from "./journal/in-memory/store.ts"
export { type DecodedLine, decodeLine, encodeLine } from "./journal/line.ts"
export type { LineLog, LogAddress } from "./journal/line-log.ts"
export { listingFacts } from "./journal/listing.ts"
export type {
  FoundMember,
  Mailbox,
  MailboxCursor,
  MailboxDraft,
  MailboxMessage,
  MailboxReading,
  Membership,
  SendLimits,
  TeamAddress,
  TeamMember,
} from "./journal/mailbox.ts"
export { checkedDraft as checkedMailboxDraft } from "./journal/mailbox-line.ts"
export {
  checkedMemoryPath,
  checkMemoryText,
  type InstallOptions as MemoryInstallOptions,
  type InstallReport as MemoryInstallReport,
  type MemoryFileChange,
  type MemoryFileListing,
  type MemoryFiles,
  type MemoryFilesWatch,
  type MemoryPlace,
  type ReadMemoryFile,
  type WantedTexts,
} from "./journal/memory-files.ts"
export {
  type MoveOptions,
  type MoveOutcome,
  type MoveProgress,
  type MoveReport,
  moveContents,
} from "./journal/move-contents.ts"
export type {
  PassageShelf,
  ReadableShelf,
  ShelfAddress,
  ShelfNews,
  ShelfPassage,
  ShelfRow,
  ShelfSince,
  ShelfStep,
  TextWanted,
  TokenCount,
} from "./journal/passage-shelf.ts"
export {
  CONSOLIDATE,
  type Permit,
  type PermitAddress,
  type PermitAttempt,
  type PermitRequest,
  type PermitState,
  type TakenPermit,
} from "./journal/permit.ts"
export type {
  AppendOptions,
  BlobReceipt,
  ConversationListing,
  FlushMode,
  Journal,
  JournalAddress,
  ListJournalsOptions,
  OpeningReport,
  OpenJournalOptions,
  Resumed,
  Segment as JournalSegment,
  Store,
  Stretch as JournalStretch,
} from "./journal/store.ts"
export { type OpenStore, type OpenStoreOptions, registerStore } from "./journal/store-from.ts"
export type { ClearingOrder } from "./layers/2-microcompact/by-hand.ts"
export type { CarryAheadOptions } from "./layers/4-compaction/carry/ahead.ts"
export type {
  Carried,
  CarriedState,
  CarryOptions,
  CarrySummaryRequest,
} from "./layers/4-compaction/carry/carry.ts"
export type { CarryMessage, PlainMessage } from "./layers/4-compaction/carry/given-messages.ts"
export type { PrunedText } from "./layers/4-compaction/carry/prune.ts"
export type {
  CarriedCommand,
  CarriedRecord,
  CarriedResult,
  CarriedStatement,
} from "./layers/4-compaction/carry/record.ts"
export { type OfferedMemory, offeredBy as memoriesOfferedIn } from "./layers/5-auto-memory/attach/shown.ts"
export type { DreamEnd } from "./layers/6-dreaming/dream.ts"
export type {
  DreamPhase,
  DreamState,
  DreamStatus,
  DreamTurn,
  KillAnswer as DreamKillAnswer,
} from "./layers/6-dreaming/dream-task.ts"
export type { Dreamed, Dreaming, Hold as DreamHold } from "./layers/6-dreaming/dreaming.ts"
export type { GateName as DreamGate } from "./layers/6-dreaming/due.ts"
export type { Installed as InstalledDream, PendingDream } from "./layers/6-dreaming/install.ts"
export type { Trigger as LayerTrigger } from "./layers/action-report.ts"
export {
  type CompactionOrder,
  type CompactionPlan,
  type CompactionProgress,
  type CompactionRange,
  type PlannedSummary,
  type Refusal as CompactionRefusal,
  type RefusalReason as CompactionRefusalReason,
  ROUTE_WORDS as COMPACTION_ROUTE_WORDS,
  type RouteName as CompactionRoute,
  type WrittenSummary,
} from "./layers/compaction-order.ts"
export type { PlannedRange, RangeAction, RangeOrder, RangePlan } from "./layers/fold/plan.ts"
export type {
  Layer,
  LayerContext,
  LayerName,
  Outcome as LayerOutcome,
  PreparedState,
  Sender as RequestSender,
} from "./layers/layer.ts"
export type { LayerActed, LayerFailed } from "./layers/pipeline.ts"
export type { ColdPrice } from "./layers/planner/cold-price.ts"
export type { MemoryBank } from "./memory/bank.ts"
export type { Claim as MemoryClaim } from "./memory/claims.ts"
export { type EraseCounts, type EraseReport, type EraseRequest, eraseFrom } from "./memory/erase-from.ts"
export {
  type Basis as MemoryBasis,
  isCurrent as isCurrentMemory,
  isPersons as isPersonsMemory,
  MEMORY_TYPES,
  type Memory,
  type MemoryAuthor,
  type MemoryChange,
  type MemoryDraft,
  type MemoryFileEdit,
  type MemoryProposal,
  type MemoryRefusal,
  type MemoryText,
  type MemoryType,
  type Provenance as MemoryProvenance,
  type Speaker as MemorySpeaker,
} from "./memory/memory.ts"
export { type PruneOptions, type PruneReport, pruneStore } from "./memory/prune-store.ts"
export type {
  AddedTool,
  AgentMessage,
  AgentStatus,
  Attachment,
  CallerSystemMessage,
  DeferredGroup,
  FilesRestored,
  Listed as ListedItem,
  RecalledMemory,
  Todo,
} from "./messages/attachments.ts"
export {
  type Block,
  type Content,
  isText,
  isToolResult,
  isToolUse,
  type TextBlock,
  type ToolResult,
  type ToolUse,
  textOf,
} from "./messages/blocks.ts"
export type { CallerMessage } from "./messages/caller-key.ts"
export { handleOf } from "./messages/handles.ts"
export type { KeptChange } from "./messages/kept-change.ts"
export {
  type AssistantMessage,
  type AttachmentMessage,
  type Boundary,
  type CallChanges,
  type CompactMetadata,
  contentOf,
  type FileChange,
  isHuman,
  isRequest,
  type Message,
  type ProgressMessage,
  type SaidInResult,
  type SignedBlock,
  type SignedSummary,
  type SystemMessage,
  type Usage,
  type UsageIteration,
  type UserMessage,
  type Uuid,
} from "./messages/messages.ts"
export type { Repair, RepairRule } from "./messages/repair.ts"
export type { ModelRequest, RequestExtras, SystemPrompt, ToolDefinition } from "./messages/request.ts"
export { type ResultState, resultState, resultText } from "./messages/result-state.ts"
export type { InputSchema, JsonSchema, StandardIssue, StandardResult, StandardSchema } from "./messages/tool-input.ts"
export type { AiSdkModel, AiSdkModelOptions } from "./model/ai-sdk/ai-sdk.ts"
export type { AnthropicClient, AnthropicModel, AnthropicModelOptions } from "./model/anthropic/anthropic.ts"
export { hasCredentials } from "./model/anthropic/credentials.ts"
export type { ChangedPlace } from "./model/cache/compare-requests.ts"
export type { CachePrediction, CacheReport as CacheEvent } from "./model/cache/forecast.ts"
export type { Lifetime as CacheEntryLifetime } from "./model/cache/known-entries.ts"
export type { PromptSetting } from "./model/cache/prompt-settings.ts"
export type { CacheCause, CacheVerdict, ExpectedDrop, ProviderReason } from "./model/cache/verdict.ts"
export type { ModelChoice } from "./model/choose-model.ts"
export { AuthenticationError, type FailureDetails as ModelFailureDetails, ModelError } from "./model/errors.ts"
export { aiSdkModel, anthropicModel } from "./model/lazy-models.ts"
export type {
  AttemptWatch,
  Model,
  ModelEvent,
  ModelResponse,
  RateLimit,
  StreamOptions,
  WarmOptions,
  WarmResponse,
} from "./model/model.ts"
export type { StreamLimits } from "./model/stream-limits.ts"
export type { Embed } from "./recall/vectors/embedded-passages.ts"
export type { ClaudeOffer } from "./settings/claude-consent.ts"
export type { ClaudeDecision } from "./settings/claude-home.ts"
export type { FlagClient, FlagContext, FlagDetails } from "./settings/flag-client.ts"
export { type PersonRule, type PersonRules, personRules } from "./settings/person-rules.ts"
export type { ProjectPart } from "./settings/project-parts.ts"
export type { ProjectSettings } from "./settings/read-with-trust.ts"
export type { EffectiveSettings, SettingsInput, SettingsReading } from "./settings/settings.ts"
export type { Settings } from "./settings/settings-schema.ts"
export type { ProjectClaim, Trust } from "./settings/trust.ts"
export type { AgentDefinition, MemoryScope } from "./team/definitions/definition.ts"
export type { AgentTexts, KeptAgents } from "./team/kept-agents.ts"
export type { TeamPlace } from "./team/mailbox-carrier.ts"
export type { TeamAgent, TeamAgentOptions as AgentOptions } from "./team/open-team.ts"
export type { AgentView } from "./team/order.ts"
export type { SocketAnswer as Delivery } from "./team/socket.ts"
export type { Team } from "./team/team.ts"
export type {
  Accounting,
  DeferredAccount,
  DuplicateRead,
  Share as ContextShare,
  Shares as ContextShares,
} from "./tokens/accounting.ts"
export type { ContextSize } from "./tokens/context-size.ts"
export type { LearntLimit } from "./tokens/learnt-limit.ts"
export type { ModelAccepts, ModelFacts, Price as ModelPrice, TokenizerFamily } from "./tokens/model-facts.ts"
export { findModel, type ModelLookup, type ModelOverride } from "./tokens/models.ts"
export type { Cost } from "./tokens/price.ts"
export type { RepeatedReads } from "./tokens/repeated-reads.ts"
export type { Fill, Thresholds } from "./tokens/window.ts"
export type { CodingToolsOptions } from "./tools/coding-tools.ts"
export { defineTool, type InferInput } from "./tools/define-tool.ts"
export type { HttpServerConfig, McpServerConfig, StdioServerConfig } from "./tools/mcp/mcp-config.ts"
export { type RecallTool, type RecallToolOptions, recallTool } from "./tools/session/recall.ts"
export type {
  RecalledPlace,
  RecalledText,
  RecallFound,
  RecallInput,
  RecallKind,
} from "./tools/session/recall-source.ts"
export type { RecallWording } from "./tools/session/recall-text.ts"
export type { Rerank } from "./tools/session/rerank.ts"
export type { ShellOptions } from "./tools/shell/shell-session.ts"
export type {
  FileRead,
  LaterTools,
  OpenToolset,
  PermissionQuestion,
  PersonQuestion,
  PlanState,
  ReadState,
  Sample as ModelSample,
  SampledAnswer,
  SampleModel,
  StepJudgement,
  Tool,
  ToolContext,
  ToolOutput,
  Toolset,
  ToolsetContext,
  WebQuery,
  WorkingDirectory,
} from "./tools/tool.ts"
export { codingTools, mcpServers } from "./tools/toolsets.ts"
export type { PageQuestion, WebFetchOptions } from "./tools/web/web-fetch.ts"
export type { PaidAnew } from "./views/cache/cache-break.ts"
export type { BreakCause, CacheChange } from "./views/cache/cache-causes.ts"
export type { BreakTotal as CacheBreakTotal, CacheBreak } from "./views/cache/cache-history.ts"
export { estimatedSentences } from "./views/ledger/estimated-sentences.ts"
export type { Estimated as EstimatedCost } from "./views/ledger/ledger.ts"
export { PURPOSE_WORDS, type Purpose as RequestPurpose } from "./views/ledger/purpose.ts"
export type { SavingLayer } from "./views/ledger/saving-settlement.ts"
export type { LayerSaving } from "./views/ledger/savings-report.ts"
export type { UndoableKind } from "./views/record/undoable.ts"
export type {
  CacheBreakReport,
  CachedResponseReport,
  CacheLossReport,
  CacheReport,
} from "./views/reports/cache-report.ts"
export type {
  AgentCost,
  CostReport,
  LayerSavingReport,
  LedgerReport,
  SavingsReport,
  TokenReport,
} from "./views/reports/ledger-report.ts"
export type {
  ArtifactsReport,
  CommandReport,
  FileReport,
  FrontierReport,
  PersonMessageReport,
  WordsReport,
} from "./views/reports/record-reports.ts"
