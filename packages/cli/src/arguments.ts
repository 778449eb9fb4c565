/** Reads a command's arguments by its description. Whatever is wrong with them becomes a sentence that says what would be right. */
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

export interface Arguments<O extends Options> {
  readonly values: Values<O>
  /** What stands beside the options: files, a task. */
  readonly operands: readonly string[]
}

/** Options that every command takes. */
export const COMMON_OPTIONS = {
  help: { kind: "flag", about: "this text" },
  "no-color": { kind: "flag", about: "no colours; NO_COLOR does the same" },
} as const satisfies Options

export function readArguments<const O extends Options>(
  description: CommandDescription<O>,
  args: readonly string[],
): Arguments<O> {
  const known: Options = { ...description.options, ...COMMON_OPTIONS }
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(Object.entries(known).map(([name, option]) => [name, parserType(name, option)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const values: Record<string, unknown> = Object.fromEntries(
    Object.entries(known).map(([name, { kind }]) => [name, kind === "flag" ? false : undefined]),
  )
  const operands: string[] = []
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value)
    if (token.kind === "option") {
      const option = known[token.name]
      if (option === undefined) throw unknownOption(token.rawName, { known, command: description.name })
      values[token.name] = givenValue(token, option)
    }
  }
  checkOperands(operands, description)
  return { values: values as Values<O>, operands }
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

function givenValue({ rawName, value, inlineValue }: OptionToken, option: Option): unknown {
  if (option.kind === "flag") {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value, but was given "${value}".`)
    return true
  }
  const isMissing = value === undefined || (!inlineValue && /^-./.test(value) && Number.isNaN(Number(value)))
  if (isMissing) throw new UsageError(`${rawName} needs a value: ${rawName} ${option.value}.`)
  return option.kind === "number" ? numberOf({ rawName, value }, option) : value
}

function numberOf(
  { rawName, value: text }: { rawName: string; value: string },
  { least, most = Number.MAX_SAFE_INTEGER }: NumberOption,
): number {
  const value = Number(text.replaceAll("_", ""))
  if (text.trim() !== "" && Number.isInteger(value) && value >= least && value <= most) return value
  const range = most === Number.MAX_SAFE_INTEGER ? "or more" : `to ${grouped(most)}`
  throw new UsageError(`${rawName} must be a whole number, ${grouped(least)} ${range}, not "${text}".`)
}

const grouped = (value: number) => value.toLocaleString("en-US")

function unknownOption(given: string, { known, command }: { known: Options; command: string }): UsageError {
  const near = nearestTo(given.replace(/^-+/, ""), Object.keys(known))
  const hint = near === undefined ? "" : ` Did you mean --${near}?`
  return new UsageError(`There is no option ${given}.${hint} "strata ${command} --help" lists what there is.`)
}

function checkOperands(operands: readonly string[], { name, operands: wanted }: CommandDescription): void {
  const { least, most, value } = wanted ?? { least: 0, most: 0, value: "" }
  if (operands.length < least)
    throw new UsageError(`Something is missing: strata ${name} ${value}. "strata ${name} --help" says more.`)
  if (operands.length > most) {
    const extra = operands.slice(most).map((text) => `"${text}"`)
    throw new UsageError(
      `strata ${name} does not know what to do with ${extra.join(", ")}. "strata ${name} --help" shows how it is called.`,
    )
  }
}
