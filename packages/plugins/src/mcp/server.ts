/** The MCP server: what it does for each method. Everything that reads is loaded with the first question, so that it starts at once. */
import type { Answers } from "./answers.ts"
import { INSTRUCTIONS, PROMPTS, RESOURCES, TEMPLATES, TOOLS } from "./definitions.ts"
import type { PastOptions } from "./past.ts"
import { type Methods, PROTOCOL_VERSIONS } from "./protocol.ts"

export interface McpServerOptions extends PastOptions {
  readonly version: string
}

export interface McpServer {
  readonly methods: Methods
  close(): Promise<void>
}

export function mcpServer({ version, ...options }: McpServerOptions): McpServer {
  let loaded: Promise<Answers> | undefined
  const answers = () => {
    loaded ??= import("./answers.ts").then(({ Answers }) => new Answers(options))
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
