/**
 * Offers tools of MCP servers. A server that fails to start or dies is reported, and the others continue to work. A slow server joins when
 * it is ready. The client library is loaded with the first server.
 */

import type { GetPromptResult, Tool as McpTool, Progress, Prompt } from "@modelcontextprotocol/client"
import { errorMessage } from "../../../base/errors.ts"
import type { Attachment } from "../../../messages/attachments.ts"
import { clip } from "../../../tools/defaults.ts"
import type {
  DeferredToolAccess,
  OpenToolset,
  ServerPrompt,
  ServerResources,
  Tool,
  ToolOutput,
  ToolServer,
  ToolsetContext,
} from "../../../tools/tool.ts"
import { mcpLibrary } from "./client-library.ts"
import type { McpServerConfig } from "./mcp-config.ts"
import { type ConnectionOptions, McpConnection, type McpServerStatus } from "./mcp-connection.ts"
import { mcpToolName } from "./mcp-names.ts"
import { mcpOutput, resourceOutput } from "./mcp-results.ts"
import { signInFiles } from "./sign-in/sign-in-store.ts"

// Prompts of MCP servers, which the user sends by name. They are content of the server, converted to text.

const MAX_PROMPTS = 100 // per server; each is a line in a menu
const TEXT_CHARACTERS = 100_000

/** Prompts sorted by name, so that the order of the menu is stable. */
export function promptsOf(connection: McpConnection): readonly ServerPrompt[] {
  const taken = new Set<string>()
  const sorted = connection.prompts.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MAX_PROMPTS)
  return sorted.map((prompt) => {
    const command = mcpToolName(connection.server, prompt.name, taken)
    taken.add(command)
    return promptOf(prompt, command, connection)
  })
}

function promptOf(prompt: Prompt, command: string, connection: McpConnection): ServerPrompt {
  return {
    name: prompt.name,
    command,
    description: prompt.description ?? prompt.title ?? prompt.name,
    arguments: (prompt.arguments ?? []).map(({ name, description, required }) => ({
      name,
      isRequired: required === true,
      ...(description === undefined ? {} : { description }),
    })),
    async text(given, signal) {
      try {
        return textOf(await connection.prompt(prompt.name, given, signal))
      } catch (error) {
        const why = signal.aborted ? "interrupted" : connection.explain(error)
        throw new Error(
          `The MCP server ${connection.server} did not return its prompt ${prompt.name}: ${why}. Nothing was sent.`,
        )
      }
    },
  }
}

/** Converts prompt messages to one text. Messages with the model's role are labelled. */
function textOf({ messages }: GetPromptResult): string {
  const texts = messages.map(({ role, content }) => {
    const [block] = mcpOutput({ content: [content] }).content as readonly {
      readonly type: string
      readonly text?: string
    }[]
    const text = block?.text ?? `[${block?.type ?? "content"} left out: a prompt is sent as text]`
    return role === "assistant" ? `(as the assistant)\n${text}` : text
  })
  return clip(texts.join("\n\n"), TEXT_CHARACTERS)
}

export interface McpServers {
  /** Tools available at opening, in the order of the servers and sorted by name within each: the same servers give the same list. */
  readonly tools: readonly Tool[]
  /** Tools of servers that were not ready, and tools that servers added later. */
  readonly later: DeferredToolAccess
  /** Instructions of the servers that were ready at opening. */
  readonly instructions: readonly Attachment[]
  /** Sentences for the user about omitted tools. */
  readonly problems: readonly string[]
  status(): readonly McpServerStatus[]
  servers(): readonly ToolServer[]
  /** Closes all connections and ends started servers. */
  close(): Promise<void>
}

const DESCRIPTION_CHARACTERS = 4_000 // descriptions cost tokens in every request
const INSTRUCTION_CHARACTERS = 8_000
const SUMMARY_CHARACTERS = 200
const OPEN_TIMEOUT_MS = 5_000 // most servers respond in a second or two; one that must be downloaded joins later

/**
 * Connects to all servers concurrently and waits until each has responded or failed, or for `openTimeoutMs`.
 *
 * @example
 * const servers = await connectMcpServers({ files: { command: "mcp-files", args: ["."] }, web: { url: "https://example.com/mcp" } })
 */
export async function connectMcpServers(
  configs: Readonly<Record<string, McpServerConfig>>,
  options: ConnectionOptions = {},
): Promise<McpServers> {
  let revision = 0
  const onTools = () => {
    revision++
    options.onTools?.()
  }
  const connections = Object.entries(configs).map(
    ([name, config]) => new McpConnection(name, config, { ...options, onTools }),
  )
  const opening = Promise.all(connections.map((connection) => connection.open()))
  await (options.openTimeoutMs === undefined ? opening : Promise.race([opening, pause(options.openTimeoutMs)]))
  const named = namer()
  const ready = connections.filter(({ status }) => status.state === "connected")
  const tools = ready.flatMap(named)
  const atOpening = new Set(tools.map(({ name }) => name))
  const isExpected = ready.length < connections.length || ready.some(({ mayChange }) => mayChange)
  const late = new Map<string, Tool>() // preserves the order of arrival
  const openingRevision = revision
  const takeLate = (): readonly Tool[] => {
    const now = new Map(connections.flatMap(named).map((tool) => [tool.name, tool]))
    for (const [name, tool] of now) if (!atOpening.has(name) && !late.has(name)) late.set(name, tool)
    for (const name of late.keys()) if (!now.has(name)) late.delete(name)
    return [...late.values()]
  }
  return {
    tools,
    later: {
      tools: takeLate,
      introductions: () => connections.filter((one) => !ready.includes(one)).flatMap(instructionsOf),
      isExpected,
      revision: () => revision - openingRevision,
      wake: () => {
        for (const connection of connections) connection.wake()
      },
    },
    instructions: ready.flatMap(instructionsOf),
    problems: ready.flatMap(({ problems }) => problems),
    status: () => connections.map(({ status }) => status),
    servers: () => connections.map((connection) => serverOf(connection, named(connection))),
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()))
    },
  }
}

const instructionsOf = ({ server, instructions }: McpConnection): Attachment[] =>
  instructions ? [{ type: "mcp_instructions", server, instructions: clip(instructions, INSTRUCTION_CHARACTERS) }] : []

function serverOf(connection: McpConnection, tools: readonly Tool[]): ToolServer {
  const { status } = connection
  return {
    name: status.server,
    state: status.state,
    tools,
    prompts: promptsOf(connection),
    ...("why" in status ? { why: status.why } : {}),
    ...(connection.offersSignIn ? { signIn: (user) => connection.signIn(user) } : {}),
    ...(connection.hasResources ? { resources: resourcesOf(connection) } : {}),
  }
}

const resourcesOf = (connection: McpConnection): ServerResources => ({
  list: (signal) => explainErrors(connection, () => connection.resources(signal)),
  read: (uri, signal) =>
    explainErrors(connection, async () => resourceOutput(await connection.readResource(uri, signal))),
})

async function explainErrors<T>(connection: McpConnection, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new Error(connection.explain(error))
  }
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })

/** Opens the servers as a toolset. Servers that did not start, and a missing client library, are reported as problems. */
export async function openMcpTools(
  configs: Readonly<Record<string, McpServerConfig>>,
  {
    env,
    cwd,
    root,
    sampling,
    openTimeoutMs = OPEN_TIMEOUT_MS,
    openTransport,
  }: Partial<ToolsetContext> & Pick<ConnectionOptions, "openTimeoutMs" | "openTransport"> = {},
): Promise<OpenToolset> {
  const missing = await mcpLibrary().then(() => undefined, errorMessage)
  if (missing !== undefined) return { tools: [], problems: [missing], close: async () => undefined }
  const servers = await connectMcpServers(configs, {
    openTimeoutMs,
    ...(openTransport ? { openTransport } : {}),
    ...(env ? { env } : {}),
    ...(cwd ? { cwd } : {}),
    ...(sampling ? { sampling } : {}),
    ...(root ? { signIns: signInFiles(root) } : {}),
  })
  return {
    tools: servers.tools,
    later: servers.later,
    introductions: servers.instructions,
    problems: [...servers.status().flatMap(describeProblem), ...servers.problems],
    servers: () => servers.servers(),
    close: () => servers.close(),
  }
}

function describeProblem(status: McpServerStatus): string[] {
  if (status.state === "failed") return [`The MCP server ${status.server} is not available: ${status.why}`]
  if (status.state === "needs-sign-in") return [`The MCP server ${status.server} is not available: ${status.why}.`]
  if (status.state === "starting") return [`The MCP server ${status.server} is still starting. Its tools join later.`]
  return []
}

/** Names and creates tools. A tool keeps its name and identity while the server lists it unchanged. */
function namer(): (connection: McpConnection) => readonly Tool[] {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  const created = new Map<McpTool, Tool>()
  const nameOf = (server: string, tool: string): string => {
    const key = JSON.stringify([server, tool])
    const name = names.get(key) ?? mcpToolName(server, tool, taken)
    names.set(key, name)
    taken.add(name)
    return name
  }
  return (connection) =>
    connection.tools.map((tool) => {
      const known = created.get(tool) ?? createTool(nameOf(connection.server, tool.name), tool, connection)
      created.set(tool, known)
      return known
    })
}

type McpInput = Readonly<Record<string, unknown>>

function createTool(name: string, tool: McpTool, connection: McpConnection): Tool<McpInput> {
  // the server's hint decides whether the call is repeated after a lost connection, but not whether it runs unapproved
  const isReadOnly = tool.annotations?.readOnlyHint === true
  const title = tool.title ?? tool.annotations?.title ?? tool.name
  return {
    name,
    description: clip(tool.description ?? title, DESCRIPTION_CHARACTERS),
    inputSchema: tool.inputSchema, // the server validates the input
    readOnly: isReadOnly && connection.trustsReadOnlyHint,
    question: (input) => ({
      kind: "other",
      summary: clip(`${connection.server}: ${title} ${JSON.stringify(input)}`, SUMMARY_CHARACTERS),
      preview: JSON.stringify(input, undefined, 2),
    }),
    async execute(input, { signal, progress, promptUser }) {
      try {
        const onProgress = (step: Progress) => progress(describeProgress(step))
        return mcpOutput(await connection.call({ tool: tool.name, input, isReadOnly, signal, onProgress, promptUser }))
      } catch (error) {
        return failed(
          `${connection.server} did not carry out ${tool.name}: ${describeFailure(error, signal, connection)}.`,
        )
      }
    },
  }
}

function describeProgress({ progress, total, message }: Progress): string {
  const count = total === undefined ? `${progress}` : `${progress}/${total}`
  return message ? `${message} (${count})` : count
}

function describeFailure(error: unknown, signal: AbortSignal, connection: McpConnection): string {
  if (signal.aborted) return "interrupted"
  const { code } = error as { readonly code?: unknown }
  if (code === "REQUEST_TIMEOUT") return `no answer within ${connection.timeoutMs / 1_000} s`
  return connection.explain(error)
}

const failed = (content: string): ToolOutput => ({ content, isError: true })
