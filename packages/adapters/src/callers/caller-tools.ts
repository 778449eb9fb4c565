/**
 * What a caller's tools can do, by their names. A result is put aside only where the model can read the file, on the machine of the
 * proxy. So the names are those that clients are known to use. A tool of an MCP server may be confined to some folders, or run elsewhere:
 * it does not count.
 */
import type { Body } from "./plan.ts"

/** Show a file, or a part of it. They cut what they show themselves. */
export const FILE_READERS: readonly string[] = [
  "Read", // Claude Code
  "read", // opencode, pi
  ...["read_file", "ReadFile", "readFile", "read_files", "read_many_files"], // Gemini CLI, Cline, Roo Code and others
  ...["view", "view_file", "View", "open_file"],
  ...["str_replace_based_edit_tool", "str_replace_editor"], // of the API, OpenHands
]

/** Run a command, so they can show any file. */
const SHELLS: readonly string[] = [
  ...["Bash", "bash", "shell", "Shell", "local_shell", "shell_command"],
  ...["exec", "exec_command", "execute_command", "execute_bash", "run_command", "run_shell_command", "PowerShell"],
  ...["run_terminal_cmd", "run_in_terminal", "terminal"],
]

const READING: ReadonlySet<string> = new Set([...FILE_READERS, ...SHELLS])

/** Whether the model that gets this request can read a file that a result was put aside in. */
export function canReadFiles({ tools }: Body): boolean {
  return Array.isArray(tools) && tools.some((tool: { name: string } | null) => tool !== null && READING.has(tool.name))
}
