/** The facts about a command line: parsed once, used by rules, read-only detection and the dialog. It never throws. */
import { homedir } from "node:os"
import { TrustedPrograms } from "../trusted-path.ts"
import { Disk } from "./disk.ts"
import { type CommandFacts, type FileUse, HIDDEN_COMMAND, type UnusualKind, type UnusualPart } from "./facts.ts"
import type { Findings } from "./findings.ts"
import { lineGrammar } from "./grammar.ts"
import type { LineSurroundings } from "./shell-state.ts"
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

/** Parts of a line that a person should look at, found in its characters. */
const MOST_PARTS = 500

const CHARACTERS: readonly { readonly kind: UnusualKind; readonly form: RegExp }[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  { kind: "control character", form: /[\x00-\x08\x0b-\x1f\x7f-\x9f]+/g },
  {
    kind: "invisible character",
    // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for alone
    form: /[\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]+|[\u{e0000}-\u{e0fff}]+/gu,
  },
  {
    // letters of other scripts that look like Latin ones, and signs that look like a shell's
    kind: "look-alike character",
    form: /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\u2010-\u2015\u2018-\u201f\u2024\u2032-\u2037\u2044\u2212\u2215\u2216\u2223\u02b9-\u02bf\u{1d400}-\u{1d7ff}\uff01-\uff5e]+/gu,
  },
  { kind: "escape", form: /\\(?:x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{3}|e(?=\[|\]|P))/g },
]

function unusualCharacters(line: string): readonly UnusualPart[] {
  const parts: UnusualPart[] = []
  for (const { kind, form } of CHARACTERS) {
    for (const match of line.matchAll(form)) {
      if (parts.length < MOST_PARTS) parts.push({ kind, start: match.index, end: match.index + match[0].length })
    }
  }
  return parts
}

/** A line with these is never taken as known: what is shown is not what runs. */
const hidesCharacters = (parts: readonly UnusualPart[]): boolean =>
  parts.some(({ kind }) => kind === "control character" || kind === "invisible character")
