/** The test server in this process, for tests of messages, not of starting a program. It terminates by closing its connection. */
import { InMemoryTransport } from "@modelcontextprotocol/client"
import { openMcpTools } from "../src/agent/tools/mcp/mcp.ts"
import type { McpServerConfig } from "../src/agent/tools/mcp/mcp-config.ts"
import { openTransport } from "../src/agent/tools/mcp/mcp-transport.ts"
import type { Toolset } from "../src/tools/tool.ts"
import { createTestServer } from "./mcp-server.ts"

export const IN_MEMORY = { command: "in memory" } satisfies McpServerConfig

/** Servers with another command, or on the network, are opened as usual. */
export const openInMemory: typeof openTransport = async (config, options) => {
  if (!("command" in config) || config.command !== IN_MEMORY.command) return openTransport(config, options)
  const [transport, serverSide] = InMemoryTransport.createLinkedPair()
  await createTestServer(() => serverSide.close()).connect(serverSide)
  return { transport }
}

export function serversInMemory(configs: Readonly<Record<string, McpServerConfig>>): Toolset {
  const set: Toolset = {
    open: (context) => openMcpTools(configs, { ...context, openTransport: openInMemory }),
    *[Symbol.iterator]() {
      yield set
    },
  }
  return set
}
