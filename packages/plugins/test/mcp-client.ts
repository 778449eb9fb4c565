/** The official MCP client, connected to `strata mcp` as agents connect to it. */
import { join } from "node:path"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { inject } from "vitest"
import type { Scratch } from "./sample-transcripts.ts"

/** The bundled program, which starts in a third of the time of its sources. */
export const PROGRAM = join(inject("bundle"), "cli", "dist", "main.js")

export interface McpConnection {
  readonly client: Client
  /** Calls a tool and returns its text. */
  call(name: string, input: object): Promise<string>
}

export async function connect(
  { project, env }: Pick<Scratch, "project" | "env">,
  { name = "test-client", more = {} }: { name?: string; more?: Record<string, string> } = {},
): Promise<McpConnection> {
  const { NODE_COMPILE_CACHE = "" } = process.env
  const transport = new StdioClientTransport({
    ...{ command: process.execPath, args: [PROGRAM, "mcp"], cwd: project },
    env: { ...env, NODE_COMPILE_CACHE, ...more },
  })
  const client = new Client({ name, version: "1.0.0" })
  await client.connect(transport)
  return { client, call: (tool, input) => called(client, tool, input) }
}

export async function called(client: Client, name: string, input: object): Promise<string> {
  const { content } = await client.callTool({ name, arguments: { ...input } })
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n")
}
