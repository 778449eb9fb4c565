/**
 * Offers the tools of MCP servers like any other tools. A server that fails to start or dies is reported, and the others keep working.
 * A slow server joins when it is ready. The client library is loaded with the first server.
 */

import type { GetPromptResult, Tool as McpTool, Progress, Prompt } from "@modelcontextprotocol/client"
import { messageOf } from "../../../base/errors.ts"
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

// Prompts of MCP servers: texts that the person sends by name. What a server returns is content of the server, flattened to text.

const MAX_PROMPTS = 100 // of one server: each is a line in a menu
const TEXT_CHARACTERS = 100_000

/** By name, so that the menu keeps its order. */
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

/** Messages in the role of the model are marked: all of them reach it as one text. */
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
  /** Those of the opening, in the order of the servers, by name within each: the same servers give the same list. */
  readonly tools: readonly Tool[]
  /** Tools of servers that were not ready, and tools that a server added. */
  readonly later: DeferredToolAccess
  /** What the servers of the opening say about using their tools. */
  readonly instructions: readonly Attachment[]
  /** For the person: tools that were left out. */
  readonly problems: readonly string[]
  status(): readonly McpServerStatus[]
  servers(): readonly ToolServer[]
  /** Closes all connections and ends the servers it started. */
  close(): Promise<void>
}

const DESCRIPTION_CHARACTERS = 4_000 // a description costs tokens in every request
const INSTRUCTION_CHARACTERS = 8_000
const SUMMARY_CHARACTERS = 200
const PATIENCE_MS = 5_000 // most servers answer in a second or two; one that is downloaded first joins later

/**
 * Connects to all servers at once and waits until each has answered or failed, or until `lockTimeoutMs` is over.
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
  await (options.patienceMs === undefined ? opening : Promise.race([opening, pause(options.patienceMs)]))
  const named = namer()
  const ready = connections.filter(({ status }) => status.state === "connected")
  const tools = ready.flatMap(named)
  const atOpening = new Set(tools.map(({ name }) => name))
  const isExpected = ready.length < connections.length || ready.some(({ mayChange }) => mayChange)
  const late = new Map<string, Tool>() // keeps the order in which they came
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
  list: (signal) => explained(connection, () => connection.resources(signal)),
  read: (uri, signal) => explained(connection, async () => resourceOutput(await connection.readResource(uri, signal))),
})

async function explained<T>(connection: McpConnection, work: () => Promise<T>): Promise<T> {
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

/** As a toolset: servers that did not start are its problems, and so is a library that is not installed. */
export async function openMcpTools(
  configs: Readonly<Record<string, McpServerConfig>>,
  {
    env,
    cwd,
    root,
    sampling,
    patienceMs = PATIENCE_MS,
    openTransport,
  }: Partial<ToolsetContext> & Pick<ConnectionOptions, "patienceMs" | "openTransport"> = {},
): Promise<OpenToolset> {
  const missing = await mcpLibrary().then(() => undefined, messageOf)
  if (missing !== undefined) return { tools: [], problems: [missing], close: async () => undefined }
  const servers = await connectMcpServers(configs, {
    patienceMs,
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
    problems: [...servers.status().flatMap(problemOf), ...servers.problems],
    servers: () => servers.servers(),
    close: () => servers.close(),
  }
}

function problemOf(status: McpServerStatus): string[] {
  if (status.state === "failed") return [`The MCP server ${status.server} is not available: ${status.why}`]
  if (status.state === "needs-sign-in") return [`The MCP server ${status.server} is not available: ${status.why}.`]
  if (status.state === "starting") return [`The MCP server ${status.server} is still starting. Its tools join later.`]
  return []
}

/** A tool keeps its name and is the same object while the server lists it unchanged. */
function namer(): (connection: McpConnection) => readonly Tool[] {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  const made = new Map<McpTool, Tool>()
  const nameOf = (server: string, tool: string): string => {
    const key = JSON.stringify([server, tool])
    const name = names.get(key) ?? mcpToolName(server, tool, taken)
    names.set(key, name)
    taken.add(name)
    return name
  }
  return (connection) =>
    connection.tools.map((tool) => {
      const known = made.get(tool) ?? toolOf(nameOf(connection.server, tool.name), tool, connection)
      made.set(tool, known)
      return known
    })
}

type McpInput = Readonly<Record<string, unknown>>

function toolOf(name: string, tool: McpTool, connection: McpConnection): Tool<McpInput> {
  // whether it may be repeated after a lost connection is the server's own affair; whether it runs unasked is not
  const isReadOnly = tool.annotations?.readOnlyHint === true
  const title = tool.title ?? tool.annotations?.title ?? tool.name
  return {
    name,
    description: clip(tool.description ?? title, DESCRIPTION_CHARACTERS),
    inputSchema: tool.inputSchema, // the server checks the input
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
        return failed(`${connection.server} did not carry out ${tool.name}: ${failureOf(error, signal, connection)}.`)
      }
    },
  }
}

function describeProgress({ progress, total, message }: Progress): string {
  const count = total === undefined ? `${progress}` : `${progress}/${total}`
  return message ? `${message} (${count})` : count
}

function failureOf(error: unknown, signal: AbortSignal, connection: McpConnection): string {
  if (signal.aborted) return "interrupted"
  const { code } = error as { readonly code?: unknown }
  if (code === "REQUEST_TIMEOUT") return `no answer within ${connection.timeoutMs / 1_000} s`
  return connection.explain(error)
}

const failed = (content: string): ToolOutput => ({ content, isError: true })
