/**
 * `@strata/core/agent`. What the program needs of an agent in addition to the root: tools, permissions, the sandbox, the settings schema.
 */
import "../base/node-version.ts"

export type { RememberResult } from "../agent/agent-memory.ts"
export type { HookFunction } from "../agent/hooks/hooks.ts"
export type { InitOptions } from "../agent/instructions/init-prompt.ts"
export { initPrompt } from "../agent/instructions/init-prompt.ts"
export type { InboundMessages } from "../agent/loop/agent-links.ts"
export type { PlanAnswer } from "../agent/options.ts"
export { judge } from "../agent/permissions/permissions.ts"
export type { PermissionRules } from "../agent/permissions/rules.ts"
export { ruleProblems } from "../agent/permissions/rules.ts"
export type { UserCommand, UserCommandEnd } from "../agent/permissions/user-command.ts"
export { fileTools, openShellTools } from "../agent/tools/coding-tools.ts"
export type { HttpServerConfig, StdioServerConfig } from "../agent/tools/mcp/mcp-config.ts"
export { type Sandbox, sandboxSentence, systemSandbox } from "../agent/tools/shell/sandbox/sandbox.ts"
export { withoutSecrets } from "../agent/tools/shell/shell-environment.ts"
export type { ShellOptions } from "../agent/tools/shell/shell-session.ts"
export type { PageQuestion, WebFetchOptions } from "../agent/tools/web/web-fetch.ts"
export { openAgentDirectory } from "../public-functions.ts"
export { settingsSchema } from "../settings/settings-schema.ts"
export type { AgentDirectory, AgentTexts } from "../team/agent-directory.ts"
export type { AgentView } from "../team/agent-task.ts"
export type { AgentDefinition, MemoryScope } from "../team/definitions/definition.ts"
export { TEAM_WAIT_MINUTES, type TeamJoinOptions } from "../team/mailbox-transport.ts"
export type { SocketReply } from "../team/socket.ts"
export { spendingOf } from "../team/spending.ts"
export type { Team } from "../team/team.ts"
export type { UnusualKind } from "../tools/command.ts"
export type { InferInput } from "../tools/define-tool.ts"
export { toolDefinition } from "../tools/definition/definition.ts"
export { VisibleFiles } from "../tools/files/git-ignore.ts"
export type {
  RecalledItem,
  RecalledText,
  RecallInput,
  RecallKind,
  RecallMatch,
} from "../tools/session/recall-source.ts"
export type { RecallWording } from "../tools/session/recall-text.ts"
export type { Rerank } from "../tools/session/rerank.ts"
export { todoWrite } from "../tools/session/todo-write.ts"
export type {
  DeferredToolAccess,
  FileRead,
  OpenToolset,
  PermissionQuestion,
  PlanState,
  ReadState,
  SampledResponse,
  SampleModel,
  SamplingRequest,
  ServerPrompt,
  StepJudgement,
  ToolOutput,
  ToolServer,
  Toolset,
  ToolsetContext,
  UserQuestion,
  WebQuery,
  WorkingDirectory,
} from "../tools/tool.ts"
