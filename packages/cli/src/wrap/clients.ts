/** Prepares known clients so that their requests pass through the proxy: for one process, without changing its files. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { CommandCall } from "../command.ts"
import type { BaseUrlInForce } from "./base-url.ts"
import type { ClientName } from "./client-names.ts"

type Environment = CommandCall["env"]

export interface PreparedClient {
  readonly env: Environment
  /** Arguments before those of the user. */
  readonly args: readonly string[]
  /** Remarks for the user. */
  readonly remarks: readonly string[]
  /** Removes temporary files. */
  remove(): Promise<void>
}

interface ClientOptions {
  readonly url: string
  readonly env: Environment
  readonly args: readonly string[]
  /** The client's own base URL, if one is set. */
  readonly inForce: BaseUrlInForce | undefined
}

export async function prepare(client: ClientName | undefined, given: ClientOptions): Promise<PreparedClient> {
  // with a custom base URL, Claude Code loads all tools at once unless this is set; other programs may start Claude Code
  const tools = given.env.ENABLE_TOOL_SEARCH === undefined ? { ENABLE_TOOL_SEARCH: "true" } : {}
  const env = { ...given.env, ANTHROPIC_BASE_URL: given.url, ...tools, ...withoutProxy(given.env) }
  const plain: PreparedClient = { env, args: [], remarks: [], remove: async () => {} }
  switch (client) {
    case "claude":
      return forClaude(plain, given)
    case "pi":
      return PI_OWN_COMMANDS.has(given.args[0] ?? "") ? plain : { ...plain, ...(await withFile(PI_EXTENSION)) }
    case "opencode":
      return { ...plain, env: { ...env, OPENCODE_CONFIG_CONTENT: opencodeSettings(given) } }
    default:
      return plain
  }
}

const NO_PROXY = ["127.0.0.1", "localhost"]

/** Exempts this machine from a corporate HTTP proxy. Programs read either spelling of the variable. */
function withoutProxy(env: Environment): Environment {
  const listed = (env.no_proxy || env.NO_PROXY || "").split(",").map((name) => name.trim())
  const all = [...new Set([...listed.filter((name) => name !== ""), ...NO_PROXY])].join(",")
  return { NO_PROXY: all, no_proxy: all }
}

/** Claude Code's settings take precedence over the environment, and a settings file on the command line over both. */
async function forClaude(plain: PreparedClient, { url, args, inForce }: ClientOptions): Promise<PreparedClient> {
  if (inForce?.file === undefined) return plain
  if (args.includes("--settings"))
    return {
      ...plain,
      remarks: [
        `${inForce.file} sets a base URL, and your --settings keeps Strata from setting another: this session may bypass Strata.`,
      ],
    }
  const text = JSON.stringify({ env: { ANTHROPIC_BASE_URL: url } })
  return { ...plain, ...(await withFile({ name: "settings.json", text, option: "--settings" })) }
}

/** Commands of pi that start no conversation and accept no extension. */
const PI_OWN_COMMANDS = new Set(["install", "remove", "uninstall", "update", "list", "config"])

const PI_EXTENSION = {
  name: "strata-proxy.js",
  text: `export default (pi) => pi.registerProvider("anthropic", { baseUrl: process.env.ANTHROPIC_BASE_URL })\n`,
  option: "--extension",
}

async function withFile({ name, text, option }: { name: string; text: string; option: string }) {
  const directory = await mkdtemp(join(tmpdir(), "strata-wrap-")) // accessible to the user only
  const path = join(directory, name)
  await writeFile(path, text, { mode: 0o600 })
  return { args: [option, path], remove: () => rm(directory, { recursive: true, force: true }) }
}

type Settings = Readonly<Record<string, unknown>>

/** Adds the base URL to opencode's settings from the environment and preserves the rest. */
function opencodeSettings({ url, env }: ClientOptions): string {
  const own = objectIn(parsed(env.OPENCODE_CONFIG_CONTENT))
  const provider = objectIn(own.provider)
  const anthropic = objectIn(provider.anthropic)
  const options = { ...objectIn(anthropic.options), baseURL: `${url}/v1` }
  return JSON.stringify({ ...own, provider: { ...provider, anthropic: { ...anthropic, options } } })
}

const objectIn = (value: unknown): Settings => (typeof value === "object" && value !== null ? (value as Settings) : {})

function parsed(text: string | undefined): unknown {
  try {
    return text ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
