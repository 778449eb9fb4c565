/**
 * Settings come from a user file, a project file, a local file, the environment and options in code; later sources override earlier ones.
 * The schema checks every value, and the effective settings record where each value comes from. What the project's files would run or
 * allow applies only if the user trusts it. Importing this module reads nothing.
 */

import { join } from "node:path"
import { RULE_LISTS, type RuleList } from "../base/enums.ts"
import { SettingsError, type SettingsProblem } from "../base/errors.ts"
import { lstatIfReachable } from "../base/files.ts"
import { repositoryRoot } from "../base/git.ts"
import { escapeInvisible } from "../base/text.ts"
import { type AgentFile, type AgentFiles, projectAgentFiles } from "./agent-files.ts"
import { type ClaudeOffer, readClaudeConsent } from "./claude-consent.ts"
import { claudeFolder } from "./claude-home.ts"
import { describeUnused, readClaudeSettings } from "./claude-settings.ts"
import { findRetired, withoutRetiredNames } from "./flag-names.ts"
import { readMcpFiles } from "./mcp-file.ts"
import type { OutputStyle } from "./output-style.ts"
import { splitByTrust, userSettings } from "./project-settings.ts"
import { environmentLayers } from "./settings-environment.ts"
import { readSettingsFile } from "./settings-files.ts"
import type { Settings, SettingsIssue } from "./settings-schema.ts"
import { projectSkillFiles } from "./skill-files.ts"
import { type ProjectClaim, readTrustState, resolveLinks } from "./trust.ts"
import {
  agentTrustItem,
  commandTrustItem,
  fingerprint,
  listTrustItems,
  memoryTrustItem,
  skillTrustItem,
  type TrustItem,
} from "./trust-items.ts"

// Describes an invalid setting and what is allowed, as the end of a sentence that starts with the setting's name.

export function describeIssue(source: string, issue: SettingsIssue): SettingsProblem[] {
  const key = escapeInvisible(issue.path.join("."))
  if (issue.code !== "unrecognized_keys") return [{ source, key, reason: reasonFor(issue) }]
  return issue.keys.map((name) => {
    const shown = escapeInvisible(name)
    return { source, key: key ? `${key}.${shown}` : shown, reason: "is not a known setting" }
  })
}

function reasonFor(issue: Exclude<SettingsIssue, { code: "unrecognized_keys" }>): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${KINDS[issue.expected] ?? issue.expected}`
    case "invalid_value":
      return `must be ${joinAlternatives(issue.values.map((value) => JSON.stringify(value)))}`
    case "too_small":
      return issue.origin === "string" ? "must not be empty" : `must be at least ${issue.minimum}`
    case "too_big":
      return `must be at most ${issue.maximum}`
    case "invalid_format":
      return `must be a valid ${issue.format === "url" ? "URL" : issue.format}`
    default:
      return issue.message
  }
}

const KINDS: Readonly<Record<string, string>> = {
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
  string: "a text",
  array: "a list",
  object: "an object",
  record: "an object",
}

function joinAlternatives(values: readonly string[]): string {
  return values.length < 2 ? values.join("") : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`
}

export { ENVIRONMENT } from "./settings-environment.ts"
export type { Settings } from "./settings-schema.ts"

export const DEFAULT_SETTINGS: Settings = {
  off: false,
  autoCompactEnabled: true,
  disableCompact: false,
  disableAutoCompact: false,
  disableMicrocompact: false,
  maxOutputTokens: 32_000, // accepted by every model since Claude Opus 4
  planner: "balanced",
  cacheLifetime: "auto",
  flush: "turn",
  exportContent: false,
  models: {},
  switches: {},
  figures: {},
  toolResultLimits: {},
  clearableTools: [],
  memory: "auto",
  permissions: {},
  sandbox: "unasked",
  hooks: {},
  mcpServers: {},
  claudeHome: {},
}

/** The settings in effect, and the source of each value. */
export interface EffectiveSettings {
  readonly values: Settings
  /** The source of every value that is not a default. Keys of records are dotted: `models.claude-x`. */
  readonly origins: Readonly<Record<string, string>>
  /** @internal The source of each permission rule. Absent if there are no rules. */
  readonly rules?: readonly RuleOrigin[]
  /** Settings of the project that do not apply because the user has not trusted them. Absent if all apply. */
  readonly untrusted?: readonly TrustItem[]
  /** @internal The project's agent definitions, exactly as trusted. Absent if none apply. */
  readonly agents?: AgentFiles
  /** @internal The project's slash commands, exactly as trusted. Absent if none apply. */
  readonly commands?: AgentFiles
  /** @internal The project's skills, exactly as trusted. Absent if none apply. */
  readonly skills?: readonly AgentFile[]
  /** @internal Variables from the user's settings for Claude Code, for the agent's programs. They may be secrets. */
  readonly environment?: Readonly<Record<string, string>>
  /** @internal The user's output style. */
  readonly outputStyle?: OutputStyle
  /** Problems to show the user: settings that no longer exist, and unusable parts of other programs' files. Absent without problems. */
  readonly problems?: readonly string[]
}

export interface RuleOrigin {
  readonly list: RuleList
  readonly rule: string
  readonly source: string
}

export type SettingsInput = Partial<Settings>

export interface SettingsSources {
  /** The root directory. Its `settings.json` is the user file. */
  readonly home: string
  /** The project's directory. Its `.strata/settings.json` is the project file, `.strata/settings.local.json` the local one. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly code?: SettingsInput
  /** The managed settings of Claude Code on this machine. Default: the platform's path. */
  readonly managed?: string
}

/** The settings in effect, including those of the project that the user has trusted. */
export async function loadSettings(sources: SettingsSources): Promise<EffectiveSettings> {
  const reading = await readSettings(sources)
  const { state } = await readTrustState(sources.home, reading)
  return reading.settings({ trusted: state === "trusted" })
}

/** All settings sources, read once: what the user approves is exactly what takes effect. */
export interface SettingsSnapshot extends ProjectClaim {
  /** The effective settings, with or without the project's settings that need trust. */
  settings(given: { readonly trusted: boolean }): EffectiveSettings
  /** The user's settings for Claude Code, and whether they apply. Absent without such settings. */
  readonly claude?: ClaudeOffer
}

export async function readSettings(sources: SettingsSources): Promise<SettingsSnapshot> {
  const { home, cwd, env, code = {} } = sources
  const project = join(cwd, ".strata")
  const isOwn = resolveLinks(project) === resolveLinks(home) // in the home directory, both belong to the user
  const [own, shared, local] = await Promise.all([
    readLayer(join(home, "settings.json")),
    isOwn ? undefined : readLayer(join(project, "settings.json")),
    readLayer(join(project, "settings.local.json")),
  ])
  const repository = repositoryRoot(cwd, { home: env.HOME })
  const servers = await readMcpFiles([repository, cwd])
  const claude = await readClaudeLayers([repository, cwd], claudeFolder({ env, repository }).folder)
  const user = await readClaudeConsent({ ...sources, repository }, own.values)
  const given = [
    ...user.layers,
    own,
    ...servers.layers,
    ...claude.layers,
    ...(shared ? [shared] : []),
    local,
    ...environmentLayers({ ...user.environment, ...env }),
  ]
  const sourced = [...given, { source: "options in code", values: code }]
  const retired = sourced.flatMap(({ source, values }) => describeRetired(source, findRetired(values)))
  const problems = [...servers.problems, ...claude.problems, ...user.problems, ...retired]
  const external = [...servers.layers, ...claude.layers, ...(shared ? [shared, local] : [])].map(({ source }) => source)
  const checked = await validateLayers(sourced)
  const isLocal = (source: string) => source === local.source
  const layers = checked.map((layer) =>
    external.includes(layer.source) ? withoutHints(isLocal(layer.source) ? layer : withoutName(layer)) : layer,
  )
  const fromProject = layers.filter(({ source }) => external.includes(source))
  const isClaude = new Set(claude.layers.map(({ source }) => source))
  const theirs = userSettings(mergeLayers(layers.slice(0, user.layers.length + 1)).values)
  const split = new Map(fromProject.map((layer) => [layer, splitByTrust(layer.values, theirs)]))
  const needing = [...split]
    .map(([{ source }, { needsTrust }]) => ({ source, needsTrust }))
    .filter(({ source, needsTrust }) => !isClaude.has(source) || Object.keys(needsTrust).length > 0)
  const places = { root: home, home: env.HOME, cwd }
  const [agents, commands] = [await projectAgentFiles(places), await projectAgentFiles(places, "command")]
  const skills = await projectSkillFiles(places)
  const items = [
    ...needing.flatMap(({ source, needsTrust }) => listTrustItems(source, needsTrust)),
    ...agents.files.map(agentTrustItem),
    ...commands.files.map(commandTrustItem),
    ...skills.map(skillTrustItem),
    ...memoryTrustItems(repository, home),
  ]
  const has = ({ files, problems: unread }: AgentFiles) => files.length + unread.length > 0
  const brought = {
    ...(has(agents) ? { agents } : {}),
    ...(has(commands) ? { commands } : {}),
    ...(skills.length > 0 ? { skills } : {}),
  }
  const { environment, outputStyle } = user
  const personal = { ...(environment ? { environment } : {}), ...(outputStyle ? { outputStyle } : {}) }
  return {
    directory: resolveLinks(cwd),
    ...(user.offer ? { claude: user.offer } : {}),
    items,
    fingerprint: fingerprint({ settings: needing, agents: agents.files, commands: commands.files, skills }),
    settings: ({ trusted }) => {
      const counting = layers.map((layer) => ({ ...layer, values: split.get(layer)?.applied ?? layer.values }))
      const effective = { ...mergeLayers(trusted ? layers : counting), ...personal }
      const settings = problems.length === 0 ? effective : { ...effective, problems }
      if (trusted) return { ...settings, ...brought }
      return items.length === 0 ? settings : { ...settings, untrusted: items }
    },
  }
}

function describeRetired(source: string, { gone, renamed }: ReturnType<typeof findRetired>): readonly string[] {
  const named = escapeInvisible(source)
  return [
    ...(gone.length === 0
      ? []
      : [`${named} sets ${gone.join(", ")}, which this version does not have. The rest of the file applies.`]),
    ...(renamed.length === 0
      ? []
      : [`${named} uses old names: ${renamed.join(", ")}. Rename them; until then the defaults apply.`]),
  ]
}

/**
 * Removes `trustReadOnlyHint`. Only the user's own settings may vouch for what a server claims about its tools, even if the project is
 * trusted.
 */
function withoutHints(layer: CheckedLayer): CheckedLayer {
  const { mcpServers } = layer.values
  if (!mcpServers) return layer
  const servers = Object.entries(mcpServers).map(([name, { trustReadOnlyHint: _, ...server }]) => [name, server])
  return { ...layer, values: { ...layer.values, mcpServers: Object.fromEntries(servers) as typeof mcpServers } }
}

/** Removes the project's name. A repository does not choose whose memory it sees, even if it is trusted. */
function withoutName(layer: CheckedLayer): CheckedLayer {
  const { project: _, ...values } = layer.values
  return { ...layer, values }
}

/** The project's settings for Claude Code. In the home directory these files belong to the user. */
async function readClaudeLayers(directories: readonly string[], folder: string | undefined) {
  const own = folder === undefined ? undefined : resolveLinks(folder)
  const places = [...new Set(directories)].filter((directory) => resolveLinks(join(directory, ".claude")) !== own)
  const layers = (await Promise.all(places.map(readClaudeSettings))).flat()
  const unused = describeUnused(layers)
  return { layers, problems: unused === undefined ? [] : [unused] }
}

/** A repository can contain memories for one of the user's agents. */
function memoryTrustItems(project: string, home: string): readonly TrustItem[] {
  const directory = join(project, ".strata", "agent-memory")
  const isOwn = resolveLinks(directory) === resolveLinks(join(home, "agent-memory"))
  const isThere = !isOwn && lstatIfReachable(directory) !== undefined
  return isThere ? [memoryTrustItem(directory)] : []
}

const readLayer = async (file: string): Promise<SettingsLayer> => ({
  source: file,
  values: await readSettingsFile(file),
})

interface SettingsLayer {
  readonly source: string
  readonly values: unknown
}

interface CheckedLayer extends SettingsLayer {
  readonly values: Partial<Settings>
}

/** Combines layers; later ones override earlier ones. Records (`models`, `switches` …) merge key by key; lists are joined. */
export async function combineSettings(layers: readonly SettingsLayer[]): Promise<EffectiveSettings> {
  return mergeLayers(await validateLayers(layers))
}

async function validateLayers(layers: readonly SettingsLayer[]): Promise<readonly CheckedLayer[]> {
  const given = layers.map(({ source, values }) => ({ source, values: withoutUndefined(withoutRetiredNames(values)) }))
  if (given.every(isEmpty)) return given
  const { settingsLayerSchema } = await import("./settings-schema.ts") // loading zod takes longer than loading everything else
  const problems: SettingsProblem[] = []
  const checked = given.flatMap(({ source, values }) => {
    const parsed = settingsLayerSchema.safeParse(values)
    if (!parsed.success) problems.push(...parsed.error.issues.flatMap((issue) => describeIssue(source, issue)))
    return parsed.success ? [{ source, values: parsed.data as Partial<Settings> }] : []
  })
  if (problems.length > 0) throw new SettingsError(problems)
  return checked
}

/** Whether a layer sets nothing, so that it needs no check. */
const isEmpty = (layer: SettingsLayer): layer is CheckedLayer =>
  typeof layer.values === "object" &&
  layer.values !== null &&
  !Array.isArray(layer.values) &&
  Object.keys(layer.values).length === 0

function mergeLayers(layers: readonly CheckedLayer[]): EffectiveSettings {
  const values: Record<string, unknown> = { ...DEFAULT_SETTINGS }
  const origins: Record<string, string> = {}
  for (const { source, values: given } of layers) {
    for (const [key, value] of Object.entries(given)) {
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
  const rules = layers.flatMap(({ source, values: { permissions } }) =>
    RULE_LISTS.flatMap((list) => (permissions?.[list] ?? []).map((rule) => ({ list, rule, source }))),
  )
  return { values: values as Settings, origins, ...(rules.length === 0 ? {} : { rules }) }
}

/** Removes undefined values: in code, `{ window: undefined }` means that the window is not set. */
function withoutUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const given = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(given.map(([key, one]) => [key, withoutUndefined(one)]))
}

/** Merges key by key. Lists (rules, hooks) are joined, so that no source can drop what another one denies. */
function mergeRecords(earlier: Readonly<Record<string, unknown>>, later: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...earlier }
  for (const [key, value] of Object.entries(later)) {
    const before = merged[key]
    merged[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
  }
  return merged
}
