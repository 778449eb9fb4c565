/**
 * Reads settings for Claude Code: `.claude/settings.json` and `.claude/settings.local.json`. Rules, the mode and hooks are converted to
 * Strata's settings. Everything without a counterpart is reported, so that no one relies on it.
 */
import { join } from "node:path"
import { HOOK_EVENTS, type HookEvent, type PermissionMode } from "../base/enums.ts"
import { statIfReachable } from "../base/files.ts"
import { escapeInvisible } from "../base/text.ts"
import { RULE_LISTS, translateRules } from "./claude-rules.ts"
import { readSettingsFile } from "./settings-files.ts"
import type { Settings } from "./settings-schema.ts"

const FILES = ["settings.json", "settings.local.json"]
const MAX_LISTED = 10
const MAX_LISTED_LENGTH = 80 // characters
const HOOK_SECONDS = { byDefault: 600, min: 0.1, max: 3600 } // hooks of Claude Code may take ten minutes

export interface ClaudeSettings {
  readonly source: string
  readonly values: Partial<Settings>
  /** Keys without a counterpart in Strata. */
  readonly unused: readonly string[]
}

/** The settings files of one directory, the shared file first. Missing files are omitted. */
export async function readClaudeSettings(directory: string): Promise<readonly ClaudeSettings[]> {
  const folder = join(directory, ".claude")
  if (statIfReachable(folder) === undefined) return []
  const read = FILES.map(async (name) => ({
    source: join(folder, name),
    given: await readSettingsFile(join(folder, name)),
  }))
  const files = (await Promise.all(read)).filter(({ given }) => isRecord(given) && Object.keys(given).length > 0)
  const hasHooks = files.every(({ given }) => asRecord(given).disableAllHooks !== true)
  return files.map(({ source, given }) => ({ source, ...translateSettings(asRecord(given), { directory, hasHooks }) }))
}

/** Describes everything that was found but is not used, in one sentence. */
export function describeUnused(found: readonly ClaudeSettings[]): string | undefined {
  const files = found
    .filter(({ unused }) => unused.length > 0)
    .map(({ source, unused }) => `${joinNames([...new Set(unused)])} (${escapeInvisible(source)})`)
  return files.length === 0 ? undefined : `Found and not used, because Strata has no counterpart: ${files.join("; ")}.`
}

/** Joins names from an untrusted file, escaped and limited in number and length. */
function joinNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).map((name) => escapeInvisible(name.slice(0, MAX_LISTED_LENGTH)))
  const more = names.length - shown.length
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ")
}

export type Fields = Readonly<Record<string, unknown>>

interface TranslationContext {
  /** The directory that contains `.claude`, or the working directory for the user's own settings. */
  readonly directory: string
  readonly hasHooks: boolean
}

/** Keys that are converted, or deliberately ignored. */
const KNOWN_KEYS: ReadonlySet<string> = new Set([
  "$schema",
  "permissions",
  "hooks",
  "disableAllHooks",
  "autoCompactEnabled",
  "autoMemoryEnabled",
])

/** Converts the settings of one file. */
export function translateSettings(
  given: Fields,
  { directory, hasHooks }: TranslationContext,
): Omit<ClaudeSettings, "source"> {
  const permissions = translatePermissions(asRecord(given.permissions), directory)
  const hooks = hasHooks ? translateHooks(asRecord(given.hooks), directory) : { values: {}, unused: [] }
  const { autoCompactEnabled: compacts } = given
  return {
    values: {
      ...(typeof compacts === "boolean" ? { autoCompactEnabled: compacts } : {}),
      ...(given.autoMemoryEnabled === false ? { memory: "off" } : {}),
      ...(isEmpty(permissions.values) ? {} : { permissions: permissions.values }),
      ...(isEmpty(hooks.values) ? {} : { hooks: hooks.values }),
    },
    unused: [...Object.keys(given).filter((key) => !KNOWN_KEYS.has(key)), ...permissions.unused, ...hooks.unused],
  }
}

interface TranslationResult<T> {
  readonly values: T
  readonly unused: readonly string[]
}

const MODES: Readonly<Record<string, PermissionMode>> = {
  default: "ask",
  acceptEdits: "accept-edits",
  plan: "plan",
  bypassPermissions: "bypass",
}

/** The mode's name as hooks written for Claude Code expect it. */
export const claudeMode = (mode: PermissionMode): string => Object.entries(MODES).find(([, ours]) => ours === mode)![0]

const PERMISSION_KEYS = new Set(["allow", "ask", "deny", "defaultMode"])

function translatePermissions(given: Fields, directory: string): TranslationResult<Settings["permissions"]> {
  const mode = MODES[String(given.defaultMode)]
  const unused = Object.keys(given).filter((key) => !PERMISSION_KEYS.has(key))
  if (given.defaultMode !== undefined && mode === undefined) unused.push("defaultMode")
  const values: { -readonly [K in keyof Settings["permissions"]]: Settings["permissions"][K] } = {}
  if (mode !== undefined) values.mode = mode
  for (const list of RULE_LISTS) {
    const { rules, notUnderstood } = translateRules(given[list], { directory, list })
    if (notUnderstood.length > 0) unused.push(`${list} rules that are not "Tool" or "Tool(pattern)"`)
    if (rules.length > 0) values[list] = [...rules]
  }
  return { values, unused: unused.map((key) => `permissions.${key}`) }
}

type HookCommand = NonNullable<Settings["hooks"][HookEvent]>[number]

/**
 * Converts hooks of the form `{ "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "…", "timeout": 5 }] }] }`.
 */
function translateHooks(given: Fields, directory: string): TranslationResult<Settings["hooks"]> {
  const values: Partial<Record<HookEvent, HookCommand[]>> = {}
  const unused: string[] = []
  for (const [name, groups] of Object.entries(given)) {
    const event = HOOK_EVENTS.find((known) => known === name)
    for (const group of asList(groups).map(asRecord))
      for (const hook of asList(group.hooks).map(asRecord)) {
        const command = event && translateHook(hook, { matcher: group.matcher, directory })
        if (command) values[event] = [...(values[event] ?? []), command]
        else unused.push(`hooks.${name}`)
      }
  }
  return { values, unused }
}

/** Fields that restrict or change what a hook runs. Ignoring them would run the hook for other calls, or differently. */
const UNSUPPORTED = ["if", "args", "shell"]

function translateHook(
  hook: Fields,
  given: { readonly matcher: unknown; readonly directory: string },
): HookCommand | undefined {
  const { type, command, timeout } = hook
  if (type !== "command" || typeof command !== "string" || command === "") return undefined
  if (UNSUPPORTED.some((field) => hook[field] !== undefined)) return undefined
  const seconds = typeof timeout === "number" && timeout > 0 ? timeout : HOOK_SECONDS.byDefault
  return {
    command,
    ...(typeof given.matcher === "string" && given.matcher !== "" ? { matcher: translateMatcher(given.matcher) } : {}),
    timeoutSeconds: Math.min(HOOK_SECONDS.max, Math.max(HOOK_SECONDS.min, seconds)),
    projectDirectory: given.directory,
  }
}

/** In Claude Code, names and lists of names match exactly, and a regular expression may match any part of a name. */
const translateMatcher = (matcher: string): string =>
  /^(?:\*|[\w|-]*)$/.test(matcher) ? matcher : `.*(?:${matcher}).*`

export const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
export const asRecord = (value: unknown): Fields => (isRecord(value) ? value : {})
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const isEmpty = (value: object): boolean => Object.keys(value).length === 0
