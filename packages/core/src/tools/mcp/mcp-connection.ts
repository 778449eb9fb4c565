/**
 * The connection to one MCP server: a process with pipes, or a URL. If it is lost, the next call reconnects once. A call that was running
 * is repeated only if it changes nothing.
 */
import { randomUUID } from "node:crypto"
import type { CallToolResult, Client, Tool as McpTool, Progress, Transport } from "@modelcontextprotocol/client"
import { reasonOf } from "../../base/errors.ts"
import { endProcesses, MARK_VARIABLE } from "../processes/process-group.ts"

export type McpServerConfig = StdioServerConfig | HttpServerConfig

export interface StdioServerConfig {
  readonly command: string
  readonly args?: readonly string[]
  /** In addition to what every server gets: path, home, user, terminal, shell. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly timeoutMs?: number
}

export interface HttpServerConfig {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

export type McpServerStatus = { readonly server: string } & (
  | { readonly state: "connected"; readonly tools: number }
  | { readonly state: "failed"; readonly why: string }
  /** The server ended. The next call reconnects. */
  | { readonly state: "lost" }
  | { readonly state: "closed" }
)

export interface ConnectionOptions {
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
  readonly #mark = randomUUID()
  #client: Client | undefined
  #connecting: Promise<Client> | undefined
  #mayReconnect = true
  #isClosed = false
  #stderr = ""
  #status: McpServerStatus
  tools: readonly McpTool[] = []
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
          `the connection was lost during the call (${reasonOf(error)}); it is not known whether the call ran`,
        )
      }
      return this.#send(await this.#reconnect(), call)
    }
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
    this.#stderr = ""
    try {
      await client.connect(await this.#transport(), { timeout })
      client.onclose = () => this.#forget(client)
      this.tools = (await client.listTools(undefined, { timeout })).tools
      this.instructions = client.getInstructions()
    } catch (error) {
      await this.#end(client)
      const why = [reasonOf(error), this.#stderr.trim()].filter((part) => part !== "").join(": ")
      this.#report({ server: this.server, state: "failed", why })
      throw new Error(why, { cause: error })
    }
    this.#client = client
    this.#report({ server: this.server, state: "connected", tools: this.tools.length })
    return client
  }

  async #transport(): Promise<Transport> {
    const config = this.#config
    if ("url" in config) {
      const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client")
      return new StreamableHTTPClientTransport(new URL(config.url), { requestInit: { headers: { ...config.headers } } })
    }
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio")
    const transport = new StdioClientTransport({
      command: config.command,
      args: [...(config.args ?? [])],
      env: { ...config.env, [MARK_VARIABLE]: this.#mark },
      stderr: "pipe", // it must be read, or the server would block
      ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
    })
    transport.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-STDERR_CHARACTERS)
    })
    return transport
  }

  /** Ends a server that does not stop when its input closes, and everything it started. */
  async #end(client: Client | undefined): Promise<void> {
    const closed = client?.close().catch(() => undefined)
    if ("url" in this.#config) return closed
    const graceMs = this.#options.graceMs ?? DEFAULT_GRACE_MS
    const hasClosed = await Promise.race([closed?.then(() => true), pause(graceMs)])
    await endProcesses({ mark: this.#mark }, hasClosed ? 0 : graceMs)
    await closed
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

const pause = (ms: number): Promise<false> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref()
  })
