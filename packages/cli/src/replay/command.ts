/** `strata replay`: replays recorded conversations with one policy and reports actions, cost and losses. */
import { basename } from "node:path"
import { calibrate, type Policy, replay } from "@strata/transcripts/replay"
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { REPLAY } from "../descriptions.ts"
import { jsonForTerminal } from "../display/visible.ts"
import { checkPagePath, writePage } from "../html/file.ts"
import { forEachFile } from "../inspect/each-file.ts"
import { replayPage } from "./html-page.ts"
import { namedPolicy } from "./named-policies.ts"
import { type LoadedRecording, recordings } from "./recordings.ts"
import { type ReplayResult, replayOverview, replayReport } from "./report.ts"

const MAX_TURNS_ON_SCREEN = 100

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands: files } = readArguments(REPLAY, args)
  const policy = namedPolicy(values.policy ?? "strata")
  const place = values.html === undefined ? undefined : await checkPagePath(values.html, cwd)
  const turns = terminal.isScreen ? MAX_TURNS_ON_SCREEN : Number.POSITIVE_INFINITY
  const found: ReplayResult[] = []
  const code = await forEachFile(terminal, async ({ progress, complain }) => {
    for await (const recording of recordings({
      command: REPLAY.name,
      files,
      ...values,
      complain,
      place: { cwd, env },
    })) {
      progress.show(`Replaying ${basename(recording.file)}`, recording.at)
      const replayed = await replayWith(policy, recording, values)
      found.push(replayed)
      if (values.json) continue
      progress.clear()
      const { style, columns } = terminal
      const report = replayReport(replayed, { style, columns, ...(values.turns ? { turns } : {}) })
      terminal.print(`${report.join("\n")}\n\n`)
    }
  })
  if (values.json) terminal.print(`${jsonForTerminal({ conversations: found.map(asJson) }, 2)}\n`)
  else if (found.length > 1) terminal.print(`${replayOverview(found, terminal).join("\n")}\n`)
  if (place !== undefined && found.length > 0) await writePage(place, replayPage(found), terminal)
  return code
}

interface ReplayAssumptions {
  readonly model: string | undefined
  readonly window: number | undefined
  readonly "summary-seconds": number | undefined
}

/** Converts command-line options to options of the replay engine. */
export const replayOptions = ({ window, "summary-seconds": seconds }: Omit<ReplayAssumptions, "model">) => ({
  ...(window === undefined ? {} : { window }),
  ...(seconds === undefined ? {} : { summarySeconds: seconds }),
})

async function replayWith(
  policy: Policy,
  recording: LoadedRecording,
  values: ReplayAssumptions,
): Promise<ReplayResult> {
  const found = await replay(recording.conversation, { policies: [policy], ...replayOptions(values) })
  const calibration = values.model === undefined ? calibrate(recording.conversation) : undefined // the assumed model was never billed
  return { recording, replay: found, report: found.reports[0]!, ...(calibration ? { calibration } : {}) }
}

function asJson({ recording, replay: { reports: _, ...assumed }, report, calibration }: ReplayResult) {
  const { conversation: _conversation, at: _at, ...about } = recording
  return { ...about, ...assumed, ...report, ...(calibration ? { calibration } : {}) }
}
