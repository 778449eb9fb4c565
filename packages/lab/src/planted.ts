/**
 * What is left of facts after compactions: 43 in ordinary work and 48 of twelve kinds (typed, said, thought, in a picture, in the input of
 * a tool, read, printed, found, in an error, in a long result, on a web page, in an answer). Each is in view, one search away, or lost.
 *
 *     npm run planted -- [--after 1,5,20] [--json]
 *     npm run planted -- --follow     as a caller that sends its whole list each time
 */
import { parseArgs } from "node:util"
import { measurePlanted, plantedReport } from "./planted/measure.ts"

const { values } = parseArgs({
  options: {
    after: { type: "string", default: "1,5,20" },
    follow: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
})
const after = values.after.split(",").map(Number)
if (!after.every((count) => Number.isInteger(count) && count > 0)) {
  console.error("usage: npm run planted -- [--after 1,5,20] [--follow] [--json]")
  process.exit(2)
}
const figures = []
const through = values.follow ? "follow" : "loop"
for (const planner of ["balanced", "off"] as const) figures.push(await measurePlanted({ planner, through, after }))
console.log(values.json ? JSON.stringify(figures, null, 2) : figures.map(plantedReport).join("\n"))
const isLost = figures.some(({ looked }) => looked.some(({ facts }) => facts.some(({ reach }) => reach === "lost")))
process.exitCode = isLost ? 1 : 0
