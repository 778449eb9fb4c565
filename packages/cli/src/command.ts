/** What a command of `strata` is: a description for help and argument parsing, and a module that loads on demand. */
import type { Terminal } from "./display/terminal.ts"

export interface FlagOption {
  readonly kind: "flag"
  readonly about: string
}

export interface TextOption {
  readonly kind: "text"
  /** Placeholder for the value in the help: `FILE`, or `[ID]` where the value may be left out. */
  readonly value: string
  readonly about: string
}

/** May be given several times. */
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

/** A whole number. */
export interface NumberOption {
  readonly kind: "number"
  readonly value: string
  readonly about: string
  readonly min: number
  readonly max?: number
}

/** An amount above 0. */
export interface DollarsOption {
  readonly kind: "dollars"
  readonly value: string
  readonly about: string
}

export type Option = FlagOption | TextOption | ListOption | ChoiceOption | NumberOption | DollarsOption
export type Options = Readonly<Record<string, Option>>

/** The value of an option; without one it is `false`, an empty list or `undefined`. */
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
  /** Placeholder in the help: `FILE…`. */
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

/** How a command was called. */
export interface CommandCall {
  /** Everything after the command's name. */
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly terminal: Terminal
  /** Absent if there is nothing to read from. */
  readonly stdin?: NodeJS.ReadStream & { readonly fd: number }
}

/** Runs a command and resolves with the exit code: 0 done, 1 failed, 2 wrong usage. The command's help lists any others. */
export type Run = (call: CommandCall) => Promise<number>

export interface Command extends CommandDescription {
  /** The command reads its arguments itself, `--help` included. */
  readonly forwards?: true
  readonly load: () => Promise<{ readonly run: Run }>
  /** The full description, if `--help` needs parts that are too slow to load for the list of commands. */
  readonly describe?: () => Promise<CommandDescription>
}

/** The command line is wrong. The message is for the person; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}
