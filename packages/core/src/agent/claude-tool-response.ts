/** The `tool_response` that scripts written for Claude Code expect after a call: an object whose fields depend on the tool. */
import { resolve } from "node:path"
import { textOf } from "../messages/blocks.ts"
import { NO_OUTPUT } from "../tools/shell/bash.ts"
import type { ToolOutput } from "../tools/tool.ts"

export interface Responded {
  readonly tool: string
  readonly input: unknown
  readonly output: ToolOutput
  /** Relative paths start here. */
  readonly directory: string
}

type Fields = Readonly<Record<string, unknown>>

const RESPONSES: Readonly<Record<string, (input: Fields, output: ToolOutput) => Fields>> = {
  // the shell has one stream for both, and it is in the order in which it was printed
  Bash: (_, output) => ({ stdout: textIn(output), stderr: "", interrupted: false, isImage: false }),
  Read: ({ file_path: filePath }, output) => ({ type: "text", file: { filePath, content: textIn(output) } }),
  Write: ({ file_path: filePath, content }, output) => ({ filePath, content, success: output.isError !== true }),
  Edit: ({ file_path: filePath, old_string, new_string, replace_all }, output) => ({
    filePath,
    oldString: old_string,
    newString: new_string,
    replaceAll: replace_all === true,
    success: output.isError !== true,
  }),
}

/** For other tools the content, as text or as blocks. */
export function claudeToolResponse({ tool, input, output, directory }: Responded): Fields {
  const given = (typeof input === "object" && input !== null ? input : {}) as Fields
  const { file_path: path } = given
  const fields = typeof path === "string" ? { ...given, file_path: resolve(directory, path) } : given
  const failed = output.isError ? { is_error: true } : {}
  return { ...(RESPONSES[tool]?.(fields, output) ?? { content: output.content }), ...failed }
}

function textIn({ content }: ToolOutput): string {
  const text = typeof content === "string" ? content : textOf(content)
  return text === NO_OUTPUT ? "" : text
}
