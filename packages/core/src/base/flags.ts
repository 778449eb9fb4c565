/**
 * Flags: the switch of each mechanism and the figures it works with. Settings and environment give the values; an OpenFeature client may
 * override them. They are read once per turn into a plain record, so decisions made by them are synchronous.
 */
import { FIGURES, type FigureName, SWITCHES, type SwitchName } from "./flag-names.ts"
import type { Settings } from "./settings.ts"

/** The highest limit for a tool's results. No result reaches it. */
export const MOST_RESULT_CHARACTERS = 100_000_000

/** The values of one turn. */
export interface Flags {
  /** Whether a mechanism may act. */
  readonly on: Readonly<Record<SwitchName, boolean>>
  readonly figures: Readonly<Record<FigureName, number>>
  /** Tools besides ours whose old results may be cleared. */
  readonly clearableTools: readonly string[]
  /** Characters from which a tool's results are put aside: by flag `tool-result-limit.<tool>`, by setting, else `otherwise` or the figure. */
  toolResultLimit(tool: string, otherwise?: number): number
}

export interface FlagReader {
  /** The values of the last `read`. Before the first one: those of the settings. */
  readonly current: Flags
  /** Asks the client for every value. `tools`: those whose result limits a flag may set. */
  read(tools?: Iterable<string>): Promise<Flags>
  /** Asks only for the result limits of tools that the last `read` did not name. */
  readLimits(tools: Iterable<string>): Promise<Flags>
}

/** The part of an OpenFeature client that flags are read through. Declared here, so that our types need no OpenFeature package. */
export interface FlagClient {
  getBooleanValue(name: string, otherwise: boolean, context?: FlagContext): Promise<boolean>
  getNumberValue(name: string, otherwise: number, context?: FlagContext): Promise<number>
}

/** What a provider may use to decide: strings, numbers and booleans, by name. */
export type FlagContext = Readonly<Record<string, string | number | boolean>>

export interface FlagOptions {
  readonly settings: Settings
  /** An OpenFeature client that overrides the settings. Without one, the settings decide alone. */
  readonly client?: FlagClient
  readonly context?: FlagContext
  /** Called once for each value that was refused because it is out of range. */
  readonly onRefused?: (message: string) => void
}

const MICROCOMPACT: ReadonlySet<SwitchName> = new Set([
  "clear-by-time",
  "clear-by-cache-edit",
  "clear-by-api",
  "clear-by-size",
])

interface Range {
  readonly min: number
  readonly max: number
}

const RESULT_LIMITS: Range = { min: 0, max: MOST_RESULT_CHARACTERS }
const NOT_SET = Number.NaN // what the client answers for a tool that no flag names

export function createFlags({ settings, client, context = {}, onRefused }: FlagOptions): FlagReader {
  const refuse = once(onRefused)
  const own = flagsFrom(settings, refuse)
  if (!client) return { current: own, read: async () => own, readLimits: async () => own }
  const asked: Asked = { client, context, refuse }
  let current = own
  let driven: ReadonlyMap<string, number> = new Map()

  async function withLimits({ on, figures }: Pick<Flags, "on" | "figures">, tools: Iterable<string>): Promise<Flags> {
    const fresh = [...new Set(tools)].filter((tool) => !driven.has(tool))
    const answers = await Promise.all(fresh.map(async (tool) => [tool, await askForLimit(tool, asked)] as const))
    driven = new Map([...driven, ...answers])
    current = { ...own, on, figures, toolResultLimit: limitsFrom({ settings, figures, driven }) }
    return current
  }

  return {
    get current() {
      return current
    },
    async read(tools = []) {
      const on = { ...own.on }
      const figures = { ...own.figures }
      const switches = SWITCHES.filter(({ name }) => !isForcedOff(name, settings))
      await Promise.all([
        ...switches.map(async ({ name }) => {
          on[name] = await client.getBooleanValue(name, own.on[name], context)
        }),
        ...FIGURES.map(async (figure) => {
          figures[figure.name] = await askForFigure(figure, { ...asked, otherwise: own.figures[figure.name] })
        }),
      ])
      driven = new Map()
      return withLimits({ on, figures }, tools)
    },
    readLimits: (tools) => withLimits(current, tools),
  }
}

function flagsFrom(settings: Settings, refuse: (message: string) => void): Flags {
  const on = Object.fromEntries(
    SWITCHES.map(({ name, on: usual }) => [name, !isForcedOff(name, settings) && (settings.switches[name] ?? usual)]),
  ) as Flags["on"]
  const figures = Object.fromEntries(
    FIGURES.map(({ name, value, ...range }) => [name, figureIn(settings, { name, value, ...range }, refuse)]),
  ) as Flags["figures"]
  const toolResultLimit = limitsFrom({ settings, figures, driven: new Map() })
  return { on, figures, clearableTools: settings.clearableTools, toolResultLimit }
}

/** No client can switch these on. */
const isForcedOff = (name: SwitchName, { off, disableMicrocompact }: Settings): boolean =>
  off || (disableMicrocompact && MICROCOMPACT.has(name))

interface RangedFigure extends Range {
  readonly name: FigureName
  readonly value: number
}

function figureIn({ figures }: Settings, { name, value, min, max }: RangedFigure, refuse: (message: string) => void) {
  const set = figures[name]
  if (set === undefined || isWithin(set, { min, max })) return set ?? value
  refuse(`The setting "figures.${name}" is ${set}, which is not between ${min} and ${max}. Using ${value} instead.`)
  return value
}

interface Asked {
  readonly client: FlagClient
  readonly context: FlagContext
  readonly refuse: (message: string) => void
}

async function askForFigure(
  { name, min, max }: RangedFigure,
  { client, context, refuse, otherwise }: Asked & { readonly otherwise: number },
): Promise<number> {
  const value = await client.getNumberValue(name, otherwise, context)
  if (isWithin(value, { min, max })) return value
  refuse(`The flag "${name}" says ${value}, which is not between ${min} and ${max}. Using ${otherwise} instead.`)
  return otherwise
}

async function askForLimit(tool: string, { client, context, refuse }: Asked): Promise<number> {
  const name = `tool-result-limit.${tool}`
  const value = await client.getNumberValue(name, NOT_SET, context)
  if (Number.isNaN(value) || isWithin(value, RESULT_LIMITS)) return value
  const { min, max } = RESULT_LIMITS
  refuse(`The flag "${name}" says ${value}, which is not between ${min} and ${max}. The flag is ignored.`)
  return NOT_SET
}

interface Limits extends Pick<Flags, "figures"> {
  readonly settings: Settings
  /** By tool, as the client answered. */
  readonly driven: ReadonlyMap<string, number>
}

const limitsFrom =
  ({ settings, figures, driven }: Limits): Flags["toolResultLimit"] =>
  (tool, otherwise) => {
    const limit = driven.get(tool) ?? NOT_SET
    if (!Number.isNaN(limit)) return limit
    const { toolResultLimits: own } = settings
    const set = Object.hasOwn(own, tool) ? own[tool] : undefined // a tool may be called like a method of every object
    return set ?? otherwise ?? figures["tool-result-limit"]
  }

const isWithin = (value: number, { min, max }: Range) => value >= min && value <= max

function once(listener: FlagOptions["onRefused"]): (message: string) => void {
  const heard = new Set<string>()
  return (message) => {
    if (heard.has(message)) return
    heard.add(message)
    listener?.(message)
  }
}
