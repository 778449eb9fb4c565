/** Configuration of MCP servers. The fields are those that other programs use. */

/** Configuration of an MCP server. */
export type McpServerConfig = StdioServerConfig | HttpServerConfig

/** An MCP server that is started as a process. */
export interface StdioServerConfig {
  readonly type?: "stdio"
  readonly command: string
  readonly args?: readonly string[]
  /**
   * Variables in addition to those that every server gets: path, home, user, terminal, shell. `${NAME}` is replaced from your environment.
   */
  readonly env?: Readonly<Record<string, string>>
  /** Working directory of the server, relative to the project. Default: the project's directory. */
  readonly cwd?: string
  /** Time limit of one call, in milliseconds. */
  readonly timeoutMs?: number
  /** Alias of `timeoutMs`, which takes precedence. */
  readonly timeout?: number
  /** Whether the server may use the model. Default: `ask`, which means `deny` if nobody can be asked. */
  readonly sampling?: "allow" | "ask" | "deny"
  /**
   * Whether tools that the server declares read-only run without approval, including in plan mode. Default: false, because the hint is not
   * verified.
   */
  readonly trustReadOnlyHint?: boolean
}

/** An MCP server that is reached over HTTP. */
export interface HttpServerConfig {
  /** `http` is streamable HTTP. Default: `http`. */
  readonly type?: "http" | "streamable-http" | "sse"
  readonly url: string
  /** Headers of each request. `${NAME}` is replaced from your environment. */
  readonly headers?: Readonly<Record<string, string>>
  /** Time limit of one call, in milliseconds. */
  readonly timeoutMs?: number
  /** Alias of `timeoutMs`, which takes precedence. */
  readonly timeout?: number
  /** Whether the server may use the model. Default: `ask`, which means `deny` if nobody can be asked. */
  readonly sampling?: "allow" | "ask" | "deny"
  /**
   * Whether tools that the server declares read-only run without approval, including in plan mode. Default: false, because the hint is not
   * verified.
   */
  readonly trustReadOnlyHint?: boolean
}
