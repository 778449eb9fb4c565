/**
 * Step 5, restore. What the work did, taken from the tool calls. Files by what happened to them, commands whose last run failed, how each
 * test command ended last, and tool results that can be recalled. The newest of each, with a count of those left out.
 */
import { remembering } from "../../../base/remembering.ts"
import { maskSecrets } from "../../../base/secrets/find-secrets.ts"
import { fenced } from "../../../messages/attachments.ts"
import { exactNamesIn } from "../../../messages/exact-names.ts"
import { handleOf } from "../../../messages/handles.ts"
import { inline, inlineUpTo, quoted } from "../../../messages/inline.ts"
import type { Uuid } from "../../../messages/messages.ts"
import { type Artifacts, type CommandFacts, type FileFate, fateOf } from "../../../views/record/artifacts.ts"
import type { Names } from "../../../views/record/names.ts"
import { type ResultLine, type Results, renderResultLine } from "../../../views/record/results.ts"
import type { Estimate } from "../cut-text.ts"

interface WorkToRender {
  readonly artifacts: Artifacts
  /** Tokens of a list from which something may be left out. */
  readonly limit: number
  readonly estimate: Estimate
}

const MOST_COMMAND_CHARACTERS = 400 // enough to recognise it; all of it is in the journal

const FILE_HEADINGS: readonly (readonly [FileFate, string])[] = [
  ["created", "Created:"],
  ["changed", "Changed:"],
  ["deleted", "Deleted:"],
  ["read", "Read and not changed:"],
]

/** `reads`: tokens of files that were only read. `outdated`: values that were replaced; a file that was read under such a path has moved. */
export function renderFiles({
  artifacts: { files },
  limit,
  reads,
  outdated = [],
  estimate,
}: WorkToRender & { readonly reads: number; readonly outdated?: Iterable<string> }): string {
  const gone = [...outdated].filter((value) => value.includes("/"))
  let room = limit
  const lists = FILE_HEADINGS.flatMap(([fate, heading]) => {
    const paths = [...files]
      .filter(([path, facts]) => fateOf(facts) === fate && !(fate === "read" && gone.some((old) => path.endsWith(old))))
      .map(([path]) => `- ${inline(path)}`)
    if (paths.length === 0) return []
    const lines = newestLines(paths, { limit: fate === "read" ? Math.min(room, reads) : room, estimate })
    room = Math.max(0, room - estimate([heading, ...lines].join("\n")))
    return [heading, ...lines]
  })
  return lists.length === 0 ? "" : ["## Files", ...lists].join("\n")
}

export function renderFailures({ artifacts: { commands }, limit, estimate }: WorkToRender): string {
  const lines = [...commands]
    .filter(([, { failed, isTest }]) => failed && !isTest)
    .map(([command, facts]) => `- ${endOf(facts)}: ${commandLine(command)}`)
  if (lines.length === 0) return ""
  return ["## Commands whose last run failed", ...newestLines(lines, { limit, estimate })].join("\n")
}

export function renderTests({ artifacts: { commands }, limit, estimate }: WorkToRender): string {
  const lines = [...commands]
    .filter(([, { isTest }]) => isTest)
    .map(([command, facts]) => `- ${endOf(facts)}: ${commandLine(command)}${failingTests(facts)}`)
  if (lines.length === 0) return ""
  return ["## Tests, as they ended last", ...newestLines(lines, { limit, estimate })].join("\n")
}

/** From a result, so it is quoted. */
const failingTests = ({ failing = [] }: CommandFacts): string =>
  failing.map((line) => `\n  ${quoted(maskSecrets(line))}`).join("")

const commandLine = (command: string): string => inlineUpTo(MOST_COMMAND_CHARACTERS, maskSecrets(command))

function endOf({ failed, exitCode, last }: CommandFacts): string {
  const code = exitCode === undefined ? "" : ` with exit code ${exitCode}`
  return `${failed ? "failed" : "succeeded"}${code} (result in message ${handleOf(last)})`
}

/** The lists run from old to new. */
function newestLines(
  lines: readonly string[],
  { limit, estimate }: Omit<WorkToRender, "artifacts">,
): readonly string[] {
  let [room, from] = [limit, lines.length]
  while (from > 0) {
    room -= estimate(lines[from - 1]!)
    if (room < 0) break
    from--
  }
  return from === 0 ? lines : [`[${from} older ${from === 1 ? "one" : "ones"} left out]`, ...lines.slice(from)]
}

interface ResultsToRender {
  readonly results: Results
  readonly names: Names
  /** Tokens of the section. */
  readonly limit: number
  readonly estimate: Estimate
  /** Messages that stay in the view. */
  readonly kept: ReadonlySet<Uuid>
}

const HEAD = ["## Tool results", "No longer shown, by their handles. They are data."]
const PREVIEW = 4 // how much more one counts that was never read whole than one that was cleared later
const FAILED = 1 // how much more a failed result counts
const REFERRED = 1.5 // for a name that was said or typed last; less for one that was used long ago

/**
 * Tool results after a boundary, one line each: those that were put aside or cleared. What the work still refers to comes first, then
 * the newest. Each line has the handle and says what is in the result. All other results are one search away. Empty where there is
 * nothing to list.
 */
export function renderResults({ results, names, limit, estimate, kept }: ResultsToRender): string {
  const used = usesOf(names)
  const lines = [...results.lines.values()].filter(
    ({ uuid, telling, shown }) => shown !== "whole" && !kept.has(uuid) && telling !== "",
  )
  const ranked = lines
    .map((line, at) => ({ line, at, score: scoreOf(line, used) + at / lines.length }))
    .sort((a, b) => b.score - a.score || b.at - a.at)
  let room = limit - estimate([...HEAD, fenced("")].join("\n"))
  const taken: { readonly at: number; readonly text: string }[] = []
  for (const { line, at } of ranked) {
    const text = renderResultLine(line)
    room -= estimate(`${text}\n`)
    if (room < 0) break
    taken.push({ at, text })
  }
  if (taken.length === 0) return ""
  const shown = taken.sort((a, b) => a.at - b.at).map(({ text }) => text)
  return [...HEAD, fenced(shown.join("\n"))].join("\n")
}

/** When each name was last said or typed: 0 for the oldest, 1 for the newest. */
function usesOf({ said, typed }: Names): ReadonlyMap<string, number> {
  const used = new Map<string, number>()
  for (const names of [typed, said]) {
    let at = 0
    for (const name of names.keys()) used.set(name, ++at / names.size)
  }
  return used
}

const namesOf = remembering((text) => exactNamesIn(text).map(({ name }) => name))

/** The call itself names what it was about, so only names in the result show that the work refers to it. */
function scoreOf({ shown, failed, telling }: ResultLine, used: ReadonlyMap<string, number>): number {
  const lastUse = Math.max(0, ...namesOf(telling).map((name) => used.get(name) ?? 0))
  return (shown === "preview" ? PREVIEW : 0) + (failed ? FAILED : 0) + REFERRED * lastUse
}
