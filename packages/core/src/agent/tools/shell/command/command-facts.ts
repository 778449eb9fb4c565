/**
 * Determines the facts about a command line. A line of the supported subset is parsed exactly; any other line is explained as far as the
 * parser understands it. Rules, read-only detection and dialogs use the facts. Never throws.
 */
import { homedir } from "node:os"
import type { CommandLineFacts, FileUse, UnusualKind, UnusualPart } from "../../../../tools/command.ts"
import { TrustedPrograms } from "../trusted-path.ts"
import type { AnalysisContext } from "./command-effects.ts"
import { Disk } from "./disk.ts"
import { HIDDEN_COMMAND } from "./expanded-word.ts"
import { explain } from "./explain.ts"
import { readExactly } from "./read-exactly.ts"
import { readSmallLine } from "./small-language.ts"

export interface ShellContext {
  readonly directory: string
  /** The project. Programs in it are not trusted as known ones. Default: the directory. */
  readonly project?: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Shell that runs the line. Default: bash. */
  readonly shell?: string | undefined
  /** Whether unapproved commands run in a sandbox. Default: false. */
  readonly hasSandbox?: boolean
}

/** Determines the facts with access to the disk: symbolic links, patterns, programs, git's configuration. */
export function commandFacts(line: string, given: ShellContext): CommandLineFacts {
  const { directory, project = directory, env, shell, hasSandbox = false } = given
  const disk = new Disk()
  const home = env.HOME ?? homedir()
  const programs = new TrustedPrograms(env.PATH, { project, home })
  const real = disk.realPath(directory)
  const place = { directory: real, isLinked: real !== directory, disk, programs, home, env, hasSandbox }
  return factsOf(line, place, shell)
}

/**
 * Determines the facts from the text alone. Conditions that depend on the disk count as harmless for git, and as unknown for file patterns.
 */
export function commandShape(
  line: string,
  { shell, hasSandbox = false }: Pick<ShellContext, "shell" | "hasSandbox"> = {},
): CommandLineFacts {
  const place = { directory: "/", disk: undefined, programs: undefined, home: undefined, env: {}, hasSandbox }
  return factsOf(line, place, shell)
}

/** Shells that interpret the supported subset as Strata does, including builtins. */
const COMPATIBLE_SHELLS = /(?:^|\/)(?:bash|sh|dash)$/

function factsOf(line: string, place: AnalysisContext, shell = "bash"): CommandLineFacts {
  const characters = unusualCharacters(line)
  const isHiding = hidesCharacters(characters)
  const isKnownShell = COMPATIBLE_SHELLS.test(shell)
  const small = isKnownShell && !isHiding ? readSmallLine(line) : undefined
  if (small?.state === "read") {
    const certain = readExactly(small.pipelines, { ...place, hasSandbox: false })
    const confined =
      certain && !certain.isReadOnly && place.hasSandbox ? readExactly(small.pipelines, place) : undefined
    if (certain)
      return {
        ...{ line, ...(confined?.isReadOnly ? confined : certain) },
        unusual: inOrder([...certain.unusual, ...characters]),
        isExact: true,
        isConfined: confined?.isReadOnly ?? false,
      }
  }
  try {
    const found = explain(line, place)
    const commands = isHiding ? [...found.commands, HIDDEN_COMMAND] : found.commands
    const isReadOnly =
      place.hasSandbox &&
      /(?:^|\/)bash$/.test(shell) &&
      !found.isDetached &&
      found.writes.length === 0 &&
      commands.length > 0 &&
      commands.every((command) => command.isReadOnly)
    const isExplained = found.unknown.length > 0 && found.unusual.length > 0
    const outside = small?.state === "outside" && !place.hasSandbox && !isExplained ? [small.why] : []
    return {
      line,
      commands,
      redirections: { reads: distinct(found.reads), writes: distinct(found.writes) },
      unknown: [...(isHiding ? ["It has characters that cannot be seen."] : []), ...found.unknown, ...outside],
      unusual: inOrder([...found.unusual, ...characters]),
      isExact: false,
      isReadOnly,
      isConfined: isReadOnly,
    }
  } catch {
    return unreadable(line) // a line that breaks the parser is not judged by its partial result
  }
}

const inOrder = (parts: readonly UnusualPart[]): readonly UnusualPart[] =>
  parts.toSorted((a, b) => a.start - b.start || b.end - a.end)

function unreadable(line: string): CommandLineFacts {
  return {
    line,
    commands: [HIDDEN_COMMAND],
    redirections: { reads: [], writes: [] },
    unknown: ["It cannot be parsed."],
    unusual: unusualCharacters(line),
    isExact: false,
    isReadOnly: false,
    isConfined: false,
  }
}

function distinct(uses: readonly FileUse[]): readonly FileUse[] {
  return [...new Map(uses.map((use) => [`${use.isTree}${use.isListed}${use.path}`, use])).values()]
}

/** All files that the line reads or writes, as far as known. */
export function filesTouched({ commands, redirections }: CommandLineFacts): readonly string[] {
  const uses = [redirections, ...commands.map((command) => command.uses)].flatMap(({ reads, writes }) => [
    ...reads,
    ...writes,
  ])
  return [...new Set(uses.flatMap(({ path }) => path ?? []))]
}

/** Maximum number of unusual parts that are reported for review. */
const MAX_PARTS = 500

const CHARACTERS: readonly { readonly kind: UnusualKind; readonly form: RegExp }[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  { kind: "control character", form: /[\x00-\x08\x0b-\x1f\x7f-\x9f]+/g },
  {
    kind: "invisible character",
    // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for alone
    form: /[\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]+|[\u{e0000}-\u{e0fff}]+/gu,
  },
  {
    // letters of other scripts that resemble Latin ones, and symbols that resemble shell syntax
    kind: "look-alike character",
    form: /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\u2010-\u2015\u2018-\u201f\u2024\u2032-\u2037\u2044\u2212\u2215\u2216\u2223\u02b9-\u02bf\u{1d400}-\u{1d7ff}\uff01-\uff5e]+/gu,
  },
  { kind: "escape", form: /\\(?:x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{3}|e(?=\[|\]|P))/g },
]

function unusualCharacters(line: string): readonly UnusualPart[] {
  const parts: UnusualPart[] = []
  for (const { kind, form } of CHARACTERS) {
    for (const match of line.matchAll(form)) {
      if (parts.length < MAX_PARTS) parts.push({ kind, start: match.index, end: match.index + match[0].length })
    }
  }
  return parts
}

/** Whether the line contains hidden characters. Such a line is never exact, because the displayed text differs from what runs. */
const hidesCharacters = (parts: readonly UnusualPart[]): boolean =>
  parts.some(({ kind }) => kind === "control character" || kind === "invisible character")
