/**
 * The user's own settings for Claude Code: `~/.claude/settings.json` (or in `CLAUDE_CONFIG_DIR`), their MCP servers in `.claude.json`, and
 * settings that an administrator made for the machine. Rules that deny or ask always apply. Everything that runs programs or allows more
 * applies after the user has consented once. A project cannot impersonate the user: of a file inside the project, only restrictions apply.
 * Messages never contain values of variables.
 */

import { isAbsolute, join, sep } from "node:path"
import { errorReason } from "../base/errors.ts"
import { isMissing, PlainFileError, readPlainFile, realPath } from "../base/files.ts"
import { escapeInvisible } from "../base/text.ts"
import { parseRestrictingRules, translateRules } from "./claude-rules.ts"
import {
  asRecord,
  type ClaudeSettings,
  describeUnused,
  type Fields,
  isRecord,
  translateSettings,
} from "./claude-settings.ts"
import { parseServers } from "./mcp-file.ts"
import { findOutputStyle, type OutputStyle } from "./output-style.ts"
import type { Settings } from "./settings-schema.ts"

// Reads a settings file of another program in the user's home directory. An unusable file must not stop Strata, so the result describes the
// problem. It never quotes the content, which may contain keys.

const MAX_BYTES = 64 * 1024 * 1024 // `.claude.json` used to contain the history of every project

export type ExternalJson =
  | { readonly state: "read"; readonly content: unknown }
  /** `why` completes a sentence that starts with the file name. `text` is empty if the file could not be read. */
  | { readonly state: "broken"; readonly why: string; readonly text: string }

export async function readExternalJson(file: string): Promise<ExternalJson> {
  let text: string
  try {
    text = (await readPlainFile(file, MAX_BYTES)).toString("utf8").replace(/^\uFEFF/, "")
  } catch (error) {
    const why = error instanceof PlainFileError ? error.message : errorReason(error)
    return { state: "broken", why: `cannot be read (${why})`, text: "" }
  }
  try {
    return { state: "read", content: text.trim() === "" ? {} : JSON.parse(text) }
  } catch (error) {
    const [place = ""] = / ?\(line \d+ column \d+\)/.exec((error as Error).message) ?? []
    return { state: "broken", why: `is not JSON${place}`, text }
  }
}

/** Paths of managed settings, by platform. */
const MANAGED: Readonly<Record<string, string>> = {
  linux: "/etc/claude-code/managed-settings.json",
  darwin: "/Library/Application Support/ClaudeCode/managed-settings.json",
}
/** Variables that locate files and settings. Settings cannot change their own location. */
const FIXED_VARIABLE = /^(?:HOME|USERPROFILE|CLAUDE_CONFIG_DIR|STRATA_.*)$/i

export interface ClaudeHomeLocation {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The root of the repository. Files inside belong to the project, not to the user. */
  readonly repository: string
  /** Default: this platform's path. */
  readonly managed?: string | undefined
}

/** The user's decision about the folder. Absent if they have not been asked. */
export type ClaudeDecision = "use" | "ignore"

export interface ClaudeLayer {
  readonly source: string
  readonly values: Partial<Settings>
}

/** The user's settings for Claude Code. */
export interface ClaudeHome {
  /** The folder with links resolved, to which the user's decision applies. */
  readonly directory: string
  /** Rules that deny or ask, which apply without consent. */
  readonly restricting: readonly ClaudeLayer[]
  /** Settings that apply after consent. */
  readonly offered: readonly ClaudeLayer[]
  /** Variables for the agent's programs, after consent. */
  readonly environment: Readonly<Record<string, string>>
  /** Applies after consent. */
  readonly outputStyle?: OutputStyle
  /** One sentence about settings without a counterpart. */
  readonly unused?: string
  /** Problems to show the user at every start. */
  readonly problems: readonly string[]
}

/** The folder that the environment names, unless it belongs to the project. */
export function claudeFolder({ env, repository }: Pick<ClaudeHomeLocation, "env" | "repository">): ClaudeFolder {
  const usual = env.HOME ? join(env.HOME, ".claude") : undefined
  const { CLAUDE_CONFIG_DIR: named } = env
  if (!named || named === usual) return { folder: usual }
  if (!isAbsolute(named)) return { folder: usual, problem: `CLAUDE_CONFIG_DIR is not an absolute path. ${NOT_USED}` }
  if (isWithin(named, repository))
    return { folder: usual, problem: `CLAUDE_CONFIG_DIR leads into this project. ${NOT_USED}` }
  return { folder: named, isNamed: true }
}

const NOT_USED = "Strata does not use it."

/** The folder with links resolved, to which a decision applies. Empty without a home directory. */
export function claudeDirectory(place: Pick<ClaudeHomeLocation, "env" | "repository">): string {
  const { folder = "" } = claudeFolder(place)
  return realPath(folder) ?? folder
}

interface ClaudeFolder {
  readonly folder: string | undefined
  /** Set if `CLAUDE_CONFIG_DIR` names the folder. It then contains `.claude.json`. */
  readonly isNamed?: true
  readonly problem?: string
}

/** With the decision "ignore", only restrictions are read. */
export async function readClaudeHome(place: ClaudeHomeLocation, decision?: ClaudeDecision): Promise<ClaudeHome> {
  const { folder, isNamed, problem } = claudeFolder(place)
  const managed = await readFile(place.managed ?? MANAGED[process.platform] ?? "", place)
  const own = await readFile(folder === undefined ? "" : join(folder, "settings.json"), place)
  const base = {
    directory: claudeDirectory(place),
    restricting: [managed, own].flatMap(({ restricting }) => restricting),
    problems: [...(problem === undefined ? [] : [problem]), ...managed.problems, ...own.problems],
  }
  const nothing = { ...base, offered: [], environment: {} }
  if (folder === undefined || decision === "ignore") return nothing
  const { given = {}, source } = own
  const settings = translateHome(given, { source, directory: place.cwd })
  const environment = parseVariables(given.env)
  const hasMore = Object.keys(settings.values).length + Object.keys(environment).length > 0
  if (isWithin(folder, place.repository) || isWithin(source, place.repository))
    return hasMore ? { ...nothing, problems: [...base.problems, insideProjectProblem(source)] } : nothing
  const file = isNamed ? join(folder, ".claude.json") : `${folder}.json`
  const servers = isWithin(file, place.repository) ? NO_SERVERS : await readServers(file, place)
  const found = await findOutputStyle(folder, given.outputStyle)
  const style = found && !isWithin(found.source, place.repository) ? found : undefined
  const unused = describeUnused([withoutStyle(settings, style !== undefined)])
  return {
    ...base,
    environment,
    offered: [...(Object.keys(settings.values).length > 0 ? [settings] : []), ...servers.layers],
    ...(style ? { outputStyle: style } : {}),
    ...(unused === undefined ? {} : { unused }),
    problems: [...base.problems, ...(decision === "use" ? servers.problems : [])],
  }
}

const insideProjectProblem = (source: string): string =>
  `${escapeInvisible(source)} is inside this project. Of it, only rules that deny or ask count here.`

const isWithin = (path: string, directory: string): boolean => {
  const [inner, outer] = [resolveLinks(path), resolveLinks(directory)]
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep)
}

const resolveLinks = (path: string): string => realPath(path) ?? path

interface RestrictingFile {
  readonly source: string
  /** `undefined` if the file does not exist or does not contain an object. */
  readonly given: Fields | undefined
  readonly restricting: readonly ClaudeLayer[]
  readonly problems: readonly string[]
}

async function readFile(source: string, { cwd }: ClaudeHomeLocation): Promise<RestrictingFile> {
  if (source === "" || isMissing(source)) return { source, given: undefined, restricting: [], problems: [] }
  const read = await readExternalJson(source)
  const given = read.state === "read" && isRecord(read.content) ? read.content : undefined
  const rules = given ? asRecord(given.permissions) : read.state === "broken" ? parseRestrictingRules(read.text) : {}
  const values: { ask?: string[]; deny?: string[] } = {}
  const problems: string[] = []
  for (const list of ["ask", "deny"] as const) {
    const { rules: good, notUnderstood } = translateRules(asRecord(rules)[list], { directory: cwd, list })
    if (good.length > 0) values[list] = [...good]
    problems.push(...notUnderstood.map((rule) => describeInvalidRule(rule, { source, list })))
  }
  const count = (values.ask?.length ?? 0) + (values.deny?.length ?? 0)
  if (!given) {
    const kept = count === 0 ? "No rule in it could be read" : `Only its ${count} rules that deny or ask count`
    problems.unshift(
      `${escapeInvisible(source)} ${read.state === "read" ? "is not an object" : read.why}. ${kept}. Correct the file: until then, nothing else in it protects you.`,
    )
  }
  return { source, given, restricting: count > 0 ? [{ source, values: { permissions: values } }] : [], problems }
}

const MAX_RULE_SHOWN = 80 // characters

const describeInvalidRule = (
  rule: string,
  { source, list }: { readonly source: string; readonly list: "ask" | "deny" },
): string =>
  `The rule ${JSON.stringify(escapeInvisible(rule.slice(0, MAX_RULE_SHOWN)))} in ${escapeInvisible(source)} ${list === "deny" ? "denies" : "asks"} nothing, because it is not "Tool" or "Tool(pattern)". Correct the rule.`

/** Everything except restrictions, which already apply. */
function translateHome(
  given: Fields,
  { source, directory }: { readonly source: string; readonly directory: string },
): ClaudeSettings {
  const { values, unused } = translateSettings(given, { directory, hasHooks: given.disableAllHooks !== true })
  const { permissions: { ask: _, deny: __, ...permissions } = {}, ...rest } = values
  const isEmpty = Object.keys(permissions).length === 0
  const restricting = /^permissions\.(?:ask|deny) rules/ // these are described separately
  return {
    source,
    values: { ...rest, ...(isEmpty ? {} : { permissions }) },
    unused: unused.filter((key) => key !== "env" && !restricting.test(key)),
  }
}

const withoutStyle = (settings: ClaudeSettings, isFound: boolean): ClaudeSettings =>
  isFound ? { ...settings, unused: settings.unused.filter((key) => key !== "outputStyle") } : settings

function parseVariables(given: unknown): Readonly<Record<string, string>> {
  const isPlain = (value: unknown) => ["string", "number", "boolean"].includes(typeof value)
  const entries = Object.entries(asRecord(given)).filter(
    ([name, value]) => !FIXED_VARIABLE.test(name) && isPlain(value),
  )
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}

interface Servers {
  readonly layers: readonly ClaudeLayer[]
  readonly problems: readonly string[]
}

const NO_SERVERS: Servers = { layers: [], problems: [] }

/** MCP servers for all projects, and those that the user added for this one. */
async function readServers(source: string, { cwd, repository }: ClaudeHomeLocation): Promise<Servers> {
  if (isMissing(source)) return NO_SERVERS
  const read = await readExternalJson(source)
  if (read.state === "broken")
    return { layers: [], problems: [`${escapeInvisible(source)} ${read.why}. Its MCP servers are not used.`] }
  const content = asRecord(read.content)
  const projects = [...new Set([repository, cwd])].map((path) => asRecord(asRecord(content.projects)[path]))
  const switchedOff = new Set(projects.flatMap(({ disabledMcpServers: names }) => (Array.isArray(names) ? names : [])))
  const lists = [content, ...projects].map(({ mcpServers }) => parseServers(asRecord(mcpServers), source))
  const found = await Promise.all(lists)
  const all = found.flatMap(({ servers }) => Object.entries(servers)).filter(([name]) => !switchedOff.has(name))
  return {
    layers: all.length === 0 ? [] : [{ source, values: { mcpServers: Object.fromEntries(all) } }],
    problems: found.flatMap(({ problems }) => problems),
  }
}
