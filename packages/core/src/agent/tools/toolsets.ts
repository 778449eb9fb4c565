/** The built-in toolsets, and how an agent opens them. This file must remain small: each toolset loads its tools when it is opened. */
import { anOption, checkOptions, describe, InvalidOptionError, type OptionRules } from "../../base/options.ts"
import { checkTool, isToolset, refuseDuplicates } from "../../tools/define-tool.ts"
import type { DeferredToolAccess, OpenToolset, Tool, ToolServer, Toolset, ToolsetContext } from "../../tools/tool.ts"
import type { CodingToolsOptions } from "./coding-tools.ts"
import type { McpServerConfig } from "./mcp/mcp-config.ts"
import { offersResources, resourceTools } from "./mcp/resource-tools.ts"

const CODING_RULES: OptionRules<CodingToolsOptions> = {
  shell: anOption.object,
  web: anOption.object,
  skillDirectories: anOption.list,
}

/**
 * Tools to work on a project: read, write, edit and search files, run commands, fetch web pages, keep todos, plan, ask, use skills.
 *
 * @example
 * const agent = await openAgent({ model: "claude-opus-5-5", tools: [...codingTools(), weather] })
 */
export function codingTools(options: CodingToolsOptions = {}): Toolset {
  checkOptions("codingTools", options, CODING_RULES)
  return toolset(async (context) => {
    const { openCodingTools } = await import("./coding-tools.ts")
    return openCodingTools(options, context)
  })
}

/**
 * Tools of MCP servers, by server name. A server that does not start is reported and does not affect the others.
 *
 * @example
 * const tools = [codingTools(), mcpServers({ files: { command: "mcp-files", args: ["."] }, web: { url: "https://example.com/mcp" } })]
 */
export function mcpServers(configs: Readonly<Record<string, McpServerConfig>>): Toolset {
  checkServers(configs)
  return toolset(async (context) => {
    if (Object.keys(configs).length === 0) return { tools: [], close: async () => undefined } // avoids loading the client library, which is slow
    const { openMcpTools } = await import("./mcp/mcp.ts")
    return openMcpTools(configs, context)
  })
}

function checkServers(configs: unknown): void {
  if (typeof configs !== "object" || configs === null || Array.isArray(configs))
    throw new InvalidOptionError(
      "configs",
      `mcpServers() takes one object with a server for each name, not ${describe(configs)}.`,
    )
  for (const [name, config] of Object.entries(configs)) {
    const { command, url } = (config ?? {}) as { command?: unknown; url?: unknown }
    if (typeof command !== "string" && typeof url !== "string")
      throw new InvalidOptionError(name, `The MCP server "${name}" needs a \`command\` to start, or a \`url\`.`)
  }
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

/** Opens all tools concurrently and preserves their order. If one fails, the opened ones are closed again. */
export async function openTools(
  tools: Toolset | readonly (Tool | Toolset)[],
  context: ToolsetContext,
): Promise<Required<OpenToolset>> {
  const items = [...tools]
  checkTools(items)
  const settled = await Promise.allSettled(items.map((item) => openItem(item, context)))
  const opened = settled.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []))
  try {
    for (const outcome of settled) if (outcome.status === "rejected") throw outcome.reason
    const set = together(opened, offersResources(serversOf(opened)))
    refuseDuplicates(set.tools.map(({ name }) => name))
    return set
  } catch (error) {
    await closeAll(opened).catch(() => undefined) // the cause of the failed opening matters more
    throw error
  }
}

/**
 * Merges toolsets. `hasResources`: whether a server had resources at opening. Otherwise the resource tools are added with the first server
 * that has.
 */
function together(opened: readonly OpenToolset[], hasResources: boolean): Required<OpenToolset> {
  const own = opened.flatMap((one) => one.tools)
  const forResources = resourceTools(() => serversOf(opened)).filter(({ name }) =>
    own.every((tool) => tool.name !== name),
  )
  const later = laterOf(opened.flatMap((one) => one.later ?? []))
  const late = () => (!hasResources && offersResources(serversOf(opened)) ? forResources : [])
  return {
    tools: hasResources ? [...own, ...forResources] : own,
    introductions: opened.flatMap((one) => one.introductions ?? []),
    problems: opened.flatMap((one) => one.problems ?? []),
    readable: opened.flatMap((one) => one.readable ?? []),
    later: { ...later, tools: () => [...later.tools(), ...late()] },
    servers: () => serversOf(opened),
    shells: () => opened.flatMap((one) => one.shells?.() ?? []),
    fork: async () => together(await Promise.all(opened.map(forked)), hasResources),
    close: () => closeAll(opened),
  }
}

const serversOf = (opened: readonly OpenToolset[]): readonly ToolServer[] =>
  opened.flatMap((one) => one.servers?.() ?? [])

const laterOf = (all: readonly DeferredToolAccess[]): DeferredToolAccess => ({
  tools: () => all.flatMap((one) => one.tools()),
  introductions: () => all.flatMap((one) => one.introductions()),
  isExpected: all.some(({ isExpected }) => isExpected),
  revision: () => all.reduce((sum, one) => sum + one.revision(), 0),
  wake: () => {
    for (const one of all) one.wake()
  },
})

/** Forks a toolset. Shared toolsets are closed only by their owner. */
const forked = async (one: OpenToolset): Promise<OpenToolset> =>
  one.fork ? one.fork() : { ...one, close: async () => undefined }

async function closeAll(opened: readonly OpenToolset[]): Promise<void> {
  const closed = await Promise.allSettled(opened.map(async (one) => one.close()))
  for (const outcome of closed) if (outcome.status === "rejected") throw outcome.reason
}

/** Throws if an item is neither a tool nor a toolset. */
export function checkTools(tools: Iterable<unknown>): void {
  for (const [index, item] of [...tools].entries()) {
    if (isToolset(item)) continue
    if (typeof item !== "object" || item === null || Array.isArray(item))
      throw new InvalidOptionError(
        "tools",
        `tools[${index}] must be a tool or a toolset, not ${describe(item)}. codingTools() gives the built-in tools, mcpServers() those of MCP servers, and defineTool() makes your own.`,
      )
    checkTool(item as Tool)
  }
}

async function openItem(item: Tool | Toolset, context: ToolsetContext): Promise<OpenToolset> {
  return isToolset(item) ? item.open(context) : { tools: [item], close: async () => undefined }
}
