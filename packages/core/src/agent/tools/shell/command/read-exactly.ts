/** Facts about a line of the supported subset: its commands in order, with the directory in which each one runs. */
import { posix } from "node:path"
import type { CommandLineFacts, FileUse, SimpleCommand, UnusualPart } from "../../../../tools/command.ts"
import { analyzeWords } from "./analyze-words.ts"
import { type AnalysisContext, filesOf, knownWord, resolveIn } from "./command-effects.ts"
import type { ExpandedWord } from "./expanded-word.ts"
import { expandPattern } from "./file-pattern.ts"
import type { SmallCommand, SmallPipeline } from "./small-language.ts"

type ExactFacts = Pick<CommandLineFacts, "commands" | "redirections" | "unknown" | "unusual" | "isReadOnly">

/** Analyzes a line exactly. `undefined` if it starts a shell with a script, which must be analyzed as a line of its own. */
export function readExactly(pipelines: readonly SmallPipeline[], start: AnalysisContext): ExactFacts | undefined {
  const commands: SimpleCommand[] = []
  const unknown = new Set<string>()
  const unusual: UnusualPart[] = []
  const uses = { reads: [] as FileUse[], writes: [] as FileUse[] }
  let place = start
  let joined: SmallPipeline["then"]
  let isConditional = false
  for (const { commands: parts, then } of pipelines) {
    let isMoving = false
    for (const part of parts) {
      const judged = analyzeCommand(part, place)
      if (judged.hasScript) return undefined
      commands.push(...judged.commands)
      uses.reads.push(...judged.listed)
      for (const why of judged.unknown) unknown.add(why)
      for (const { kind, target, start: from, end } of part.redirections) {
        const files = filesOf(knownWord(target.text), place, { isDashFile: true })
        if (files.length > 0) unusual.push({ kind: "redirection", start: from, end })
        uses[kind === "read" ? "reads" : "writes"].push(...files)
      }
      // after `ln -s / here`, the path in `cat here/etc/passwd` leads elsewhere
      if (starts(judged.commands, LINKS)) place = { ...place, directory: undefined }
      isMoving ||= starts(judged.commands, MOVES)
    }
    if (isMoving) {
      place = joined === "||" ? { ...place, directory: undefined } : after(parts, place)
      isConditional ||= joined === "&&"
    }
    // a `cd` after `&&` may not have run when the chain ends
    if (isConditional && then !== "&&") place = { ...place, directory: undefined }
    joined = then
  }
  const isReadOnly = uses.writes.length === 0 && commands.every((command) => command.isReadOnly)
  return { commands, redirections: uses, unknown: [...unknown], unusual, isReadOnly }
}

function analyzeCommand({ assignments, words }: SmallCommand, place: AnalysisContext) {
  const { directory, disk } = place
  const listed: FileUse[] = []
  const fields = words.flatMap((word): readonly ExpandedWord[] => {
    if (!word.pattern) return [knownWord(word.text)]
    if (!disk || directory === undefined) return [{ text: undefined }]
    const expanded = expandPattern(word, { directory, disk })
    listed.push(...expanded.listed.map((path) => ({ path, isListed: true })))
    return expanded.names?.map(knownWord) ?? [{ text: undefined }]
  })
  const { commands, unknown, scripts } = analyzeWords(fields, place)
  const [own, ...rest] = commands
  const hasPattern = fields.some(({ text }) => text === undefined)
  const isPlain = place.hasSandbox || (assignments.length === 0 && !hasPattern)
  const command = {
    ...own!,
    changesEnvironment: !assignments.every(isHarmlessAssignment),
    isReadOnly: own!.isReadOnly && isPlain,
  }
  return {
    commands: [command, ...rest],
    listed,
    unknown: [
      ...unknown,
      ...(isPlain || assignments.length === 0 ? [] : [`It sets ${assignments[0]!.name} for ${words[0]!.text}.`]),
      ...(isPlain || !hasPattern
        ? []
        : ["It has a file pattern that may find a name like an option, or too many files."]),
    ],
    hasScript: scripts.length > 0,
  }
}

const MOVES = /^(?:cd|pushd|popd|\.|source)$/
const LINKS = /(?:^|\/)ln$/

/** Whether any of the commands is named, including in `command cd sub`. */
const starts = (commands: readonly SimpleCommand[], names: RegExp): boolean =>
  commands.some(({ words: [program] }) => program !== undefined && names.test(program))

/** The directory after a `cd`. It is known if no symbolic link is involved, because in the shell `..` leads back over a link. */
function after([command, ...others]: readonly SmallCommand[], place: AnalysisContext): AnalysisContext {
  const nowhere = { ...place, directory: undefined }
  const { words, assignments, redirections } = command!
  const [program, target, ...more] = words
  if (assignments.length > 0 || redirections.length > 0) return nowhere
  if (others.length > 0 || program!.text !== "cd" || !target || target.pattern || more.length > 0) return nowhere
  if (place.directory === undefined || /^(?:-|$)/.test(target.text)) return nowhere
  const path = posix.resolve(place.directory, target.text)
  const hasLink = resolveIn(target.text, place) !== path || (place.isLinked && target.text.split("/").includes(".."))
  const isThere = !place.disk || place.disk.list(path) !== undefined
  return isThere && !hasLink ? { ...place, directory: path } : nowhere
}

/** Variables that do not affect which programs run. */
const HARMLESS = new Set(
  `CI NODE_ENV DEBUG FORCE_COLOR NO_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES PORT VERBOSE RUST_BACKTRACE RUST_LOG
  LOG_LEVEL PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE GIT_TERMINAL_PROMPT TS_NODE_TRANSPILE_ONLY VITEST JEST_WORKERS
  HUSKY NEXT_TELEMETRY_DISABLED DOTNET_CLI_TELEMETRY_OPTOUT`.split(/\s+/),
)
const isHarmlessAssignment = ({ name, value }: { readonly name: string; readonly value: string }): boolean =>
  HARMLESS.has(name) || (/PAGER$/.test(name) && (value === "cat" || value === ""))
