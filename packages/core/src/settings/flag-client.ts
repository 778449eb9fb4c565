/**
 * Queries an OpenFeature client for all switches, figures and limits in parallel. The flag of a switch may be an object that also contains
 * its figures. Each value is checked separately: an invalid one is reported, and the value from the settings applies.
 */
import { errorReason } from "../base/errors.ts"
import { CONFIGURATIONS, FIGURES, type FigureName, SWITCHES, type SwitchName } from "./flag-names.ts"

/** The part of an OpenFeature client that is used. Declared here, so that our types do not need an OpenFeature package. */
export interface FlagClient {
  getBooleanValue(name: string, otherwise: boolean, context?: FlagContext): Promise<boolean>
  getNumberValue(name: string, otherwise: number, context?: FlagContext): Promise<number>
  /** Optional: with these methods, a flag of the wrong type is reported. */
  getBooleanDetails?(name: string, otherwise: boolean, context?: FlagContext): Promise<FlagDetails<boolean>>
  getNumberDetails?(name: string, otherwise: number, context?: FlagContext): Promise<FlagDetails<number>>
  /** For flags that contain a switch and its figures in one object. */
  getObjectValue?(name: string, otherwise: { [field: string]: number }, context?: FlagContext): Promise<unknown>
}

/** A flag's value, or why it could not be read. */
export interface FlagDetails<T> {
  readonly value: T
  readonly errorCode?: string
}

/** Properties that a provider may use for its decision: strings, numbers and booleans, by name. */
export type FlagContext = Readonly<Record<string, string | number | boolean>>

/** The largest limit for a tool's results, which no result reaches. */
export const MAX_RESULT_CHARACTERS = 100_000_000
export const NOT_SET = Number.NaN // the client's answer for a tool without a flag

interface FigureRange {
  readonly min: number
  readonly max: number
}

export interface RangedFigure extends FigureRange {
  readonly name: FigureName
  readonly value: number
}

const RESULT_LIMITS: FigureRange = { min: 0, max: MAX_RESULT_CHARACTERS }

export const isWithin = (value: number, { min, max }: FigureRange) => value >= min && value <= max

interface FlagValues {
  readonly on: Readonly<Record<SwitchName, boolean>>
  readonly figures: Readonly<Record<FigureName, number>>
}

export interface FlagAnswers extends FlagValues {
  /** Limits by tool. `NOT_SET` if there is no flag. */
  readonly limits: ReadonlyMap<string, number>
}

export interface FlagQuery {
  readonly client: FlagClient
  readonly context: FlagContext
  readonly refuse: (message: string) => void
  /** The values from the settings. */
  readonly fallback: FlagValues
  /** Whether the settings force a switch off, so that no client can turn it on. */
  readonly isForced: (name: SwitchName) => boolean
}

export async function queryFlags(tools: readonly string[], asked: FlagQuery): Promise<FlagAnswers> {
  const { fallback, isForced } = asked
  const on = { ...fallback.on }
  const figures = { ...fallback.figures }
  const free = SWITCHES.filter(({ name }) => !isForced(name))
  const mistyped = new Set<SwitchName>()
  const [objects, limits] = await Promise.all([
    Promise.all(free.map(async ({ name }) => ({ name, fields: await queryObject(name, asked) }))),
    queryLimits(tools, asked),
    ...free.map(async ({ name }) => {
      const { value, errorCode } = await querySwitch(name, asked)
      on[name] = typeof value === "boolean" ? value : fallback.on[name]
      if (typeof value !== "boolean" || errorCode === MISTYPED) mistyped.add(name)
    }),
    ...FIGURES.map(async (figure) => {
      figures[figure.name] = await queryFigure(figure, asked)
    }),
  ])
  for (const { name, fields } of objects) {
    const isObject = Object.keys(fields).length > 0
    if (mistyped.has(name) && !isObject)
      asked.refuse(`The flag "${name}" is not true or false. Using ${on[name]} instead.`)
    applyFields(fields, { name, on, figures, refuse: asked.refuse })
  }
  return { on, figures, limits }
}

export async function queryLimits(tools: readonly string[], asked: FlagQuery): Promise<ReadonlyMap<string, number>> {
  return new Map(await Promise.all(tools.map(async (tool) => [tool, await queryLimit(tool, asked)] as const)))
}

interface ClientQuestion<T> {
  readonly otherwise: T
  readonly ask: (otherwise: T, context: FlagContext) => Promise<T>
}

/** Returns the fallback if the client fails, so that the conversation continues. */
async function queryOrFallback<T>({ context, refuse }: FlagQuery, { otherwise, ask }: ClientQuestion<T>): Promise<T> {
  try {
    return await ask(otherwise, context)
  } catch (error) {
    refuse(`Flags cannot be read (${errorReason(error)}). The settings apply instead.`)
    return otherwise
  }
}

const MISTYPED = "TYPE_MISMATCH" // OpenFeature's code: the client then answers with the value it was given

function querySwitch(name: SwitchName, asked: FlagQuery): Promise<FlagDetails<boolean>> {
  const { client, fallback } = asked
  return queryOrFallback<FlagDetails<boolean>>(asked, {
    otherwise: { value: fallback.on[name] },
    ask: async ({ value: otherwise }, context) =>
      client.getBooleanDetails?.(name, otherwise, context) ?? {
        value: await client.getBooleanValue(name, otherwise, context),
      },
  })
}

function queryNumber(name: string, otherwise: number, asked: FlagQuery): Promise<FlagDetails<number>> {
  const { client } = asked
  return queryOrFallback<FlagDetails<number>>(asked, {
    otherwise: { value: otherwise },
    ask: async (_, context) =>
      client.getNumberDetails?.(name, otherwise, context) ?? {
        value: await client.getNumberValue(name, otherwise, context),
      },
  })
}

async function queryFigure(figure: RangedFigure, asked: FlagQuery): Promise<number> {
  const { name } = figure
  const otherwise = asked.fallback.figures[name]
  const { value, errorCode } = await queryNumber(name, otherwise, asked)
  if (errorCode === MISTYPED) asked.refuse(`The flag "${name}" is not a number. Using ${otherwise} instead.`)
  return checkFigure(value, { figure, otherwise, label: `The flag "${name}"`, refuse: asked.refuse })
}

interface FigureCheck extends Pick<FlagQuery, "refuse"> {
  readonly figure: RangedFigure
  readonly otherwise: number
  readonly label: string
}

function checkFigure(value: unknown, { figure: { min, max }, otherwise, label, refuse }: FigureCheck): number {
  if (typeof value === "number" && isWithin(value, { min, max })) return value
  const shown = typeof value === "number" ? value : JSON.stringify(value)
  refuse(`${label} says ${shown}, which is not between ${min} and ${max}. Using ${otherwise} instead.`)
  return otherwise
}

async function queryLimit(tool: string, asked: FlagQuery): Promise<number> {
  const name = `tool-result-limit.${tool}`
  const { value, errorCode } = await queryNumber(name, NOT_SET, asked)
  if (errorCode === MISTYPED) asked.refuse(`The flag "${name}" is not a number. The flag is ignored.`)
  if (Number.isNaN(value) || isWithin(value, RESULT_LIMITS)) return value
  const { min, max } = RESULT_LIMITS
  asked.refuse(`The flag "${name}" says ${value}, which is not between ${min} and ${max}. The flag is ignored.`)
  return NOT_SET
}

type Fields = Readonly<Record<string, unknown>>

/** The client returns the empty object if the flag does not exist or has another type. */
async function queryObject(name: SwitchName, asked: FlagQuery): Promise<Fields> {
  const { client } = asked
  if (!client.getObjectValue) return {}
  const value = await queryOrFallback<unknown>(asked, {
    otherwise: {},
    ask: (_, context) => client.getObjectValue!(name, {}, context),
  })
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

interface FieldTarget extends Pick<FlagQuery, "refuse"> {
  readonly name: SwitchName
  readonly on: Record<SwitchName, boolean>
  readonly figures: Record<FigureName, number>
}

/** Fields of an object take precedence over the separate flags of its figures. */
function applyFields(fields: Fields, { name, on, figures, refuse }: FieldTarget): void {
  const known: readonly string[] = CONFIGURATIONS[name] ?? []
  for (const [field, value] of Object.entries(fields)) {
    const label = `The field "${field}" of the flag "${name}"`
    const figure = known.includes(field) ? FIGURES.find((each) => each.name === field) : undefined
    if (figure) figures[figure.name] = checkFigure(value, { figure, otherwise: figures[figure.name], label, refuse })
    else if (field !== "on")
      refuse(`${label} is not known. It can have: ${["on", ...known].join(", ")}. The field is ignored.`)
    else if (typeof value === "boolean") on[name] = value
    else refuse(`${label} says ${JSON.stringify(value)}, which is not true or false. Using ${on[name]} instead.`)
  }
}
