/** The facts about a command line: parsed once, used by rules, read-only detection and the dialog. It never throws. */
import { homedir } from "node:os"
import { TrustedPrograms } from "../trusted-path.ts"
import { Disk } from "./disk.ts"
import { type CommandFacts, type FileUse, HIDDEN_COMMAND } from "./facts.ts"
import type { Findings } from "./findings.ts"
import { lineGrammar } from "./grammar.ts"
import type { LineSurroundings } from "./shell-state.ts"
import { hidesCharacters, unusualCharacters } from "./unusual.ts"
import { walkLine } from "./walk-line.ts"

export interface ShellPlace {
  readonly directory: string
  /** Programs in it are not those that the judge knows. Default: the directory. */
  readonly project?: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The shell that runs the line, if not bash. */
  readonly shell?: string | undefined
}

/** With a look at the disk: links, patterns, programs, git's configuration. */
export function commandFacts(line: string, { directory, project = directory, env, shell }: ShellPlace): CommandFacts {
  const disk = new Disk()
  const home = env.HOME ?? homedir()
  const programs = new TrustedPrograms(env.PATH, { project, home })
  const grammar = lineGrammar(shell, env)
  return factsOf(line, { directory: disk.realPath(directory), disk, programs, home, env, grammar })
}

/** By its words alone. What the disk would decide counts as harmless for git, and as not known for file patterns. */
export function commandShape(line: string, { shell }: Pick<ShellPlace, "shell"> = {}): CommandFacts {
  const nowhere = { directory: "/", disk: undefined, programs: undefined, home: undefined, env: {} }
  return factsOf(line, { ...nowhere, grammar: lineGrammar(shell) })
}

function factsOf(line: string, around: LineSurroundings): CommandFacts {
  const characters = unusualCharacters(line)
  let found: Findings
  try {
    found = walkLine(line, around)
  } catch {
    return unreadable(line) // a line that defeats the parser is not judged by what it got to
  }
  const { reads, writes, unusual } = found
  const isHiding = hidesCharacters(characters)
  const commands = [...found.commands, ...(isHiding ? [HIDDEN_COMMAND] : [])]
  const unknown = [...found.unknown, ...(isHiding ? ["It has characters that cannot be seen."] : [])]
  const isReadOnly =
    found.changesNothing &&
    unknown.length === 0 &&
    commands.length > 0 &&
    writes.length === 0 &&
    commands.every((command) => command.isReadOnly)
  return {
    line,
    commands,
    redirections: { reads: distinct(reads), writes: distinct(writes) },
    unknown,
    unusual: [...unusual, ...characters].sort((a, b) => a.start - b.start || b.end - a.end),
    isReadOnly,
  }
}

function unreadable(line: string): CommandFacts {
  return {
    line,
    commands: [HIDDEN_COMMAND],
    redirections: { reads: [], writes: [] },
    unknown: ["It cannot be parsed."],
    unusual: unusualCharacters(line),
    isReadOnly: false,
  }
}

function distinct(uses: readonly FileUse[]): readonly FileUse[] {
  return [...new Map(uses.map((use) => [`${use.isTree}${use.isListed}${use.path}`, use])).values()]
}

/** Every file it reads or writes, as far as known. */
export function filesTouched({ commands, redirections }: CommandFacts): readonly string[] {
  const uses = [redirections, ...commands.map((command) => command.uses)].flatMap(({ reads, writes }) => [
    ...reads,
    ...writes,
  ])
  return [...new Set(uses.flatMap(({ path }) => path ?? []))]
}
