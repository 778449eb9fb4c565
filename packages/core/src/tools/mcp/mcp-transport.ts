/** How a server is reached: over the pipes of a program that is started, or over HTTP. Variables are filled in here. */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import type { AuthProvider, Transport } from "@modelcontextprotocol/client"
import type { Program } from "../processes/guarded-process.ts"
import type { McpServerConfig, StdioServerConfig } from "./mcp-config.ts"
import { fillVariables } from "./mcp-variables.ts"
import type { StdioTransport } from "./stdio-transport.ts"

export interface TransportOptions {
  /** What variables are filled in from. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The project's directory. */
  readonly directory: string
  readonly graceMs: number
  readonly onStderr: (text: string) => void
  /** For a server on the network. Absent where no one signs in. */
  readonly auth?: (url: URL, headers: Readonly<Record<string, string>>) => AuthProvider | undefined
}

export interface OpenTransport {
  readonly transport: Transport
  /** The program, if one was started. */
  readonly stdio?: StdioTransport
}

/** Values that must not be shown are reported before anything can fail. */
export async function openTransport(
  given: McpServerConfig,
  {
    env,
    directory,
    onSecrets,
    ...options
  }: TransportOptions & { readonly onSecrets: (secrets: readonly string[]) => void },
): Promise<OpenTransport> {
  const { config, secrets } = fillVariables(given, { CLAUDE_PROJECT_DIR: directory, ...env })
  onSecrets(secrets)
  if ("url" in config) {
    const { SSEClientTransport, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client")
    const OverHttp = config.type === "sse" ? SSEClientTransport : StreamableHTTPClientTransport
    const url = new URL(config.url)
    const headers = { ...config.headers }
    const authProvider = options.auth?.(url, headers)
    return { transport: new OverHttp(url, { requestInit: { headers }, ...(authProvider ? { authProvider } : {}) }) }
  }
  const { StdioTransport } = await import("./stdio-transport.ts")
  const program = programOf(config, { env, directory })
  if (!existsSync(program.directory)) throw new Error(`the directory ${program.directory} does not exist`)
  const { graceMs, onStderr } = options
  const stdio = new StdioTransport(program, { graceMs, onStderr })
  return { transport: stdio, stdio }
}

/** What every program needs. None of it is a secret. */
const INHERITED = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]

function programOf(
  config: StdioServerConfig,
  { env, directory }: Pick<TransportOptions, "env" | "directory">,
): Required<Program> {
  const inherited = INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]))
  return {
    command: config.command,
    args: config.args ?? [],
    env: { ...Object.fromEntries(inherited), ...config.env },
    directory: resolve(directory, config.cwd ?? "."),
  }
}
