/**
 * The toolsets that come with the library, and how an agent opens them. This file is light: each toolset loads its tools when it is
 * opened.
 */
import type { CodingToolsOptions } from "./coding-tools.ts"
import { checkTool, isToolset } from "./define-tool.ts"
import type { McpServerConfig } from "./mcp/mcp-connection.ts"
import type { OpenToolset, Tool, Toolset, ToolsetContext } from "./tool.ts"

/**
 * Tools to work on a project: read, write, edit and search files, run commands, fetch web pages, keep todos, plan, ask, use skills.
 *
 * @example
 * const agent = await openAgent({ model: "claude-opus-5-5", tools: [...codingTools(), weather] })
 */
export function codingTools(options: CodingToolsOptions = {}): Toolset {
  return toolset(async (context) => {
    const { openCodingTools } = await import("./coding-tools.ts")
    return openCodingTools(options, context)
  })
}

/**
 * The tools of MCP servers, by name of the server. A server that does not start is reported and harms no other.
 *
 * @example
 * const tools = [codingTools(), mcpServers({ files: { command: "mcp-files", args: ["."] }, web: { url: "https://example.com/mcp" } })]
 */
export function mcpServers(configs: Readonly<Record<string, McpServerConfig>>): Toolset {
  return toolset(async () => {
    const { openMcpTools } = await import("./mcp/mcp.ts")
    return openMcpTools(configs)
  })
}

function toolset(open: Toolset["open"]): Toolset {
  const set: Toolset = {
    open,
    *[Symbol.iterator]() {
      yield set
    },
  }
  return set
}

/** Opens everything at once and keeps the order. What was opened is closed again if anything fails. */
export async function openTools(
  tools: Toolset | readonly (Tool | Toolset)[],
  context: ToolsetContext,
): Promise<Required<OpenToolset>> {
  const items = [...tools]
  for (const item of items) if (!isToolset(item)) checkTool(item)
  const settled = await Promise.allSettled(items.map((item) => openItem(item, context)))
  const opened = settled.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []))
  const close = async () => {
    await Promise.all(opened.map((one) => one.close()))
  }
  try {
    for (const outcome of settled) if (outcome.status === "rejected") throw outcome.reason
    const all = opened.flatMap((one) => one.tools)
    refuseDuplicates(all)
    return {
      tools: all,
      introductions: opened.flatMap((one) => one.introductions ?? []),
      problems: opened.flatMap((one) => one.problems ?? []),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function openItem(item: Tool | Toolset, context: ToolsetContext): Promise<OpenToolset> {
  return isToolset(item) ? item.open(context) : { tools: [item], close: async () => undefined }
}

function refuseDuplicates(tools: readonly Tool[]): void {
  const names = new Set<string>()
  for (const { name } of tools) {
    if (names.has(name)) throw new Error(`Two tools are named ${name}: every tool of an agent needs a name of its own.`)
    names.add(name)
  }
}
