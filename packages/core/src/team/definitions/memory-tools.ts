/**
 * File tools for an agent's memory. An agent that may not change files can still write its own memories: tools that its definition does not
 * name work only in the memory directory.
 */
import { memoryFileName } from "../../memory/file-names.ts"
import { executeTool, questionOf } from "../../tools/defaults.ts"
import type { Tool, ToolContext, ToolOutput } from "../../tools/tool.ts"
import type { AgentDefinition } from "./definition.ts"

const MEMORY_TOOLS = ["Read", "Write", "Edit"]

export interface MemoryToolChoice {
  /** All tools of its parent. */
  readonly all: readonly Tool[]
  /** Tools that its definition allows. */
  readonly chosen: readonly Tool[]
  readonly definition: Pick<AgentDefinition, "disallowedTools">
  /** The memory directory, with symbolic links resolved. */
  readonly directory: string
}

/** The chosen tools in their order, followed by the added memory tools. A tool that the definition forbids is not added. */
export function withMemoryTools({ all, chosen, definition, directory }: MemoryToolChoice): readonly Tool[] {
  const isMissing = (name: string) =>
    !chosen.some((tool) => tool.name === name) && !(definition.disallowedTools ?? []).includes(name)
  const added = all.filter(({ name }) => MEMORY_TOOLS.includes(name) && isMissing(name))
  return [...chosen, ...added.map((tool) => limitToMemory(tool, directory))]
}

function limitToMemory(tool: Tool, directory: string): Tool {
  const isInside = async (input: unknown, context: ToolContext) => {
    const { paths = [] } = await questionOf(tool, input, context)
    return paths.length > 0 && paths.every((path) => memoryFileName(path, directory) !== undefined)
  }
  return {
    ...tool,
    // a write that will be refused anyway needs no approval
    ...(tool.name === "Read" ? {} : { needsApproval: isInside }),
    async execute(input, context): Promise<ToolOutput> {
      if (await isInside(input, context)) return executeTool(tool, input, context)
      const content = `Nothing was done: you can use ${tool.name} only in your memory, ${directory}.`
      return { content, isError: true }
    },
  }
}
