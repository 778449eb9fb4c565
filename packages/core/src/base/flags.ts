/**
 * Flags: the kill switch of each mechanism and the figures it works with (FLG-1 to FLG-3), read through OpenFeature, so that
 * any flag provider can drive them. Where none is set up, settings and environment answer.
 */
import type { Client, EvaluationContext } from "@openfeature/server-sdk"
import { FIGURES, type FigureName, SWITCHES, type SwitchName } from "./flag-names.ts"
import type { Settings } from "./settings.ts"

/** No limit for a tool's results is higher: as good as none. */
export const MOST_RESULT_CHARACTERS = 100_000_000

export interface Flags {
  /** Whether a mechanism may act. Never, while everything is off. */
  isOn(name: SwitchName): Promise<boolean>
  figure(name: FigureName): Promise<number>
  /** Characters from which a tool's results are put aside: by flag `tool-result-limit.<tool>`, by setting, else `otherwise` or the figure. */
  toolResultLimit(tool: string, otherwise?: number): Promise<number>
  /** Tools besides ours whose old results may be cleared. */
  readonly clearableTools?: readonly string[]
}

export interface FlagOptions {
  readonly settings: Settings
  /** An OpenFeature client whose provider may override settings. Without one, nothing but the settings is asked. */
  readonly client?: Client
  readonly context?: EvaluationContext
  /** Hears about values that were refused because they are out of range. */
  readonly onRefused?: (message: string) => void
}

export function createFlags({ settings, client, context = {}, onRefused = () => undefined }: FlagOptions): Flags {
  const microcompact: ReadonlySet<SwitchName> = new Set([
    "clear-by-time",
    "clear-by-cache-edit",
    "clear-by-api",
    "clear-by-size",
  ])

  async function numberFor(name: string, standing: number, range: { min: number; max: number }): Promise<number> {
    const value = (await client?.getNumberValue(name, standing, context)) ?? standing
    if (value >= range.min && value <= range.max) return value
    onRefused(
      `The flag "${name}" says ${value}, which is not between ${range.min} and ${range.max}: ${standing} stands.`,
    )
    return standing
  }

  const flags: Flags = {
    clearableTools: settings.clearableTools,

    async isOn(name) {
      if (settings.off || (settings.disableMicrocompact && microcompact.has(name))) return false
      const standing = settings.switches[name] ?? SWITCHES.find((entry) => entry.name === name)!.on
      return (await client?.getBooleanValue(name, standing, context)) ?? standing
    },

    async figure(name) {
      const entry = FIGURES.find((candidate) => candidate.name === name)!
      const set = settings.figures[name]
      const usable = set !== undefined && set >= entry.min && set <= entry.max
      if (set !== undefined && !usable) {
        onRefused(
          `The setting "figures.${name}" is ${set}, which is not between ${entry.min} and ${entry.max}: ${entry.value} stands.`,
        )
      }
      return numberFor(name, usable ? set : entry.value, entry)
    },

    async toolResultLimit(tool, otherwise) {
      const { toolResultLimits: own } = settings
      const set = Object.hasOwn(own, tool) ? own[tool] : undefined // a tool may be named like something every object has
      const standing = set ?? otherwise ?? (await flags.figure("tool-result-limit"))
      return numberFor(`tool-result-limit.${tool}`, standing, { min: 0, max: MOST_RESULT_CHARACTERS })
    },
  }
  return flags
}
