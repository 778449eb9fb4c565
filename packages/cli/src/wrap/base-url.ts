/** The base URL that a client would use without Strata, from its settings files or the environment. */
import { readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import type { CommandCall } from "../command.ts"
import type { ClientName } from "./client-names.ts"

export interface BaseUrlInForce {
  readonly url: string
  /** The settings file that sets the URL. Absent if the environment does. */
  readonly file?: string
}

type ClientContext = Pick<CommandCall, "cwd" | "env">

const home = ({ env }: ClientContext) => env.HOME || homedir()

/** Settings files in order of precedence. */
const CLAUDE_FILES = (place: ClientContext) => [
  ...["/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json"],
  join(place.cwd, ".claude", "settings.local.json"),
  join(place.cwd, ".claude", "settings.json"),
  join(place.env.CLAUDE_CONFIG_DIR || join(home(place), ".claude"), "settings.json"),
]
const PI_FILES = (place: ClientContext) => [
  join(place.env.PI_CODING_AGENT_DIR || join(home(place), ".pi", "agent"), "models.json"),
]
const OPENCODE_FILES = (place: ClientContext) => [
  join(place.cwd, "opencode.json"),
  join(place.env.XDG_CONFIG_HOME || join(home(place), ".config"), "opencode", "opencode.json"),
]

const WHERE: Readonly<
  Record<ClientName, { readonly files: (place: ClientContext) => string[]; readonly path: string[] }>
> = {
  claude: { files: CLAUDE_FILES, path: ["env", "ANTHROPIC_BASE_URL"] },
  pi: { files: PI_FILES, path: ["providers", "anthropic", "baseUrl"] },
  opencode: { files: OPENCODE_FILES, path: ["provider", "anthropic", "options", "baseURL"] },
}

export async function baseUrlInForce(
  client: ClientName | undefined,
  place: ClientContext,
): Promise<BaseUrlInForce | undefined> {
  if (client) {
    const { files, path } = WHERE[client]
    const set = await firstSet(files(place), path)
    // opencode's URL ends with the API version
    if (set) return { url: set.value.replace(client === "opencode" ? /\/v1\/?$/ : /$^/, ""), file: set.file }
  }
  const url = place.env.ANTHROPIC_BASE_URL
  return url ? { url } : undefined
}

/** The value of a variable in Claude Code's settings. */
export const claudeVariable = (name: string, place: ClientContext) => firstSet(CLAUDE_FILES(place), ["env", name])

async function firstSet(files: readonly string[], path: readonly string[]) {
  for (const file of files) {
    const value = path.reduce<unknown>(
      (at, key) => (at as Record<string, unknown> | undefined)?.[key],
      await read(file),
    )
    if (typeof value === "string" && value !== "") return { file, value }
  }
  return undefined
}

/** Reads a settings file. An unreadable file counts as empty; the client itself reports the error. */
async function read(file: string): Promise<Record<string, unknown> | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"))
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
