/**
 * Classifies what a project's settings may decide. Files in a repository may come from anyone: restrictions always apply, but running
 * programs, allowing more or sending data elsewhere requires the user's trust. Every new setting must be classified here to compile.
 */

import { MEMORY_MODES, type MemoryMode, type PermissionMode, SANDBOX_MODES, type SandboxMode } from "../base/enums.ts"
import { FIGURES, type FigureName } from "./flag-names.ts"
import type { Settings } from "./settings-schema.ts"

type TrustClass = "restricts" | "harmless" | "needs trust"

/** The user's own settings that a project's values are compared with. */
export interface UserSettings {
  readonly mode: PermissionMode
  readonly memory: MemoryMode
  readonly sandbox: SandboxMode
  /** Whether the user sets a model's price. */
  readonly hasPrices: boolean
}

export const userSettings = ({
  permissions,
  memory = "auto",
  sandbox = "unasked",
  models = {},
}: Partial<Settings>): UserSettings => ({
  memory,
  sandbox,
  mode: permissions?.mode ?? "ask",
  hasPrices: Object.values(models).some(({ price }) => price !== undefined),
})

type Rule<T> = TrustClass | ((value: NonNullable<T>, user: UserSettings) => TrustClass)
type Rules<T> = { readonly [K in keyof Required<T>]: Rule<T[K]> }
type SettingRule<T> =
  | Rule<T>
  /** One rule for each key of an object. */
  | { readonly inside: Rules<T> }
  /** One rule for all entries of a record. */
  | { readonly each: Rule<NonNullable<T>[keyof NonNullable<T>]> }

/** Permission modes from strictest to widest. */
const MODE_WIDTH: Readonly<Record<PermissionMode, number>> = { plan: 0, ask: 1, "accept-edits": 2, bypass: 3 }

const PERMISSIONS: Rules<Settings["permissions"]> = {
  mode: (mode, user) => (MODE_WIDTH[mode] <= MODE_WIDTH[user.mode] ? "restricts" : "needs trust"),
  allow: "needs trust",
  ask: "restricts",
  deny: "restricts",
}

/** Limits on what the project may add to the context, on money spent without asking, and on shared resources. */
const GUARDED_FIGURES: ReadonlySet<FigureName> = new Set([
  "instructions-limit",
  "background-share",
  "compact-failures",
  "memory-daily-limit",
  "max-agents-project",
])
const FIGURE_RULES = Object.fromEntries(
  FIGURES.map(({ name }) => [name, GUARDED_FIGURES.has(name) ? "needs trust" : "harmless"]),
) as Rules<Settings["figures"]>

/** Cost limits use these prices. An entry without a price would replace the user's entry for the same model. */
const MODEL_RULE: Rule<Settings["models"][string]> = ({ price }, { hasPrices }) =>
  price !== undefined || hasPrices ? "needs trust" : "harmless"

export const PROJECT_RULES: { readonly [K in keyof Required<Settings>]: SettingRule<Settings[K]> } = {
  $schema: "harmless", // only editors read it
  // context management: more or fewer tokens of the same conversation, sent to the same server
  off: "harmless",
  autoCompactEnabled: "harmless",
  disableCompact: "harmless",
  disableAutoCompact: "harmless",
  disableMicrocompact: "harmless",
  autoCompactPercent: "harmless",
  autoCompactTokens: "harmless",
  contextWindow: "harmless",
  maxOutputTokens: "harmless",
  flush: "harmless",
  switches: "harmless",
  figures: { inside: FIGURE_RULES },
  toolResultLimits: "harmless",
  clearableTools: "harmless",
  compactInstructions: "needs trust", // they reach the model as the person's own
  summariserModel: "needs trust", // it receives the entire conversation, and it costs money
  planner: "needs trust", // it decides what is paid and what stays in view
  cacheLifetime: "needs trust", // an hour costs more than five minutes
  models: { each: MODEL_RULE },
  exportContent: (exports) => (exports ? "needs trust" : "restricts"),
  // a repository must not enable what the user has restricted
  memory: (mode, user) =>
    MEMORY_MODES.indexOf(mode) >= MEMORY_MODES.indexOf(user.memory) ? "restricts" : "needs trust",
  project: "needs trust", // it decides whose memory is used; ignored in a shared file
  permissions: { inside: PERMISSIONS },
  sandbox: (mode, user) =>
    SANDBOX_MODES.indexOf(mode) >= SANDBOX_MODES.indexOf(user.sandbox) ? "restricts" : "needs trust",
  hooks: "needs trust",
  mcpServers: "needs trust",
  claudeHome: "needs trust", // shown, and without effect: only the person's own file decides
}

export interface SplitSettings {
  /** Settings that restrict or do no harm, which apply without asking. */
  readonly applied: Partial<Settings>
  readonly needsTrust: Partial<Settings>
}

export function splitByTrust(values: Partial<Settings>, user: UserSettings): SplitSettings {
  const split = { applied: {} as Record<string, unknown>, needsTrust: {} as Record<string, unknown> }
  const sideFor = (rule: Rule<unknown> | undefined, value: unknown) =>
    classify(rule, value, user) === "needs trust" ? split.needsTrust : split.applied
  for (const [key, value] of Object.entries(values)) {
    const rule = PROJECT_RULES[key as keyof Settings] as SettingRule<Readonly<Record<string, unknown>>>
    if (typeof rule !== "object") {
      sideFor(rule as Rule<unknown>, value)[key] = value
      continue
    }
    for (const [name, one] of Object.entries(value as object)) {
      const side = sideFor("each" in rule ? rule.each : rule.inside[name], one)
      side[key] = { ...(side[key] as object | undefined), [name]: one }
    }
  }
  return split
}

function classify(rule: Rule<unknown> | undefined, value: unknown, user: UserSettings): TrustClass {
  if (rule === undefined) return "needs trust"
  return typeof rule === "function" ? rule(value as NonNullable<unknown>, user) : rule
}
