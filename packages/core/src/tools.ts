/** `@strata/core/tools`: the tools, and what is needed to write your own. */
export { fileTools } from "./tools/files/coding-tools.ts"
export { FileReads, forgetCalls } from "./tools/files/read-state.ts"
export { connectMcpServers, type McpServers } from "./tools/mcp/mcp.ts"
export { loadSkills, type Skill, skillListing } from "./tools/session/skills.ts"
export { todoWrite } from "./tools/session/todo-write.ts"
export type {
  FileRead,
  PermissionQuestion,
  PersonQuestion,
  PlanState,
  ReadState,
  Tool,
  ToolContext,
  ToolOutput,
  WorkingDirectory,
} from "./tools/tool.ts"
export { openShellTools, sessionTools, webTools } from "./tools/tool-lists.ts"
