/** `@strata/core`: what a program needs to run a conversation or an agent. What is not exported here may change. */
import "./base/node-version.ts"

export type { Agent, Answer } from "./agent/agent.ts"
export type { Hook, HookInput, HookResult } from "./agent/hooks/hooks.ts"
export { NoAnswerError } from "./agent/loop/no-answer.ts"
export type { QueryEnd, QueryEvent } from "./agent/loop/query-events.ts"
export type { AskOptions } from "./agent/options.ts"
export type { PermissionAnswer, PermissionRequest } from "./agent/permissions/authorize-call.ts"
export type { CodingToolsOptions } from "./agent/tools/coding-tools.ts"
export type { McpServerConfig } from "./agent/tools/mcp/mcp-config.ts"
export { codingTools, mcpServers } from "./agent/tools/toolsets.ts"
export type { Clock } from "./base/clock.ts"
export { type Ids, isSafeId } from "./base/clock.ts"
export { type CacheLifetime, PERMISSION_MODES, type PermissionMode } from "./base/enums.ts"
export {
  ClosedError,
  CompactionFailedError,
  ContextFullError,
  ConversationLockedError,
  ConversationNotFoundError,
  InvalidIdError,
  LockLostError,
  MemoryChangedError,
  StrataError,
} from "./base/errors.ts"
export { InvalidOptionError } from "./base/options.ts"
export { localUser, type MemoryOption, type Owner } from "./base/owner.ts"
export type { TokenCounts } from "./base/text.ts"
export type { ClearingReport, ClearingRequest } from "./conversation/clear-results.ts"
export type { CompactionRequest } from "./conversation/compact.ts"
export type { Conversation } from "./conversation/conversation.ts"
export type { EditorState } from "./conversation/editor.ts"
export type { ConversationEvents, PreparedEvent } from "./conversation/events.ts"
export type { SyncMessagesOptions, SyncMessagesReport } from "./conversation/follow/follow.ts"
export type { IncomingContent, IncomingMessage, IncomingResponse } from "./conversation/incoming.ts"
export type { ListConversationsOptions, StoredConversation, StoreLocation } from "./conversation/list.ts"
export type { FoundInProject, FoundPassage, MemoryBankOptions, ProjectBank } from "./conversation/open-memory-bank.ts"
export type { RecallReader, RecallResult } from "./conversation/open-recall.ts"
export type { ConversationOptions } from "./conversation/options.ts"
export type { RestorePlan } from "./conversation/plan-restore.ts"
export type { Prompt } from "./conversation/prompt.ts"
export type { FoldRequest, SnipRequest } from "./conversation/ranges.ts"
export type { PrepareOptions } from "./conversation/request-preparer.ts"
export type { RestoreReport } from "./conversation/restore-files.ts"
export type { UndoReport, UndoRequest } from "./conversation/undo.ts"
export { type DecisionEntry, type Entry, isMessage } from "./journal/entries.ts"
export { fileStore } from "./journal/file/file-store.ts"
export { strataDirectory } from "./journal/file/layout.ts"
export { memoryStore } from "./journal/in-memory/store.ts"
export type { Store } from "./journal/store.ts"
export type {
  CompactedMessages,
  CompactionCarryover,
  CompactMessagesOptions,
} from "./layers/4-compaction/messages/compact-messages.ts"
export type { CompactableMessage, PlainMessage } from "./layers/4-compaction/messages/input-messages.ts"
export type { RecordMessagesOptions } from "./layers/4-compaction/messages/record-messages.ts"
export type { CompactionPlan, CompactionProgress, Layer, ResolvedCompactionRequest } from "./layers/layer.ts"
export type { MemoryBank } from "./memory/bank.ts"
export type { Memory } from "./memory/memory.ts"
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
export { handleOf } from "./messages/media.ts"
export {
  type AssistantMessage,
  type AttachmentMessage,
  contentOf,
  isFromUser,
  isRequest,
  type Message,
  resultState,
  resultText,
  type SystemMessage,
  type Usage,
  type UserMessage,
  type Uuid,
} from "./messages/messages.ts"
export type { ModelRequest, SystemPrompt, ToolDefinition } from "./messages/request.ts"
export type { AiSdkModel } from "./model/ai-sdk/ai-sdk.ts"
export type { AnthropicClient } from "./model/anthropic/anthropic.ts"
export { hasCredentials } from "./model/anthropic/credentials.ts"
export { AuthenticationError, ModelError } from "./model/errors.ts"
export { aiSdkModel, anthropicModel } from "./model/lazy-models.ts"
export type { Model, ModelResponse } from "./model/model.ts"
export {
  compactMessages,
  listConversations,
  openAgent,
  openConversation,
  openMemoryBank,
  openRecall,
  readEntries,
  readSettings,
  recordMessages,
} from "./public-functions.ts"
export type { ProjectSettings } from "./settings/read-with-trust.ts"
export type { EffectiveSettings, SettingsInput } from "./settings/settings.ts"
export type { Settings } from "./settings/settings-schema.ts"
export type { AgentOptions, TeamAgent } from "./team/open-team.ts"
export type { Cost } from "./tokens/models.ts"
export { findModel } from "./tokens/models.ts"
export type { Thresholds, WindowUsage } from "./tokens/window.ts"
export { defineTool } from "./tools/define-tool.ts"
export { type RecallTool, type RecallToolOptions, recallTool } from "./tools/session/recall.ts"
export type { Tool, ToolContext, ToolOutput } from "./tools/tool.ts"
export type { LedgerReport } from "./views/reports/ledger-report.ts"
