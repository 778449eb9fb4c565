/**
 * The file tools that an agent needs for its memory. An agent that may not change files can still write its own memories: tools that its
 * definition does not name work in the memory directory only.
 */
import { nameInside } from "../../memory/file-names.ts"
import { executed, questionOf } from "../../tools/defaults.ts"
import type { Tool, ToolContext, ToolOutput } from "../../tools/tool.ts"
import type { AgentDefinition } from "./definition.ts"

const MEMORY_TOOLS = ["Read", "Write", "Edit"]

export interface MemoryToolChoice {
  /** What its parent has. */
  readonly all: readonly Tool[]
  /** What its definition gives it. */
  readonly chosen: readonly Tool[]
  readonly definition: Pick<AgentDefinition, "disallowedTools">
  /** The memory directory, with its links followed. */
  readonly directory: string
}

/** The chosen tools in their order, then what is added. A tool that the definition forbids is not added. */
export function withMemoryTools({ all, chosen, definition, directory }: MemoryToolChoice): readonly Tool[] {
  const isMissing = (name: string) =>
    !chosen.some((tool) => tool.name === name) && !(definition.disallowedTools ?? []).includes(name)
  const added = all.filter(({ name }) => MEMORY_TOOLS.includes(name) && isMissing(name))
  return [...chosen, ...added.map((tool) => limited(tool, directory))]
}

function limited(tool: Tool, directory: string): Tool {
  const isInside = async (input: unknown, context: ToolContext) => {
    const { paths = [] } = await questionOf(tool, input, context)
    return paths.length > 0 && paths.every((path) => nameInside(path, directory) !== undefined)
  }
  return {
    ...tool,
    // no one is asked about a write that is refused anyway
    ...(tool.name === "Read" ? {} : { needsApproval: isInside }),
    async execute(input, context): Promise<ToolOutput> {
      if (await isInside(input, context)) return executed(tool, input, context)
      const content = `Nothing was done: you can use ${tool.name} only in your memory, ${directory}.`
      return { content, isError: true }
    },
  }
}
