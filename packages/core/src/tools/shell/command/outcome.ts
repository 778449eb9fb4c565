/** How one command of the line was called, and what the judge answers: the commands it is, what it starts, what it leaves changed. */
import { type SimpleCommand, simpleCommand } from "./facts.ts"
import type { Field } from "./fields.ts"
import type { Grammar } from "./grammar.ts"
import { type Place, type PrintedPaths, resolveIn } from "./judged.ts"

const MOST_GUESSES = 8
const MOST_NAMES = 400
const MOST_NAME_CHARACTERS = 4_096 // the longest path that Linux takes

export interface Invocation {
  readonly fields: readonly Field[]
  readonly place: Place
  readonly changesEnvironment: boolean
  /** A here-document or here-string is its input. */
  readonly input: { readonly text: string | undefined } | undefined
  /** A file is its input. */
  readonly isFed: boolean
  readonly isPiped: boolean
  /** A function of this name is defined in the line. */
  readonly isFunction: boolean
  /** Another program starts it, so it is no builtin of the shell: `xargs echo`. */
  readonly isStarted: boolean
}

export interface InvocationOutcome {
  readonly commands: readonly SimpleCommand[]
  /** What is not known, as sentences. */
  readonly unknown: readonly string[]
  readonly scripts: readonly ScriptInWord[]
  /** Commands that it starts. */
  readonly inner: readonly InnerCommand[]
  /** Variables that it sets. */
  readonly sets: readonly string[]
  /** Where the shell is afterwards. */
  readonly directory?: { readonly path: string | undefined; readonly isLinked: boolean }
  readonly makesLinks: boolean
  readonly prints?: PrintedPaths | undefined
}

/** A script that is a word of a command: of `bash -c`, `eval`, `trap`. */
export interface ScriptInWord {
  /** `undefined`: not known before it runs. */
  readonly text: string | undefined
  readonly grammar: Grammar
}

interface InnerCommand {
  readonly fields: readonly Field[]
  readonly changesEnvironment: boolean
  readonly directory?: { readonly path: string | undefined }
  /** `command cd x` moves the shell itself. */
  readonly isSameShell?: boolean
}

export const NOTHING: InvocationOutcome = {
  commands: [],
  unknown: [],
  scripts: [],
  inner: [],
  sets: [],
  makesLinks: false,
}
export const NOWHERE = { path: undefined, isLinked: false }

/** The command with its words, before anything is known of its files. */
export function plain({ fields, changesEnvironment }: Invocation, isReadOnly: boolean): SimpleCommand {
  return {
    ...simpleCommand(fields.map(({ text }) => text)),
    isReadOnly: isReadOnly && !changesEnvironment,
    changesEnvironment,
  }
}

/** Every word that may be the start of a command. */
export function guessesAt(invocation: Invocation): readonly SimpleCommand[] {
  const { fields } = invocation
  const starts = fields.flatMap(({ text }, at) => (at > 0 && text !== undefined && !text.startsWith("-") ? [at] : []))
  return starts
    .slice(0, MOST_GUESSES)
    .map((at) => ({ ...plain({ ...invocation, fields: fields.slice(at) }, true), isGuess: true }))
}

/** What a command that is not understood may do with files: every word, and the part of it after a sign, may be a path. */
export function namesIn(args: readonly Field[], place: Place): readonly string[] {
  const found = new Set<string>()
  for (const { text } of args) {
    if (text === undefined || text.length > MOST_NAME_CHARACTERS || found.size > MOST_NAMES) continue
    const parts = [text, ...text.split(/[=:,@]/), text.replace(/^-+\w?/, "")]
    for (const part of parts) {
      if (part === "" || part.startsWith("-")) continue
      const path = resolveIn(part.startsWith("~/") && place.home ? `${place.home}${part.slice(1)}` : part, place)
      if (path !== undefined) found.add(path)
    }
  }
  return [...found]
}
