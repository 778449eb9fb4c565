/** The items in a project's settings that need trust, as a readable list, and their fingerprint. */
import { hash } from "node:crypto"
import { basename, dirname } from "node:path"
import { escapeInvisible } from "../base/text.ts"
import type { AgentFile } from "./agent-files.ts"
import type { Settings } from "./settings-schema.ts"

/**
 * One thing that a project would run, allow, send or tell a model, as plain data. The property names are part of stored fingerprints, so
 * they do not change.
 */
export interface TrustItem {
  readonly kind:
    | "hook"
    | "MCP server"
    | "allow rule"
    | "mode"
    | "setting"
    | "agent"
    | "agent memory"
    | "command"
    | "skill"
    | "variable"
    | "output style"
  /** The event of a hook, the name of a server or setting, or the file of an agent. */
  readonly name?: string
  /** A regular expression for the tools or sources of a hook. */
  readonly matcher?: string
  /** The command, URL, rule, value or complete file of an agent, verbatim. */
  readonly what: string
  /** Environment variables or headers of an MCP server. */
  readonly variables?: Readonly<Record<string, string>>
  /** Names of the user's own variables that a hook or server receives. They may be keys. */
  readonly secrets?: readonly string[]
  /** The file that contains the item. */
  readonly source: string
}

export function listTrustItems(source: string, values: Partial<Settings>): readonly TrustItem[] {
  const { hooks = {}, mcpServers = {}, permissions = {}, models = {}, figures = {}, ...rest } = values
  const setting = (name: string, value: unknown) => ({ kind: "setting" as const, name, what: JSON.stringify(value) })
  const parts: readonly Omit<TrustItem, "source">[] = [
    ...Object.entries(hooks).flatMap(([event, commands]) => commands.map((hook) => hookTrustItem(event, hook))),
    ...Object.entries(mcpServers).map(([name, server]) => serverTrustItem(name, server)),
    ...(permissions.mode === undefined ? [] : [{ kind: "mode" as const, what: permissions.mode }]),
    ...(permissions.allow ?? []).map((rule) => ({ kind: "allow rule" as const, what: rule })),
    ...Object.entries(models).map(([name, value]) => setting(`models.${name}`, value)),
    ...Object.entries(figures).map(([name, value]) => setting(`figures.${name}`, value)),
    ...Object.entries(rest).map(([name, value]) => setting(name, value)),
  ]
  return parts.map((part) => ({ ...part, source }))
}

export const agentTrustItem = ({ name, text, path }: AgentFile): TrustItem => ({
  kind: "agent",
  name,
  what: text,
  source: path,
})

export const commandTrustItem = (file: AgentFile): TrustItem => ({ ...agentTrustItem(file), kind: "command" })

export const skillTrustItem = (file: AgentFile): TrustItem => ({ ...agentTrustItem(file), kind: "skill" })

/** The contents change with every run of an agent, so they are not part of the fingerprint. */
export const memoryTrustItem = (directory: string): TrustItem => ({
  kind: "agent memory",
  what: "what agents of this project remember; they read it when they start",
  source: directory,
})

type HookCommand = NonNullable<Settings["hooks"]["Stop"]>[number]

function hookTrustItem(
  name: string,
  { command, matcher, passEnv, timeoutSeconds: _, projectDirectory: __, ...rest }: HookCommand,
) {
  rest satisfies Readonly<Record<string, never>> // a new field must be displayed too
  return {
    kind: "hook" as const,
    name,
    ...(matcher === undefined ? {} : { matcher }),
    what: command,
    ...(passEnv === undefined ? {} : { secrets: passEnv }),
  }
}

function serverTrustItem(name: string, server: Settings["mcpServers"][string]): Omit<TrustItem, "source"> {
  const [started, variables] = "url" in server ? [server.url, server.headers] : [commandLine(server), server.env]
  const what = server.sampling === "allow" ? `${started} (may use the model without asking)` : started
  const secrets = [what, ...Object.values(variables ?? {})].flatMap(variableNames)
  return {
    kind: "MCP server",
    name,
    what,
    ...(variables === undefined ? {} : { variables }),
    ...(secrets.length === 0 ? {} : { secrets: [...new Set(secrets)] }),
  }
}

type ProgramServer = Extract<Settings["mcpServers"][string], { readonly command: string }>

/** Includes the directory, because a command such as `./server` can mean another program there. */
function commandLine({ command, args = [], cwd }: ProgramServer): string {
  const line = [command, ...args].map(quoteArgument).join(" ")
  return cwd === undefined ? line : `${line} (in ${cwd})`
}

/** Names of the user's variables in a server's configuration, written as `${NAME}` or `${NAME:-default}`. */
const variableNames = (text: string): string[] => [...text.matchAll(/\$\{([A-Za-z_]\w*)/g)].map(([, name]) => name!)

/** Quotes an argument with spaces or quotes, so that it reads as one word. */
const quoteArgument = (text: string): string => (/^[^\s"'\\]+$/.test(text) ? text : JSON.stringify(text))

export interface FingerprintInput {
  /** Settings files by name, with the parts that need trust. */
  readonly settings: readonly { readonly source: string; readonly needsTrust: Partial<Settings> }[]
  readonly agents: readonly AgentFile[]
  readonly commands: readonly AgentFile[]
  readonly skills: readonly AgentFile[]
}

/** The fingerprint of everything that needs trust. Equal fingerprints mean equal settings and files. */
export function fingerprint({ settings, agents, commands, skills }: FingerprintInput): string {
  const ofSettings = settings.map(({ source, needsTrust }) => [fileName(source), needsTrust])
  if (agents.length + commands.length + skills.length === 0) return canonicalHash(ofSettings)
  const texts = (files: readonly AgentFile[]) => files.map(({ name, text }) => [name, text])
  const ofCommands = commands.length === 0 ? {} : { commands: texts(commands) }
  const ofSkills = skills.length === 0 ? {} : { skills: texts(skills) }
  return canonicalHash({ settings: ofSettings, agents: texts(agents), ...ofCommands, ...ofSkills })
}

/** The file name, with its folder if the name exists in two folders. */
const fileName = (source: string): string =>
  basename(dirname(source)) === ".claude" ? `.claude/${basename(source)}` : basename(source)

/** The fingerprint of one item, to recognize items that were trusted earlier. */
export const trustItemFingerprint = ({ source, ...part }: TrustItem): string => canonicalHash([basename(source), part])

export const canonicalHash = (value: unknown): string => hash("sha256", canonicalJson(value), "hex")

/** JSON with sorted keys, because the order in a file does not matter. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`).join(",")}}`
}

export interface TrustItemTextOptions {
  /** Whether to show the values of variables and headers. They may be secrets, so logs omit them. Default false. */
  readonly values?: boolean
}

/** The title of an item without its content: `hook on SessionStart`, `MCP server docs`. */
export function trustItemTitle({ kind, name, matcher }: TrustItem): string {
  if (kind === "hook") return escapeInvisible(`hook on ${name}${matcher ? ` for ${matcher}` : ""}`)
  if (kind === "mode") return "permission mode"
  return escapeInvisible([kind, name].filter(Boolean).join(" "))
}

/** The variables of an item: `NAME=value` for each variable or header of a server, `your NAME` for each of the user's own. */
export const trustItemVariables = (
  { variables = {}, secrets = [] }: TrustItem,
  { values = false }: TrustItemTextOptions = {},
): string[] => [
  ...Object.entries(variables).map(([name, value]) => escapeInvisible(`${name}=${values ? value : "(hidden)"}`)),
  ...secrets.map((name) => escapeInvisible(`your ${name}`)),
]

/**
 * An item as one line without control characters, such as `hook on SessionStart: ./prepare.sh`. Never truncated. Agents, commands and
 * skills are only named.
 */
export function trustItemText(part: TrustItem, options: TrustItemTextOptions = {}): string {
  if (part.kind === "agent" || part.kind === "command" || part.kind === "skill") return trustItemTitle(part)
  const variables = trustItemVariables(part, options)
  const more = variables.length === 0 ? "" : ` with ${variables.join(", ")}`
  return `${trustItemTitle(part)}: ${escapeInvisible(part.what)}${more}`
}
