/** A simple command with its assignments and redirections, and the commands that it starts in turn. */

import { posix } from "node:path"
import type { Command } from "unbash"
import { builtin } from "./builtins.ts"
import type { SimpleCommand } from "./facts.ts"
import { expandToOne, expandWord, type Field, known, mayHoldSecret } from "./fields.ts"
import { TOO_DEEP } from "./findings.ts"
import { git } from "./git.ts"
import { runInside } from "./inside-words.ts"
import type { Judge, Place, PrintedPaths } from "./judged.ts"
import {
  guessesAt,
  type Invocation,
  type InvocationOutcome,
  NOTHING,
  NOWHERE,
  namesIn,
  plain,
  type ScriptInWord,
} from "./outcome.ts"
import { parseScript } from "./parse-script.ts"
import { PLAIN_READERS } from "./plain-readers.ts"
import { inputAmong, redirect } from "./redirections.ts"
import type { ShellState } from "./shell-state.ts"
import { find, SPECIAL_READERS } from "./special-readers.ts"
import { wrapped } from "./started.ts"
import { type Assigned, isHarmlessAssignment, isHarmlessPrefix } from "./variables.ts"
import { isRunner } from "./wrappers.ts"
import { WRITERS } from "./writers.ts"

/** Judges one command with its words: what it is, what it reads and writes, and what it starts. */
const READERS: Readonly<Record<string, Judge>> = { ...PLAIN_READERS, ...SPECIAL_READERS, git }

function judgeInvocation(invocation: Invocation): InvocationOutcome {
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

/** What a command gets from the pipe before it. */
export type Piped = { readonly paths?: PrintedPaths | undefined } | undefined

export function runCommand(node: Command, shell: ShellState, { piped }: { readonly piped: Piped }): Piped {
  const assigned = assignmentsOf(node, shell)
  for (const redirection of node.redirects) redirect(redirection, shell)
  if (!node.name) {
    assign(assigned, shell)
    return undefined
  }
  const words = [node.name, ...node.args]
  for (const word of words) runInside(word, shell)
  const call: Call = {
    fields: words.flatMap((word) => fieldsOf(word, shell)),
    changesEnvironment: !assigned.every(isHarmlessPrefix),
    input: inputAmong(node.redirects, shell.surroundings),
    isFed: node.redirects.some(({ operator }) => operator === "<" || operator === "<>"),
    isStarted: false,
  }
  return invoke(call, shell, { piped })
}

interface PrintableAssigned extends Assigned {
  readonly isPrintable: boolean
  /** Not `x+=1`, `x[1]=1` or `x=(1 2)`. */
  readonly isPlain: boolean
}

function assignmentsOf({ prefix }: Command, shell: ShellState): readonly PrintableAssigned[] {
  return prefix.flatMap((part) => {
    if (part.type !== "Assignment") return []
    const { name, value, index, append } = part
    runInside(part, shell)
    if (index && !/^\d+$/.test(index.value)) shell.findings.addHidden(`It evaluates ${name}[…].`)
    if (value.type !== "Word") return [{ name, value: undefined, isPrintable: false, isPlain: false }]
    const { text, isPrintable = false } = expandToOne(value, shell.surroundings)
    return [{ name, value: text, isPrintable, isPlain: !append && !index }]
  })
}

/** Assignments without a command stay in the shell. A value is known only if the line sets the variable once. */
function assign(assigned: readonly PrintableAssigned[], { line, variables, findings }: ShellState): void {
  for (const { name, value, isPrintable, isPlain } of assigned) {
    const isKnown = isPlain && line.assignments.get(name) === 1 && !line.assignments.has("*")
    variables.set(name, { text: isKnown ? value : undefined, isPrintable: value !== undefined || isPrintable })
  }
  if (!assigned.every((variable) => isHarmlessAssignment(variable, line.around.env))) findings.addObeyedVariable()
}

function fieldsOf(word: Command["args"][number], shell: ShellState): readonly Field[] {
  if (word.type === "Word") return expandWord(word, shell.surroundings)
  const value = word.value.type === "Word" ? expandToOne(word.value, shell.surroundings) : { text: undefined }
  return [value.text === undefined ? value : known(`${word.name}=${value.text}`)]
}

type Call = Omit<Invocation, "place" | "isFunction" | "isPiped">

/** What another command starts is never a function: it is another process, or `command`, which passes functions by. */
interface Invoking {
  readonly piped: Piped
  readonly isInner?: boolean
}

function invoke(call: Call, shell: ShellState, { piped, isInner = false }: Invoking): Piped {
  const { line, findings } = shell
  if (call.fields.length === 0) return undefined
  if (shell.isTooDeep) {
    findings.addHidden(TOO_DEEP)
    return undefined
  }
  const outcome = judgeInvocation({
    ...call,
    place: shell.place(piped?.paths),
    isFunction: !isInner && shell.functions.has(call.fields[0]!.text ?? ""),
    isPiped: piped !== undefined,
  })
  for (const why of outcome.unknown) findings.addUnknown(why)
  for (const command of outcome.commands) findings.addCommand(command)
  if (outcome.makesLinks) line.mayMakeLinks = true
  for (const name of outcome.sets) shell.variables.set(name, { text: undefined, isPrintable: true })
  if (outcome.directory) shell.moveTo(outcome.directory.path, outcome.directory)
  for (const script of outcome.scripts) runText(script, shell)
  for (const inner of outcome.inner) {
    const within = inner.directory ? shell.deeperIn(inner.directory.path) : shell.deeper()
    const changesEnvironment = call.changesEnvironment || inner.changesEnvironment
    const isStarted = !inner.isSameShell
    invoke({ ...call, fields: inner.fields, changesEnvironment, isStarted }, within, { piped, isInner: true })
    if (inner.isSameShell) shell.follow(within)
  }
  return { paths: outcome.prints }
}

function runText({ text, grammar }: ScriptInWord, shell: ShellState): void {
  const { line, findings } = shell
  if (text === undefined) findings.addHidden("It runs a script that is only known when it runs.")
  else if (shell.isTooDeep) findings.addHidden(TOO_DEEP)
  else {
    const script = parseScript(text, { findings, grammar })
    if (script) line.runScript(script, shell.forScript())
  }
}
