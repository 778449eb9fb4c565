/** How a program or a server on the network is named. The fields are those that other programs use too. */

/** How to reach an MCP server. */
export type McpServerConfig = StdioServerConfig | HttpServerConfig

/** An MCP server that is started as a process. */
export interface StdioServerConfig {
  readonly type?: "stdio"
  readonly command: string
  readonly args?: readonly string[]
  /** In addition to what every server gets: path, home, user, terminal, shell. `${NAME}` is filled in from your environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Where the server starts, relative to the project. Default: the project's directory. */
  readonly cwd?: string
  /** For one call, in milliseconds. */
  readonly timeoutMs?: number
  /** The same as `timeoutMs`, which takes precedence. */
  readonly timeout?: number
  /** Whether the server may use the model. Default: `ask`, which is `deny` where no one can be asked. */
  readonly sampling?: "allow" | "ask" | "deny"
  /** Tools that the server calls read-only run without a question, in plan mode too. Default: false, because it is only the server's word. */
  readonly trustReadOnlyHint?: boolean
}

/** An MCP server that is reached over HTTP. */
export interface HttpServerConfig {
  /** `http` is streamable HTTP. Default: `http`. */
  readonly type?: "http" | "streamable-http" | "sse"
  readonly url: string
  /** `${NAME}` is filled in from your environment. */
  readonly headers?: Readonly<Record<string, string>>
  /** For one call, in milliseconds. */
  readonly timeoutMs?: number
  /** The same as `timeoutMs`, which takes precedence. */
  readonly timeout?: number
  /** Whether the server may use the model. Default: `ask`, which is `deny` where no one can be asked. */
  readonly sampling?: "allow" | "ask" | "deny"
  /** Tools that the server calls read-only run without a question, in plan mode too. Default: false, because it is only the server's word. */
  readonly trustReadOnlyHint?: boolean
}
