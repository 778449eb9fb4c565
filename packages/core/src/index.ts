/** `@strata/core`: what a program needs to run a conversation or an agent. What is not exported here may change. */

export type { PermissionAnswer, PermissionRequest } from "./agent/admit-call.ts"
export type { Agent, Answer } from "./agent/agent.ts"
export type { Hook, HookAnswer, HookInput } from "./agent/hooks.ts"
export { NoAnswerError } from "./agent/no-answer.ts"
export type { AskOptions } from "./agent/options.ts"
export type { QueryEnd, QueryEvent } from "./agent/query-events.ts"
export {
  CompactionFailedError,
  ContextFullError,
  ConversationLockedError,
  ConversationNotFoundError,
  StrataError,
} from "./base/errors.ts"
export { InvalidOptionError } from "./base/options.ts"
export { localPerson } from "./base/owner.ts"
export type { SettingsInput } from "./base/settings.ts"
export type { Conversation } from "./conversation/conversation.ts"
export type { ConversationEvents } from "./conversation/events.ts"
export type { IncomingMessage } from "./conversation/incoming.ts"
export type { ConversationOptions } from "./conversation/options.ts"
export { importConversations, listConversations, memoryStore, openAgent, openConversation } from "./front-door.ts"
export type { Store } from "./journal/store.ts"
export type { ToolResult } from "./messages/blocks.ts"
export type { ModelRequest } from "./messages/request.ts"
export { AuthenticationError, ModelError } from "./model/errors.ts"
export { aiSdkModel, anthropicModel } from "./model/lazy-models.ts"
export type { Model, ModelResponse } from "./model/model.ts"
export type { TeamAgentOptions as AgentOptions } from "./team/open-team.ts"
export { defineTool } from "./tools/define-tool.ts"
export { recallTool } from "./tools/session/recall.ts"
export type { Tool, ToolContext, ToolOutput, Toolset } from "./tools/tool.ts"
export { codingTools, mcpServers } from "./tools/toolsets.ts"
