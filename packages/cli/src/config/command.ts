/** `strata config`: shows the settings for this directory, or what is wrong with them. */

import { readSettings, strataDirectory } from "@strata/core"
import { SettingsError } from "@strata/core/base"
import { forgetLimits } from "@strata/core/projects"
import { storeFrom } from "@strata/core/store"
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { CONFIG } from "../descriptions.ts"
import { escapeInvisible } from "../display/escaped.ts"
import { formatNumber, pluralize } from "../display/numbers.ts"
import { type Column, table } from "../display/table.ts"
import type { Style, Terminal } from "../display/terminal.ts"
import { indent, wrapText } from "../display/text.ts"
import { escapeToLine, jsonForTerminal } from "../display/visible.ts"
import {
  type Configuration,
  effectiveConfiguration,
  type Setting,
  type SettingsFile,
  type SettingsLocation,
  settingsFiles,
  type UntrustedSetting,
} from "./effective.ts"

const DONE = 0
const UNUSABLE = 1

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values } = readArguments(CONFIG, args)
  const place = { home: strataDirectory(env), cwd, env }
  if (values["forget-limits"]) return forget(place, { json: values.json, print: terminal.print })
  if (values.claude) return decideClaude(values.claude, { place, terminal })
  const show = (lines: readonly string[]) => terminal.print(`${lines.join("\n")}\n`)
  try {
    const configuration = await effectiveConfiguration(place)
    show(values.json ? [jsonForTerminal(configuration, 2)] : configurationPage(configuration, terminal))
    return DONE
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    const files = await settingsFiles(place)
    if (values.json) show([jsonForTerminal({ files, problems: error.problems }, 2)])
    else show(filesPart(files, terminal))
    terminal.complain(
      `\nThese settings have mistakes. Strata does not start until they are fixed:\n${problemLines(error.problems, terminal.columns).join("\n")}\n`,
    )
    return UNUSABLE
  }
}

interface ClaudeDecisionOptions {
  readonly place: SettingsLocation
  readonly terminal: Pick<Terminal, "print">
}

async function decideClaude(decision: "use" | "ignore", { place, terminal }: ClaudeDecisionOptions): Promise<number> {
  const reading = await readSettings({ dir: place.home, cwd: place.cwd, env: place.env })
  await reading.decideClaude(decision)
  const folder = reading.claude ? escapeInvisible(reading.claude.directory) : undefined
  const counts = decision === "use" ? "All settings that Strata supports apply" : "Only rules that deny or ask apply"
  terminal.print(
    folder === undefined
      ? "You have no settings for Claude Code. Nothing was changed.\n"
      : `Your settings for Claude Code in ${folder}: ${counts}.\n`,
  )
  return DONE
}

interface ForgetOptions {
  readonly json: boolean
  readonly print: (text: string) => void
}

/** Forgets all limits, including those that journals have recorded so far. */
async function forget({ home, env }: SettingsLocation, { json, print }: ForgetOptions): Promise<number> {
  const forgotten = await forgetLimits(storeFrom({ dir: home, env }).memories({ shared: true }), { at: new Date() })
  const words = `Forgot ${pluralize(forgotten.length, "learned limit")}. The next requests use the window of the model and the settings again.`
  print(`${json ? jsonForTerminal({ forgotten }, 2) : words}\n`)
  return DONE
}

/** Options for rendering all settings. Values that differ from the defaults are highlighted. */
interface ConfigRenderOptions {
  readonly style: Style
  readonly columns: number
}

const MAX_WIDTH = 130

export function configurationPage(configuration: Configuration, look: ConfigRenderOptions): readonly string[] {
  const { style } = look
  const width = Math.min(look.columns, MAX_WIDTH)
  const { settings, switches, figures, files, remarks, leftOut, limits, project, sandbox, store } = configuration
  const from = (origin: string) => originName(origin, files)
  const grid = (columns: readonly Column[], rows: readonly (readonly string[])[]) =>
    (rows.length === 0 ? [] : table({ columns, rows, width, titles: style.dim })).map((line, i) =>
      i > 0 && isChanged(rows[i - 1]!) ? style.green(line) : line,
    )
  return [
    ...filesPart(files, look),
    "",
    style.bold("Project"),
    ...indent(wrapText(escapeToLine(`${project.title} (${PROJECT_SOURCES[project.from]})`), width - 2), 2),
    ...(store === undefined ? [] : ["", style.bold("Store"), ...indent(wrapText(escapeToLine(store), width - 2), 2)]),
    ...claudePart(configuration.claude, { style, columns: width }),
    ...untrustedPart(leftOut, { look: { style, columns: width }, from }),
    "",
    style.bold("Sandbox"),
    ...indent(wrapText(escapeToLine(sandbox), width - 2), 2),
    ...limitsPart(limits, { style, columns: width }),
    ...withTitle(style.bold("Settings"), settings),
    ...grid(
      [{ title: "setting" }, { title: "value", gives: "end" }, { title: "from" }],
      settings.map((setting) => [setting.key, valueText(setting), from(setting.origin)]),
    ),
    ...withTitle(`${style.bold("Switches")}  ${style.dim("turn each mechanism on or off")}`, switches),
    ...grid(
      [{ title: "switch" }, { title: "value" }, { title: "about", gives: "wrap" }, { title: "from" }],
      switches.map(({ name, value, origin, about }) => [
        name,
        value ? "on" : "off",
        ...withOrigin(about, from(origin)),
      ]),
    ),
    ...withTitle(style.bold("Figures"), figures),
    ...grid(
      [
        { title: "figure" },
        { title: "value", align: "right" },
        { title: "" },
        { title: "about", gives: "wrap" },
        { title: "from" },
      ],
      figures.map(({ name, value, unit, origin, about }) => [
        name,
        formatNumber(value),
        unit,
        ...withOrigin(about, from(origin)),
      ]),
    ),
    ...(remarks.length === 0 ? [] : ["", ...remarks.flatMap((remark) => wrapText(remark, width)).map(style.yellow)]),
    "",
    ...wrapText(
      'The later one wins: user file, project file, local file, environment. In a file: "autoCompactPercent": 80, "switches": { "notes": false }, "figures": { "idle-gap": 30 }. In the environment: STRATA_AUTOCOMPACT_PCT=80, STRATA_NOTES=0, STRATA_IDLE_GAP=30. "strata config --json" lists every variable.',
      width,
    ).map(style.dim),
  ]
}

/** Descriptions of where the project's name comes from. */
const PROJECT_SOURCES = {
  setting: "from the setting project",
  environment: "from STRATA_PROJECT",
  remote: "from the git remote",
  "root-commit": "from the first commit",
  path: "its path: no git remote and no commit name it",
} as const

const withTitle = (title: string, rows: readonly unknown[]): readonly string[] => (rows.length === 0 ? [] : ["", title])

interface UntrustedOptions {
  readonly look: ConfigRenderOptions
  readonly from: (origin: string) => string
}

function untrustedPart(leftOut: Configuration["leftOut"], { look, from }: UntrustedOptions): readonly string[] {
  if (leftOut.length === 0) return []
  const { style, columns } = look
  return [
    "",
    `${style.bold("Left out")}  ${style.dim('not trusted; "strata trust" shows it and asks you')}`,
    ...leftOut.flatMap(({ what, source }) => {
      const [first = "", ...more] = wrapText(`${what} (${from(source)})`, columns - 4)
      return [style.yellow(`  ${first}`), ...indent(more, 4).map(style.yellow)]
    }),
  ]
}

const DECISIONS = {
  use: "all of it applies; strata config --claude ignore changes that",
  ignore: "rules that deny or ask count; strata config --claude use takes the rest",
  undecided: "rules that deny or ask count; for the rest: strata config --claude use or ignore",
} as const

function claudePart(claude: Configuration["claude"], { style, columns }: ConfigRenderOptions): readonly string[] {
  if (!claude) return []
  const row = ({ what, source }: UntrustedSetting, colour: (text: string) => string) => {
    const [first = "", ...more] = wrapText(`${what} (${escapeToLine(source)})`, columns - 4)
    return [`  ${first}`, ...indent(more, 4)].map(colour)
  }
  const counts = claude.decision === "use" ? style.green : style.dim
  return [
    "",
    `${style.bold("Your settings for Claude Code")}  ${style.dim(DECISIONS[claude.decision])}`,
    ...claude.restricting.flatMap((rule) => row(rule, style.green)),
    ...claude.parts.flatMap((part) => row(part, counts)),
    ...(claude.unused === undefined ? [] : indent(wrapText(claude.unused, columns - 2), 2)),
  ]
}

function limitsPart(
  limits: Configuration["limits"],
  { style, columns: width }: ConfigRenderOptions,
): readonly string[] {
  if (limits.length === 0) return []
  return [
    "",
    `${style.bold("Learned limits")}  ${style.dim("servers refused more; strata config --forget-limits forgets them")}`,
    ...table({
      width,
      columns: [
        { title: "model" },
        { title: "address", gives: "end" },
        { title: "tokens", align: "right" },
        { title: "learned" },
      ],
      rows: limits.map(({ model, address, tokens, learned }) => [
        escapeToLine(model),
        escapeToLine(address),
        formatNumber(tokens),
        escapeToLine(learned.slice(0, "2026-01-01".length)),
      ]),
      titles: style.dim,
    }),
  ]
}

/** The settings files. Shown even if the settings have errors. */
function filesPart(files: readonly SettingsFile[], { style, columns }: ConfigRenderOptions): readonly string[] {
  return [
    style.bold("Settings files"),
    ...table({
      width: Math.min(columns, MAX_WIDTH),
      columns: [{ title: "" }, { title: "", gives: "beginning" }, { title: "" }],
      rows: files.map(({ whose, path, found }) => [whose, escapeToLine(path), found ? "read" : "not found"]),
    }),
  ]
}

const isChanged = (row: readonly string[]) =>
  row.some((cell) => /^(?:user file|project file|local file|environment(?: |$))/.test(cell))

/** Text and origin of a setting. The name of a variable is part of the text, because the origin column is narrow. */
function withOrigin(about: string, origin: string): readonly [about: string, from: string] {
  const [, variable] = /^environment (.+)$/.exec(origin) ?? []
  return variable === undefined ? [about, origin] : [`${about} (${variable})`, "environment"]
}

/** The role of a settings file, or the name of a variable. */
function originName(origin: string, files: readonly SettingsFile[]): string {
  const file = files.find(({ path }) => path === origin)
  return file ? `${file.whose} file` : origin
}

function valueText({ value }: Setting): string {
  if (value === null) return "not set"
  if (typeof value === "number") return formatNumber(value)
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (typeof value === "string") return escapeToLine(value)
  return Object.keys(value as object).length === 0 ? "none" : escapeToLine(JSON.stringify(value))
}

const problemLines = (problems: readonly { source: string; key: string; reason: string }[], width: number): string[] =>
  problems.flatMap(({ source, key, reason }) => [
    escapeToLine(source),
    ...indent(wrapText(escapeToLine(`${key === "" ? "the whole file" : key}: ${reason}`), width - 2), 2),
  ])
