/**
 * What the work did, taken from the tool calls: files by what happened to them, commands whose last run failed, and how each test command
 * ended last. Changed files are always named; of the rest the newest are, with a count of those left out.
 */

import { handleOf } from "../../../messages/handles.ts"
import { inline, inlineUpTo } from "../../../messages/inline.ts"
import { type Artifacts, type CommandFacts, type FileFate, fateOf } from "../../../views/record/artifacts.ts"
import type { Estimate } from "../cut-text.ts"

export interface WorkToRender {
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

export function renderFiles({ artifacts: { files }, limit, estimate }: WorkToRender): string {
  const lists = FILE_HEADINGS.flatMap(([fate, heading]) => {
    const paths = [...files].filter(([, facts]) => fateOf(facts) === fate).map(([path]) => `- ${inline(path)}`)
    if (paths.length === 0) return []
    return [heading, ...(fate === "read" ? newestLines(paths, { limit, estimate }) : paths)]
  })
  return lists.length === 0 ? "" : ["## Files", ...lists].join("\n")
}

export function renderFailures({ artifacts: { commands }, limit, estimate }: WorkToRender): string {
  const lines = [...commands]
    .filter(([, { failed, isTest }]) => failed && !isTest)
    .map(([command, facts]) => `- ${endOf(facts)}: ${inlineUpTo(MOST_COMMAND_CHARACTERS, command)}`)
  if (lines.length === 0) return ""
  return ["## Commands whose last run failed", ...newestLines(lines, { limit, estimate })].join("\n")
}

export function renderTests({ artifacts: { commands }, limit, estimate }: WorkToRender): string {
  const lines = [...commands]
    .filter(([, { isTest }]) => isTest)
    .map(([command, facts]) => `- ${endOf(facts)}: ${inlineUpTo(MOST_COMMAND_CHARACTERS, command)}`)
  if (lines.length === 0) return ""
  return ["## Tests, as they ended last", ...newestLines(lines, { limit, estimate })].join("\n")
}

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
