/** What an installation changes in the settings of Claude Code: a plugin directory, and the options of the plugin. */
import { homedir } from "node:os"
import { delimiter, join } from "node:path"
import { StrataError } from "@strata/core"
import type { Environment, Installation } from "../clients.ts"
import { pluginDirectory } from "../plugin-directory.ts"
import { type FileChange, textIn } from "./file-changes.ts"

const DIRECTORIES = "CLAUDE_CODE_PLUGIN_DIRS"
const PLUGIN = pluginDirectory("claude-code")
const NAME = "strata"
const HOOK_EVENT = "SessionStart"

type Json = Readonly<Record<string, unknown>>

export async function installClaudeCode({ env, program, mode, hasMods }: Installation): Promise<readonly FileChange[]> {
  const path = settingsFile(env)
  const before = await textIn(path)
  const settings = withoutStrata(parseSettings(path, before ?? "{}"))
  const after = hasMods
    ? { ...settings, env: withDirectory(settings), pluginConfigs: withOptions(settings, { mode, program }) }
    : { ...settings, hooks: withHook(settings, program) }
  return [{ path, before, after: formatSettings(after, before) }]
}

/** Removes Strata's additions from the settings. */
export const withoutClaudeCode = (path: string, text: string): string =>
  formatSettings(withoutStrata(parseSettings(path, text)), text)

const settingsFile = (env: Environment) =>
  join(env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? homedir(), ".claude"), "settings.json")

const part = (settings: Json, name: string): Json => Object(settings[name]) as Json

const directoriesIn = (settings: Json): readonly string[] =>
  String(part(settings, "env")[DIRECTORIES] ?? "")
    .split(delimiter)
    .filter((each) => each !== "")

const withDirectory = (settings: Json): Json => ({
  ...part(settings, "env"),
  [DIRECTORIES]: [...directoriesIn(settings), PLUGIN].join(delimiter),
})

const withOptions = (settings: Json, { mode, program }: Pick<Installation, "mode" | "program">): Json => ({
  ...part(settings, "pluginConfigs"),
  [NAME]: { options: { mode, command: program[0], script: program[1] } },
})

/**
 * Archives sessions at the end of each and at the start of the next, which also finds those that crashed. The command starts a background
 * process and ends at once, because Claude Code waits for it and would add its output to the context.
 */
const ARCHIVE_COMMAND = "archive --hook"
const KEEP_EVENTS = ["SessionStart", "SessionEnd"]

export async function installArchiveHook({
  env,
  program,
}: Pick<Installation, "env" | "program">): Promise<readonly FileChange[]> {
  const path = settingsFile(env)
  const before = await textIn(path)
  const settings = withoutArchiveCommand(parseSettings(path, before ?? "{}"))
  const hooks = part(settings, "hooks")
  const own = { hooks: [{ type: "command", command: hookCommand(program, ARCHIVE_COMMAND) }] }
  const added = KEEP_EVENTS.map((event) => [event, [...list(hooks[event]), own]])
  const after = { ...settings, hooks: { ...hooks, ...Object.fromEntries(added) } }
  return [{ path, before, after: formatSettings(after, before) }]
}

export const withoutArchiveHook = (path: string, text: string): string =>
  formatSettings(withoutArchiveCommand(parseSettings(path, text)), text)

function withoutArchiveCommand(settings: Json): Json {
  const hooks: Record<string, unknown> = { ...part(settings, "hooks") }
  for (const event of KEEP_EVENTS) {
    const others = list(hooks[event]).filter((each) => !isOurs(each, ARCHIVE_COMMAND))
    if (others.length > 0) hooks[event] = others
    else delete hooks[event]
  }
  return withParts(settings, { hooks })
}

/** For versions without mods: the record follows the client's own summary. */
function withHook(settings: Json, program: readonly string[]): Json {
  const hooks = part(settings, "hooks")
  const own = { matcher: "compact", hooks: [{ type: "command", command: hookCommand(program, HOOK) }] }
  return { ...hooks, [HOOK_EVENT]: [...list(hooks[HOOK_EVENT]), own] }
}

const HOOK = "compact-messages --hook"
const hookCommand = (program: readonly string[], words: string) =>
  `${program.map((word) => JSON.stringify(word)).join(" ")} ${words}`
const isOurs = (hook: unknown, words: string): boolean => JSON.stringify(hook).includes(words)

function withoutStrata(settings: Json): Json {
  const { [NAME]: _, ...configs } = part(settings, "pluginConfigs")
  const directories = directoriesIn(settings).filter((each) => each !== PLUGIN)
  const { [DIRECTORIES]: __, ...env } = part(settings, "env")
  const { [HOOK_EVENT]: started, ...hooks } = part(settings, "hooks")
  const others = list(started).filter((each) => !isOurs(each, HOOK))
  return withParts(settings, {
    pluginConfigs: configs,
    env: directories.length > 0 ? { ...env, [DIRECTORIES]: directories.join(delimiter) } : env,
    hooks: others.length > 0 ? { ...hooks, [HOOK_EVENT]: others } : hooks,
  })
}

/** Omits an empty part that did not exist before. */
function withParts(settings: Json, parts: Readonly<Record<string, Json>>): Json {
  const all: Record<string, unknown> = { ...settings }
  for (const [name, value] of Object.entries(parts)) {
    if (Object.keys(value).length > 0) all[name] = value
    else if (name in settings && Object.keys(part(settings, name)).length > 0) delete all[name]
  }
  return all
}

interface NumberSource {
  readonly source?: string
}
/** Newer than the types of the language version that is compiled for. */
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, revive: (key: string, value: unknown, at: NumberSource) => unknown): unknown
  rawJSON(text: string): unknown
}
/** Preserves the spelling of numbers: `1.10`, or more digits than a JavaScript number has. */
const parseExactly = (text: string): unknown =>
  parse(text, (_, value, { source }) => (typeof value === "number" && source !== undefined ? rawJSON(source) : value))

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function parseSettings(path: string, text: string): Json {
  try {
    const settings: unknown = parseExactly(text)
    if (typeof settings === "object" && settings !== null && !Array.isArray(settings)) return settings as Json
  } catch {
    // reported below
  }
  throw new StrataError(`The settings of Claude Code cannot be read as JSON: ${path}. Nothing was changed.`)
}

function formatSettings(settings: Json, before: string | undefined): string {
  const indent = /^[ \t]+/m.exec(before ?? "")?.[0] ?? "  "
  return `${JSON.stringify(settings, null, indent)}\n`
}
