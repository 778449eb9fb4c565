/** `@strata/core/agent`. What the program shows and uses of an agent beside the root: tools, permissions, the sandbox, the schema of settings. */
import "../base/node-version.ts"

export { judge } from "../agent/permissions/permissions.ts"
export type { PersonCommand, PersonCommandEnd } from "../agent/permissions/person-command.ts"
export { settingsSchema } from "../settings/settings-schema.ts"
export { fileTools, openShellTools } from "../tools/coding-tools.ts"
export { toolDefinition } from "../tools/definition/definition.ts"
export { VisibleFiles } from "../tools/files/git-ignore.ts"
export { todoWrite } from "../tools/session/todo-write.ts"
export type { UnusualKind } from "../tools/shell/command/facts.ts"
export { type Sandbox, sandboxSentence, systemSandbox } from "../tools/shell/sandbox/sandbox.ts"
export { withoutSecrets } from "../tools/shell/shell-environment.ts"
export type { ServerPrompt, ToolOutput, ToolServer } from "../tools/tool.ts"
