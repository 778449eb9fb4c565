/**
 * `.mcp.json`: a project's MCP servers, in a file that other programs read too. An unusable server is skipped with a message, because the
 * file was not written for Strata. The others apply like servers in the project's settings, once the user trusts them.
 */
import { join } from "node:path"
import { SettingsError } from "../base/errors.ts"
import { escapeInvisible } from "../base/text.ts"
import { readSettingsFile } from "./settings-files.ts"
import type { Settings } from "./settings-schema.ts"

const FILE = ".mcp.json"
/** Keys that Strata uses. Keys of other programs are ignored. */
const KEYS = ["type", "command", "args", "env", "cwd", "timeout", "url", "headers"]

export interface McpFiles {
  /** One layer per file with servers, in the order of the directories. */
  readonly layers: readonly { readonly source: string; readonly values: Pick<Settings, "mcpServers"> }[]
  /** Problems to show the user. */
  readonly problems: readonly string[]
}

export async function readMcpFiles(directories: readonly string[]): Promise<McpFiles> {
  const read = await Promise.all([...new Set(directories)].map((directory) => readFile(join(directory, FILE))))
  return {
    layers: read.flatMap(({ source, servers }) =>
      Object.keys(servers).length === 0 ? [] : [{ source, values: { mcpServers: servers } }],
    ),
    problems: read.flatMap(({ problems }) => problems),
  }
}

interface McpFile {
  readonly source: string
  readonly servers: Settings["mcpServers"]
  readonly problems: readonly string[]
}

async function readFile(source: string): Promise<McpFile> {
  try {
    const listed = (await readSettingsFile(source)) as { readonly mcpServers?: unknown } | null
    return { source, ...(await parseServers(listed?.mcpServers, source)) }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    const problems = error.problems.map(({ reason }) => `${escapeInvisible(source)} is not used: it ${reason}.`)
    return { source, servers: {}, problems }
  }
}

/** Parses a list of servers that other programs read too. */
export async function parseServers(listed: unknown, source: string): Promise<Omit<McpFile, "source">> {
  const servers: Settings["mcpServers"] = {}
  const problems: string[] = []
  const entries = Object.entries(listed ?? {})
  if (entries.length === 0) return { servers, problems }
  const { mcpServerSchema } = await import("./settings-schema.ts") // loads zod
  for (const [name, given] of entries) {
    if (isDisabled(given)) continue
    const parsed = mcpServerSchema.safeParse(withKnownKeys(given))
    if (parsed.success) servers[name] = parsed.data
    else
      problems.push(
        `The MCP server ${escapeInvisible(name)} in ${escapeInvisible(source)} is left out: it ${describeInvalidServer(given)}.`,
      )
  }
  return { servers, problems }
}

const isDisabled = (server: unknown): boolean => (server as { readonly disabled?: unknown } | null)?.disabled === true

/** Keeps the known keys. Converts numbers and booleans in `env` to text. */
function withKnownKeys(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given
  const kept = Object.fromEntries(Object.entries(given).filter(([key]) => KEYS.includes(key)))
  if (typeof kept.env !== "object" || kept.env === null) return kept
  const env = Object.entries(kept.env).map(([name, value]) => [name, isPlain(value) ? String(value) : value])
  return { ...kept, env: Object.fromEntries(env) }
}

const isPlain = (value: unknown): boolean => typeof value === "number" || typeof value === "boolean"

function describeInvalidServer(given: unknown): string {
  const { type, command, url } = (given ?? {}) as Readonly<Record<string, unknown>>
  if (typeof type === "string" && !["stdio", "http", "streamable-http", "sse"].includes(type))
    return `has the type ${escapeInvisible(JSON.stringify(type))}, and Strata knows stdio, http and sse`
  if (typeof command !== "string" && typeof url !== "string") return "needs a command to start, or a url"
  if (typeof command === "string" && typeof url === "string") return "has both a command and a url"
  if (typeof url === "string" && !url.includes("${") && !URL.canParse(url)) return "has a url that is not valid"
  return "has a value of the wrong kind"
}
