/** The options that `chat` and `run` share, read from a command line and the environment. Pure: nothing is opened or looked up here. */
import { parseArgs } from "node:util"
import { PERMISSION_MODES, type PermissionMode } from "@strata/core/agent"
import { isSafeId } from "@strata/core/parts"
import { UsageError } from "./command.ts"
import { nearestTo } from "./suggestion.ts"

const DEFAULT_MODEL = "claude-opus-5-5"

export type Environment = Readonly<Record<string, string | undefined>>

/** Which conversation to begin with. */
export type Beginning =
  | { readonly from: "new" }
  | { readonly from: "newest" }
  /** The beginning of an id is enough. */
  | { readonly from: "id"; readonly id: string }
  /** To be chosen by the person. */
  | { readonly from: "list" }

export interface SessionOptions {
  readonly model: string
  /** Whether somebody named the model; a resumed conversation keeps its own otherwise. */
  readonly isModelGiven: boolean
  readonly cwd: string
  readonly beginning: Beginning
  readonly mode?: PermissionMode
  readonly maxTurns?: number
  readonly costLimit?: number
  readonly system?: string
  /** Permission rules beside those in the settings. */
  readonly allow: readonly string[]
}

const SHARED = {
  model: { type: "string" },
  cwd: { type: "string" },
  continue: { type: "boolean" },
  resume: { type: "string" },
  mode: { type: "string" },
  allow: { type: "string", multiple: true },
  "max-turns": { type: "string" },
  "cost-limit": { type: "string" },
  system: { type: "string" },
  "no-color": { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const

export const SHARED_OPTIONS_HELP = `  --model <name>        default: STRATA_MODEL, else ${DEFAULT_MODEL}
  --continue            go on with the project's newest conversation
  --resume [id]         go on with this one; the beginning of its id will do
  --cwd <directory>     the project; default: the current directory
  --mode <mode>         ${PERMISSION_MODES.join(", ")}
  --allow <rule>        allow without asking: 'Edit', 'Bash(npm test:*)' …
  --max-turns <n>       stop after so many requests to the model
  --cost-limit <usd>    stop when the conversation has cost so much
  --system <text>       a system prompt of your own
  --no-color            no colours; NO_COLOR does the same`

export interface CommandLine {
  readonly options: SessionOptions
  readonly positionals: readonly string[]
  readonly flags: ReadonlySet<string>
  readonly wantsHelp: boolean
}

export interface CommandLineQuestion {
  readonly args: readonly string[]
  readonly env: Environment
  readonly cwd: string
  /** Switches that only this command knows. */
  readonly flags?: readonly string[]
}

export function readCommandLine({ args, env, cwd, flags = [] }: CommandLineQuestion): CommandLine {
  const own = Object.fromEntries(flags.map((name) => [name, { type: "boolean" as const }]))
  const { values, positionals } = parse(args, { ...own, ...SHARED })
  const given = values as Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  const text = (name: string) => given[name] as string | undefined
  const maxTurns = readNumber("max-turns", text("max-turns"), { whole: true })
  const costLimit = readNumber("cost-limit", text("cost-limit"), { whole: false })
  const mode = readMode(text("mode"))
  const model = text("model") ?? (env.STRATA_MODEL || undefined)
  return {
    options: {
      model: model ?? DEFAULT_MODEL,
      isModelGiven: model !== undefined,
      cwd: text("cwd") ?? cwd,
      beginning: beginningOf({ continues: given.continue === true, resume: text("resume") }),
      allow: (given.allow as readonly string[] | undefined) ?? [],
      ...(mode === undefined ? {} : { mode }),
      ...(maxTurns === undefined ? {} : { maxTurns }),
      ...(costLimit === undefined ? {} : { costLimit }),
      ...(text("system") === undefined ? {} : { system: text("system")! }),
    },
    positionals,
    flags: new Set(flags.filter((name) => given[name] === true)),
    wantsHelp: given.help === true,
  }
}

type OptionTable = Record<string, { type: "string" | "boolean"; short?: string; multiple?: boolean }>

function parse(args: readonly string[], options: OptionTable) {
  try {
    return parseArgs({ args: withOptionalId(args), options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(explain(error as Error, Object.keys(options)))
  }
}

/** `--resume` takes an id or none: one follows where the next word could be an id. */
function withOptionalId(args: readonly string[]): string[] {
  const couldBeId = (word: string | undefined) => word !== undefined && !word.startsWith("-") && isSafeId(word)
  return args.flatMap((word, i) => {
    if (word === "--resume") return [`--resume=${couldBeId(args[i + 1]) ? args[i + 1] : ""}`]
    return args[i - 1] === "--resume" && couldBeId(word) ? [] : [word]
  })
}

/** The parser's own sentences are for programmers. */
function explain(error: Error, names: readonly string[]): string {
  const unknown = /Unknown option '(-+([^']*))'/.exec(error.message)
  if (unknown) {
    const meant = nearestTo(unknown[2]!, names)
    return `There is no option ${unknown[1]}.${meant ? ` Did you mean --${meant}?` : ""} --help lists what there is.`
  }
  const [, option] = /Option '(?:-\w, )?(--[\w-]+)/.exec(error.message) ?? []
  if (option === undefined) return error.message
  return error.message.includes("does not take")
    ? `${option} takes no value. --help says more.`
    : `${option} needs a value. --help says which.`
}

function beginningOf({ continues, resume }: { continues: boolean; resume: string | undefined }): Beginning {
  if (continues && resume !== undefined) throw new UsageError("Give either --continue or --resume, not both.")
  if (continues) return { from: "newest" }
  if (resume === undefined) return { from: "new" }
  return resume === "" ? { from: "list" } : { from: "id", id: resume }
}

function readMode(text: string | undefined): PermissionMode | undefined {
  const mode = PERMISSION_MODES.find((name) => name === text)
  if (text === undefined || mode !== undefined) return mode
  throw new UsageError(`--mode must be one of ${PERMISSION_MODES.join(", ")}, not "${text}".`)
}

function readNumber(name: string, text: string | undefined, { whole }: { whole: boolean }): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() !== "" && value > 0 && Number.isFinite(value) && (!whole || Number.isInteger(value))) return value
  throw new UsageError(`--${name} must be a ${whole ? "whole number" : "number of dollars"} above 0, not "${text}".`)
}
