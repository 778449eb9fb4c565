/**
 * Measures preserved evidence at scale. Recorded conversations are joined into ranges of 500,000 tokens and compacted once without a model.
 * Counts which exact names of the range are then in the view, and which are in the view or in one of the first five results of a search for
 * the words next to them.
 *
 *     npm run evidence -- [--tokens 500000] [--json] [folder with recordings …]
 */
import { existsSync } from "node:fs"
import { parseArgs } from "node:util"
import { evidenceReport, measureEvidence } from "./evidence/measure.ts"
import { joinedRanges } from "./evidence/ranges.ts"
import { HELD_OUT_RECORDINGS, recordedConversations, TUNING_RECORDINGS } from "./recordings.ts"

const { values, positionals } = parseArgs({
  options: { json: { type: "boolean", default: false }, tokens: { type: "string", default: "500000" } },
  allowPositionals: true,
})
const folders = (positionals.length > 0 ? positionals : [TUNING_RECORDINGS, HELD_OUT_RECORDINGS]).filter(existsSync)
const ranges = joinedRanges(
  folders.flatMap((folder) => recordedConversations(folder)),
  Number(values.tokens),
)
if (ranges.length === 0)
  console.log(
    "There are no recordings of that size, so nothing was measured. Name a folder: npm run evidence -- <folder>",
  )
else {
  const figures = []
  for (const range of ranges) figures.push(await measureEvidence(range))
  console.log(values.json ? JSON.stringify(figures, null, 2) : evidenceReport(figures))
}
