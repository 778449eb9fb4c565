/**
 * The artifacts view: which files were read, created, changed and deleted, which commands ran and how they ended. Computed from the
 * tool calls themselves, never from what the model writes about them.
 */
import { hash } from "node:crypto"
import { stripVTControlCharacters } from "node:util"
import type { Command, CompoundList, Statement, SyntaxNode } from "unbash"
import { isDecision } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"
import type { FileEffect } from "./file-effect.ts"
import { callEffects, isShellTool } from "./file-effects.ts"
import { endsWithPath, isInside, isRelative, resolvePath } from "./file-paths.ts"
import { type FinishedCall, followCalls, type OpenCall } from "./open-work.ts"
import { parseScript, programName, SHELLS, unwrapped } from "./shell-effects.ts"

/** Whether a shell command runs tests. Only the programs that it starts count, not quoted text, file names or commit messages. */
/** A cheap first check: only a text with one of these words is parsed. */
const MENTIONS = /test|spec|jest|mocha|phpunit|check|verify|\b(?:tox|nox|ava|pest|bats)\b|\st(?:\s|$)/i
const MAX_DEPTH = 20
const MAX_WORDS = 50 // of one command; its program is at the start

/** Options before the name of the program, each with at most one value. */
const OPTIONS = "(?: -\\S+(?: [^-\\s]\\S*)??)*"
const RUNNERS = "vitest|jest|mocha|ava|pytest|py\\.test|unittest|tox|nox|ctest|rspec|phpunit|pest|bats|nextest"
const PACKAGES = "npm|pnpm|yarn|bun|deno"
/** A program with its first arguments, without its directory. */
const RUNS_TESTS = new RegExp(
  `^(?:${[
    `(?:${RUNNERS})`,
    `(?:${PACKAGES})${OPTIONS}(?: (?:run|exec|x|dlx|task|workspace \\S+))*${OPTIONS} (?:t|tests?(?::\\S+)?|${RUNNERS})`,
    `python[\\d.]*${OPTIONS} -m (?:${RUNNERS})`,
    `(?:uv|poetry|pipenv|pdm|hatch|rye|bundle|mise)${OPTIONS} (?:run|exec|x|task)${OPTIONS} (?:tests?(?::\\S+)?|${RUNNERS})`,
    `(?:go|dotnet|swift|zig|flutter|dart|mix|hatch|mise|moon)${OPTIONS} test`,
    `cargo(?: \\+\\S+)?${OPTIONS} (?:test|nextest)`,
    `(?:mvn|mvnw|gradle|gradlew|sbt|bazel|nx|turbo|rake|just|task|make)${OPTIONS}(?: (?:run|clean|[\\w-]+=\\S*))*${OPTIONS} (?::?(?:[\\w-]+:)*tests?|verify|check|spec)`,
    `node${OPTIONS} --test`,
  ].join("|")})(?![\\w./:@-])`,
)

function runsTests(command: string): boolean {
  return MENTIONS.test(command) && anyIn(parseScript(command)?.commands ?? [], 0)
}

const anyIn = (statements: readonly Statement[], depth: number): boolean =>
  statements.some(({ command }) => isTestRun(command, depth))

function isTestRun(node: SyntaxNode | CompoundList, depth: number): boolean {
  if (depth > MAX_DEPTH) return false
  const any = (...nodes: readonly (SyntaxNode | CompoundList | undefined)[]) =>
    nodes.some((each) => each !== undefined && isTestRun(each, depth + 1))
  switch (node.type) {
    case "Command":
      return startsTests(node, depth)
    case "CompoundList":
      return anyIn(node.commands, depth + 1)
    case "AndOr":
    case "Pipeline":
      return any(...node.commands)
    case "Redirected":
      return any(node.command)
    case "If":
      return any(node.clause, node.then, node.else, ...node.elif.flatMap(({ clause, then }) => [clause, then]))
    case "While":
      return any(node.clause, node.body)
    case "Case":
      return any(...node.items.map(({ body }) => body))
    case "For":
    case "ArithmeticFor":
    case "Select":
    case "Subshell":
    case "BraceGroup":
    case "Coproc":
      return any(node.body)
    default:
      return false
  }
}

function startsTests(node: Command, depth: number): boolean {
  const words = [...(node.name ? [node.name] : []), ...node.args].map((arg) =>
    arg.type === "Word" ? arg.value : arg.text,
  )
  const [first, ...args] = unwrapped(words).slice(0, MAX_WORDS)
  if (first === undefined) return false
  const program = programName(first)
  if (SHELLS.has(program)) {
    const at = args.findIndex((arg) => /^-[a-z]*c$/.test(arg))
    return at >= 0 && depth < MAX_DEPTH && anyIn(parseScript(args[at + 1] ?? "")?.commands ?? [], depth + 1)
  }
  // a word with a blank was quoted: it is text
  const plain = args.map((arg) => (/\s/.test(arg) ? "-" : arg))
  return RUNS_TESTS.test([program, ...plain].join(" "))
}

export interface Artifacts {
  /** By path, the most recently touched last. */
  readonly files: Map<string, FileFacts>
  /** By command line, the most recently run last. */
  readonly commands: Map<string, CommandFacts>
  readonly open: Map<string, OpenCall>
  /** The conversation's directory, as soon as an entry names it. */
  cwd?: string
  /** The directory of its shell, if different. */
  directory?: string
}

export interface FileFacts {
  reads: number
  changes: number
  created: boolean
  deleted: boolean
  /** sha256 of the content as it was last read or written in full. */
  hash?: string
  /** Whether only shell commands touched the file, so that its content was never shown. */
  onlyByShell?: true
  /** The entry with the newest result about the file. */
  last: Uuid
}

export interface CommandFacts {
  readonly failed: boolean
  readonly exitCode: number | undefined
  readonly isTest: boolean
  /** Output lines that name a failed test. */
  readonly failing?: readonly string[]
  readonly last: Uuid
}

/** The final state of a file. */
export type FileFate = "created" | "changed" | "deleted" | "read"

export function fileFate({ created, changes, deleted }: FileFacts): FileFate {
  if (deleted) return "deleted"
  if (created) return "created"
  return changes > 0 ? "changed" : "read"
}

const MAX_FAILING = 3 // failed tests that are named per run
const MAX_FAILING_LENGTH = 160 // characters
const FAILING_TEST = /^\W*(?:FAIL(?:ED|URE)?\b|not ok\b)|^\s*[✗✘✕×●]\s|\bFAILED\s*$/
const MAX_COMMANDS = 500 // the oldest are dropped; their results stay in the journal

export const artifacts: Projection<Artifacts> = {
  name: "artifacts",
  scope: "path",
  start: () => ({ files: new Map(), commands: new Map(), open: new Map() }),
  apply(state, entry) {
    if (isDecision(entry) && entry.subtype === "session") resolveRelative(state, entry.cwd)
    for (const call of followCalls(state.open, entry)) {
      const isCommand = isShellTool(call.tool)
      const exitCode = isCommand ? findExitCode(call.output) : undefined
      const ended = { ...call, failed: call.failed || (exitCode ?? 0) !== 0 }
      if (isCommand) noteCommand(state, ended, exitCode)
      const { cwd, directory } = state
      const isKnown = (place: string) => [...state.files.keys()].some((path) => isInside(path, place))
      const done = callEffects(ended, { cwd, directory, ran: exitCode !== undefined, isKnown })
      for (const effect of done.effects) noteFile(state, withKnownPath(effect, state), { uuid: call.uuid, isCommand })
      if (done.directory !== undefined) state.directory = done.directory
    }
    return state
  },
}

/** Resolves relative paths. An imported journal names its directory last, so paths known by then become absolute. */
function resolveRelative(state: Artifacts, cwd: string): void {
  if (cwd === "" || state.cwd === cwd) return
  state.cwd = cwd
  if (state.directory !== undefined) state.directory = resolvePath(state.directory, cwd)
  const files = [...state.files]
  state.files.clear()
  for (const [path, facts] of files) {
    const whole = resolvePath(path, cwd)
    const same = state.files.get(whole)
    state.files.delete(whole)
    state.files.set(whole, same ? mergeFacts(same, facts) : facts)
  }
}

/**
 * Identifies a relative path with the known absolute path that ends with it, and vice versa, if the directory is unknown. The absolute
 * path is preserved.
 */
function withKnownPath(effect: FileEffect, { files, cwd }: Artifacts): FileEffect {
  if (cwd !== undefined || files.has(effect.path)) return effect
  const same = [...files.keys()].filter((path) => endsWithPath(path, effect.path) || endsWithPath(effect.path, path))
  if (same.length !== 1) return effect
  const [before] = same
  if (!isRelative(before!)) return { ...effect, path: before! }
  files.set(effect.path, files.get(before!)!)
  files.delete(before!)
  return effect
}

/** Merges the facts of two names of one file. Facts under the later name are newer. */
function mergeFacts(before: FileFacts, { onlyByShell, ...after }: FileFacts): FileFacts {
  return {
    ...after,
    reads: before.reads + after.reads,
    changes: before.changes + after.changes,
    created: before.created || after.created,
    ...(before.onlyByShell && onlyByShell ? { onlyByShell } : {}),
  }
}

interface FactSource {
  readonly uuid: Uuid
  readonly isCommand: boolean
}

function noteFile({ files }: Artifacts, effect: FileEffect, { uuid, isCommand }: FactSource): void {
  const before = files.get(effect.path)
  const facts: FileFacts = before ?? { reads: 0, changes: 0, created: false, deleted: false, last: uuid }
  facts.last = uuid
  if (!isCommand) delete facts.onlyByShell
  else if (!before) facts.onlyByShell = true
  if (effect.what === "read") {
    facts.reads++
    facts.deleted = false // something outside the tool calls has restored the file
  } else if (effect.what === "deleted") {
    facts.deleted = true
    for (const [path, inside] of files) if (isInside(path, effect.path)) inside.deleted = true
  } else {
    const isMissing = before === undefined || before.deleted
    if (isMissing && effect.what !== "changed") facts.created = true
    else if (effect.what !== "touched") facts.changes++
    facts.deleted = false
    if (effect.content === undefined && effect.what !== "touched") delete facts.hash
  }
  if (effect.content !== undefined) facts.hash = hash("sha256", effect.content, "hex")
  files.delete(effect.path)
  files.set(effect.path, facts)
}

function noteCommand({ commands }: Artifacts, call: FinishedCall, exitCode: number | undefined): void {
  const command = commandLine(call.input)
  if (command === "") return
  commands.delete(command)
  const isTest = runsTests(command)
  const failing = isTest && call.failed ? failingTests(call.output) : []
  commands.set(command, {
    ...{ failed: call.failed, exitCode, isTest, last: call.uuid },
    ...(failing.length > 0 ? { failing } : {}),
  })
  if (commands.size > MAX_COMMANDS) commands.delete(commands.keys().next().value!)
}

/** Failed tests as common runners mark them: vitest, jest, pytest, go, cargo, TAP. */
function failingTests(output: string): readonly string[] {
  const lines = stripVTControlCharacters(output)
    .split("\n")
    .filter((line) => FAILING_TEST.test(line))
  return [...new Set(lines.map((line) => line.trim()))]
    .slice(0, MAX_FAILING)
    .map((line) => line.slice(0, MAX_FAILING_LENGTH))
}

export function commandLine(input: Readonly<Record<string, unknown>>): string {
  const given = input.command ?? input.cmd
  return typeof given === "string" ? given : Array.isArray(given) ? given.join(" ") : ""
}

/** The exit code in the output. Agents report it in different ways. */
export function findExitCode(output: string): number | undefined {
  const match =
    /(?:^|\n|")(?:Exit code:? |Process exited with code |Command exited with code |exit_code"?: ?)(-?\d+)/i.exec(
      output.length > 2_500 ? `${output.slice(0, 2_000)}\n${output.slice(-500)}` : output,
    )
  return match ? Number(match[1]) : undefined
}
