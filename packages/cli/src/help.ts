/** The help texts, built from the descriptions of the commands. */
import { COMMON_OPTIONS } from "./arguments.ts"
import type { CommandDescription, CommandGroup, Option, Options } from "./command.ts"
import type { Style } from "./display/terminal.ts"
import { indent, wrapText } from "./display/text.ts"

export interface HelpRenderOptions {
  readonly style: Style
  readonly columns: number
}

const MAX_WIDTH = 100 // longer lines are hard to read, even in a wide window

export function overview(groups: readonly CommandGroup[], { style, columns }: HelpRenderOptions): string {
  const look = { style, width: Math.min(columns, MAX_WIDTH) }
  return lines([
    ...title("strata", "agent conversations that outgrow the model's window", look),
    ...section("Usage", ["  strata COMMAND [options]"], look),
    ...section("Commands", groupRows(groups, look), look),
    "",
    ...[
      '"strata help COMMAND" explains a command, "strata help GROUP" lists a group.',
      "Options: --help, --version, --no-color (print without colours, like NO_COLOR=1).",
      "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no API key. STRATA_DEBUG=1 adds a stack trace.",
      "New here? Try strata demo. It needs no key and no network.",
    ].flatMap((sentence) => wrapText(sentence, look.width)),
  ])
}

/** Two lines for each group: what it is for, and the names of its commands. */
function groupRows(groups: readonly CommandGroup[], { style, width }: HelpOptions): string[] {
  const start = 2 + Math.max(...groups.map(({ name }) => name.length)) + GAP
  return groups.flatMap(({ name, about, commands }) => {
    const [first = "", ...rest] = wrapText(about, width - start)
    const names = wrapText(commands.map((command) => command.name).join(", "), width - start)
    const heading = `  ${style.bold(name)}${" ".repeat(start - 2 - name.length)}${first}`
    return [heading, ...indent([...rest, ...names.map(style.cyan)], start)]
  })
}

export function groupHelp({ name, about, commands }: CommandGroup, { style, columns }: HelpRenderOptions): string {
  const look = { style, width: Math.min(columns, MAX_WIDTH) }
  const described = commands.map((command): Row => [command.name, command.about])
  const examples = commands.flatMap((command) => command.examples.slice(0, 1))
  return lines([
    ...title(`strata help ${name}`, about, look),
    ...section("Commands", rows(described, look), look),
    ...section("Examples", rows(examples, look), look),
    "",
    ...wrapText('"strata help COMMAND" explains a command.', look.width),
  ])
}

export function commandHelp(description: CommandDescription, { style, columns }: HelpRenderOptions): string {
  const { name, about, more = [], operands, options, sections = [], examples } = description
  const look = { style, width: Math.min(columns, MAX_WIDTH) }
  return lines([
    ...title(`strata ${name}`, about, look),
    ...more.flatMap((paragraph) => ["", ...wrapText(paragraph, look.width)]),
    ...section(
      "Usage",
      indent(commandLines(`strata ${name}${operands?.value ? ` ${operands.value}` : ""} [options]`, look.width), 2),
      look,
    ),
    ...section("Options", rows(optionRows({ ...options, ...COMMON_OPTIONS }), look), look),
    ...sections.flatMap(({ title: heading, rows: table }) => section(heading, rows(table, look), look)),
    ...section("Examples", rows(examples, look), look),
  ])
}

interface HelpOptions {
  readonly style: Style
  readonly width: number
}

function title(name: string, about: string, { style, width }: HelpOptions): string[] {
  const [first = "", ...rest] = wrapText(`${name}: ${about}`, width)
  return [`${style.bold(name)}${first.slice(name.length)}`, ...rest]
}

const section = (heading: string, content: readonly string[], { style }: HelpOptions) => [
  "",
  style.bold(heading),
  ...content,
]

type Row = readonly [left: string, right: string]

const optionRows = (options: Options): Row[] =>
  Object.entries(options).map(([name, option]) => [`--${name}${valueName(option)}`, option.about])

const valueName = (option: Option) => (option.kind === "flag" ? "" : ` ${option.value}`)

const GAP = 2
const MAX_LEFT_COLUMNS = 44 // longer entries get their own line
const MAX_LEFT_SHARE = 0.55 // share of the window
const CONTINUATION = " \\" // a shell joins the next line to this one

/** Two columns; the right one wraps. In a narrow window the left one takes at most about half. */
function rows(table: readonly Row[], { style, width }: HelpOptions): string[] {
  const max = Math.min(MAX_LEFT_COLUMNS, Math.floor(width * MAX_LEFT_SHARE))
  const left = Math.max(...table.map(([name]) => name.length).filter((length) => length <= max), 0)
  return table.flatMap(([name, about]) => {
    const start = 2 + left + GAP
    const text = wrapText(about, width - start)
    const fits = name.length <= left
    if (!fits) return [...commandLines(name, width).map((line) => `  ${style.cyan(line)}`), ...indent(text, start)]
    const first = `  ${style.cyan(name)}${" ".repeat(left - name.length + GAP)}${text[0] ?? ""}`
    return [first.trimEnd(), ...indent(text.slice(1), start)]
  })
}

/** Breaks a command that is too long for a line. */
function commandLines(command: string, width: number): string[] {
  if (command.length + 2 <= width) return [command]
  const parts = wrapText(command, width - 4 - CONTINUATION.length)
  return parts.map((part, i) => `${i === 0 ? "" : "  "}${part}${i < parts.length - 1 ? CONTINUATION : ""}`)
}

const lines = (all: readonly string[]) => `${all.join("\n")}\n`
