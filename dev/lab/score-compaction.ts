/**
 * Measures what survives a compaction: compares recorded compactions with Strata's compactions of the same messages. The output explains
 * what each score counts and what the scores do not show.
 *
 *     npm run score:compaction [-- --json] [-- folders with recordings]
 */
import { existsSync } from "node:fs"
import { basename } from "node:path"
import { parseArgs } from "node:util"
import { HELD_OUT_RECORDINGS, recordedConversations, TUNING_RECORDINGS } from "./recordings.ts"
import { type ComparedCompaction, compareCompactions } from "./score-compaction/compare.ts"
import { type Folder, textReport } from "./score-compaction/text-report.ts"

const { values, positionals } = parseArgs({ options: { json: { type: "boolean" } }, allowPositionals: true })
const given = positionals.length > 0 ? positionals : [TUNING_RECORDINGS, HELD_OUT_RECORDINGS]
const folders: Folder[] = []
for (const folder of given.filter((each) => existsSync(each))) {
  const compared: ComparedCompaction[] = []
  const skipped: string[] = []
  for (const recording of recordedConversations(folder, skipped))
    compared.push(...(await compareCompactions(recording)))
  folders.push({ name: basename(folder), compared, skipped })
}
const absent = given.filter((each) => !existsSync(each))
const message = `There are no recordings in ${absent.join(", ")}, so nothing was measured there. Name another folder: npm run score:compaction -- <folder>`
if (values.json) console.log(JSON.stringify(folders, null, 2))
else {
  if (folders.some(({ compared }) => compared.length > 0)) console.log(textReport(folders))
  else if (folders.length > 0)
    console.log("No conversation is long enough or has a compaction, so nothing was measured.")
  if (absent.length > 0) console.log(message)
}
