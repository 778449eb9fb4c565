/**
 * What the agent's tools do to the memory. A memory that a file tool writes is recorded with its source right away; a secret is refused
 * before anything is written, and so is the index, which is built from the memories. What a command changes is never taken for the person's.
 */

import { findSecrets } from "../base/secrets/find-secrets.ts"
import { INDEX_FILE, nameInside } from "../memory/file-names.ts"
import { executed, isReadOnly, questionOf } from "../tools/defaults.ts"
import type { Tool, ToolOutput } from "../tools/tool.ts"

export interface MemoryWriting {
  /** The memory directory, with its links followed. Absent where the agent writes no memories. */
  readonly directory?: string
  /** Lets a file tool write one memory. The remarks say what was left out of it. */
  readonly write: <T>(file: string, write: () => Promise<T>) => Promise<{ output: T; remarks: readonly string[] }>
  readonly duringCommand: DuringCommand
}

/** Lets a command run. `isOpenEnded`: it goes on after the call. */
export type DuringCommand = <T>(run: () => Promise<T>, isOpenEnded: boolean) => Promise<T>

/** The same tools. Nothing that a request carries changes. */
export function withMemoryWrites(tools: readonly Tool[], writing: MemoryWriting): readonly Tool[] {
  return tools.map((tool) => {
    if (tool.name === "Write" || tool.name === "Edit") return writingMemories(tool, writing)
    return tool.name === "Bash" ? runningCommands(tool, writing) : tool
  })
}

function writingMemories(tool: Tool, { directory, write }: MemoryWriting): Tool {
  if (directory === undefined) return tool
  return {
    ...tool,
    async execute(input, context): Promise<ToolOutput> {
      const { paths = [] } = await questionOf(tool, input, context)
      const [file] = paths.flatMap((path) => nameInside(path, directory) ?? [])
      if (file === undefined) return executed(tool, input, context)
      if (file === INDEX_FILE) return refused(INDEX)
      const [secret] = textsIn(input).flatMap(findSecrets)
      if (secret) return refused(withSecret(secret.kind))
      const { output, remarks } = await write(file, () => executed(tool, input, context))
      return remarks.length === 0 || output.isError
        ? output
        : { ...output, content: [output.content, ...remarks].join("\n") }
    },
  }
}

function runningCommands(tool: Tool, { duringCommand }: MemoryWriting): Tool {
  return {
    ...tool,
    async execute(input, context): Promise<unknown> {
      // where someone had to say yes, the words alone looked harmless: another program may have the name, or a setting of git starts one
      if (context.unasked && isReadOnly(tool, input)) return tool.execute(input, context)
      const { run_in_background = false } = (input ?? {}) as { readonly run_in_background?: boolean }
      return duringCommand(async () => tool.execute(input, context), run_in_background === true)
    },
  }
}

const refused = (content: string): ToolOutput => ({ content, isError: true })

const INDEX = `Nothing was written: ${INDEX_FILE} is built from the memories. Write a memory in a file of its own.`
const withSecret = (kind: string) =>
  `Nothing was written: the text contains a secret (${kind}), and memories must not. Leave it out, and write where it is kept.`

function textsIn(input: unknown): readonly string[] {
  if (typeof input === "string") return [input]
  return typeof input === "object" && input !== null ? Object.values(input).flatMap(textsIn) : []
}
