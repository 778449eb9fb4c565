/** `@strata/core/tools`: the tools, and what is needed to write your own. */
export { type CodingToolsOptions, fileTools, openShellTools, sessionTools, webTools } from "./tools/coding-tools.ts"
export { defineTool, type InferInput } from "./tools/define-tool.ts"
export { FileReads, forgetCalls } from "./tools/files/read-state.ts"
export { connectMcpServers, type McpServers } from "./tools/mcp/mcp.ts"
export { loadSkills, type Skill, skillListing } from "./tools/session/skills.ts"
export { todoWrite } from "./tools/session/todo-write.ts"
export type {
  FileRead,
  OpenToolset,
  PermissionQuestion,
  PersonQuestion,
  PlanState,
  ReadState,
  Tool,
  ToolContext,
  ToolOutput,
  Toolset,
  ToolsetContext,
  WorkingDirectory,
} from "./tools/tool.ts"
export { codingTools, mcpServers, openTools } from "./tools/toolsets.ts"
