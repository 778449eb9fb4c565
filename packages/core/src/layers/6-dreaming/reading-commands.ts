/**
 * The shell of a dream: eight commands that only read, judged by the parsed line. Anything that is not certain before it runs is refused,
 * and so is every path outside the given directories.
 */
import { sep } from "node:path"
import type { CommandFacts, FileUse, SimpleCommand, UnusualKind } from "../../tools/shell/command/facts.ts"

export const READING_COMMANDS = ["ls", "find", "grep", "cat", "stat", "wc", "head", "tail"] as const

export interface ReadingLimits {
  /** Directories that may be read, with links followed. */
  readonly directories: readonly string[]
  /** Directories with transcripts: their files may be searched, never printed whole. */
  readonly transcripts?: readonly string[]
}

/** What never has a place in such a line, with the reason for the model. */
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

/** Tests of find that run, remove or write something, or take their directories from a file. */
const FIND_ACTS = /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/
/** `-f`, `-F` and any spelling of `--follow`, `--retry`, `--pid`: the command would not end. */
const TAIL_WAITS = /^-[^-]*[fF]|^--(?:f|r|p)/

/** `true`, or why the line is refused. */
export function judgeReading(facts: CommandFacts, limits: ReadingLimits): true | string {
  const unusual = facts.unusual[0]
  if (unusual) return UNUSUAL[unusual.kind]
  const bare = bareText(facts.line)
  if (/[<>]/.test(bare)) return UNUSUAL.redirection // also those that only join streams or go to /dev/null
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

/** The line without what is quoted or escaped. */
const bareText = (line: string): string => line.replace(/\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"/g, "")

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
  { directories, transcripts = [] }: ReadingLimits,
): string | undefined {
  if (path === undefined) return "a path is only known when it runs"
  if (!directories.some((directory) => isWithin(path, directory)))
    return `${path} is outside the directories that may be read`
  const printsWhole =
    name === "cat" && !isTree && path.endsWith(".jsonl") && transcripts.some((directory) => isWithin(path, directory))
  return printsWhole ? "transcripts are searched with grep, head or tail, never printed whole" : undefined
}

export const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
