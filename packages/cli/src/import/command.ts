/** `strata import`: imports sessions of other programs without opening them. The originals are only read. */
import { realpath } from "node:fs/promises"
import { resolve } from "node:path"
import { localUser } from "@strata/core"
import { findTranscripts, type ImportOrUpdateResult, importOrUpdateConversations } from "@strata/transcripts"
import { readArguments } from "../arguments.ts"
import { type Run, UsageError } from "../command.ts"
import { IMPORT } from "../descriptions.ts"
import { escapeInvisible } from "../display/escaped.ts"
import { pluralize } from "../display/numbers.ts"
import { jsonForTerminal } from "../display/visible.ts"
import { describeImport, isDirectory } from "./import-report.ts"

const DONE = 0
const FAILED = 1

export const run: Run = async ({ args, cwd: here, env, terminal }) => {
  const { values, operands } = readArguments(IMPORT, args)
  const cwd = await realpath(resolve(here, values.cwd ?? ".")).catch(() => {
    throw new UsageError(`The directory ${values.cwd} does not exist.`)
  })
  const files = await filesIn(operands.map((operand) => resolve(here, operand)))
  if (files.length === 0) throw new UsageError("There is no transcript in these directories.")
  let failed = 0
  for (const file of files) {
    try {
      const taken = await importOrUpdateConversations({ file, cwd, env, owner: localUser })
      if (values.json) terminal.print(`${jsonForTerminal({ file, conversations: taken })}\n`)
      else for (const one of taken) terminal.print(`${(await linesFor(one, { file, cwd })).join("\n")}\n`)
    } catch (error) {
      failed++
      const why = error instanceof Error ? error.message : String(error)
      if (values.json) terminal.print(`${jsonForTerminal({ file, problem: why })}\n`)
      else terminal.complain(`${escapeInvisible(why)}\n`)
    }
  }
  if (failed > 0 && !values.json)
    terminal.complain(`${pluralize(failed, "file")} of ${files.length} were not imported.\n`)
  return failed === files.length ? FAILED : DONE
}

/** The named files, and all transcripts of named directories. */
async function filesIn(paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const path of paths) {
    if (!(await isDirectory(path))) found.push(path)
    else found.push(...(await findTranscripts({ dirs: [path], onlyDirs: true })).map((one) => one.path))
  }
  return [...new Set(found)]
}

async function linesFor(taken: ImportOrUpdateResult, { file, cwd }: { readonly file: string; readonly cwd: string }) {
  const { report, agents = [] } = taken
  const understood = Object.entries(report.understood).map(([kind, count]) => `${escapeInvisible(kind)} ${count}`)
  const with_ = agents.length === 0 ? "" : `, with ${pluralize(agents.length, "sub-agent")}`
  return [
    `${escapeInvisible(file)}${with_}`,
    ...(await describeImport(taken, { cwd })).map((sentence) => `  ${sentence}`),
    ...(taken.state === "known" ? [] : [`  Understood: ${understood.join(", ")}.`]),
    ...(taken.state === "known" ? [] : report.notes.map((note) => `  Note: ${escapeInvisible(note)}`)),
    `  To continue: strata chat --resume ${taken.id}`,
  ]
}
