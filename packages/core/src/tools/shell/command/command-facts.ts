/** The facts about a command line: parsed once, used by rules, read-only detection and the dialog. It never throws. */
import { homedir } from "node:os"
import { Disk } from "./disk.ts"
import { Evaluation, type LineSurroundings } from "./evaluate.ts"
import type { CommandFacts, FileUse, SimpleCommand } from "./facts.ts"
import { hidesCharacters, unusualCharacters } from "./unusual.ts"

export interface ShellPlace {
  readonly directory: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** With a look at the disk: links, patterns, git's configuration. */
export function commandFacts(line: string, { directory, env }: ShellPlace): CommandFacts {
  const disk = new Disk()
  return factsOf(line, { directory: disk.realPath(directory), disk, home: env.HOME ?? homedir(), env })
}

/** By its words alone. What the disk would decide counts as harmless for git, and as not known for file patterns. */
export function commandShape(line: string): CommandFacts {
  return factsOf(line, { directory: "/", disk: undefined, home: undefined, env: {} })
}

function factsOf(line: string, around: LineSurroundings): CommandFacts {
  const evaluation = new Evaluation(around)
  const characters = unusualCharacters(line)
  try {
    evaluation.run(line)
  } catch {
    return unreadable(line) // a line that defeats the parser is not judged by what it got to
  }
  const { reads, writes, unusual } = evaluation
  const isHiding = hidesCharacters(characters)
  const commands = [...evaluation.commands, ...(isHiding ? [HIDDEN] : [])]
  const unknown = [...evaluation.unknown, ...(isHiding ? ["It has characters that cannot be seen."] : [])]
  const isReadOnly =
    evaluation.changesNothing &&
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

/** A command that is only known when it runs. */
const HIDDEN: SimpleCommand = {
  words: [undefined],
  isReadOnly: false,
  uses: { reads: [], writes: [] },
  names: [],
  changesEnvironment: false,
}

function unreadable(line: string): CommandFacts {
  return {
    line,
    commands: [HIDDEN],
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
