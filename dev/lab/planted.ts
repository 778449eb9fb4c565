/**
 * Measures what remains of facts after compactions: 43 in ordinary work and 48 of twelve kinds (typed, stated, thought, in a picture, in
 * the input of a tool, read, printed, found, in an error, in a long result, on a web page, in an answer). Each is in view, one search away,
 * or lost.
 *
 *     npm run planted -- [--after 1,5,20] [--json]
 *     npm run planted -- --follow     as a client that resends its full message list
 *     npm run planted -- --adapters    programs on other libraries with one more line: the 43 facts, after 10 compactions
 *     npm run planted -- --mixed      30 facts of mixed kinds at each entry: library, compactMessages, plugin, proxy
 *                        [--after 1,2,5] [--seeds 1,2,3] [--entry plugin,proxy] [--summaries quoted,model]
 */
import { parseArgs } from "node:util"
import { adapterReport, measureAdapter } from "./planted/adapter.ts"
import { ADAPTERS } from "./planted/adapters.ts"
import { measurePlanted, plantedReport } from "./planted/measure.ts"
import { ENTRIES, type Summaries } from "./planted/mixed/entries.ts"
import { isBelowAim, type MixedFigures, measureMixed, mixedReport, mixedTable } from "./planted/mixed/measure.ts"

const ADAPTER_COMPACTIONS = 10

const { values } = parseArgs({
  options: {
    after: { type: "string" },
    mixed: { type: "boolean", default: false },
    seeds: { type: "string", default: "1,2,3" },
    entry: { type: "string", default: Object.keys(ENTRIES).join(",") },
    summaries: { type: "string", default: "quoted,model" },
    follow: { type: "boolean", default: false },
    adapters: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
})
if (values.adapters) {
  let lost = 0
  for (const [name, adapter] of Object.entries(ADAPTERS)) {
    const figures = await measureAdapter(adapter, ADAPTER_COMPACTIONS)
    console.log(values.json ? JSON.stringify({ name, ...figures }) : adapterReport(name, figures))
    lost += figures.reach.lost
  }
  process.exit(lost > 0 ? 1 : 0)
}
const after = (values.after ?? (values.mixed ? "1,2,5" : "1,5,20")).split(",").map(Number)
if (!after.every((count) => Number.isInteger(count) && count > 0)) {
  console.error("usage: npm run planted -- [--after 1,5,20] [--follow | --adapters | --mixed] [--json]")
  process.exit(2)
}
if (values.mixed) {
  const all: MixedFigures[] = []
  for (const entry of values.entry.split(","))
    for (const summaries of values.summaries.split(",") as Summaries[])
      for (const seed of values.seeds.split(",").map(Number)) {
        all.push(await measureMixed({ entry, summaries, seed, after }))
        if (!values.json) console.log(mixedReport(all.at(-1)!))
      }
  console.log(values.json ? JSON.stringify(all, null, 2) : `\n${mixedTable(all, after)}`)
  process.exit(all.some(isBelowAim) ? 1 : 0)
}
const figures = []
const through = values.follow ? "follow" : "loop"
for (const planner of ["balanced", "off"] as const) figures.push(await measurePlanted({ planner, through, after }))
console.log(values.json ? JSON.stringify(figures, null, 2) : figures.map(plantedReport).join("\n"))
const isLost = figures.some(({ looked }) => looked.some(({ facts }) => facts.some(({ reach }) => reach === "lost")))
process.exitCode = isLost ? 1 : 0
