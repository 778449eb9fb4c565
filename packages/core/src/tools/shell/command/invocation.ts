/** Judges one command with its words: what it is, what it reads and writes, and what it starts. */

import { posix } from "node:path"
import { builtin } from "./builtins.ts"
import type { SimpleCommand } from "./facts.ts"
import { type Field, mayHoldSecret } from "./fields.ts"
import { git } from "./git.ts"
import type { Judge, Place } from "./judged.ts"
import { guessesAt, type Invocation, type InvocationOutcome, NOTHING, NOWHERE, namesIn, plain } from "./outcome.ts"
import { PLAIN_READERS } from "./plain-readers.ts"
import { find, SPECIAL_READERS } from "./special-readers.ts"
import { wrapped } from "./started.ts"
import { isRunner } from "./wrappers.ts"
import { WRITERS } from "./writers.ts"

const READERS: Readonly<Record<string, Judge>> = { ...PLAIN_READERS, ...SPECIAL_READERS, git }

export function judgeInvocation(invocation: Invocation): InvocationOutcome {
  const { fields, isFunction } = invocation
  const name = fields[0]?.text
  if (name === undefined || name === "") {
    return {
      ...NOTHING,
      commands: [plain(invocation, false)],
      unknown: ["The program is only known when it runs."],
      directory: NOWHERE,
    }
  }
  const program = programOf(name)
  const args = fields.slice(1)
  const isTrusted = isKnownByPath(name, invocation.place)
  const outcome = isFunction
    ? { ...NOTHING, commands: [plain(invocation, true)], directory: NOWHERE }
    : (builtin(program, args, invocation) ??
      wrapped(program, args, invocation) ??
      byTable({ program, args, invocation, isTrusted }))
  if (!isFunction && !isTrusted) return notReadOnly(outcome)
  const other = isFunction ? undefined : otherProgram(name, invocation)
  if (other !== undefined) return notReadOnly(outcome, other)
  const mayShow = program !== "test" && program !== "[" && args.some(isSecret)
  return mayShow ? notReadOnly(outcome, `${program} may show a variable of the environment.`) : outcome
}

/** A value of the environment. Programs print what they are given, be it in an error message. */
const isSecret = (field: Field): boolean => mayHoldSecret(field) && !field.below

/** The command itself counts as one that may do anything. What it starts is still looked at. */
function notReadOnly(outcome: InvocationOutcome, why?: string): InvocationOutcome {
  return {
    ...outcome,
    commands: outcome.commands.map((command) => (command.isGuess ? command : { ...command, isReadOnly: false })),
    unknown: [...outcome.unknown, ...(why === undefined ? [] : [why])],
  }
}

const programOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1)

interface ByTable {
  readonly program: string
  readonly args: readonly Field[]
  readonly invocation: Invocation
  readonly isTrusted: boolean
}

function byTable({ program, args, invocation, isTrusted: isKnown }: ByTable): InvocationOutcome {
  const { place, changesEnvironment } = invocation
  const table = Object.hasOwn(WRITERS, program) ? WRITERS : isKnown ? READERS : {}
  const judge = Object.hasOwn(table, program) ? table[program] : undefined
  const judged = judge?.(args, place)
  const guesses = isRunner(program) ? guessesAt(invocation) : []
  if (judged?.state !== "understood") {
    const open = judge && args.some(mayHoldSecret) ? [{ path: undefined }] : []
    const uses = { reads: open, writes: table === WRITERS ? open : [] }
    const command = { ...plain(invocation, false), uses, names: namesIn(args, place) }
    return { ...NOTHING, commands: [command, ...guesses], unknown: judged ? [`${program}: ${judged.why}.`] : [] }
  }
  const isOpen = [...judged.reads, ...judged.writes].some(({ path }) => path === undefined)
  const command: SimpleCommand = {
    ...plain(invocation, judged.isReadOnly && !isOpen),
    uses: { reads: judged.reads, writes: judged.writes },
  }
  const unknown = [
    ...(isOpen ? [`${program}: a file that is only known when it runs.`] : []),
    ...(changesEnvironment && judged.isReadOnly
      ? [`${program} starts with variables that may change what it does.`]
      : []),
  ]
  const runs = program === "find" ? find(args, place).runs : []
  const inner = runs.map(({ words, isElsewhere }) => ({
    fields: words,
    changesEnvironment: false,
    ...(isElsewhere ? { directory: NOWHERE } : {}),
  }))
  return {
    ...NOTHING,
    commands: [command, ...guesses],
    unknown,
    inner,
    prints: judged.prints,
    makesLinks: program === "ln",
  }
}

/** Whether a name is the program of this name that the judge knows: a builtin of bash, or a file that only the person or root can change. */
/** A program called by its path is the known one only here, or in a directory of PATH that counts. */
const SYSTEM_DIRECTORIES = new Set(["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"])

/** bash does not look for these in PATH, unless another program starts them. */
const BUILTINS = new Set(
  `. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit
  export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set
  shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait`.split(/\s+/),
)
/** Files of version managers that run under the name of a program and let the project decide its version: asdf, mise, pyenv, volta. */
const SHIM = /\/shims\/|\/\.?(?:volta|proto)\/|\/(?:mise|asdf|rtx|aqua|aqua-proxy|proto|volta-shim|vfox|pkgx|devbox)$/

/** They say where the programs are that their words name. */
const LOOKUPS = new Set(["which", "type", "command"])

function isKnownByPath(name: string, { programs }: Place): boolean {
  if (!name.includes("/")) return true
  const directory = posix.dirname(name)
  return SYSTEM_DIRECTORIES.has(directory) || (programs?.directories.includes(directory) ?? false)
}

/** A sentence, if the name leads to a file that is not the known program. */
function otherProgram(name: string, { fields, place, isStarted }: Invocation): string | undefined {
  const { programs, directory, env } = place
  if (env[`BASH_FUNC_${name}%%`] !== undefined) return `${name} is a function of the environment.`
  if (!programs) return undefined
  const named = LOOKUPS.has(name)
    ? fields.slice(1).flatMap(({ text }) => (text?.includes("/") ? [] : (text ?? [])))
    : []
  const searched = BUILTINS.has(name) && !isStarted ? named : [name, ...named]
  for (const program of searched) {
    const found = programs.resolve(program, directory)
    if (found.state === "not trusted") return `${program} would be ${found.file}: ${found.why}.`
    if (found.state === "trusted" && SHIM.test(found.file))
      return `${program} is ${found.file}, which lets the project say what runs.`
  }
  return undefined
}
