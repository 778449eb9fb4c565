/**
 * Determines from the names of a client's tools whether its model can read files. A result is offloaded only if the model can read the file
 * on the proxy's machine, so only names of known clients count. Tools of MCP servers do not count: they may be confined to some folders or
 * run elsewhere.
 */
import type { ApiBody } from "./plan.ts"

/** Tools that show a file or a part of it, and limit their own results. */
export const FILE_READERS: readonly string[] = [
  "Read", // Claude Code
  "read", // opencode, pi
  ...["read_file", "ReadFile", "readFile", "read_files", "read_many_files"], // Gemini CLI, Cline, Roo Code and others
  ...["view", "view_file", "View", "open_file"],
  ...["str_replace_based_edit_tool", "str_replace_editor"], // the API's own editor, OpenHands
]

/** Tools that run commands, which can show any file. */
const SHELLS: readonly string[] = [
  ...["Bash", "bash", "shell", "Shell", "local_shell", "shell_command"],
  ...["exec", "exec_command", "execute_command", "execute_bash", "run_command", "run_shell_command", "PowerShell"],
  ...["run_terminal_cmd", "run_in_terminal", "terminal"],
]

const TOOLS_THAT_READ: ReadonlySet<string> = new Set([...FILE_READERS, ...SHELLS])

/** Whether the model that receives this request can read the file of an offloaded result. */
export function canReadFiles({ tools }: ApiBody): boolean {
  return (
    Array.isArray(tools) &&
    tools.some((tool: { name: string } | null) => tool !== null && TOOLS_THAT_READ.has(tool.name))
  )
}
