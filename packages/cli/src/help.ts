/** The help texts, made from the descriptions of the commands. */
import { COMMON_OPTIONS } from "./arguments.ts"
import type { Command, CommandDescription, Option, Options } from "./command.ts"
import type { Style } from "./display/terminal.ts"
import { indented, wrapped } from "./display/text.ts"

export interface HelpLook {
  readonly style: Style
  readonly columns: number
}

const WIDEST = 100 // longer lines are harder to read, however wide the window

export function overview(commands: readonly Command[], { style, columns }: HelpLook): string {
  const width = Math.min(columns, WIDEST)
  return lines([
    `${style.bold("strata")}: conversations that outgrow the model's window`,
    "",
    style.bold("Usage"),
    "  strata COMMAND [options]",
    "",
    style.bold("Commands"),
    ...rows(
      commands.map(({ name, about }) => [name, about]),
      { style, width },
    ),
    "",
    style.bold("Options"),
    ...rows(optionRows({ ...COMMON_OPTIONS, version: { kind: "flag", about: "which version this is" } }), {
      style,
      width,
    }),
    "",
    style.bold("Examples"),
    ...rows(
      commands.flatMap(({ examples }) => examples.slice(0, 1)),
      { style, width },
    ),
    "",
    '"strata COMMAND --help" says more about a command.',
    "STRATA_DEBUG=1 shows where an error came from.",
    `New here? ${style.bold("strata demo")} needs neither a key nor a network.`,
  ])
}

export function commandHelp(description: CommandDescription, { style, columns }: HelpLook): string {
  const { name, about, more, operands, options, examples } = description
  const width = Math.min(columns, WIDEST)
  return lines([
    `${style.bold(`strata ${name}`)}: ${about}`,
    ...(more === undefined ? [] : ["", ...wrapped(more, width)]),
    "",
    style.bold("Usage"),
    `  strata ${name}${operands ? ` ${operands.value}` : ""} [options]`,
    "",
    style.bold("Options"),
    ...rows(optionRows({ ...options, ...COMMON_OPTIONS }), { style, width }),
    "",
    style.bold("Examples"),
    ...rows(examples, { style, width }),
  ])
}

type Row = readonly [left: string, right: string]

const optionRows = (options: Options): Row[] =>
  Object.entries(options).map(([name, option]) => [`--${name}${valueName(option)}`, option.about])

const valueName = (option: Option) => (option.kind === "flag" ? "" : ` ${option.value}`)

const GAP = 2
const WIDEST_LEFT = 44 // what is longer gets a line of its own

/** Two columns; the right one wraps. */
function rows(table: readonly Row[], { style, width }: { style: Style; width: number }): string[] {
  const left = Math.max(...table.map(([name]) => name.length).filter((length) => length <= WIDEST_LEFT), 0)
  return table.flatMap(([name, about]) => {
    const start = 2 + left + GAP
    const text = wrapped(about, width - start)
    const fits = name.length <= left
    const first = fits
      ? `  ${style.cyan(name)}${" ".repeat(left - name.length + GAP)}${text[0] ?? ""}`
      : `  ${style.cyan(name)}`
    return [first, ...indented(fits ? text.slice(1) : text, start)]
  })
}

const lines = (all: readonly string[]) => `${all.join("\n")}\n`
