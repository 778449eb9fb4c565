/** The help texts, built from the descriptions of the commands. */
import { COMMON_OPTIONS } from "./arguments.ts"
import type { CommandDescription, Option, Options } from "./command.ts"
import type { Style } from "./display/terminal.ts"
import { indented, wrapped } from "./display/text.ts"

export interface HelpLook {
  readonly style: Style
  readonly columns: number
}

const WIDEST = 100 // longer lines are hard to read, however wide the window

export function overview(commands: readonly CommandDescription[], { style, columns }: HelpLook): string {
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
    ...wrapped("Exit codes: 0 done, 1 failed, 2 wrong usage. strata run has more.", look.width),
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
const MAX_LEFT = 0.55 // of the window
const CONTINUED = " \\" // a shell takes the next line as a part of this one

/** Two columns; the right one wraps. In a narrow window the left one takes about half of it at most. */
function rows(table: readonly Row[], { style, width }: Look): string[] {
  const max = Math.min(WIDEST_LEFT, Math.floor(width * MAX_LEFT))
  const left = Math.max(...table.map(([name]) => name.length).filter((length) => length <= max), 0)
  return table.flatMap(([name, about]) => {
    const start = 2 + left + GAP
    const text = wrapped(about, width - start)
    const fits = name.length <= left
    if (!fits) return [...commandLines(name, width).map((line) => `  ${style.cyan(line)}`), ...indented(text, start)]
    const first = `  ${style.cyan(name)}${" ".repeat(left - name.length + GAP)}${text[0] ?? ""}`
    return [first.trimEnd(), ...indented(text.slice(1), start)]
  })
}

/** A command, broken where it is too long for a line. */
function commandLines(command: string, width: number): string[] {
  if (command.length + 2 <= width) return [command]
  const parts = wrapped(command, width - 4 - CONTINUED.length)
  return parts.map((part, i) => `${i === 0 ? "" : "  "}${part}${i < parts.length - 1 ? CONTINUED : ""}`)
}

const lines = (all: readonly string[]) => `${all.join("\n")}\n`
