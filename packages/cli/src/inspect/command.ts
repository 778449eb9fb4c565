/** `strata inspect`: reports how recorded conversations used their context and money. */
import { stat } from "node:fs/promises"
import { basename, resolve } from "node:path"
import { type InspectedResponses, listResponses, sumInspections, type Transcript } from "@strata/transcripts"
import { readArguments } from "../arguments.ts"
import { type Run, UsageError } from "../command.ts"
import { INSPECT } from "../descriptions.ts"
import type { ProgressSteps } from "../display/progress.ts"
import { jsonForTerminal } from "../display/visible.ts"
import { checkPagePath, writePage } from "../html/file.ts"
import { type Analysis, analyse } from "./analysis.ts"
import { comparison } from "./comparison.ts"
import { forEachFile, readEach, resolveFiles } from "./each-file.ts"
import type { InspectedTranscript } from "./html-page.ts"
import { report } from "./report.ts"

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands } = readArguments(INSPECT, args)
  const directories = await directoriesIn(operands, cwd)
  if (operands.length === 0 || directories.length > 0) {
    if (values.owner !== undefined)
      throw new UsageError('--owner needs the id of a conversation. "strata dashboard --owner NAME" lists them.')
    if (directories.length < operands.length || values.html !== undefined || values.layers)
      throw new UsageError(
        '"strata inspect" takes files, or directories, or nothing for everything on this machine. --html and --layers need files.',
      )
    const { runUsage } = await import("../usage/command.ts")
    return runUsage({ cwd, env, terminal }, { dirs: directories, json: values.json })
  }
  const files = await resolveFiles(operands, { cwd, env, owner: values.owner })
  const place = values.html === undefined ? undefined : await checkPagePath(values.html, cwd)
  const inspected: InspectedTranscript[] = []
  const analyses: Analysis[] = []
  const responses: InspectedResponses[] = []
  const code = await forEachFile(terminal, async ({ progress, complain }) => {
    const onFile = (file: string, at: ProgressSteps | undefined) => progress.show(`Reading ${basename(file)}`, at)
    for await (const { transcript } of readEach(files, { complain, env, onFile })) {
      const analysis = values.layers ? await withLayers(transcript) : await analyse(transcript)
      analyses.push(analysis)
      responses.push({ inspection: analysis, responses: await listResponses(transcript) })
      if (place !== undefined) inspected.push({ transcript, analysis })
      progress.clear()
      if (!values.json) terminal.print(`${report(analysis, terminal).join("\n")}\n\n`)
    }
  })
  const total = await sumInspections(responses)
  if (values.json) terminal.print(`${jsonForTerminal({ conversations: analyses, total }, 2)}\n`)
  else if (analyses.length > 1) terminal.print(`${comparison({ analyses, total }, terminal).join("\n")}\n`)
  if (place !== undefined && inspected.length > 0) {
    const { inspectionPage } = await import("./html-page.ts")
    await writePage(place, await inspectionPage(inspected, total), terminal)
  }
  return code
}

/** Operands that are directories, as absolute paths. */
async function directoriesIn(operands: readonly string[], cwd: string): Promise<readonly string[]> {
  const found = operands.map(async (operand) => {
    const path = resolve(cwd, operand)
    return (await stat(path).catch(() => undefined))?.isDirectory() ? [path] : []
  })
  return (await Promise.all(found)).flat()
}

/** Adds a replay of the layers. Runs only on request, because it is slow. */
async function withLayers(transcript: Transcript): Promise<Analysis> {
  const { replayClearing } = await import("@strata/transcripts/replay")
  return { ...(await analyse(transcript)), layers: await replayClearing(transcript) }
}
