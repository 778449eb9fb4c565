/** Settings in environment variables. Strata's own names take precedence; names of other programs are accepted too. */
import { FIGURES, SWITCHES } from "./flag-names.ts"
import type { Settings } from "./settings-schema.ts"

type Reader = (text: string) => unknown

const ON = new Set(["1", "true", "yes", "on"])
const OFF = new Set(["0", "false", "no", "off"])
/** Ignores other values, because other programs read some of these variables too and accept more. */
const parseSwitch: Reader = (text) => {
  const word = text.trim().toLowerCase()
  return ON.has(word) ? true : OFF.has(word) ? false : undefined
}
const parseNumber: Reader = (text) => (text.trim() === "" ? undefined : Number(text))
const parseNumberOrText: Reader = (text) => (Number.isNaN(Number(text)) ? text : parseNumber(text))
const parseText: Reader = (text) => text

interface EnvironmentLayer {
  readonly source: string
  readonly values: unknown
}

interface EnvironmentName {
  readonly key: keyof Settings
  /** Strata's own name first. Names of other programs are accepted too. */
  readonly names: readonly string[]
  readonly read: Reader
}

/** The first variable that is set applies. */
export const ENVIRONMENT: readonly EnvironmentName[] = [
  { key: "off", names: ["STRATA_OFF"], read: parseSwitch },
  { key: "disableCompact", names: ["STRATA_DISABLE_COMPACT", "DISABLE_COMPACT"], read: parseSwitch },
  { key: "disableAutoCompact", names: ["STRATA_DISABLE_AUTO_COMPACT", "DISABLE_AUTO_COMPACT"], read: parseSwitch },
  { key: "disableMicrocompact", names: ["STRATA_DISABLE_MICROCOMPACT", "DISABLE_MICROCOMPACT"], read: parseSwitch },
  { key: "compactInstructions", names: ["STRATA_COMPACT_INSTRUCTIONS"], read: parseText },
  { key: "summariserModel", names: ["STRATA_SUMMARISER_MODEL"], read: parseText },
  {
    key: "autoCompactPercent",
    names: ["STRATA_AUTOCOMPACT_PCT", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"],
    read: parseNumberOrText,
  },
  { key: "autoCompactTokens", names: ["STRATA_AUTOCOMPACT_TOKENS"], read: parseNumber },
  { key: "contextWindow", names: ["STRATA_CONTEXT_WINDOW", "CLAUDE_CODE_MAX_CONTEXT_TOKENS"], read: parseNumber },
  { key: "maxOutputTokens", names: ["STRATA_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"], read: parseNumber },
  { key: "planner", names: ["STRATA_PLANNER"], read: parseText },
  { key: "cacheLifetime", names: ["STRATA_CACHE_LIFETIME"], read: parseText },
  { key: "flush", names: ["STRATA_FLUSH"], read: parseText },
  { key: "exportContent", names: ["STRATA_EXPORT_CONTENT"], read: parseSwitch },
  { key: "memory", names: ["STRATA_MEMORY"], read: parseText },
  { key: "project", names: ["STRATA_PROJECT"], read: parseText },
  { key: "sandbox", names: ["STRATA_SANDBOX"], read: parseText },
]

/** One layer for each variable, so that an error names the variable. */
export function environmentLayers(env: Readonly<Record<string, string | undefined>>): EnvironmentLayer[] {
  const settings = ENVIRONMENT.flatMap(({ key, names, read }) =>
    names
      .filter((name) => env[name])
      .map((name) => ({ source: `environment ${name}`, value: read(env[name]!) }))
      .filter(({ value }) => value !== undefined)
      .slice(0, 1)
      .map(({ source, value }) => ({ source, values: { [key]: value } })),
  )
  const flags = [
    ...SWITCHES.map(({ name, env: variable }) => ({ group: "switches", name, variable, read: parseSwitch })),
    ...FIGURES.map(({ name, env: variable }) => ({ group: "figures", name, variable, read: parseNumber })),
  ].flatMap(({ group, name, variable, read }) => {
    const text = env[variable]
    return text === undefined || text === ""
      ? []
      : [{ source: `environment ${variable}`, values: { [group]: { [name]: read(text) } } }]
  })
  return [...settings, ...flags]
}
