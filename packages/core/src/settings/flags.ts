/**
 * Flags: a switch for each mechanism and its figures. Settings and environment provide the values; an OpenFeature client may override
 * them. Once per turn they are read into a plain record, so that decisions based on them are synchronous. After the first read no turn
 * waits for the client: a late answer applies from the next turn on.
 */

import type { CacheLifetimeSetting, PlannerMode } from "../base/enums.ts"
import {
  type FlagAnswers,
  type FlagClient,
  type FlagContext,
  isWithin,
  NOT_SET,
  queryFlags,
  queryLimits,
  type RangedFigure,
} from "./flag-client.ts"
import { FIGURES, type FigureName, SWITCHES, type SwitchName } from "./flag-names.ts"
import type { Settings } from "./settings.ts"

export type { FlagClient, FlagContext } from "./flag-client.ts"

/** The flags of one turn. */
export interface Flags {
  /** Whether each mechanism may act. */
  readonly on: Readonly<Record<SwitchName, boolean>>
  readonly figures: Readonly<Record<FigureName, number>>
  /** Whether cost decides when to clear and compact. */
  readonly planner: PlannerMode
  readonly cacheLifetime: CacheLifetimeSetting
  /** Further tools whose old results may be cleared. */
  readonly clearableTools: readonly string[]
  /**
   * Characters from which a tool's results are offloaded: by flag `tool-result-limit.<tool>`, by setting, else `otherwise` or the figure.
   */
  toolResultLimit(tool: string, otherwise?: number): number
}

export interface FlagReader {
  /** The values of the last `read`. Before the first one, those of the settings. */
  readonly current: Flags
  /** Queries the client for all values. `tools` are those whose result limits a flag may set. */
  read(tools?: Iterable<string>): Promise<Flags>
  /** Queries only the result limits of tools that the last `read` did not include. */
  readLimits(tools: Iterable<string>): Promise<Flags>
}

export interface FlagOptions {
  readonly settings: Settings
  /** An OpenFeature client that overrides the settings. */
  readonly client?: FlagClient
  readonly context?: FlagContext
  /** Called once for each invalid value. */
  readonly onRefused?: (message: string) => void
}

const MICROCOMPACT: ReadonlySet<SwitchName> = new Set([
  "clear-by-time",
  "clear-by-cache-edit",
  "clear-by-api",
  "clear-by-size",
])

export function createFlags({ settings, client, context = {}, onRefused }: FlagOptions): FlagReader {
  const refuse = reportOnce(onRefused)
  const own = flagsFromSettings(settings, refuse)
  if (!client) return { current: own, read: async () => own, readLimits: async () => own }
  const isForced = (name: SwitchName) => isForcedOff(name, settings)
  const query = { client, context, refuse, fallback: own, isForced }
  const flagsOf = ({ on, figures, limits }: FlagAnswers): Flags => ({
    ...own,
    ...{ on, figures, toolResultLimit: createResultLimits({ settings, figures, driven: limits }) },
  })
  let current = own
  /** The client's newest values. They apply from the next `read` on, so that nothing changes during a turn. */
  let latest: FlagAnswers = { on: own.on, figures: own.figures, limits: new Map() }
  let asking: Promise<void> | undefined
  let hasRead = false

  async function ask(tools: readonly string[]): Promise<void> {
    latest = await queryFlags(tools, query)
    hasRead = true
  }

  return {
    get current() {
      return current
    },
    async read(tools = []) {
      asking ??= ask([...new Set(tools)]).finally(() => {
        asking = undefined
      })
      await (hasRead ? Promise.race([asking, nextTick()]) : asking)
      current = flagsOf(latest)
      return current
    },
    async readLimits(tools) {
      const fresh = [...new Set(tools)].filter((tool) => !latest.limits.has(tool))
      const answered = queryLimits(fresh, query).then((limits) => {
        latest = { ...latest, limits: new Map([...latest.limits, ...limits]) }
      })
      await (hasRead ? Promise.race([answered, nextTick()]) : answered)
      current = flagsOf({ on: current.on, figures: current.figures, limits: latest.limits })
      return current
    },
  }
}

/** Gives a provider with local values time to answer. A slow one delays only the first read. */
const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve))

function flagsFromSettings(settings: Settings, refuse: (message: string) => void): Flags {
  const on = Object.fromEntries(
    SWITCHES.map(({ name, on: usual }) => [name, !isForcedOff(name, settings) && (settings.switches[name] ?? usual)]),
  ) as Flags["on"]
  const figures = Object.fromEntries(
    FIGURES.map(({ name, value, ...range }) => [name, readFigure(settings, { name, value, ...range }, refuse)]),
  ) as Flags["figures"]
  const toolResultLimit = createResultLimits({ settings, figures, driven: new Map() })
  const { planner, cacheLifetime, clearableTools } = settings
  return { on, figures, planner, cacheLifetime, clearableTools, toolResultLimit }
}

/** Switches that no client can turn on. */
const isForcedOff = (name: SwitchName, { off, disableMicrocompact }: Settings): boolean =>
  off || (disableMicrocompact && MICROCOMPACT.has(name))

function readFigure({ figures }: Settings, { name, value, min, max }: RangedFigure, refuse: (message: string) => void) {
  const set = figures[name]
  if (set === undefined || isWithin(set, { min, max })) return set ?? value
  refuse(`The setting "figures.${name}" is ${set}, which is not between ${min} and ${max}. Using ${value} instead.`)
  return value
}

interface ResultLimitSources extends Pick<Flags, "figures"> {
  readonly settings: Settings
  /** The client's limits, by tool. */
  readonly driven: ReadonlyMap<string, number>
}

const createResultLimits =
  ({ settings, figures, driven }: ResultLimitSources): Flags["toolResultLimit"] =>
  (tool, otherwise) => {
    const limit = driven.get(tool) ?? NOT_SET
    if (!Number.isNaN(limit)) return limit
    const { toolResultLimits: own } = settings
    const set = Object.hasOwn(own, tool) ? own[tool] : undefined // a tool may have the same name as an object method
    return set ?? otherwise ?? figures["tool-result-limit"]
  }

function reportOnce(listener: FlagOptions["onRefused"]): (message: string) => void {
  const heard = new Set<string>()
  return (message) => {
    if (heard.has(message)) return
    heard.add(message)
    listener?.(message)
  }
}
