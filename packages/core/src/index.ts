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
export type { Conversation } from "./conversation/conversation.ts"
export type { ConversationEvents, Opened, PreparedEvent } from "./conversation/events.ts"
export type { OpenConversation } from "./conversation/open.ts"
export type { Prompt } from "./conversation/prompt.ts"
export { importConversations, openConversation } from "./front-door.ts"
export type { ImportOptions, ImportOutcome } from "./import/import-conversations.ts"
export type { ImportedConversation, ImportReport } from "./import/importer.ts"
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
export type {
  ConversationListing,
  FlushMode,
  Journal,
  JournalAddress,
  OpeningReport,
  Segment,
  Store,
} from "./journal/store.ts"
export type { Compactor, Layer, LayerContext, LayerName, Outcome } from "./layers/layer.ts"
export type { Attachment, AttachmentKind, Todo } from "./messages/attachments.ts"
export type { Block, Content, ToolResult, ToolUse } from "./messages/blocks.ts"
export type { FlatMessage, Flattened, Repair, RepairRule } from "./messages/flatten.ts"
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
} from "./messages/messages.ts"
export type { ModelRequest } from "./messages/request.ts"
export type { Violation } from "./messages/validate/rule.ts"
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
export { serialiseRequest } from "./views/context/request.ts"
export type { LedgerSummary, Purpose } from "./views/ledger/ledger.ts"
export type { ViewStates, Views } from "./views/views.ts"
