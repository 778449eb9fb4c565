/** The official client for MCP servers. Only applications that use servers install it, and it loads with the first one. */
import { optionalPackage } from "../../../base/files.ts"

export type McpLibrary = typeof import("@modelcontextprotocol/client")

export const mcpLibrary = (): Promise<McpLibrary> => optionalPackage("@modelcontextprotocol/client", "MCP servers need")
