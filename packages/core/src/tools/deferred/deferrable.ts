/** Which tools can be deferred, and the names of the two tools that load and call them. */
import type { Tool } from "../tool.ts"

export const SEARCH_TOOL = "ToolSearch"
export const CALL_TOOL = "CallTool"

/** Built-in tools. They are always declared. */
export const BUILT_IN: ReadonlySet<string> = new Set([
  ...[
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "NotebookEdit",
    "Bash",
    "BashOutput",
    "KillShell",
    "WebFetch",
    "WebSearch",
  ],
  ...[
    "TodoWrite",
    "Skill",
    "EnterPlanMode",
    "ExitPlanMode",
    "AskUser",
    "Agent",
    "AgentChanges",
    "SendMessage",
    "Recall",
  ],
  ...[SEARCH_TOOL, CALL_TOOL],
])

export const isDeferrable = ({ name, alwaysLoad }: Pick<Tool, "name" | "alwaysLoad">): boolean =>
  !BUILT_IN.has(name) && alwaysLoad !== true
