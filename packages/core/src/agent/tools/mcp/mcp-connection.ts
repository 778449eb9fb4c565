/**
 * The connection to one MCP server: a process with pipes, or a URL. If it is lost, the next call reconnects, after a pause that grows with
 * every failure. A call is repeated only if it did not run or changes nothing.
 */
import type {
  CallToolResult,
  Client,
  GetPromptResult,
  Tool as McpTool,
  Progress,
  Prompt,
  ReadResourceResult,
} from "@modelcontextprotocol/client"
import { errorMessage } from "../../../base/errors.ts"
import { redact } from "../../../model/redact.ts"
import type { SampleModel, SignInUser } from "../../../tools/tool.ts"
import { CallTimer } from "./call-timer.ts"
import { mcpLibrary } from "./client-library.ts"
import type { McpServerConfig } from "./mcp-config.ts"
import { failureReason, isLost, wasNotRun } from "./mcp-failure.ts"
import { type AskUser, answerRequests, CAPABILITIES } from "./mcp-requests.ts"
import { McpSampling } from "./mcp-sampling.ts"
import { type OpenTransport, openTransport } from "./mcp-transport.ts"
import { MessageValidator } from "./message-validator.ts"
import { hasResources, type ListedResources, listPrompts, listResources } from "./server-lists.ts"
import { isSignInNeeded, ServerAuth } from "./sign-in/server-auth.ts"
import { signIn } from "./sign-in/sign-in.ts"
import type { SignInStore } from "./sign-in/sign-in-store.ts"
import { usableTools } from "./usable-tools.ts"

export type McpServerStatus = { readonly server: string } & (
  | { readonly state: "starting" }
  | { readonly state: "connected"; readonly tools: number }
  | { readonly state: "failed"; readonly why: string }
  | { readonly state: "needs-sign-in"; readonly why: string }
  /** The server ended. The next call reconnects. */
  | { readonly state: "lost" }
  | { readonly state: "closed" }
)

export interface ConnectionOptions {
  /** Environment from which variables are replaced. Default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The project's directory, in which servers start. Default: the current working directory. */
  readonly cwd?: string
  /** Time limit for a server to start, respond and list its tools. */
  readonly startTimeoutMs?: number
  /** Time limit of one call. Progress restarts it. A server's own setting takes precedence. */
  readonly callTimeoutMs?: number
  /** Time that a server may take to exit. */
  readonly graceMs?: number
  readonly onStatus?: (status: McpServerStatus) => void
  /** Called when the server's tools changed. */
  readonly onTools?: () => void
  /** Called when the server's prompts are known or changed. */
  readonly onPrompts?: () => void
  /** Time that opening waits for a slow server, which then joins later. Default: until it has responded or failed. */
  readonly openTimeoutMs?: number
  /** Store of tokens. Without it, sign-in is not possible. */
  readonly signIns?: SignInStore
  /** Access to the model, for servers that use it. */
  readonly sampling?: SampleModel
  /** Current time in milliseconds. Default: the system clock. */
  readonly now?: () => number
  /** Opens the transport. Default: pipes of a program, or HTTP, depending on the configuration. */
  readonly openTransport?: typeof openTransport
}

export interface McpCall {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly isReadOnly: boolean
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
  /** Asks the user questions of the server during the call. */
  readonly promptUser?: AskUser | undefined
}

const DEFAULT_START_TIMEOUT_MS = 30_000
const DEFAULT_CALL_TIMEOUT_MS = 120_000
const DEFAULT_GRACE_MS = 1_000
const FIRST_PAUSE_MS = 1_000 // between two reconnection attempts; doubled each time
const MAX_PAUSE_MS = 60_000
const LIST_CHANGE_PAUSE_MS = 50 // combines several changes
const STDERR_CHARACTERS = 1_000 // last error output of a server before it failed
const NEVER_MS = 2 ** 31 - 1 // disables the client's own limit, because `CallTimer` can be paused

/** A request to the server. It is repeated after a lost connection only if it changes nothing or did not run. */
interface ServerRequest<T> {
  readonly isReadOnly: boolean
  readonly signal: AbortSignal
  readonly run: (client: Client) => Promise<T>
}

export class McpConnection {
  readonly server: string
  readonly #config: McpServerConfig
  readonly #options: ConnectionOptions
  #client: Client | undefined
  #connecting: Promise<Client> | undefined
  /** Connection attempts since the last successful call. */
  #attempts = 0
  #nextAttemptAt = 0
  readonly #calls = new Map<McpCall, CallTimer>()
  #isClosed = false
  #stderr = ""
  #stdio: OpenTransport["stdio"]
  #secrets: readonly string[] = []
  /** Authentication of an HTTP server without a key in its headers, once it was tried. */
  #auth: ServerAuth | undefined
  #status: McpServerStatus
  readonly #sampling: McpSampling
  tools: readonly McpTool[] = []
  problems: readonly string[] = []
  instructions: string | undefined
  /** Whether the server declares that its tools may change. */
  mayChange = false
  /** Whether it has resources or resource templates. */
  hasResources = false
  /** Empty until the server has listed its prompts, which opening does not wait for. */
  prompts: readonly Prompt[] = []

  constructor(server: string, config: McpServerConfig, options: ConnectionOptions) {
    this.server = server
    this.#config = config
    this.#options = options
    this.#status = { server, state: "closed" }
    this.#sampling = new McpSampling({ server, config, model: options.sampling, now: () => this.#now() })
  }

  get status(): McpServerStatus {
    return this.#status
  }

  get trustsReadOnlyHint(): boolean {
    return this.#config.trustReadOnlyHint === true
  }

  get timeoutMs(): number {
    return this.#config.timeoutMs ?? this.#config.timeout ?? this.#options.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS
  }

  /** Connects and lists the tools. A failure is reported in the status and not thrown. */
  async open(): Promise<void> {
    await this.#connect().catch(() => {
      this.#nextAttemptAt = this.#now() + FIRST_PAUSE_MS
    })
  }

  /**
   * Retries a server that failed to start or needed a sign-in, in the background, because the user may have signed in elsewhere. A lost
   * server waits for the next call.
   */
  wake(): void {
    const isAway = this.#status.state === "failed" || this.#status.state === "needs-sign-in"
    if (isAway && this.#now() >= this.#nextAttemptAt && !this.#isClosed) void this.#reconnect().catch(() => undefined)
  }

  call(call: McpCall): Promise<CallToolResult> {
    return this.#ask({ ...call, run: (client) => this.#send(client, call) })
  }

  resources(signal: AbortSignal): Promise<ListedResources> {
    return this.#ask({ isReadOnly: true, signal, run: (client) => listResources(client, this.#limits(signal)) })
  }

  readResource(uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    const run = (client: Client) => client.readResource({ uri }, this.#limits(signal))
    return this.#ask({ isReadOnly: true, signal, run })
  }

  prompt(name: string, given: Readonly<Record<string, string>>, signal: AbortSignal): Promise<GetPromptResult> {
    const run = (client: Client) => client.getPrompt({ name, arguments: { ...given } }, this.#limits(signal))
    return this.#ask({ isReadOnly: true, signal, run })
  }

  #limits(signal: AbortSignal) {
    return { signal, timeout: this.timeoutMs }
  }

  async #ask<T>({ isReadOnly, signal, run }: ServerRequest<T>): Promise<T> {
    const client = this.#client ?? (await this.#reconnect())
    try {
      return this.#succeeded(await run(client))
    } catch (error) {
      const missing = await this.#auth?.missingRights(error)
      if (missing !== undefined) throw new Error(missing, { cause: error })
      if (isSignInNeeded(error)) this.#report({ server: this.server, state: "needs-sign-in", why: errorMessage(error) })
      if (!isLost(error) || signal.aborted) throw error
      this.#forget(client)
      if (this.#stdio?.tooLong) throw new Error(this.#stdio.tooLong)
      if (!isReadOnly && !wasNotRun(error)) {
        const why = this.explain(error)
        throw new Error(`the connection was lost during the call (${why}); it is not known whether the call ran`)
      }
      return this.#succeeded(await run(await this.#reconnect()))
    }
  }

  /** Resets the pause after a successful call. */
  #succeeded<T>(answer: T): T {
    this.#attempts = 0
    this.#nextAttemptAt = 0
    return answer
  }

  /** Describes an error, with secrets redacted. */
  explain(error: unknown): string {
    const url = "url" in this.#config ? this.#config.url : undefined
    return this.#redacted(isLost(error) ? failureReason(error, url) : errorMessage(error))
  }

  get offersSignIn(): boolean {
    return this.#auth !== undefined
  }

  /** Signs the user in and connects. Throws an error with a sentence if either fails. */
  async signIn(user: SignInUser): Promise<void> {
    const { signIns } = this.#options
    if (!this.#auth || !signIns) throw new Error(`The MCP server ${this.server} offers no sign-in.`)
    const { url, challenge } = this.#auth
    await signIn({ url, challenge, store: signIns, user })
    await this.#connecting?.catch(() => undefined)
    await this.#end(this.#client)
    this.#client = undefined
    await this.#connect()
  }

  #redacted(text: string): string {
    return redact(text, [...this.#secrets, ...(this.#auth?.secrets ?? [])])
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#connecting?.catch(() => undefined)
    await this.#end(this.#client)
    this.#client = undefined
    this.#report({ server: this.server, state: "closed" })
  }

  async #send(client: Client, call: McpCall): Promise<CallToolResult> {
    const { tool, input, signal, onProgress } = call
    const timer = new CallTimer(this.timeoutMs)
    this.#calls.set(call, timer)
    try {
      return await client.callTool(
        { name: tool, arguments: input },
        {
          signal: AbortSignal.any([signal, timer.signal]),
          onprogress: (progress) => {
            timer.progressed()
            onProgress(progress)
          },
          timeout: NEVER_MS,
        },
      )
    } catch (error) {
      if (!timer.signal.aborted || signal.aborted) throw error
      throw Object.assign(new Error(`no answer within ${this.timeoutMs / 1_000} s`), { code: "REQUEST_TIMEOUT" })
    } finally {
      timer.stop()
      this.#calls.delete(call)
    }
  }

  /** Asks the user of the newest call that has one. All call timers are paused until the answer. */
  #user(): AskUser | undefined {
    const ask = [...this.#calls.keys()].findLast(({ promptUser }) => promptUser)?.promptUser
    if (!ask) return undefined
    return async (question) => {
      const timers = [...this.#calls.values()]
      for (const timer of timers) timer.pause()
      try {
        return await ask(question)
      } finally {
        for (const timer of timers) timer.resume()
      }
    }
  }

  /**
   * Reconnects. The pause before the next attempt grows until a call succeeds, so a server that crashes at every call is not restarted
   * forever.
   */
  async #reconnect(): Promise<Client> {
    if (this.#connecting) return this.#connecting
    if (this.#isClosed) throw new Error("the connection is closed")
    const now = this.#now()
    if (now < this.#nextAttemptAt) {
      const seconds = Math.ceil((this.#nextAttemptAt - now) / 1_000)
      throw new Error(`the server is not running, and was already restarted. It can be tried again in ${seconds} s`)
    }
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#attempts, MAX_PAUSE_MS)
    this.#attempts++
    return this.#connect().finally(() => {
      this.#nextAttemptAt = this.#now() + pauseMs
    })
  }

  #now(): number {
    return (this.#options.now ?? Date.now)()
  }

  /** Connects. Concurrent calls share the attempt. */
  #connect(): Promise<Client> {
    this.#connecting ??= this.#attempt().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #attempt(): Promise<Client> {
    const messages = new MessageValidator(this.server)
    const { Client } = await mcpLibrary()
    const client = new Client(
      { name: "strata", version: "0.1.0" },
      {
        capabilities: { ...CAPABILITIES, ...(this.#sampling.isOffered ? { sampling: {} } : {}) },
        listChanged: {
          tools: { debounceMs: LIST_CHANGE_PAUSE_MS, onChanged: (_, tools) => this.#relist(client, tools, messages) },
          prompts: { debounceMs: LIST_CHANGE_PAUSE_MS, onChanged: (_, prompts) => this.#takePrompts(client, prompts) },
          resources: {
            debounceMs: LIST_CHANGE_PAUSE_MS,
            autoRefresh: false, // resources are listed on demand
            onChanged: () => this.#takeResources(client),
          },
        },
      },
    )
    answerRequests(client, {
      server: this.server,
      root: this.#directory,
      promptUser: () => this.#user(),
      sampling: this.#sampling,
    })
    const timeout = this.#options.startTimeoutMs ?? DEFAULT_START_TIMEOUT_MS
    const limits = { timeout, signal: AbortSignal.timeout(timeout) } // for the complete start, regardless of the number of messages
    this.#stderr = ""
    this.#status = { server: this.server, state: "starting" }
    try {
      const { transport, stdio } = await this.#transport()
      this.#stdio = stdio
      await client.connect(messages.watch(transport), limits)
      client.onclose = () => this.#forget(client)
      const [listed, isOffering] = await Promise.all([
        client.listTools(undefined, limits),
        hasResources(client, limits),
      ])
      this.#take(listed.tools, messages)
      this.hasResources = isOffering
      this.instructions = client.getInstructions()
      const { tools, resources } = client.getServerCapabilities() ?? {}
      this.mayChange = tools?.listChanged === true || (resources?.listChanged === true && !isOffering)
    } catch (error) {
      await this.#end(client)
      const state = isSignInNeeded(error) ? "needs-sign-in" : "failed"
      const why = state === "failed" ? this.#startFailure(error, limits) : errorMessage(error)
      this.#report({ server: this.server, state, why })
      throw new Error(why)
    }
    this.#client = client
    this.#report({ server: this.server, state: "connected", tools: this.tools.length })
    this.#options.onTools?.()
    void listPrompts(client, limits).then((prompts) => this.#takePrompts(client, prompts))
    return client
  }

  /** Applies a tool list of the library, which only contains names. */
  #take(listed: readonly Pick<McpTool, "name">[], messages: MessageValidator): void {
    const known = messages.toolsNamed(listed.map(({ name }) => name))
    const { tools, problems } = usableTools(this.server, known, messages.takeProblems())
    this.tools = tools
    this.problems = problems
  }

  /** Applies a changed tool list. If it could not be read, the tools remain the same. */
  #relist(client: Client, listed: readonly McpTool[] | null, messages: MessageValidator): void {
    if (this.#client !== client || listed === null) return
    this.#take(listed, messages)
    this.#report({ server: this.server, state: "connected", tools: this.tools.length })
    this.#options.onTools?.()
  }

  #takePrompts(client: Client, listed: readonly Prompt[] | null): void {
    if (this.#client !== client || listed === null) return
    this.prompts = listed
    this.#options.onPrompts?.()
  }

  #takeResources(client: Client): void {
    if (this.#client !== client || this.hasResources) return
    this.hasResources = true
    this.#options.onTools?.()
  }

  get #directory(): string {
    return this.#options.cwd ?? process.cwd()
  }

  #startFailure(
    error: unknown,
    { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal },
  ): string {
    const { code } = error as { readonly code?: unknown }
    const isLate = signal.aborted || code === "REQUEST_TIMEOUT"
    const url = "url" in this.#config ? this.#config.url : undefined
    const why = isLate ? `it did not answer within ${timeout / 1_000} s` : failureReason(error, url)
    return this.#redacted([why, this.#stderr.trim()].filter((part) => part !== "").join(": "))
  }

  #transport(): Promise<OpenTransport> {
    return (this.#options.openTransport ?? openTransport)(this.#config, {
      env: this.#options.env ?? process.env,
      directory: this.#directory,
      graceMs: this.#options.graceMs ?? DEFAULT_GRACE_MS,
      onStderr: (text) => {
        this.#stderr = (this.#stderr + text).slice(-STDERR_CHARACTERS)
      },
      onSecrets: (secrets) => {
        this.#secrets = secrets
      },
      auth: (url, headers) => this.#authFor(url, headers),
    })
  }

  /** Authentication of an HTTP server. A key in the headers is the user's choice, and sign-in would replace it. */
  #authFor(url: URL, headers: Readonly<Record<string, string>>): ServerAuth | undefined {
    const { signIns } = this.#options
    const hasKey = Object.keys(headers).some((name) => name.toLowerCase() === "authorization")
    this.#auth = signIns && !hasKey ? (this.#auth ?? new ServerAuth(this.server, url, signIns)) : undefined
    return this.#auth
  }

  /** Ends the server with all processes it started. */
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
