/**
 * Settings come from a user file, a project file, a local file, the environment and options in code; later ones win.
 * The schema checks every value, and the effective settings know where each value came from.
 * Importing this module reads nothing; `loadSettings` reads the files and the environment.
 */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { reasonOf, SettingsError, type SettingsProblem } from "./errors.ts"
import { FIGURES, SWITCHES } from "./flag-names.ts"
import { withoutRetired } from "./retired-settings.ts"
import { problemsOf } from "./settings-problems.ts"
import type { Settings } from "./settings-schema.ts"

export type { Settings } from "./settings-schema.ts"

export const DEFAULT_SETTINGS: Settings = {
  off: false,
  autoCompactEnabled: true,
  disableCompact: false,
  disableAutoCompact: false,
  disableMicrocompact: false,
  maxOutputTokens: 32_000, // fits every model since Claude Opus 4
  flush: "turn",
  exportContent: false,
  models: {},
  switches: {},
  figures: {},
  toolResultLimits: {},
  clearableTools: [],
  permissions: {},
  hooks: {},
  mcpServers: {},
}

export interface EffectiveSettings {
  readonly values: Settings
  /** The source of every value that is not a default. Keys of records are dotted: `models.claude-x`. */
  readonly origins: Readonly<Record<string, string>>
}

export type SettingsInput = Partial<Settings>

export interface SettingsSources {
  /** The root directory. Its `settings.json` is the user file. */
  readonly home: string
  /** The project's directory. Its `.strata/settings.json` is the project file, `.strata/settings.local.json` the local one. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly code?: SettingsInput
}

export async function loadSettings({ home, cwd, env, code = {} }: SettingsSources): Promise<EffectiveSettings> {
  const files = [
    join(home, "settings.json"),
    join(cwd, ".strata", "settings.json"),
    join(cwd, ".strata", "settings.local.json"),
  ]
  const layers = await Promise.all(
    [...new Set(files)].map(async (file) => ({ source: file, values: await readSettingsFile(file) })),
  )
  return combineSettings([...layers, ...environmentLayers(env), { source: "options in code", values: code }])
}

interface SettingsLayer {
  readonly source: string
  readonly values: unknown
}

/** Later layers win. Records (`models`, `switches` …) merge key by key; lists are joined. */
export async function combineSettings(layers: readonly SettingsLayer[]): Promise<EffectiveSettings> {
  const { settingsSchema } = await import("./settings-schema.ts") // loading zod takes longer than loading everything else
  const partial = settingsSchema.partial()
  const problems: SettingsProblem[] = []
  const values: Record<string, unknown> = { ...DEFAULT_SETTINGS }
  const origins: Record<string, string> = {}
  for (const { source, values: given } of layers) {
    const parsed = partial.safeParse(withoutUndefined(withoutRetired(given)))
    if (!parsed.success) {
      for (const issue of parsed.error.issues) problems.push(...problemsOf(source, issue))
      continue
    }
    for (const [key, value] of Object.entries(parsed.data)) {
      if (value === undefined || key === "$schema") continue
      if (Array.isArray(value)) {
        values[key] = [...new Set([...(values[key] as readonly unknown[]), ...value])]
        origins[key] = source
      } else if (typeof value === "object") {
        values[key] = mergeRecords(values[key] as Record<string, unknown>, value)
        for (const name of Object.keys(value)) origins[`${key}.${name}`] = source
      } else {
        values[key] = value
        origins[key] = source
      }
    }
  }
  if (problems.length > 0) throw new SettingsError(problems)
  return { values: values as Settings, origins }
}

/** `{ window: undefined }` in code means that the window is not set. */
function withoutUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const given = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(given.map(([key, one]) => [key, withoutUndefined(one)]))
}

/** Merges key by key. Lists (rules, hooks) are joined, so that no source can silently drop what another one denies. */
function mergeRecords(earlier: Readonly<Record<string, unknown>>, later: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...earlier }
  for (const [key, value] of Object.entries(later)) {
    const before = merged[key]
    merged[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
  }
  return merged
}

async function readSettingsFile(file: string): Promise<unknown> {
  let text: string
  try {
    text = await readFile(file, "utf8")
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === "ENOENT" || code === "ENOTDIR") return {}
    throw new SettingsError([{ source: file, key: "", reason: `cannot be read (${reasonOf(error)})` }])
  }
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new SettingsError([{ source: file, key: "", reason: `is not JSON (${(error as Error).message})` }])
  }
}

type Reader = (text: string) => unknown
const asSwitch: Reader = (text) => /^(?:1|true|yes|on)$/i.test(text.trim())
const asNumber: Reader = (text) => (text.trim() === "" ? undefined : Number(text))
const asText: Reader = (text) => text

interface EnvironmentName {
  readonly key: keyof Settings
  /** Our own name comes first. Names of other programs work too, so that people can keep their setup. */
  readonly names: readonly string[]
  readonly read: Reader
}

/** The first name that is set counts. */
export const ENVIRONMENT: readonly EnvironmentName[] = [
  { key: "off", names: ["STRATA_OFF"], read: asSwitch },
  { key: "disableCompact", names: ["STRATA_DISABLE_COMPACT", "DISABLE_COMPACT"], read: asSwitch },
  { key: "disableAutoCompact", names: ["STRATA_DISABLE_AUTO_COMPACT", "DISABLE_AUTO_COMPACT"], read: asSwitch },
  { key: "disableMicrocompact", names: ["STRATA_DISABLE_MICROCOMPACT", "DISABLE_MICROCOMPACT"], read: asSwitch },
  { key: "compactInstructions", names: ["STRATA_COMPACT_INSTRUCTIONS"], read: asText },
  { key: "summariserModel", names: ["STRATA_SUMMARISER_MODEL"], read: asText },
  { key: "autoCompactPercent", names: ["STRATA_AUTOCOMPACT_PCT", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"], read: asNumber },
  { key: "autoCompactTokens", names: ["STRATA_AUTOCOMPACT_TOKENS"], read: asNumber },
  { key: "contextWindow", names: ["STRATA_CONTEXT_WINDOW", "CLAUDE_CODE_MAX_CONTEXT_TOKENS"], read: asNumber },
  { key: "maxOutputTokens", names: ["STRATA_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"], read: asNumber },
  { key: "flush", names: ["STRATA_FLUSH"], read: asText },
  { key: "exportContent", names: ["STRATA_EXPORT_CONTENT"], read: asSwitch },
]

/** One layer for each variable, so that an error names the variable. */
function environmentLayers(env: SettingsSources["env"]): SettingsLayer[] {
  const settings = ENVIRONMENT.flatMap(({ key, names, read }) => {
    const name = names.find((candidate) => env[candidate] !== undefined && env[candidate] !== "")
    return name === undefined ? [] : [{ source: `environment ${name}`, values: { [key]: read(env[name]!) } }]
  })
  const flags = [
    ...SWITCHES.map(({ name, env: variable }) => ({ group: "switches", name, variable, read: asSwitch })),
    ...FIGURES.map(({ name, env: variable }) => ({ group: "figures", name, variable, read: asNumber })),
  ].flatMap(({ group, name, variable, read }) => {
    const text = env[variable]
    return text === undefined || text === ""
      ? []
      : [{ source: `environment ${variable}`, values: { [group]: { [name]: read(text) } } }]
  })
  return [...settings, ...flags]
}

/** Whether the person may compact, and whether the conversation compacts on its own. */
export function compactionAllowed(settings: Settings): { manual: boolean; auto: boolean } {
  const manual = !settings.off && !settings.disableCompact
  return { manual, auto: manual && !settings.disableAutoCompact && settings.autoCompactEnabled }
}
