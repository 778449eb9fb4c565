/**
 * The effects of a shell command on files, read from its text: redirections, programs that write, scripts in here-documents. Follows
 * `cd` and the variables that the command sets. All branches count; effects that only a run would show are left out.
 */

import {
  type Command,
  type ParsedScript,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Word,
  type WordPart,
} from "unbash"
import type { FileEffect } from "./file-effect.ts"
import { isInside, isRelative, resolvePath } from "./file-paths.ts"
import { writtenByCommand, writtenByScript } from "./written-by-command.ts"

// The words of a shell command, as far as its text determines them: quotes are removed, and its own variables and braces are expanded.

/** `undefined`: the value is only known when the command runs. */
export type Variables = ReadonlyMap<string, string | undefined>

const MAX_ALTERNATIVES = 100
const LIST_IN_BRACES = /^\{([\w./@:+=-]*(?:,[\w./@:+=-]*)+)\}$/

/**
 * The words that a word expands to. `undefined` stands for one that the text does not determine: a file pattern, the output of a
 * command.
 */
export function expandWord(word: Word, variables: Variables): readonly (string | undefined)[] {
  if (!word.parts) return [word.value]
  let found: readonly (string | undefined)[] = [""]
  for (const part of word.parts) {
    const choices = part.type === "BraceExpansion" ? expandBraces(part.text) : [textOf(part, variables)]
    found = found.flatMap((before) =>
      choices.map((choice) => (before === undefined || choice === undefined ? undefined : before + choice)),
    )
    if (found.length > MAX_ALTERNATIVES) return [undefined]
  }
  return found
}

export const expandToOne = (word: Word, variables: Variables): string | undefined => {
  const words = expandWord(word, variables)
  return words.length === 1 ? words[0] : undefined
}

function expandBraces(text: string): readonly (string | undefined)[] {
  return LIST_IN_BRACES.exec(text)?.[1]?.split(",") ?? [undefined]
}

function textOf(part: WordPart, variables: Variables): string | undefined {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return part.value
    case "DoubleQuoted":
    case "LocaleString": {
      const texts = part.parts.map((inner) => textOf(inner, variables))
      return texts.includes(undefined) ? undefined : texts.join("")
    }
    case "SimpleExpansion":
      return variables.get(part.text.slice(1))
    case "ParameterExpansion":
      return part.operation || part.prefix || part.index ? undefined : variables.get(part.parameter)
    default:
      return undefined
  }
}

const MAX_CHARACTERS = 64_000
/**
 * The parser's time grows with the number of opening brackets times the length of the text. This limit takes it less than half a
 * second.
 */
const MAX_WORK = 4_000_000
const MAX_DEPTH = 20

/** Programs that run the command in their arguments. */
const WRAPPERS = new Set([
  "sudo",
  "env",
  "time",
  "nohup",
  "command",
  "exec",
  "builtin",
  "nice",
  "timeout",
  "npx",
  "bunx",
  "uvx",
])
export const SHELLS = new Set(["bash", "sh", "zsh", "dash"])
const INTERPRETERS = /^(?:python[\d.]*|node|ruby|bun|deno)$/
const NOT_FILES = /^\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/|tcp\/|udp\/)/

export interface ShellEffects {
  readonly effects: readonly FileEffect[]
  /** The shell's directory afterwards. */
  readonly directory: string | undefined
}

export interface ShellRun {
  readonly command: string
  /** The directory to which relative paths refer, if known. */
  readonly directory: string | undefined
  /** Whether the command failed: its last step is not counted, because that is the one that failed. */
  readonly failed?: boolean
  /** The output, which reports a `cd` that did not work. */
  readonly output?: string
  /** The directory in which the agent's first shell started. */
  readonly start?: string | undefined
  /** Whether files in a directory are known. */
  readonly isKnown?: (directory: string) => boolean
}

export function shellEffects(run: ShellRun): ShellEffects {
  const { command, directory, failed = false, output = "" } = run
  const shell: Shell = { directory, variables: new Map(), depth: 0, run, complaints: findErrors(output) }
  const script = parseScript(command)
  if (!script) return { effects: [], directory }
  const statements = failed ? withoutLastStep(script.commands) : script.commands
  const effects = statementEffects(statements, shell)
  return { effects, directory: shell.isLost ? undefined : shell.directory }
}

export function parseScript(text: string): ParsedScript | undefined {
  const openings = text.match(/[({`]|<</g)?.length ?? 0
  return text.length > MAX_CHARACTERS || openings * text.length > MAX_WORK ? undefined : parse(text)
}

interface Shell {
  directory: string | undefined
  /** Set after a `cd` that the text does not determine. Relative paths are then unknown. */
  isLost?: boolean
  /** Whether the last `cd` failed, so that commands joined to it by `&&` did not run. */
  hasStayed?: boolean
  readonly variables: Map<string, string | undefined>
  readonly depth: number
  readonly run: ShellRun
  /** Output lines in which the shell reports a failed `cd`. */
  readonly complaints: readonly string[]
}

const MAX_ERROR_LINE = 1_000 // characters: longer lines are not messages of a shell
const SHELL_ERROR =
  /\bcd: ?.*(?:no such file or directory|not a directory|permission denied|can't cd to|does not exist|too many arguments)/i

function findErrors(output: string): readonly string[] {
  if (!output.includes("cd:")) return []
  return output.split("\n").filter((line) => line.length < MAX_ERROR_LINE && SHELL_ERROR.test(line))
}

const childNodes = (shell: Shell): Shell => ({ ...shell, variables: new Map(shell.variables), depth: shell.depth + 1 })

/** The steps before the failed one: the statements in order, and in the last one everything before its last `&&`. */
function withoutLastStep(statements: readonly Statement[]): readonly Statement[] {
  const last = statements.at(-1)
  if (last?.command.type !== "AndOr") return statements.slice(0, -1)
  const { commands, operators } = last.command
  if (operators.some((operator) => operator !== "&&")) return statements.slice(0, -1)
  const steps = commands.slice(0, -1).map((command): Statement => ({ ...last, command }))
  return [...statements.slice(0, -1), ...steps]
}

const statementEffects = (statements: readonly Statement[], shell: Shell): readonly FileEffect[] =>
  statements.flatMap(({ command }) => nodeEffects(command, shell))

function nodeEffects(node: SyntaxNode, shell: Shell): readonly FileEffect[] {
  if (shell.depth > MAX_DEPTH) return []
  switch (node.type) {
    case "Command":
      return commandEffects(node, shell)
    case "AndOr":
      return chainEffects(node.commands, node.operators, shell)
    case "Pipeline":
      return node.commands.flatMap((command) =>
        nodeEffects(command, node.commands.length > 1 ? childNodes(shell) : shell),
      )
    case "Redirected":
      return [
        ...nodeEffects(node.command, shell),
        ...node.redirects.flatMap((redirect) => redirectEffects(redirect, shell)),
      ]
    case "Subshell":
      return statementEffects(node.body.commands, childNodes(shell))
    case "BraceGroup":
      return statementEffects(node.body.commands, shell)
    case "If":
      return [node, ...node.elif]
        .flatMap(({ clause, then }) => [
          ...statementEffects(clause.commands, shell),
          ...statementEffects(then.commands, shell),
        ])
        .concat(node.else ? statementEffects(node.else.commands, shell) : [])
    case "While":
      return [...statementEffects(node.clause.commands, shell), ...statementEffects(node.body.commands, shell)]
    case "For": {
      const rounds = (node.wordlist ?? []).flatMap((word) => expandWord(word, shell.variables))
      return rounds.flatMap((value) => {
        shell.variables.set(node.name.value, value)
        return statementEffects(node.body.commands, shell)
      })
    }
    case "Case":
      return node.items.flatMap(({ body }) => statementEffects(body.commands, shell))
    case "ArithmeticFor":
      return statementEffects(node.body.commands, shell)
    default:
      return []
  }
}

/** The effects of a chain. All branches count, except commands joined by `&&` to a failed `cd`. */
function chainEffects(
  commands: readonly SyntaxNode[],
  operators: readonly string[],
  shell: Shell,
): readonly FileEffect[] {
  let hasStopped = false
  return commands.flatMap((command, at) => {
    if (operators[at - 1] === "||") hasStopped = false
    if (hasStopped) return []
    shell.hasStayed = false
    const effects = nodeEffects(command, shell)
    hasStopped = shell.hasStayed
    return effects
  })
}

function commandEffects(node: Command, shell: Shell): readonly FileEffect[] {
  const { name, args } = node
  const written = node.redirects.flatMap((redirect) => redirectEffects(redirect, shell, contentOf(node)))
  if (!name) {
    for (const part of node.prefix) {
      if (part.type === "Assignment")
        shell.variables.set(
          part.name,
          part.value.type === "Word" ? expandToOne(part.value, shell.variables) : undefined,
        )
    }
    return written
  }
  const words = [
    ...expandWord(name, shell.variables),
    ...args.flatMap((arg) => (arg.type === "Word" ? expandWord(arg, shell.variables) : [arg.text])),
  ]
  return [...ran(words, node, shell), ...written]
}

function ran(words: readonly (string | undefined)[], node: Command, shell: Shell): readonly FileEffect[] {
  const [first, ...args] = unwrapped(words)
  if (first === undefined) return []
  const name = programName(first)
  if (name === "cd" || name === "pushd") {
    const target = args.length === 0 ? "~" : args.find((arg) => !arg?.startsWith("-"))
    if (target !== undefined && shell.complaints.some((line) => line.includes(target))) shell.hasStayed = true
    else if (target !== undefined && !(shell.isLost && isRelative(target))) {
      shell.directory = changeDirectory(target, shell)
      shell.isLost = false
    } else shell.isLost = true
    return []
  }
  const here = (effects: readonly FileEffect[]) => effects.flatMap((effect) => resolveEffect(effect, shell))
  if (SHELLS.has(name)) {
    const script = args[args.findIndex((arg) => /^-[a-z]*c$/.test(arg ?? "")) + 1]
    const isScript = args.some((arg) => /^-[a-z]*c$/.test(arg ?? "")) && script !== undefined
    return isScript ? statementEffects(parseScript(script)?.commands ?? [], childNodes(shell)) : []
  }
  if (INTERPRETERS.test(name)) {
    const document = node.redirects.find((redirect) => redirect.type === "HereDoc")
    const code = [
      ...args.filter((arg) => arg !== undefined),
      ...(document?.type === "HereDoc" ? [document.body.text] : []),
    ]
    return here(code.flatMap(writtenByScript))
  }
  return here(writtenByCommand(name, args))
}

/**
 * The directory after a successful `cd`. Some agents start every command in the conversation's directory without reporting it. A
 * command that enters the same directory again reveals this: a directory inside one of the same name is rare, and its files would
 * mostly be known.
 */
function changeDirectory(target: string, { directory, run }: Shell): string {
  const next = resolvePath(target, directory)
  const isFirst = directory === run.directory && directory !== run.start
  if (!isFirst || directory === undefined || !isRelative(target) || run.isKnown?.(next)) return next
  const fromStart = resolvePath(target, run.start)
  if (fromStart === directory || isInside(fromStart, directory)) return fromStart
  return run.start === undefined && directory.replaceAll("\\", "/").endsWith(`/${fromStart}`) ? directory : next
}

/** The command that wrappers run: without the wrappers, their options and assignments, and the time of `timeout`. */
export function unwrapped<W extends string | undefined>(words: readonly W[]): readonly W[] {
  let start = 0
  for (let depth = 0; depth < MAX_DEPTH && WRAPPERS.has(programName(words[start] ?? "")); depth++) {
    start++
    while (start < words.length && BEFORE_COMMAND.test(words[start] ?? "")) start++
  }
  return words.slice(start)
}

const BEFORE_COMMAND = /^(?:-|[A-Za-z_]\w*=|\d+(?:\.\d+)?[smhd]?$)/

/** The name of a program without its directory. */
export const programName = (word: string): string =>
  word.slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\")) + 1).replace(/\.exe$/, "")

function redirectEffects(redirection: Redirection, shell: Shell, content?: string): readonly FileEffect[] {
  if (redirection.type !== "Redirect" || !redirection.target || redirection.operator.startsWith("<")) return []
  const path = expandToOne(redirection.target, shell.variables)
  if (path === undefined || path === "") return []
  if (redirection.operator === ">&" && /^(?:\d+|-)$/.test(path)) return []
  const isAppended = redirection.operator.endsWith(">>")
  const isWhole = content !== undefined && !isAppended && redirection.descriptor === undefined
  return resolveEffect({ path, what: isAppended ? "changed" : "written", ...(isWhole ? { content } : {}) }, shell)
}

/** What `cat` writes if its only input is a here-document. */
function contentOf({ name, args, redirects }: Command): string | undefined {
  const [document, another] = redirects.filter(({ type }) => type === "HereDoc")
  if (name?.value !== "cat" || args.length > 0 || document?.type !== "HereDoc" || another) return undefined
  const isPlain = document.delimiter?.quoted === true || !/[$`\\]/.test(document.body.text)
  return isPlain && document.operator === "<<" ? document.body.text : undefined
}

function resolveEffect(effect: FileEffect, { directory, isLost }: Shell): readonly FileEffect[] {
  return NOT_FILES.test(effect.path) || (isLost && isRelative(effect.path))
    ? []
    : [{ ...effect, path: resolvePath(effect.path, directory) }]
}
