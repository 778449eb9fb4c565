/** Tools of a dream: they read the memory copy, the project and its transcripts, and write only the copy. Everything else is refused. */

import { dirname, join, relative, sep } from "node:path"
import type { Clock } from "../base/clock.ts"
import { cloneToolState, withoutTools } from "../forks/fork.ts"
import type { DreamDirectories, DreamTools } from "../layers/6-dreaming/consolidate/consolidate.ts"
import { INDEX_FILE, isTopicFile } from "../memory/file-names.ts"
import type { CommandLineFacts, Confinement, FileUse, SimpleCommand, UnusualKind } from "../tools/command.ts"
import { FileReads } from "../tools/files/read-state.ts"
import type { PermissionQuestion, Tool } from "../tools/tool.ts"

const SHELL_TIMEOUT_MS = 20_000
const SHELL_CHARACTERS = 20_000
/** Limits of the read state: a dream may read every memory before it changes the first. */
const READS = { files: 20_000, characters: 64 * 1024 * 1024 }
/** Environment variables of the shell. Functions and options in other variables could change the effect of a command. */
const SHELL_VARIABLES = ["PATH", "HOME", "LANG"] as const

/** Applies the user's permission rules to a call. Returns `true`, or the reason for a refusal. */
export type ReadRules = (tool: string, question: PermissionQuestion) => true | string

interface DreamToolReach extends DreamDirectories {
  readonly rules?: ReadRules | undefined
}

interface DreamToolDependencies {
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  readonly confinement?: (() => Confinement) | undefined
}

export async function openDreamTools(
  reach: DreamToolReach,
  { clock, env, confinement }: DreamToolDependencies,
): Promise<DreamTools> {
  // loaded when a dream starts, because they import a schema library
  const [{ fileTools }, { bashTool }, { ShellSession }, { defaultConfinement }] = await Promise.all([
    import("./tools/coding-tools.ts"),
    import("./tools/shell/bash.ts"),
    import("./tools/shell/shell-session.ts"),
    import("./tools/shell/confinement.ts"),
  ])
  const shell = new ShellSession({
    timeoutMs: SHELL_TIMEOUT_MS,
    maxTimeoutMs: SHELL_TIMEOUT_MS,
    outputCharacters: SHELL_CHARACTERS,
  })
  const bash: Tool = {
    ...bashTool(shell),
    description: `Runs a command line that only reads. Allowed are ${READING_COMMANDS.join(", ")}, also in a pipe. Redirections, substitutions, variables and \`find -exec\` are refused.`,
  }
  const toolContext = {
    ...withoutTools(clock).toolContext,
    env: Object.fromEntries(SHELL_VARIABLES.map((name) => [name, env[name]])),
    confinement: () => {
      const given = confinement?.() ?? defaultConfinement(env)
      return { ...given, readable: [...given.readable, reach.copy, ...reach.journals] }
    },
    directory: { get: () => reach.copy, set: () => undefined },
  }
  return {
    tools: [...fileTools, bash],
    context: {
      ...cloneToolState(toolContext, new FileReads({ limits: READS })),
      judgeStep: ({ paths = [] }) =>
        paths.some((path) => isOfOthers(path, reach))
          ? { verdict: "deny", why: OF_OTHERS }
          : { verdict: "allow", why: "it is in reach" },
    },
    allows: (call, _tool, question) => judgeCall(call, question, reach),
    close: () => shell.close(),
  }
}

function judgeCall(
  { name, input }: { readonly name: string; readonly input?: unknown },
  question: PermissionQuestion,
  reach: DreamToolReach,
): true | string {
  switch (name) {
    case "Read":
    case "Grep":
    case "Glob":
      return judgeSearch(name, question, reach)
    case "Edit":
    case "Write":
      return judgeWrite(question, reach)
    case "Bash":
      return judgeShell(input, question, reach)
    default:
      return `${name} is not available here.`
  }
}

function judgeSearch(name: string, question: PermissionQuestion, reach: DreamToolReach): true | string {
  const { paths = [] } = question
  const places = [reach.copy, reach.project, ...reach.journals]
  const outside = paths.find((path) => !places.some((place) => isWithin(path, place)))
  if (paths.length === 0 || outside !== undefined)
    return `${outside ?? "it"} is outside the memory, the project and its transcripts.`
  if (paths.some((path) => isOfOthers(path, reach))) return OF_OTHERS
  const isTranscript = (path: string) =>
    path.endsWith(".jsonl") && reach.journals.some((place) => isWithin(path, place))
  if (name === "Read" && paths.some(isTranscript))
    return "a transcript is never read whole. Search it with Grep, or with grep, head and tail."
  return reach.rules?.(name, question) ?? true
}

const OF_OTHERS = "what other owners and projects keep is not read."

/** Whether a path belongs to other owners. The store may be inside the project, and other owners' transcripts are next to this owner's. */
const isOfOthers = (path: string, { copy, journals }: DreamDirectories): boolean =>
  journals.some((place) => isWithin(path, dirname(place))) &&
  ![copy, ...journals].some((place) => isWithin(path, place))

const isAroundOthers = (path: string, { journals }: DreamDirectories): boolean =>
  journals.some((place) => isWithin(dirname(place), path))

function judgeWrite({ paths = [] }: PermissionQuestion, { copy }: DreamDirectories): true | string {
  const isMemory = (path: string) => {
    const name = relative(copy, path).split(sep).join("/")
    return isWithin(path, copy) && path === join(copy, name) && (name === INDEX_FILE || isTopicFile(name))
  }
  return (
    (paths.length > 0 && paths.every(isMemory)) ||
    `only markdown files in ${copy} may be written, outside its logs and archive.`
  )
}

function judgeShell(input: unknown, question: PermissionQuestion, reach: DreamToolReach): true | string {
  const { run_in_background } = (input ?? {}) as { readonly run_in_background?: unknown }
  if (run_in_background || !question.command) return "nothing runs in the background here."
  const verdict = judgeReadOnlyLine(question.command, {
    directories: [reach.copy, reach.project, ...reach.journals],
    transcripts: reach.journals,
  })
  if (verdict !== true) return `${verdict}.`
  const reads = question.command.commands.flatMap(({ uses }) => uses.reads)
  if (reads.some(({ path = "/", isTree }) => isOfOthers(path, reach) || (isTree && isAroundOthers(path, reach))))
    return OF_OTHERS
  return reach.rules?.("Bash", question) ?? true
}

const READING_COMMANDS = ["ls", "find", "grep", "cat", "stat", "wc", "head", "tail"] as const

interface ReadLimits {
  /** Readable directories, with symbolic links resolved. */
  readonly directories: readonly string[]
  /** Directories with transcripts, whose files may be searched but not printed completely. */
  readonly transcripts?: readonly string[]
}

/** Constructs that are always refused, with the reason for the model. */
const UNUSUAL: Readonly<Record<UnusualKind, string>> = {
  substitution: "substitutions are not allowed",
  redirection: "redirections are not allowed",
  "here-document": "here-documents are not allowed",
  background: "nothing runs in the background",
  escape: "characters written as codes are not allowed",
  "control character": "control characters are not allowed",
  "invisible character": "invisible characters are not allowed",
  "look-alike character": "look-alike characters are not allowed",
}

/** Actions of `find` that run, remove or write something, or read their directories from a file. */
const FIND_ACTS = /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/
/** Options of `tail` that wait: `-f`, `-F`, and any abbreviation of `--follow`, `--retry` or `--pid`. */
const TAIL_WAITS = /^-[^-]*[fF]|^--(?:f|r|p)/

/**
 * Decides whether a dream may run a command line: eight read-only commands, judged by the parsed line. Anything uncertain is refused, and
 * so is every path outside the given directories. Returns `true`, or the reason for the refusal.
 */
export function judgeReadOnlyLine(facts: CommandLineFacts, limits: ReadLimits): true | string {
  const unusual = facts.unusual[0]
  if (unusual) return UNUSUAL[unusual.kind]
  const bare = unquotedText(facts.line)
  if (/[<>]/.test(bare)) return UNUSUAL.redirection // including redirections that only join streams or go to /dev/null
  if (/[()]/.test(bare)) return "groups and functions are not allowed"
  for (const command of facts.commands) {
    const refusal = refusalOf(command)
    if (refusal) return refusal
  }
  if (!facts.isReadOnly) return facts.unknown[0] ?? "it is not certain that the line only reads"
  const uses = facts.commands.flatMap((command) => command.uses.reads.map((use) => ({ command, use })))
  for (const { command, use } of uses) {
    const refusal = pathRefusal(command, use, limits)
    if (refusal) return refusal
  }
  return true
}

/** Removes quoted and escaped text from a line. */
const unquotedText = (line: string): string => line.replace(/\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"/g, "")

function refusalOf({ words, changesEnvironment, isReadOnly, isGuess }: SimpleCommand): string | undefined {
  const [name, ...rest] = words
  if (name === undefined || !(READING_COMMANDS as readonly string[]).includes(name))
    return `only ${READING_COMMANDS.join(", ")} may run`
  if (changesEnvironment) return "variables before a command are not allowed"
  if (isGuess || words.includes(undefined)) return "a part of it is only known when it runs"
  const given = rest as readonly string[]
  if (given.some((word) => /^\/(?:dev|proc|sys)(?:\/|$)/.test(word))) return "devices and system files are not allowed"
  if (name === "find" && given.some((word) => FIND_ACTS.test(word)))
    return "find may only find: nothing is run, removed or written"
  if (name === "tail" && given.some((word) => TAIL_WAITS.test(word))) return "tail may not wait for more"
  return isReadOnly ? undefined : `an option of ${name} is not allowed here`
}

function pathRefusal(
  { words: [name] }: SimpleCommand,
  { path, isTree }: FileUse,
  { directories, transcripts = [] }: ReadLimits,
): string | undefined {
  if (path === undefined) return "a path is only known when it runs"
  if (!directories.some((directory) => isWithin(path, directory)))
    return `${path} is outside the directories that may be read`
  const printsWhole =
    name === "cat" && !isTree && path.endsWith(".jsonl") && transcripts.some((directory) => isWithin(path, directory))
  return printsWhole ? "transcripts are searched with grep, head or tail, never printed whole" : undefined
}

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
