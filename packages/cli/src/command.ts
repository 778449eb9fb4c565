/** A command of `strata`: a description for help and argument parsing, and a module that loads on demand. */
import type { Terminal } from "./display/terminal.ts"

export interface FlagOption {
  readonly kind: "flag"
  readonly about: string
}

export interface TextOption {
  readonly kind: "text"
  /** Placeholder for the value in the help: `FILE`, or `[ID]` if the value is optional. */
  readonly value: string
  readonly about: string
}

/** An option that may be repeated. */
export interface ListOption {
  readonly kind: "list"
  readonly value: string
  readonly about: string
}

export interface ChoiceOption {
  readonly kind: "choice"
  readonly value: string
  readonly about: string
  readonly choices: readonly string[]
}

/** An option whose value is an integer. */
export interface NumberOption {
  readonly kind: "number"
  readonly value: string
  readonly about: string
  readonly min: number
  readonly max?: number
}

/** An option whose value is an amount above 0. */
export interface DollarsOption {
  readonly kind: "dollars"
  readonly value: string
  readonly about: string
}

export type Option = FlagOption | TextOption | ListOption | ChoiceOption | NumberOption | DollarsOption
export type Options = Readonly<Record<string, Option>>

/** Type of an option's value. If the option is missing, the value is `false`, an empty list or `undefined`. */
type ValueOf<O extends Option> = O extends FlagOption
  ? boolean
  : O extends ListOption
    ? readonly string[]
    : O extends ChoiceOption
      ? O["choices"][number] | undefined
      : O extends TextOption
        ? string | undefined
        : number | undefined

export type Values<O extends Options> = { readonly [K in keyof O]: ValueOf<O[K]> }

export interface Operands {
  /** Placeholder for the arguments in the help: `FILE…`. */
  readonly value: string
  readonly min: number
  readonly max: number
}

export interface HelpSection {
  readonly title: string
  readonly rows: readonly (readonly [left: string, right: string])[]
}

export interface CommandDescription<O extends Options = Options> {
  readonly name: string
  /** One line for the list of commands. */
  readonly about: string
  /** Paragraphs for the command's own help. */
  readonly more?: readonly string[]
  readonly operands?: Operands
  readonly options: O
  /** Tables after the options. */
  readonly sections?: readonly HelpSection[]
  readonly examples: readonly (readonly [command: string, about: string])[]
}

/** The commands for one purpose. The help lists commands by group. */
export interface CommandGroup {
  readonly name: string
  readonly about: string
  readonly commands: readonly CommandDescription[]
}

/** The invocation of a command. */
export interface CommandCall {
  /** Arguments after the command's name. */
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly terminal: Terminal
  /** Absent if there is no input. */
  readonly stdin?: NodeJS.ReadStream & { readonly fd: number }
}

/** Runs a command and resolves with the exit code: 0 success, 1 failure, 2 wrong usage. The command's help lists others. */
export type Run = (call: CommandCall) => Promise<number>

export interface Command extends CommandDescription {
  /** The command reads its arguments itself, `--help` included. */
  readonly forwards?: true
  readonly load: () => Promise<{ readonly run: Run }>
  /** The full description, if `--help` needs parts that are too slow to load for the list of commands. */
  readonly describe?: () => Promise<CommandDescription>
}

/** A mistake in the command line. The message is for the user; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}
