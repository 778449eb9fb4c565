/** `strata inspect`: reads recorded conversations and reports where their context and money went. */
import { basename } from "node:path"
import { StrataError } from "@strata/core/internal/base/errors"
import { readArguments } from "../arguments.ts"
import { type Run, UsageError } from "../command.ts"
import { INSPECT } from "../descriptions.ts"
import { progressOn } from "../display/progress.ts"
import { visibleJson } from "../display/visible.ts"
import { checkPagePlace, writePage } from "../html/file.ts"
import { type Analysis, analyse } from "./analysis.ts"
import { comparison } from "./comparison.ts"
import type { Inspected } from "./html-page.ts"
import { report } from "./report.ts"
import { readTranscripts, type Transcript } from "./transcript.ts"

const DONE = 0
const SOME_FAILED = 1

export const run: Run = async ({ args, cwd, terminal }) => {
  const { values, operands } = readArguments(INSPECT, args)
  const place = values.html === undefined ? undefined : await checkPagePlace(values.html, cwd)
  const inspected: Inspected[] = []
  const analyses: Analysis[] = []
  let failures = 0
  const progress = progressOn(terminal)
  try {
    for (const [at, file] of operands.entries()) {
      try {
        progress.show(`Reading ${basename(file)}`, operands.length > 1 ? { done: at, of: operands.length } : undefined)
        for (const transcript of await readTranscripts(file)) {
          const analysis = values.layers ? await withLayers(transcript) : analyse(transcript)
          analyses.push(analysis)
          if (place !== undefined) inspected.push({ transcript, analysis })
          progress.clear()
          if (!values.json) terminal.print(`${report(analysis, terminal).join("\n")}\n\n`)
        }
      } catch (error) {
        progress.clear()
        // with several files, go on with the others
        if (!(error instanceof StrataError || error instanceof UsageError) || operands.length === 1) throw error
        terminal.complain(`${error.message}\n`)
        failures++
      }
    }
  } finally {
    progress.end()
  }
  if (values.json) terminal.print(`${visibleJson({ conversations: analyses }, 2)}\n`)
  else if (analyses.length > 1) terminal.print(`${comparison(analyses, terminal).join("\n")}\n`)
  if (place !== undefined) {
    const { inspectionPage } = await import("./html-page.ts")
    await writePage(place, inspectionPage(inspected), terminal)
  }
  return failures === 0 ? DONE : SOME_FAILED
}

/** The replay is slow and loads the layers, so it runs only on request. */
async function withLayers(transcript: Transcript): Promise<Analysis> {
  const { replayClearing } = await import("@strata/core/internal/replay/replay")
  return { ...analyse(transcript), layers: await replayClearing(transcript) }
}
