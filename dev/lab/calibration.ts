/**
 * Measures how close the replay's cache model comes to the bills of recordings. It replays each recording as it was, compares the cost with
 * the bill, and names the causes of the difference.
 *
 *     npm run calibration -- [--json] [folder with recordings …]
 */
import { existsSync } from "node:fs"
import { basename } from "node:path"
import { calibrate } from "@strata/transcripts/replay"
import { type CalibratedRecording, summarised } from "./calibration/summary.ts"
import { HELD_OUT_RECORDINGS, recordedConversations, TUNING_RECORDINGS } from "./recordings.ts"
import { folderAt, LabUsageError, readCall, withSentences } from "./usage.ts"

const HOW = `How it is counted
- The bill is the recorded usage at list prices, each response once. Where a price is unknown, it is in tokens of plain input.
- "rules" is the cost by the rules of the cache alone. Lifetimes, the prompt's breakpoints and the first read are taken from the usage.
- "modelled" adds the incidents that the usage shows: a lost cache, an entry that outlived its lifetime. They are kinds of events,
  not numbers; sizes stay modelled. Other policies meet the same incidents.
- The causes add up to the difference between the bill and the rules. "unexplained" is the share of the bill that the recording has no evidence for.
- "/ bill": divided by the bill. 1.000 is exact.`

const percent = (share: number) => `${(100 * share).toFixed(1)}%`

function calibratedFrom(folder: string): CalibratedRecording[] {
  return recordedConversations(folder).flatMap(({ name, messages, model }) => {
    const calibration = calibrate({ entries: messages, model })
    return calibration ? [{ recording: name, model, calibration }] : []
  })
}

function row({ recording, model, calibration }: CalibratedRecording) {
  const { unit, bill, requests, incidents, ratios, unexplained } = calibration
  return {
    recording,
    model,
    requests,
    bill: unit === "dollars" ? `$${bill.toFixed(2)}` : `${Math.round(bill / 1_000)}K tokens`,
    "rules / bill": ratios.expected.toFixed(3),
    incidents,
    "modelled / bill": ratios.modelled.toFixed(3),
    unexplained: percent(unexplained),
  }
}

function print(folder: string, all: readonly CalibratedRecording[]): void {
  const { recordings, requests, incidents, within5Percent, causes } = summarised(all)
  console.log(`\n${basename(folder)}`)
  console.table(all.map(row))
  console.log(
    `Within 5% of the bill: ${within5Percent.modelled} of ${recordings} recordings; by the rules alone ${within5Percent.expected}. ` +
      `Incidents: ${incidents} of ${requests} requests (${percent(incidents / requests)}).`,
  )
  console.table(causes.map(({ cause: _, ofBill, ...rest }) => ({ ...rest, "of the bill": percent(ofBill) })))
}

await withSentences(() => {
  const { values, positionals } = readCall(process.argv.slice(2), {
    options: { json: { type: "boolean", default: false } },
    usage: "npm run calibration -- [--json] [FOLDER …]",
  })
  const recorded = [TUNING_RECORDINGS, HELD_OUT_RECORDINGS].filter((folder) => existsSync(folder))
  const folders = positionals.length > 0 ? positionals.map(folderAt) : recorded
  const found = folders.map((folder) => ({ folder, all: calibratedFrom(folder) })).filter(({ all }) => all.length > 0)
  if (found.length === 0)
    throw new LabUsageError(
      "There are no recordings, so nothing was compared. Name a folder: npm run calibration -- FOLDER",
    )
  if (values.json) {
    const sets = found.map(({ folder, all }) => ({ set: basename(folder), ...summarised(all), recordings: all }))
    console.log(JSON.stringify(sets, null, 2))
    return
  }
  console.log(HOW)
  for (const { folder, all } of found) print(folder, all)
})
