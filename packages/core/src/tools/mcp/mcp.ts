/**
 * Offers the tools of MCP servers like any other tools. A server that fails to start or dies is reported, and the others keep working.
 * The client library is loaded with the first server.
 */
import type { Tool as McpTool, Progress } from "@modelcontextprotocol/client"
import type { Attachment } from "../../messages/attachments.ts"
import { clip } from "../defaults.ts"
import type { OpenToolset, Tool, ToolOutput, ToolsetContext } from "../tool.ts"
import type { McpServerConfig } from "./mcp-config.ts"
import { type ConnectionOptions, McpConnection, type McpServerStatus } from "./mcp-connection.ts"
import { mcpToolName } from "./mcp-names.ts"
import { mcpOutput } from "./mcp-results.ts"

export interface McpServers {
  /** In the order of the servers, by name within each: the same servers give the same list. */
  readonly tools: readonly Tool[]
  /** What the servers say about using their tools. */
  readonly instructions: readonly Attachment[]
  /** For the person: tools that were left out. */
  readonly problems: readonly string[]
  status(): readonly McpServerStatus[]
  /** Closes all connections and ends the servers it started. */
  close(): Promise<void>
}

const DESCRIPTION_CHARACTERS = 4_000 // a description costs tokens in every request
const INSTRUCTION_CHARACTERS = 8_000
const SUMMARY_CHARACTERS = 200

/**
 * Connects to all servers at once and waits until each has answered or failed.
 *
 * @example
 * const servers = await connectMcpServers({ files: { command: "mcp-files", args: ["."] }, web: { url: "https://example.com/mcp" } })
 */
export async function connectMcpServers(
  configs: Readonly<Record<string, McpServerConfig>>,
  options: ConnectionOptions = {},
): Promise<McpServers> {
  const connections = Object.entries(configs).map(([name, config]) => new McpConnection(name, config, options))
  await Promise.all(connections.map((connection) => connection.open()))
  return {
    tools: toolsOf(connections),
    instructions: connections.flatMap(({ server, instructions }): Attachment[] =>
      instructions
        ? [{ type: "mcp_instructions", server, instructions: clip(instructions, INSTRUCTION_CHARACTERS) }]
        : [],
    ),
    problems: connections.flatMap(({ problems }) => problems),
    status: () => connections.map(({ status }) => status),
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()))
    },
  }
}

/** As a toolset: servers that did not start are its problems. */
export async function openMcpTools(
  configs: Readonly<Record<string, McpServerConfig>>,
  { env, cwd }: Partial<Pick<ToolsetContext, "env" | "cwd">> = {},
): Promise<OpenToolset> {
  const servers = await connectMcpServers(configs, { ...(env ? { env } : {}), ...(cwd ? { cwd } : {}) })
  const failed = servers
    .status()
    .flatMap((status) =>
      status.state === "failed" ? [`The MCP server ${status.server} is not available: ${status.why}`] : [],
    )
  return {
    tools: servers.tools,
    introductions: servers.instructions,
    problems: [...failed, ...servers.problems],
    close: () => servers.close(),
  }
}

function toolsOf(connections: readonly McpConnection[]): readonly Tool[] {
  const taken = new Set<string>()
  return connections.flatMap((connection) => {
    return connection.tools.map((tool) => {
      const name = mcpToolName(connection.server, tool.name, taken)
      taken.add(name)
      return toolOf(name, tool, connection)
    })
  })
}

type McpInput = Readonly<Record<string, unknown>>

function toolOf(name: string, tool: McpTool, connection: McpConnection): Tool<McpInput> {
  const isReadOnly = tool.annotations?.readOnlyHint === true
  const title = tool.title ?? tool.annotations?.title ?? tool.name
  return {
    name,
    description: clip(tool.description ?? title, DESCRIPTION_CHARACTERS),
    inputSchema: tool.inputSchema, // the server checks the input
    readOnly: isReadOnly,
    question: (input) => ({
      kind: "other",
      summary: clip(`${connection.server}: ${title} ${JSON.stringify(input)}`, SUMMARY_CHARACTERS),
      preview: JSON.stringify(input, undefined, 2),
    }),
    async execute(input, { signal, progress, askPerson }) {
      try {
        const onProgress = (step: Progress) => progress(describeProgress(step))
        return mcpOutput(await connection.call({ tool: tool.name, input, isReadOnly, signal, onProgress, askPerson }))
      } catch (error) {
        return failed(`${connection.server} did not carry out ${tool.name}: ${failureOf(error, signal, connection)}.`)
      }
    },
  }
}

function describeProgress({ progress, total, message }: Progress): string {
  const count = total === undefined ? `${progress}` : `${progress}/${total}`
  return message ? `${message} (${count})` : count
}

function failureOf(error: unknown, signal: AbortSignal, connection: McpConnection): string {
  if (signal.aborted) return "interrupted"
  const { code } = error as { readonly code?: unknown }
  if (code === "REQUEST_TIMEOUT") return `no answer within ${connection.timeoutMs / 1_000} s`
  return connection.explain(error)
}

const failed = (content: string): ToolOutput => ({ content, isError: true })
