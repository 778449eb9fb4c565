/**
 * Looks at what a server sends before the client library does. The library refuses a whole list for one tool that it does not understand,
 * and takes an answer with the id "3" for the answer to request 3. So it gets only the names of the tools that are usable; what they are is
 * kept here.
 */
import type { JSONRPCMessage, Tool as McpTool, Transport } from "@modelcontextprotocol/client"
import { readTool, shownName } from "./usable-tools.ts"

export class CheckedMessages {
  readonly #server: string
  /** As listed, by name. The first of two with one name counts. */
  readonly #tools = new Map<string, McpTool>()
  #problems: string[] = []

  constructor(server: string) {
    this.#server = server
  }

  /** Puts itself between the transport and the reader of its messages. */
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

  /** What is known of the tools that the library has listed. */
  toolsNamed(names: readonly string[]): readonly McpTool[] {
    return names.flatMap((name) => this.#tools.get(name) ?? [])
  }

  /** The tools that were left out since the last call, as sentences. */
  takeProblems(): readonly string[] {
    const problems = this.#problems
    this.#problems = []
    return problems
  }

  #checked(message: JSONRPCMessage): JSONRPCMessage | undefined {
    if ("method" in message) return message
    const { id, result } = message as { readonly id?: unknown; readonly result?: { readonly tools?: unknown } }
    if (id !== undefined && typeof id !== "number") return undefined // our requests have numbers
    if (!Array.isArray(result?.tools)) return message
    return { ...message, result: { ...result, tools: this.#stubs(result.tools) } } as JSONRPCMessage
  }

  #stubs(listed: readonly unknown[]) {
    const names = new Set<string>()
    for (const given of listed) {
      const read = readTool(given)
      if (read.state === "left out") this.#leaveOut(read.name, read.why)
      else if (names.has(read.tool.name))
        this.#leaveOut(shownName(read.tool.name), "another tool of the server has this name")
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
