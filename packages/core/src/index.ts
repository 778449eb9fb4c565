/** Everything a user of the library can import. What is not exported here may change. */
export { type Clock, manualClock, systemClock } from "./base/clock.ts"
export * from "./base/errors.ts"
export { FIGURES, type FigureName, SWITCHES, type SwitchName } from "./base/flag-names.ts"
export { createFlags, type Flags } from "./base/flags.ts"
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
export { type Attachment, type AttachmentKind, renderAttachment, type Todo } from "./conversation/attachments.ts"
export type { Block, Content, ToolResult, ToolUse } from "./conversation/blocks.ts"
export { parseExact, stringifyExact, withExactInput } from "./conversation/exact-json.ts"
export { type FlatMessage, type Flattened, flatten, type Repair, type RepairRule } from "./conversation/flatten.ts"
export {
  type AssistantMessage,
  type AttachmentMessage,
  type Boundary,
  isBoundary,
  isHuman,
  isSentToModel,
  isShownToPerson,
  type Message,
  type ProgressMessage,
  type SystemMessage,
  sinceLastBoundary,
  type Usage,
  type UserMessage,
  type Uuid,
} from "./conversation/messages.ts"
export type { ModelRequest } from "./conversation/request.ts"
export { type Round, rounds } from "./conversation/rounds.ts"
export { type CheckedInput, checkToolInput, invalidInputResult } from "./conversation/tool-input.ts"
export type { Violation } from "./conversation/validate/rule.ts"
export { RULE_NAMES, validateRequest } from "./conversation/validate/validator.ts"
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
export { memoryStore } from "./journal/memory-store.ts"
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
export type { Conversation, Prompt } from "./loop/conversation.ts"
export type { ConversationEvents, Opened, PreparedEvent } from "./loop/events.ts"
export type { ImportOptions, ImportOutcome } from "./loop/import.ts"
export { importConversations, openConversation } from "./loop/lazy.ts"
export type { OpenConversation } from "./loop/open.ts"
export type { AiSdkLanguageModel } from "./model/ai-sdk/interface.ts"
export type { Model, ModelEvent, ModelResponse, StreamOptions } from "./model/model.ts"
export { type Accounting, account, type DuplicateRead, percentages } from "./tokens/accounting.ts"
export { type ContextSize, contextSize, usageTotal } from "./tokens/context-size.ts"
export { createEstimator, type Estimator } from "./tokens/estimate.ts"
export { MODEL_FACTS, MODEL_FACTS_DATE, type ModelAccepts, type ModelFacts, type Price } from "./tokens/model-facts.ts"
export { canonicalModelId, findModel, type ModelLookup, type ModelOverride, sentModelName } from "./tokens/models.ts"
export { type Cost, costOf, tokenCounts } from "./tokens/price.ts"
export { type Fill, fillOf, resolveThresholds, resolveWindow, type Thresholds } from "./tokens/window.ts"
export { type LedgerSummary, summarise } from "./views/ledger.ts"
export { serialiseRequest } from "./views/request.ts"
export type { ViewStates, Views } from "./views/views.ts"
