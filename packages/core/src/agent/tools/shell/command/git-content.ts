/** Which tracked files a git command shows the content of: those that its words name, or all of them. */
import type { FileUse } from "../../../../tools/command.ts"
import type { Field } from "./facts.ts"
import type { Repository } from "./git-config.ts"
import { filesOf, has, known, type Place, resolveIn } from "./judged.ts"
import type { GivenOption } from "./options.ts"

export interface GitCall {
  readonly subcommand: string
  readonly options: readonly GivenOption[]
  readonly operands: readonly Field[]
  /** How many operands come before `--`, if there is one. */
  readonly beforeDashes?: number | undefined
}

const listed = (text: string): readonly string[] => text.split(/\s+/)

const PATCH = listed(
  `p u patch U unified c cc m dd L W function-context binary patch-with-stat patch-with-raw word-diff word-diff-regex color-words
  diff-merges`,
)
/** Names and numbers instead of content. */
const SUMMARY = listed(
  "stat numstat shortstat dirstat summary compact-summary raw name-only name-status no-patch s quiet q",
)
const NAMES_ONLY = listed("l L files-with-matches files-without-match name-only c count q quiet")
const REVISION = /^(?:HEAD|@)(?:[~^]\d*)*$/
/** Pathspecs with more meaning than a path. */
const MAGIC = /^:|[*?[\\]/

/** Reads of the working directory's files, and of the same paths in other revisions. */
export function trackedReads(call: GitCall, place: Place, { top, index }: Repository): readonly FileUse[] {
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

function showsContent({ subcommand, options, operands }: GitCall): boolean {
  const hasPatch = has(options, ...PATCH)
  switch (subcommand) {
    case "cat-file":
      return !has(options, "t", "s", "e")
    case "grep":
      return !has(options, ...NAMES_ONLY)
    case "status":
      return has(options, "v", "verbose")
    case "stash show": // a setting of the repository makes it show all
      return true
    case "diff":
    case "diff-tree":
      return hasPatch || !has(options, ...SUMMARY)
    case "show": // the id of a file shows that file, with any option
      return hasPatch || !has(options, ...SUMMARY) || !operands.every(({ text }) => REVISION.test(text ?? ""))
    default:
      return hasPatch
  }
}

/** After `--` all are paths. Before it, those that exist are: git refuses words that could be both. */
function pathspecsOf({ operands, beforeDashes }: GitCall, place: Place): readonly string[] {
  const words = (beforeDashes === undefined ? operands : operands.slice(beforeDashes)).flatMap(({ text }) => text ?? [])
  if (beforeDashes !== undefined) return words
  const isThere = (word: string) => {
    const path = resolveIn(word, place)
    return path !== undefined && place.disk?.kindOf(path) !== "missing"
  }
  return words.filter((word) => MAGIC.test(word) || isThere(word))
}

/** `HEAD:src/a.ts` is relative to the top of the repository, `HEAD:./a.ts` to the working directory. A date may hold colons too. */
function pathsAfterColons(text: string, place: Place, top: string): readonly FileUse[] {
  const parts = text.split(":")
  return parts.slice(1).flatMap((_, at) => {
    const path = parts.slice(at + 1).join(":")
    if (path === "" || path.startsWith("/")) return []
    return filesOf(known(path), /^\.\.?\//.test(path) ? place : { ...place, directory: top })
  })
}
