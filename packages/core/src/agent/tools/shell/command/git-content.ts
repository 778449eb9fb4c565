/** Determines the tracked files whose content a git command shows: those named in its arguments, or all. */
import type { FileUse } from "../../../../tools/command.ts"
import { type AnalysisContext, filesOf, hasOption, knownWord, resolveIn } from "./command-effects.ts"
import type { ExpandedWord } from "./expanded-word.ts"
import type { Repository } from "./git-config.ts"
import type { GivenOption } from "./options.ts"

export interface GitCommand {
  readonly subcommand: string
  readonly options: readonly GivenOption[]
  readonly operands: readonly ExpandedWord[]
  /** Number of operands before `--`, if present. */
  readonly beforeDashes?: number | undefined
}

const splitWords = (text: string): readonly string[] => text.split(/\s+/)

const PATCH = splitWords(
  `p u patch U unified c cc m dd L W function-context binary patch-with-stat patch-with-raw word-diff word-diff-regex color-words
  diff-merges`,
)
/** Options that show names and numbers instead of content. */
const SUMMARY = splitWords(
  "stat numstat shortstat dirstat summary compact-summary raw name-only name-status no-patch s quiet q",
)
const NAMES_ONLY = splitWords("l L files-with-matches files-without-match name-only c count q quiet")
const REVISION = /^(?:HEAD|@)(?:[~^]\d*)*$/
/** Pathspecs with special syntax. */
const MAGIC = /^:|[*?[\\]/

/** Reads of files in the working directory, and of the same paths in other revisions. */
export function trackedReads(call: GitCommand, place: AnalysisContext, { top, index }: Repository): readonly FileUse[] {
  const named = [...call.operands, ...call.options.flatMap(({ name, value }) => (name === "L" && value ? [value] : []))]
  const inRevisions = named.flatMap(({ text }) => pathsAfterColons(text ?? "", place, top))
  if (!showsContent(call)) return inRevisions
  const tracked = { top, index }
  const specs = pathspecsOf(call, place)
  if (specs.length > 0 && !specs.some((spec) => MAGIC.test(spec)))
    return [...inRevisions, ...specs.map((spec) => ({ path: resolveIn(spec, place), tracked }))]
  const isNamed = call.operands.length > 0 && call.operands.every(({ text }) => /^[^:]*:[^/]/.test(text ?? ""))
  if (isNamed && (call.subcommand === "show" || call.subcommand === "cat-file")) return inRevisions
  return [...inRevisions, { path: call.subcommand === "grep" && specs.length === 0 ? place.directory : top, tracked }]
}

function showsContent({ subcommand, options, operands }: GitCommand): boolean {
  const hasPatch = hasOption(options, ...PATCH)
  switch (subcommand) {
    case "cat-file":
      return !hasOption(options, "t", "s", "e")
    case "grep":
      return !hasOption(options, ...NAMES_ONLY)
    case "status":
      return hasOption(options, "v", "verbose")
    case "stash show": // a repository setting can make it show everything
      return true
    case "diff":
    case "diff-tree":
      return hasPatch || !hasOption(options, ...SUMMARY)
    case "show": // the id of a blob shows its content with any option
      return hasPatch || !hasOption(options, ...SUMMARY) || !operands.every(({ text }) => REVISION.test(text ?? ""))
    default:
      return hasPatch
  }
}

/** Operands that are paths: all after `--`, and before it those that exist, because git refuses ambiguous arguments. */
function pathspecsOf({ operands, beforeDashes }: GitCommand, place: AnalysisContext): readonly string[] {
  const words = (beforeDashes === undefined ? operands : operands.slice(beforeDashes)).flatMap(({ text }) => text ?? [])
  if (beforeDashes !== undefined) return words
  const isThere = (word: string) => {
    const path = resolveIn(word, place)
    return path !== undefined && place.disk?.kindOf(path) !== "missing"
  }
  return words.filter((word) => MAGIC.test(word) || isThere(word))
}

/**
 * Paths after colons: `HEAD:src/a.ts` is relative to the root of the repository, `HEAD:./a.ts` to the working directory. Dates may contain
 * colons too.
 */
function pathsAfterColons(text: string, place: AnalysisContext, top: string): readonly FileUse[] {
  const parts = text.split(":")
  return parts.slice(1).flatMap((_, at) => {
    const path = parts.slice(at + 1).join(":")
    if (path === "" || path.startsWith("/")) return []
    return filesOf(knownWord(path), /^\.\.?\//.test(path) ? place : { ...place, directory: top })
  })
}
