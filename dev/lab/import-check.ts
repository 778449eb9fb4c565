/**
 * Imports recordings and compares the result with a second, independent reading of the raw files: every message of the user, every changed
 * file, the number of requests and the billed tokens. Reports unreadable content with the reasons.
 *
 *     npm run import-check -- [--json] [folder with recordings …]
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { ImportError } from "../../packages/core/src/base/errors.ts"
import { type Check, checkRecording } from "./import-check/check.ts"
import { HELD_OUT_RECORDINGS, TUNING_RECORDINGS } from "./recordings.ts"

const CASES = join(TUNING_RECORDINGS, "..", "import-cases")
const RECORDING = /\.(?:jsonl|json|traj)$/

const { values, positionals } = parseArgs({
  options: { json: { type: "boolean", default: false } },
  allowPositionals: true,
})
const given = positionals.length > 0 ? positionals : [TUNING_RECORDINGS, HELD_OUT_RECORDINGS, CASES]
const folders = given.filter((folder) => existsSync(folder))
const checks: Check[] = []
const refused: string[] = []
for (const folder of folders) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => RECORDING.test(name))
  for (const name of names.toSorted()) {
    try {
      checks.push(...checkRecording(name, readFileSync(join(folder, name), "utf8")))
    } catch (error) {
      if (!(error instanceof ImportError)) throw error
      refused.push(error.message)
    }
  }
}
if (checks.length + refused.length === 0)
  console.log("There are no recordings, so nothing was checked. Name a folder: npm run import-check -- <folder>")
else console.log(values.json ? JSON.stringify({ checks, refused }, null, 2) : report())

function report(): string {
  const total = (of: (check: Check) => number) => checks.reduce((sum, check) => sum + of(check), 0)
  return [
    ...checks.flatMap(({ name, format, userTexts, files, requests, differences, notRead }) => [
      `${name} (${format}): messages ${userTexts.found} of ${userTexts.recorded}, files ${files.found} of ${files.recorded}, requests ${requests.imported} of ${requests.recorded}`,
      ...differences.map((difference) => `  differs: ${difference}`),
      ...notRead.map((note) => `  not read: ${note}`),
    ]),
    ...refused.map((why) => `refused: ${why}`),
    "",
    `${checks.length} conversations: ${total(({ userTexts }) => userTexts.found)} of ${total(({ userTexts }) => userTexts.recorded)} messages of the user, ${total(({ files }) => files.found)} of ${total(({ files }) => files.recorded)} changed files, ${total(({ requests }) => requests.imported)} of ${total(({ requests }) => requests.recorded)} requests`,
  ].join("\n")
}
