/** Opens the transport to a server: pipes of a started program, or HTTP. Variables in the configuration are replaced here. */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import type { AuthProvider, Transport } from "@modelcontextprotocol/client"
import type { Program } from "../processes/guarded-process.ts"
import { secretsIn } from "../shell/shell-environment.ts"
import { mcpLibrary } from "./client-library.ts"
import type { HttpServerConfig, McpServerConfig, StdioServerConfig } from "./mcp-config.ts"
import type { StdioTransport } from "./stdio-transport.ts"

export interface TransportOptions {
  /** Environment from which variables are replaced. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The project's directory. */
  readonly directory: string
  readonly graceMs: number
  readonly onStderr: (text: string) => void
  /** Authentication of an HTTP server. Absent if sign-in is not supported. */
  readonly auth?: (url: URL, headers: Readonly<Record<string, string>>) => AuthProvider | undefined
}

export interface OpenTransport {
  readonly transport: Transport
  /** Transport of the program, if one was started. */
  readonly stdio?: StdioTransport
}

/** Opens the transport. Secrets are reported before anything can fail. */
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
  const library = await mcpLibrary()
  if ("url" in config) {
    const OverHttp = config.type === "sse" ? library.SSEClientTransport : library.StreamableHTTPClientTransport
    const url = new URL(config.url)
    const headers = { ...config.headers }
    const authProvider = options.auth?.(url, headers)
    return { transport: new OverHttp(url, { requestInit: { headers }, ...(authProvider ? { authProvider } : {}) }) }
  }
  const { StdioTransport } = await import("./stdio-transport.ts")
  const program = programOf(config, { env, directory })
  if (!existsSync(program.directory)) throw new Error(`the directory ${program.directory} does not exist`)
  const { graceMs, onStderr } = options
  const stdio = new StdioTransport(program, { graceMs, onStderr, library })
  return { transport: stdio, stdio }
}

/** Variables that every program needs. None is a secret. */
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

/**
 * Environment from which `${NAME}` and `${NAME:-default}` in a server's configuration are replaced. This way settings contain only the name
 * of a key, and its value never appears in messages.
 */
type Environment = Readonly<Record<string, string | undefined>>

interface FilledConfig {
  readonly config: McpServerConfig
  /** Values that must be redacted in messages. */
  readonly secrets: readonly string[]
}

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g
const SHORTEST_SECRET = 6 // characters; a shorter value occurs in ordinary text

/** Replaces variables. Throws if one is missing and has no default. */
function fillVariables(given: McpServerConfig, env: Environment): FilledConfig {
  const filled: string[] = []
  const fill = (text: string) =>
    text.replaceAll(VARIABLE, (_, name: string, otherwise: string | undefined) => {
      const value = env[name] || otherwise
      if (value === undefined)
        throw new Error(`the variable ${name} is not set. Set it, or give it a default: \${${name}:-…}`)
      if (env[name]) filled.push(value)
      return value
    })
  const config = "url" in given ? filledAddress(given, fill) : filledProgram(given, fill)
  const own = "url" in config ? headerSecrets(config.headers ?? {}) : secretsIn(config.env ?? {})
  const secrets = [...new Set([...filled, ...own])].filter((value) => value.length >= SHORTEST_SECRET)
  return { config, secrets: secrets.toSorted((a, b) => b.length - a.length) } // longest first, because a value may contain another
}

type Fill = (text: string) => string

const filledAddress = (given: HttpServerConfig, fill: Fill): HttpServerConfig => ({
  ...given,
  url: fill(given.url),
  ...(given.headers ? { headers: eachValue(given.headers, fill) } : {}),
})

const filledProgram = (given: StdioServerConfig, fill: Fill): StdioServerConfig => ({
  ...given,
  command: fill(given.command),
  ...(given.args ? { args: given.args.map(fill) } : {}),
  ...(given.env ? { env: eachValue(given.env, fill) } : {}),
  ...(given.cwd === undefined ? {} : { cwd: fill(given.cwd) }),
})

const eachValue = (values: Readonly<Record<string, string>>, fill: Fill): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fill(value)]))

/** Secrets in headers: for `Bearer abc`, the complete value and the key alone. */
const headerSecrets = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.values(headers).flatMap((value) => [value, value.split(" ").at(-1)!])
