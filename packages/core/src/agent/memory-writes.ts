/**
 * Wraps tools that may change the memory. A memory written by a file tool is recorded with its source at once. Secrets are refused before
 * anything is written, and so are changes of the generated index. Changes by a command are never attributed to the user.
 */

import { findSecrets } from "../base/secrets/find-secrets.ts"
import { INDEX_FILE, memoryFileName } from "../memory/file-names.ts"
import { executeTool, isReadOnly, questionOf } from "../tools/defaults.ts"
import type { Tool, ToolOutput } from "../tools/tool.ts"

export interface MemoryWriteDependencies {
  /** The memory directory, with symbolic links resolved. Absent if the agent writes no memories. */
  readonly directory?: string
  /** Lets a file tool write one memory. The remarks state what was not accepted. */
  readonly write: <T>(file: string, write: () => Promise<T>) => Promise<{ output: T; remarks: readonly string[] }>
  readonly duringCommand: DuringCommand
}

/** Runs a command. `isOpenEnded`: it continues after the call. */
export type DuringCommand = <T>(run: () => Promise<T>, isOpenEnded: boolean) => Promise<T>

/** Wraps the tools. Their definitions in requests do not change. */
export function withMemoryWrites(tools: readonly Tool[], writing: MemoryWriteDependencies): readonly Tool[] {
  return tools.map((tool) => {
    if (tool.name === "Write" || tool.name === "Edit") return wrapWriteTool(tool, writing)
    return tool.name === "Bash" ? wrapCommandTool(tool, writing) : tool
  })
}

function wrapWriteTool(tool: Tool, { directory, write }: MemoryWriteDependencies): Tool {
  if (directory === undefined) return tool
  return {
    ...tool,
    async execute(input, context): Promise<ToolOutput> {
      const { paths = [] } = await questionOf(tool, input, context)
      const [file] = paths.flatMap((path) => memoryFileName(path, directory) ?? [])
      if (file === undefined) return executeTool(tool, input, context)
      if (file === INDEX_FILE) return refused(INDEX)
      const [secret] = collectTexts(input).flatMap(findSecrets)
      if (secret) return refused(withSecret(secret.kind))
      const { output, remarks } = await write(file, () => executeTool(tool, input, context))
      return remarks.length === 0 || output.isError
        ? output
        : { ...output, content: [output.content, ...remarks].join("\n") }
    },
  }
}

function wrapCommandTool(tool: Tool, { duringCommand }: MemoryWriteDependencies): Tool {
  return {
    ...tool,
    async execute(input, context): Promise<unknown> {
      // a command that needed approval only looked harmless: the name may be another program's, or a git setting may start one
      if (context.unapproved && isReadOnly(tool, input)) return tool.execute(input, context)
      const { run_in_background = false } = (input ?? {}) as { readonly run_in_background?: boolean }
      return duringCommand(async () => tool.execute(input, context), run_in_background === true)
    },
  }
}

const refused = (content: string): ToolOutput => ({ content, isError: true })

const INDEX = `Nothing was written: ${INDEX_FILE} is built from the memories. Write a memory in a file of its own.`
const withSecret = (kind: string) =>
  `Nothing was written: the text contains a secret (${kind}), and memories must not. Leave it out, and write where it is kept.`

function collectTexts(input: unknown): readonly string[] {
  if (typeof input === "string") return [input]
  return typeof input === "object" && input !== null ? Object.values(input).flatMap(collectTexts) : []
}
