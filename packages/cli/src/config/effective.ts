/** All settings as plain data, each with its value and origin. `strata config --json` prints it. */
import { access } from "node:fs/promises"
import { join } from "node:path"
import { readSettings } from "@strata/core"
import { sandboxSentence, settingsSchema, systemSandbox } from "@strata/core/agent"
import { LIMITS, limitsIn, resolveProject } from "@strata/core/projects"
import type { ClaudeOffer, TrustItem } from "@strata/core/settings"
import {
  createFlags,
  DEFAULT_SETTINGS,
  ENVIRONMENT,
  FIGURES,
  loadSettings,
  type Settings,
  SWITCHES,
  trustItemText,
  trustItemTitle,
} from "@strata/core/settings"
import type { StoredLimit } from "@strata/core/views"
import { describeStoreProblem, openBriefStore } from "../doctor/brief-store.ts"

export interface Configuration {
  readonly files: readonly SettingsFile[]
  readonly settings: readonly Setting[]
  readonly switches: readonly Flag<boolean>[]
  readonly figures: readonly (Flag<number> & { readonly unit: string })[]
  /** Name under which conversations and memories of this directory are stored, and where the name comes from. */
  readonly project: { readonly name: string; readonly title: string; readonly from: ProjectSource }
  /** The store in `STRATA_STORE`. Absent for the default file store. */
  readonly store?: string
  /** Window limits learned from requests that servers refused. */
  readonly limits: readonly StoredLimit[]
  /** Sentence that says whether the system has a sandbox for commands. */
  readonly sandbox: string
  /** The user's settings for Claude Code, if there are any. */
  readonly claude?: ClaudeSettings
  /** Settings from the project's files that are ignored until the user trusts them. */
  readonly leftOut: readonly UntrustedSetting[]
  /** Rejected values, with the reason. */
  readonly remarks: readonly string[]
}

export type ProjectSource = "setting" | "environment" | "remote" | "root-commit" | "path"

export interface SettingsFile {
  readonly whose: "user" | "project" | "local"
  readonly path: string
  readonly found: boolean
}

export interface Setting {
  /** Key in dotted form: `models.claude-x`. */
  readonly key: string
  /** `null` if the setting has neither a value nor a default. */
  readonly value: unknown
  readonly origin: string
  /** Environment variables for this setting. */
  readonly environment: readonly string[]
}

export interface UntrustedSetting {
  readonly kind: TrustItem["kind"]
  /** Description, without the values of variables and headers. */
  readonly what: string
  readonly source: string
}

export interface ClaudeSettings {
  readonly directory: string
  /** `undecided`: only rules that deny or ask apply, as with `ignore`. */
  readonly decision: "use" | "ignore" | "undecided"
  /** Rules that apply whatever the decision, because they only restrict. */
  readonly restricting: readonly UntrustedSetting[]
  /** Settings that apply only with `use`. */
  readonly parts: readonly UntrustedSetting[]
  readonly unused?: string
}

export interface Flag<T> {
  readonly name: string
  readonly value: T
  readonly origin: string
  readonly environment: string
  readonly about: string
}

export interface SettingsLocation {
  readonly home: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const DEFAULT_ORIGIN = "default"
const HIDDEN = "(hidden)"
const NOT_LISTED = new Set(["$schema", "switches", "figures"]) // flags are listed separately

export async function effectiveConfiguration(place: SettingsLocation): Promise<Configuration> {
  const { values, origins, untrusted = [] } = await loadSettings(place)
  const { claude } = await readSettings({ dir: place.home, cwd: place.cwd, env: place.env })
  const remarks: string[] = []
  const flags = createFlags({ settings: values, onRefused: (remark) => remarks.push(remark) }).current
  const originOf = (key: string) => origins[key] ?? DEFAULT_ORIGIN
  const store = await openBriefStore({ dir: place.home, env: place.env })
  const limits = await store
    .memories({ shared: true })
    .read(LIMITS)
    .catch(
      (error: unknown) =>
        void remarks.push(
          `Learned limits are not listed, because the store did not give them: ${describeStoreProblem(error)}`,
        ),
    )
  return {
    files: await settingsFiles(place),
    settings: Object.keys(settingsSchema.shape)
      .filter((key) => !NOT_LISTED.has(key))
      .flatMap((key) => settingsOf(key, values[key as keyof typeof values], originOf)),
    switches: SWITCHES.map(({ name, env, description }) => {
      const origin = values.off ? originOf("off") : originOf(`switches.${name}`)
      return { name, value: flags.on[name], origin, environment: env, about: description }
    }),
    figures: FIGURES.map(({ name, env, description, unit }) => {
      const origin = originOf(`figures.${name}`)
      return { name, value: flags.figures[name], unit, origin, environment: env, about: description }
    }),
    project: await projectOf(place, values),
    ...(place.env.STRATA_STORE?.trim() ? { store: store.description } : {}),
    limits: limitsIn(limits ?? undefined).limits,
    sandbox: sandboxSentence(values.sandbox, await systemSandbox()),
    ...(claude ? { claude: claudeSettings(claude) } : {}),
    leftOut: untrusted.map(listProjectSettings),
    remarks,
  }
}

async function projectOf(
  { home: root, cwd, env }: SettingsLocation,
  settings: Settings,
): Promise<Configuration["project"]> {
  const { name, title, from } = await resolveProject({ root, cwd, env, settings })
  return { name, title, from: from === "option" ? "setting" : from } // the command has no option for the project
}

const listProjectSettings = (part: TrustItem): UntrustedSetting => ({
  kind: part.kind,
  what: part.kind === "output style" ? trustItemTitle(part) : trustItemText(part),
  source: part.source,
})

const claudeSettings = (offer: ClaudeOffer): ClaudeSettings => ({
  directory: offer.directory,
  decision: offer.decision ?? "undecided",
  restricting: offer.restricting.map(listProjectSettings),
  parts: offer.items.map(listProjectSettings),
  ...(offer.unused === undefined ? {} : { unused: offer.unused }),
})

export async function settingsFiles({
  home,
  cwd,
}: Pick<SettingsLocation, "home" | "cwd">): Promise<readonly SettingsFile[]> {
  const files = [
    { whose: "user" as const, path: join(home, "settings.json") },
    { whose: "project" as const, path: join(cwd, ".strata", "settings.json") },
    { whose: "local" as const, path: join(cwd, ".strata", "settings.local.json") },
  ]
  return Promise.all(files.map(async (file) => ({ ...file, found: await exists(file.path) })))
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/** Splits a record into one setting per key, because each may have its own origin. */
function settingsOf(key: string, value: unknown, originOf: (key: string) => string): readonly Setting[] {
  const environment = ENVIRONMENT.find((entry) => entry.key === key)?.names ?? []
  const isRecord = typeof DEFAULT_SETTINGS[key as keyof typeof DEFAULT_SETTINGS] === "object"
  const entries = isRecord ? Object.entries(value as object) : []
  if (entries.length === 0) return [{ key, value: value ?? null, origin: originOf(key), environment }]
  return entries.map(([name, one]) => ({
    key: `${key}.${name}`,
    value: key === "mcpServers" ? withoutSecrets(one) : one,
    origin: originOf(`${key}.${name}`),
    environment,
  }))
}

/** Variables and headers of MCP servers may contain secrets: their names are shown, their values are not. */
function withoutSecrets(server: { readonly env?: object; readonly headers?: object }): unknown {
  const hide = (values: object) => Object.fromEntries(Object.keys(values).map((name) => [name, HIDDEN]))
  return {
    ...server,
    ...(server.env ? { env: hide(server.env) } : {}),
    ...(server.headers ? { headers: hide(server.headers) } : {}),
  }
}
