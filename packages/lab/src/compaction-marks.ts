/**
 * What survives a compaction: compares recorded compactions with ours of the same messages. The output explains what each mark
 * counts and what the figures do not show.
 *
 *     npm run compaction-marks [-- --json] [-- folder with recordings]
 */
import { existsSync } from "node:fs"
import { parseArgs } from "node:util"
import { type Compared, compareCompactions } from "./compaction-marks/compare.ts"
import { textReport } from "./compaction-marks/text-report.ts"
import { BESIDE_THE_REPOSITORY, recordedConversations } from "./recordings.ts"

const { values, positionals } = parseArgs({ options: { json: { type: "boolean" } }, allowPositionals: true })
const folder = positionals[0] ?? BESIDE_THE_REPOSITORY
if (existsSync(folder)) {
  const compared: Compared[] = []
  for (const recording of recordedConversations(folder)) compared.push(...(await compareCompactions(recording)))
  if (values.json) console.log(JSON.stringify(compared, null, 2))
  else if (compared.length > 0) console.log(textReport(compared))
  else console.log(`No conversation in ${folder} has a compaction with messages before it, so nothing was measured.`)
} else {
  const message = `There are no recordings in ${folder}, so nothing was measured. Name another folder: npm run compaction-marks -- <folder>`
  console.log(values.json ? JSON.stringify([]) : message)
}
