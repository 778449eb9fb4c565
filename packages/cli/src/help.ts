/** The help texts, built from the descriptions of the commands. */
import { COMMON_OPTIONS } from "./arguments.ts"
import type { Command, CommandDescription, Option, Options } from "./command.ts"
import type { Style } from "./display/terminal.ts"
import { indented, wrapped } from "./display/text.ts"

export interface HelpLook {
  readonly style: Style
  readonly columns: number
}

const WIDEST = 100 // longer lines are hard to read, however wide the window

export function overview(commands: readonly Command[], { style, columns }: HelpLook): string {
  const look = { style, width: Math.min(columns, WIDEST) }
  const options = { ...COMMON_OPTIONS, version: { kind: "flag", about: "print the version" } } as const
  return lines([
    `${style.bold("strata")}: agent conversations that outgrow the model's window`,
    ...section("Usage", ["  strata COMMAND [options]"], look),
    ...section(
      "Commands",
      rows(
        commands.map(({ name, about }) => [name, about]),
        look,
      ),
      look,
    ),
    ...section("Options", rows(optionRows(options), look), look),
    ...section(
      "Examples",
      rows(
        commands.flatMap(({ examples }) => examples.slice(0, 1)),
        look,
      ),
      look,
    ),
    "",
    '"strata COMMAND --help" explains a command.',
    "Exit codes: 0 done, 1 failed, 2 wrong usage. strata run has more.",
    "STRATA_DEBUG=1 adds a stack trace to errors.",
    `New here? Try ${style.bold("strata demo")}. It needs no key and no network.`,
  ])
}

export function commandHelp(description: CommandDescription, { style, columns }: HelpLook): string {
  const { name, about, more = [], operands, options, sections = [], examples } = description
  const look = { style, width: Math.min(columns, WIDEST) }
  return lines([
    `${style.bold(`strata ${name}`)}: ${about}`,
    ...more.flatMap((paragraph) => ["", ...wrapped(paragraph, look.width)]),
    ...section("Usage", [`  strata ${name}${operands?.value ? ` ${operands.value}` : ""} [options]`], look),
    ...section("Options", rows(optionRows({ ...options, ...COMMON_OPTIONS }), look), look),
    ...sections.flatMap(({ title, rows: table }) => section(title, rows(table, look), look)),
    ...section("Examples", rows(examples, look), look),
  ])
}

interface Look {
  readonly style: Style
  readonly width: number
}

const section = (title: string, content: readonly string[], { style }: Look) => ["", style.bold(title), ...content]

type Row = readonly [left: string, right: string]

const optionRows = (options: Options): Row[] =>
  Object.entries(options).map(([name, option]) => [`--${name}${valueName(option)}`, option.about])

const valueName = (option: Option) => (option.kind === "flag" ? "" : ` ${option.value}`)

const GAP = 2
const WIDEST_LEFT = 44 // longer ones get a line of their own

/** Two columns; the right one wraps. */
function rows(table: readonly Row[], { style, width }: Look): string[] {
  const left = Math.max(...table.map(([name]) => name.length).filter((length) => length <= WIDEST_LEFT), 0)
  return table.flatMap(([name, about]) => {
    const start = 2 + left + GAP
    const text = wrapped(about, width - start)
    const fits = name.length <= left
    const first = fits
      ? `  ${style.cyan(name)}${" ".repeat(left - name.length + GAP)}${text[0] ?? ""}`
      : `  ${style.cyan(name)}`
    return [first.trimEnd(), ...indented(fits ? text.slice(1) : text, start)]
  })
}

const lines = (all: readonly string[]) => `${all.join("\n")}\n`
