/** The MCP server and its methods. Modules that read data are loaded with the first request, so that the server starts at once. */

import { INSTRUCTIONS, PROMPTS, RESOURCES, TEMPLATES, TOOLS } from "./definitions.ts"
import type { ProjectRecallOptions } from "./project-recall.ts"
import { type Methods, PROTOCOL_VERSIONS } from "./protocol.ts"
import type { McpResponses } from "./responses.ts"

export interface McpServerOptions extends ProjectRecallOptions {
  readonly version: string
}

export interface McpServer {
  readonly methods: Methods
  close(): Promise<void>
}

export function mcpServer({ version, ...options }: McpServerOptions): McpServer {
  let loaded: Promise<McpResponses> | undefined
  const answers = () => {
    loaded ??= import("./responses.ts").then(({ McpResponses }) => new McpResponses(options))
    return loaded
  }
  return {
    methods: {
      initialize: ({ protocolVersion }) => ({
        protocolVersion: PROTOCOL_VERSIONS.find((known) => known === protocolVersion) ?? PROTOCOL_VERSIONS[0],
        capabilities: { tools: {}, resources: {}, prompts: {} },
        serverInfo: { name: "strata", title: "Strata", version },
        instructions: INSTRUCTIONS,
      }),
      ping: () => ({}),
      "tools/list": () => ({ tools: TOOLS }),
      "tools/call": async (call, client) => (await answers()).call(call, client),
      "resources/list": () => ({ resources: RESOURCES }),
      "resources/templates/list": () => ({ resourceTemplates: TEMPLATES }),
      "resources/read": async (wanted) => (await answers()).read(wanted),
      "prompts/list": () => ({ prompts: PROMPTS }),
      "prompts/get": async (wanted, client) => (await answers()).prompt(wanted, client),
    },
    close: async () => (await loaded)?.close(),
  }
}
