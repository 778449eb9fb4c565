/** What a command of `strata` is: a description that `--help` and the argument parser are made from, and a module loaded when it is asked for. */
import type { Terminal } from "./display/terminal.ts"

export interface FlagOption {
  readonly kind: "flag"
  readonly about: string
}

export interface TextOption {
  readonly kind: "text"
  /** What stands for the value in the help: `FILE`. */
  readonly value: string
  readonly about: string
}

/** A whole number. */
export interface NumberOption {
  readonly kind: "number"
  readonly value: string
  readonly about: string
  readonly least: number
  readonly most?: number
}

export type Option = FlagOption | TextOption | NumberOption
export type Options = Readonly<Record<string, Option>>

/** What the options were given as. An option that was not given is `false` or `undefined`. */
export type Values<O extends Options> = {
  readonly [K in keyof O]: O[K] extends FlagOption ? boolean : (O[K] extends NumberOption ? number : string) | undefined
}

export interface Operands {
  /** What stands for them in the help: `FILE…`. */
  readonly value: string
  readonly least: number
  readonly most: number
}

export interface CommandDescription<O extends Options = Options> {
  readonly name: string
  /** One line for the list of commands. */
  readonly about: string
  /** More, for its own help. */
  readonly more?: string
  readonly operands?: Operands
  readonly options: O
  readonly examples: readonly (readonly [command: string, about: string])[]
}

/** How a command was called. */
export interface Call {
  /** What stands behind the command's name. */
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly terminal: Terminal
}

/** Carries a command out and resolves with the exit code: 0 done, 1 failed, 2 not called rightly; others say what they mean in its help. */
export type Run = (call: Call) => Promise<number>

export interface Command extends CommandDescription {
  /** It reads its arguments itself, `--help` included. */
  readonly forwards?: true
  readonly load: () => Promise<{ readonly run: Run }>
}

/** The command was not called rightly. The message is a sentence; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}
