/** Parses a command's arguments from its description. Every error message says what would be valid. */
import { parseArgs } from "node:util"
import {
  type CommandDescription,
  type NumberOption,
  type Option,
  type Options,
  UsageError,
  type Values,
} from "./command.ts"
import { nearestTo } from "./suggestion.ts"

export interface ParsedArguments<O extends Options> {
  readonly values: Values<O>
  /** Arguments that are not options: files, a task. */
  readonly operands: readonly string[]
}

/** Options that every command takes. */
export const COMMON_OPTIONS = {
  help: { kind: "flag", about: "show this help" },
  "no-color": { kind: "flag", about: "print without colours, like NO_COLOR=1" },
} as const satisfies Options

export function readArguments<const O extends Options>(
  description: CommandDescription<O>,
  args: readonly string[],
): ParsedArguments<O> {
  const known: Options = { ...description.options, ...COMMON_OPTIONS }
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(Object.entries(known).map(([name, option]) => [name, parserType(name, option)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const values: Record<string, unknown> = Object.fromEntries(
    Object.entries(known).map(([name, { kind }]) => [name, DEFAULT_VALUES[kind]]),
  )
  const operands: string[] = []
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value)
    if (token.kind === "option") {
      const option = known[token.name]
      if (option === undefined) throw unknownOption(token.rawName, { known, command: description.name })
      const value = parseValue(token, option)
      values[token.name] = option.kind === "list" ? [...(values[token.name] as string[]), value] : value
    }
  }
  checkOperands(operands, description)
  return { values: values as Values<O>, operands }
}

const DEFAULT_VALUES: Readonly<Record<Option["kind"], false | undefined | readonly string[]>> = {
  flag: false,
  list: [],
  text: undefined,
  choice: undefined,
  number: undefined,
  dollars: undefined,
}

const parserType = (name: string, { kind }: Option) => ({
  type: kind === "flag" ? ("boolean" as const) : ("string" as const),
  ...(name === "help" ? { short: "h" } : {}),
})

interface OptionToken {
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function parseValue({ rawName, value, inlineValue }: OptionToken, option: Option): unknown {
  if (option.kind === "flag") {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value, but got "${value}".`)
    return true
  }
  const isMissing = value === undefined || (!inlineValue && /^-./.test(value) && Number.isNaN(Number(value)))
  if (isMissing) throw new UsageError(`${rawName} needs a value: ${rawName} ${option.value}.`)
  switch (option.kind) {
    case "number":
      return parseNumber({ rawName, value }, option)
    case "dollars":
      return parseDollars({ rawName, value })
    case "choice":
      if (option.choices.includes(value)) return value
      throw new UsageError(`${rawName} must be one of ${option.choices.join(", ")}, not "${value}".`)
    default:
      return value
  }
}

interface RawValue {
  readonly rawName: string
  readonly value: string
}

function parseNumber({ rawName, value: text }: RawValue, { min, max = Number.MAX_SAFE_INTEGER }: NumberOption): number {
  const value = Number(text.replaceAll("_", ""))
  if (text.trim() !== "" && Number.isInteger(value) && value >= min && value <= max) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`
  throw new UsageError(`${rawName} must be a whole number ${range}, not "${text}".`)
}

function parseDollars({ rawName, value: text }: RawValue): number {
  const value = Number(text)
  if (text.trim() !== "" && value > 0 && Number.isFinite(value)) return value
  throw new UsageError(`${rawName} must be a number of dollars above 0, not "${text}".`)
}

function unknownOption(given: string, { known, command }: { known: Options; command: string }): UsageError {
  const near = nearestTo(given.replace(/^-+/, ""), Object.keys(known))
  const hint = near === undefined ? `"strata ${command} --help" lists the options.` : `Did you mean --${near}?`
  return new UsageError(`strata ${command} has no option ${given}. ${hint}`)
}

function checkOperands(operands: readonly string[], { name, operands: wanted }: CommandDescription): void {
  const { min, max, value } = wanted ?? { min: 0, max: 0, value: "" }
  if (operands.length < min)
    throw new UsageError(`strata ${name} needs ${value}. "strata ${name} --help" shows an example.`)
  if (operands.length > max) {
    const extra = operands.slice(max).map((text) => `"${text}"`)
    const taken = max === 0 ? "takes no arguments" : `takes only ${value}`
    throw new UsageError(
      `strata ${name} ${taken}, but got ${extra.join(", ")}. "strata ${name} --help" shows an example.`,
    )
  }
}
