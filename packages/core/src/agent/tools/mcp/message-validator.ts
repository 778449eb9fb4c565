/**
 * Validates messages of a server before the client library receives them. The library rejects a complete list if it does not understand one
 * tool, and accepts a response with the id "3" as the response to request 3. Therefore it only receives the names of usable tools; their
 * definitions are stored here.
 */
import type { JSONRPCMessage, Tool as McpTool, Transport } from "@modelcontextprotocol/client"
import { displayName, parseTool } from "./usable-tools.ts"

export class MessageValidator {
  readonly #server: string
  /** Tools by name. If two have the same name, the first one is used. */
  readonly #tools = new Map<string, McpTool>()
  #problems: string[] = []

  constructor(server: string) {
    this.#server = server
  }

  /** Intercepts messages between the transport and their reader. */
  watch(transport: Transport): Transport {
    let reader: Transport["onmessage"]
    return Object.defineProperty(transport, "onmessage", {
      configurable: true,
      get: () => reader,
      set: (given: Transport["onmessage"]) => {
        reader =
          given &&
          ((message, extra) => {
            const checked = this.#checked(message)
            if (checked) given(checked, extra)
          })
      },
    })
  }

  /** Definitions of the tools that the library has listed. */
  toolsNamed(names: readonly string[]): readonly McpTool[] {
    return names.flatMap((name) => this.#tools.get(name) ?? [])
  }

  /** Sentences about tools that were omitted since the last call. */
  takeProblems(): readonly string[] {
    const problems = this.#problems
    this.#problems = []
    return problems
  }

  #checked(message: JSONRPCMessage): JSONRPCMessage | undefined {
    if ("method" in message) return message
    const { id, result } = message as { readonly id?: unknown; readonly result?: { readonly tools?: unknown } }
    if (id !== undefined && typeof id !== "number") return undefined // the client's requests have numeric ids
    if (!Array.isArray(result?.tools)) return message
    return { ...message, result: { ...result, tools: this.#stubs(result.tools) } } as JSONRPCMessage
  }

  #stubs(listed: readonly unknown[]) {
    const names = new Set<string>()
    for (const given of listed) {
      const read = parseTool(given)
      if (read.state === "left out") this.#leaveOut(read.name, read.why)
      else if (names.has(read.tool.name))
        this.#leaveOut(displayName(read.tool.name), "another tool of the server has this name")
      else {
        names.add(read.tool.name)
        this.#tools.set(read.tool.name, read.tool)
      }
    }
    return [...names].map((name) => ({ name, inputSchema: { type: "object" } }))
  }

  #leaveOut(name: string, why: string): void {
    this.#problems.push(`The tool ${name} of the MCP server ${this.#server} is left out: ${why}`)
  }
}
