/**
 * Memories that the agent writes itself, with its file tools. A secret is refused before anything is written. What was written goes into
 * the history of the memory right away, as the agent's.
 */

import { findSecrets } from "../base/secrets/find-secrets.ts"
import { nameInside } from "../layers/5-auto-memory/captured-files.ts"
import { executed, questionOf } from "../tools/defaults.ts"
import type { Tool, ToolOutput } from "../tools/tool.ts"

export interface MemoryWriting {
  /** The memory directory, with its links followed. */
  readonly directory: string
  /** Records what was written. The result says what was left out of it. */
  readonly record: (files: readonly string[]) => Promise<readonly string[]>
}

/** The same tools. Those that write files look after the memory directory. Nothing that a request carries changes. */
export function withMemoryWrites(tools: readonly Tool[], writing: MemoryWriting): readonly Tool[] {
  return tools.map((tool) => (tool.name === "Write" || tool.name === "Edit" ? watched(tool, writing) : tool))
}

function watched(tool: Tool, { directory, record }: MemoryWriting): Tool {
  return {
    ...tool,
    async execute(input, context): Promise<ToolOutput> {
      const { paths = [] } = await questionOf(tool, input, context)
      const files = paths.flatMap((path) => nameInside(path, directory) ?? [])
      if (files.length === 0) return executed(tool, input, context)
      const [secret] = textsIn(input).flatMap(findSecrets)
      if (secret) return refused(secret.kind)
      const output = await executed(tool, input, context)
      if (output.isError) return output
      const remarks = await record(files)
      return remarks.length === 0 ? output : { ...output, content: [output.content, ...remarks].join("\n") }
    },
  }
}

const refused = (kind: string): ToolOutput => ({
  content: `Nothing was written: the text contains a secret (${kind}), and memories must not. Leave it out, and write where it is kept.`,
  isError: true,
})

function textsIn(input: unknown): readonly string[] {
  if (typeof input === "string") return [input]
  return typeof input === "object" && input !== null ? Object.values(input).flatMap(textsIn) : []
}
