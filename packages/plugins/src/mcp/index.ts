/** `@strata/plugins/mcp`. The MCP server: its methods, and its two transports. */
export { type HttpOptions, type HttpServer, serveHttp } from "./http.ts"
export { type McpServer, mcpServer } from "./server.ts"
export { serveStdio } from "./stdio.ts"
export { type McpToken, mcpToken } from "./token.ts"
