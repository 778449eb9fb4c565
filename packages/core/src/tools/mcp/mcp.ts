/**
 * The tools of MCP servers, as tools like any other. A server that does not start or dies is reported and harms no other. The client
 * library is loaded with the first server.
 */
import type { Tool as McpTool, Progress } from "@modelcontextprotocol/client"
import { z } from "zod"
import { reasonOf } from "../../base/errors.ts"
import type { Attachment } from "../../messages/attachments.ts"
import type { Tool, ToolOutput } from "../tool.ts"
import { type ConnectionOptions, McpConnection, type McpServerConfig, type McpServerStatus } from "./mcp-connection.ts"
import { mcpToolName } from "./mcp-names.ts"
import { mcpOutput } from "./mcp-results.ts"

export interface McpServers {
  /** In the order of the servers, by name within each: the same servers give the same list. */
  readonly tools: readonly Tool[]
  /** What servers say about the use of their tools. */
  readonly instructions: readonly Attachment[]
  status(): readonly McpServerStatus[]
  /** Ends all connections and the processes behind them. */
  close(): Promise<void>
}

const DESCRIPTION_CHARACTERS = 4_000 // a server's words cost tokens in every request
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
    status: () => connections.map(({ status }) => status),
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()))
    },
  }
}

function toolsOf(connections: readonly McpConnection[]): readonly Tool[] {
  const taken = new Set<string>()
  return connections.flatMap((connection) => {
    const tools = new Map(connection.tools.map((tool) => [tool.name, tool])) // a name listed twice is one tool
    const sorted = [...tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    return sorted.map((tool) => {
      const name = mcpToolName(connection.server, tool.name, taken)
      taken.add(name)
      return toolOf(name, tool, connection)
    })
  })
}

const anyInput = z.record(z.string(), z.unknown()) // the server checks it against its own schema

function toolOf(name: string, tool: McpTool, connection: McpConnection): Tool<z.infer<typeof anyInput>> {
  const isReadOnly = tool.annotations?.readOnlyHint === true
  const title = tool.title ?? tool.annotations?.title ?? tool.name
  return {
    name,
    description: clip(tool.description ?? title, DESCRIPTION_CHARACTERS),
    schema: anyInput,
    jsonSchema: tool.inputSchema,
    isReadOnly: () => isReadOnly,
    question: (input) => ({
      kind: "other",
      summary: clip(`${connection.server}: ${title} ${JSON.stringify(input)}`, SUMMARY_CHARACTERS),
      preview: JSON.stringify(input, undefined, 2),
    }),
    async run(input, { signal, progress }) {
      try {
        const onProgress = (step: Progress) => progress(describeProgress(step))
        return mcpOutput(await connection.call({ tool: tool.name, input, isReadOnly, signal, onProgress }))
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

function failureOf(error: unknown, signal: AbortSignal, { timeoutMs }: McpConnection): string {
  if (signal.aborted) return "interrupted"
  const { code } = error as { readonly code?: unknown }
  if (code === "REQUEST_TIMEOUT") return `no answer within ${timeoutMs / 1_000} s`
  return error instanceof Error ? error.message : reasonOf(error)
}

const clip = (text: string, characters: number) =>
  text.length > characters ? `${text.slice(0, characters).toWellFormed()}…` : text
const failed = (content: string): ToolOutput => ({ content, isError: true })
