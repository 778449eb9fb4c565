/** How a program or a server on the network is named. */

export type McpServerConfig = StdioServerConfig | HttpServerConfig

export interface StdioServerConfig {
  readonly command: string
  readonly args?: readonly string[]
  /** In addition to what every server gets: path, home, user, terminal, shell. `${NAME}` is filled in from your environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly timeoutMs?: number
}

export interface HttpServerConfig {
  readonly url: string
  /** `${NAME}` is filled in from your environment. */
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}
