/** `@strata/core/tools`: the tools, and what is needed to write your own. */
export { fileTools } from "./tools/coding-tools.ts"
export { connectMcpServers, type McpServers } from "./tools/mcp.ts"
export { FileReads, forgetCalls } from "./tools/read-state.ts"
export { loadSkills, type Skill, skillListing } from "./tools/skills.ts"
export { todoWrite } from "./tools/todo-write.ts"
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
