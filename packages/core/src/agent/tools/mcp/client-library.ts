/** The official MCP client. It is an optional dependency, loaded with the first server. */
import { optionalPackage } from "../../../base/files.ts"

export type McpLibrary = typeof import("@modelcontextprotocol/client")

export const mcpLibrary = (): Promise<McpLibrary> => optionalPackage("@modelcontextprotocol/client", "MCP servers need")
