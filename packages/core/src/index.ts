/**
 * `@strata/core`: opens conversations, and all types. It loads little; what else can be imported stands in `@strata/core/agent` (the loop and
 * its models), `@strata/core/tools` and `@strata/core/parts`. What is exported in none of them may change.
 */
export { type Clock, manualClock, systemClock } from "./base/clock.ts"
export * from "./base/errors.ts"
export { type Ids, isSafeId, projectName, randomIds, seededIds, uuidFrom } from "./base/ids.ts"
export {
  DEFAULT_SETTINGS,
  type EffectiveSettings,
  loadSettings,
  type Settings,
  type SettingsInput,
  type SettingsSources,
} from "./base/settings.ts"
export type { TokenCounts } from "./base/token-counts.ts"
export type { Attachment, AttachmentKind, Todo } from "./conversation/attachments.ts"
export type { Block, Content, ToolResult, ToolUse } from "./conversation/blocks.ts"
export type { FlatMessage, Flattened, Repair, RepairRule } from "./conversation/flatten.ts"
export type {
  AssistantMessage,
  AttachmentMessage,
  Boundary,
  Message,
  ProgressMessage,
  SystemMessage,
  Usage,
  UserMessage,
  Uuid,
} from "./conversation/messages.ts"
export type { ModelRequest } from "./conversation/request.ts"
export type { Violation } from "./conversation/validate/rule.ts"
export type {
  Decision,
  DecisionDraft,
  DecisionEntry,
  Draft,
  Entry,
  MessageDraft,
  SessionFacts,
} from "./journal/entries.ts"
export { type FileStoreOptions, fileStore } from "./journal/file/file-store.ts"
export { defaultRoot, projectDirectory } from "./journal/file/layout.ts"
export type { ImportedConversation, ImportReport } from "./journal/import/importer.ts"
export type {
  ConversationListing,
  FlushMode,
  Journal,
  JournalAddress,
  OpeningReport,
  Segment,
  Store,
} from "./journal/store.ts"
export type { Layer, Turn } from "./layers/layer.ts"
export type { Conversation } from "./loop/conversation.ts"
export type { ConversationEvents, Opened, PreparedEvent } from "./loop/events.ts"
export type { ImportOptions, ImportOutcome } from "./loop/import.ts"
export { importConversations, openConversation } from "./loop/lazy.ts"
export type { OpenConversation } from "./loop/open.ts"
export type { Prompt } from "./loop/prompt.ts"
export type { AiSdkLanguageModel } from "./model/ai-sdk/interface.ts"
export type { ChangedPlace } from "./model/cache/compare-requests.ts"
export type { CachePrediction, CacheReport } from "./model/cache/forecast.ts"
export type { CacheCause, CacheVerdict, ExpectedDrop } from "./model/cache/verdict.ts"
export type { Model, ModelEvent, ModelResponse, StreamOptions } from "./model/model.ts"
export type { Accounting, DuplicateRead } from "./tokens/accounting.ts"
export type { ContextSize } from "./tokens/context-size.ts"
export type { Estimator } from "./tokens/estimate.ts"
export type { ModelAccepts, ModelFacts, Price } from "./tokens/model-facts.ts"
export type { ModelLookup, ModelOverride } from "./tokens/models.ts"
export type { Cost } from "./tokens/price.ts"
export type { Fill, Thresholds } from "./tokens/window.ts"
export type { LedgerSummary, Purpose } from "./views/ledger.ts"
export { serialiseRequest } from "./views/request.ts"
export type { ViewStates, Views } from "./views/views.ts"
