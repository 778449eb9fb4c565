/**
 * The connection to one MCP server: a process with pipes, or a URL. If it is lost, the next call reconnects once. A call that was running
 * is repeated only if it changes nothing.
 */
import type { CallToolResult, Client, Tool as McpTool, Progress, Transport } from "@modelcontextprotocol/client"
import { messageOf, reasonOf } from "../../base/errors.ts"
import { redact } from "../../model/redact.ts"
import type { Program } from "../processes/guarded-process.ts"
import type { McpServerConfig, StdioServerConfig } from "./mcp-config.ts"
import { fillVariables } from "./mcp-variables.ts"
import type { StdioTransport } from "./stdio-transport.ts"
import { usableTools } from "./usable-tools.ts"

export type McpServerStatus = { readonly server: string } & (
  | { readonly state: "connected"; readonly tools: number }
  | { readonly state: "failed"; readonly why: string }
  /** The server ended. The next call reconnects. */
  | { readonly state: "lost" }
  | { readonly state: "closed" }
)

export interface ConnectionOptions {
  /** What variables are filled in from. Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** For a server to start, answer and list its tools. */
  readonly startTimeoutMs?: number
  /** For one call. Progress restarts it. A server's own setting takes precedence. */
  readonly callTimeoutMs?: number
  /** How long a server may take to end. */
  readonly graceMs?: number
  readonly onStatus?: (status: McpServerStatus) => void
}

export interface McpCall {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly isReadOnly: boolean
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

const DEFAULT_START_TIMEOUT_MS = 30_000
const DEFAULT_CALL_TIMEOUT_MS = 120_000
const DEFAULT_GRACE_MS = 1_000
const LONGEST_CALL_FACTOR = 10 // even with progress, a call ends after this many timeouts
const STDERR_CHARACTERS = 1_000 // the last output of a server before it failed

export class McpConnection {
  readonly server: string
  readonly #config: McpServerConfig
  readonly #options: ConnectionOptions
  #client: Client | undefined
  #connecting: Promise<Client> | undefined
  #mayReconnect = true
  #isClosed = false
  #stderr = ""
  #stdio: StdioTransport | undefined
  #secrets: readonly string[] = []
  #status: McpServerStatus
  tools: readonly McpTool[] = []
  /** Tools that were left out, and why. */
  problems: readonly string[] = []
  instructions: string | undefined

  constructor(server: string, config: McpServerConfig, options: ConnectionOptions) {
    this.server = server
    this.#config = config
    this.#options = options
    this.#status = { server, state: "closed" }
  }

  get status(): McpServerStatus {
    return this.#status
  }

  get timeoutMs(): number {
    return this.#config.timeoutMs ?? this.#options.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS
  }

  /** Connects and lists the tools. A failure is reported in the status, not thrown. */
  async open(): Promise<void> {
    await this.#connect().catch(() => undefined)
  }

  async call(call: McpCall): Promise<CallToolResult> {
    const client = this.#client ?? (await this.#reconnect())
    try {
      const result = await this.#send(client, call)
      this.#mayReconnect = true
      return result
    } catch (error) {
      if (!isLost(error) || call.signal.aborted) throw error
      this.#forget(client)
      if (!call.isReadOnly) {
        throw new Error(
          `the connection was lost during the call (${redact(reasonOf(error), this.#secrets)}); it is not known whether the call ran`,
        )
      }
      return this.#send(await this.#reconnect(), call)
    }
  }

  /** An error as text, without keys. */
  explain(error: unknown): string {
    return redact(messageOf(error), this.#secrets)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#connecting?.catch(() => undefined)
    await this.#end(this.#client)
    this.#client = undefined
    this.#report({ server: this.server, state: "closed" })
  }

  #send(client: Client, { tool, input, signal, onProgress }: McpCall): Promise<CallToolResult> {
    return client.callTool(
      { name: tool, arguments: input },
      {
        signal,
        onprogress: onProgress,
        timeout: this.timeoutMs,
        resetTimeoutOnProgress: true,
        maxTotalTimeout: LONGEST_CALL_FACTOR * this.timeoutMs,
      },
    )
  }

  /** Once after each successful call, so that a server that dies at every call is not restarted forever. */
  async #reconnect(): Promise<Client> {
    if (this.#connecting) return this.#connecting
    if (this.#isClosed) throw new Error("the connection is closed")
    if (!this.#mayReconnect) throw new Error("the server is not running, and was already restarted once")
    this.#mayReconnect = false
    return this.#connect()
  }

  /** Concurrent calls wait for the same attempt. */
  #connect(): Promise<Client> {
    this.#connecting ??= this.#attempt().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #attempt(): Promise<Client> {
    const { Client } = await import("@modelcontextprotocol/client")
    const client = new Client({ name: "strata", version: "0.1.0" })
    const timeout = this.#options.startTimeoutMs ?? DEFAULT_START_TIMEOUT_MS
    const limits = { timeout, signal: AbortSignal.timeout(timeout) } // for all of it, however many messages it takes
    this.#stderr = ""
    try {
      await client.connect(await this.#transport(), limits)
      client.onclose = () => this.#forget(client)
      const listed = await client.listTools(undefined, limits)
      const { tools, problems } = usableTools(this.server, listed.tools)
      this.tools = tools
      this.problems = problems
      this.instructions = client.getInstructions()
    } catch (error) {
      await this.#end(client)
      const why = this.#startFailure(error, limits)
      this.#report({ server: this.server, state: "failed", why })
      throw new Error(why)
    }
    this.#client = client
    this.#report({ server: this.server, state: "connected", tools: this.tools.length })
    return client
  }

  #startFailure(
    error: unknown,
    { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal },
  ): string {
    const { code } = error as { readonly code?: unknown }
    const isLate = signal.aborted || code === "REQUEST_TIMEOUT"
    const ended = code === "CONNECTION_CLOSED" ? "it ended before it answered" : reasonOf(error)
    const parts = [isLate ? `it did not answer within ${timeout / 1_000} s` : ended, this.#stderr.trim()]
    return redact(parts.filter((part) => part !== "").join(": "), this.#secrets)
  }

  async #transport(): Promise<Transport> {
    const { env = process.env } = this.#options
    const { config, secrets } = fillVariables(this.#config, env)
    this.#secrets = secrets
    if ("url" in config) {
      const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client")
      return new StreamableHTTPClientTransport(new URL(config.url), { requestInit: { headers: { ...config.headers } } })
    }
    const { StdioTransport } = await import("./stdio-transport.ts")
    this.#stdio = new StdioTransport(programOf(config, env), {
      graceMs: this.#options.graceMs ?? DEFAULT_GRACE_MS,
      onStderr: (text) => {
        this.#stderr = (this.#stderr + text).slice(-STDERR_CHARACTERS)
      },
    })
    return this.#stdio
  }

  /** Ends the server and everything it started. */
  async #end(client: Client | undefined): Promise<void> {
    await client?.close().catch(() => undefined)
    await this.#stdio?.close()
  }

  #forget(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    if (!this.#isClosed) this.#report({ server: this.server, state: "lost" })
  }

  #report(status: McpServerStatus): void {
    this.#status = status
    this.#options.onStatus?.(status)
  }
}

const LOST = new Set(["NOT_CONNECTED", "CONNECTION_CLOSED", "SEND_FAILED"]) // codes of the client library

/** Over HTTP, a restarted server does not know the session (404) or cannot be reached. */
function isLost(error: unknown): boolean {
  const { code, status } = error as { readonly code?: unknown; readonly status?: unknown }
  return LOST.has(String(code)) || status === 404 || (error instanceof TypeError && error.message === "fetch failed")
}

/** What every program needs. None of it is a secret. */
const INHERITED = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]

function programOf(config: StdioServerConfig, env: Readonly<Record<string, string | undefined>>): Program {
  const inherited = INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]))
  return {
    command: config.command,
    args: config.args ?? [],
    env: { ...Object.fromEntries(inherited), ...config.env },
    ...(config.cwd === undefined ? {} : { directory: config.cwd }),
  }
}
