/** `@strata/core/agent`. What the program shows and uses of an agent beside the root: tools, permissions, the sandbox, the schema of settings. */
import "../base/node-version.ts"

export type { Remembered } from "../agent/agent-memory.ts"
export type { HookFunction } from "../agent/hooks/hooks.ts"
export type { InitOptions } from "../agent/instructions/init-prompt.ts"
export { initPrompt } from "../agent/instructions/init-prompt.ts"
export type { InboundMessages } from "../agent/loop/companions.ts"
export type { PlanAnswer } from "../agent/options.ts"
export { judge } from "../agent/permissions/permissions.ts"
export type { UserCommand, UserCommandEnd } from "../agent/permissions/person-command.ts"
export type { PermissionRules } from "../agent/permissions/rules.ts"
export { ruleProblems } from "../agent/permissions/rules.ts"
export { fileTools, openShellTools } from "../agent/tools/coding-tools.ts"
export type { HttpServerConfig, StdioServerConfig } from "../agent/tools/mcp/mcp-config.ts"
export { type Sandbox, sandboxSentence, systemSandbox } from "../agent/tools/shell/sandbox/sandbox.ts"
export { withoutSecrets } from "../agent/tools/shell/shell-environment.ts"
export type { ShellOptions } from "../agent/tools/shell/shell-session.ts"
export type { PageQuestion, WebFetchOptions } from "../agent/tools/web/web-fetch.ts"
export { openAgentDirectory } from "../front-door.ts"
export { settingsSchema } from "../settings/settings-schema.ts"
export type { AgentDefinition, MemoryScope } from "../team/definitions/definition.ts"
export type { AgentDirectory, AgentTexts } from "../team/kept-agents.ts"
export { TEAM_WAIT_MINUTES, type TeamPlace } from "../team/mailbox-carrier.ts"
export type { AgentView } from "../team/order.ts"
export type { SocketReply } from "../team/socket.ts"
export { spendingOf } from "../team/spending.ts"
export type { Team } from "../team/team.ts"
export type { UnusualKind } from "../tools/command.ts"
export type { InferInput } from "../tools/define-tool.ts"
export { toolDefinition } from "../tools/definition/definition.ts"
export { VisibleFiles } from "../tools/files/git-ignore.ts"
export type {
  RecalledPlace,
  RecalledText,
  RecallFound,
  RecallInput,
  RecallKind,
} from "../tools/session/recall-source.ts"
export { RECALL_TOOL } from "../tools/session/recall-source.ts"
export type { RecallWording } from "../tools/session/recall-text.ts"
export type { Rerank } from "../tools/session/rerank.ts"
export { todoWrite } from "../tools/session/todo-write.ts"
export type {
  DeferredToolAccess,
  FileRead,
  ModelSample,
  OpenToolset,
  PermissionQuestion,
  PlanState,
  ReadState,
  SampledAnswer,
  SampleModel,
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
