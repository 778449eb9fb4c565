/**
 * Checks that everything stays in reach. A custom loop without a model is compacted repeatedly. Then every block that was ever added is
 * fetched by its handle and compared byte for byte. A sample is looked up from the current view alone, by one search and one fetch.
 *
 *     npm run bench:recall-reach -- [--tokens 10000000] [--compactions 50] [--json]
 *     npm run bench:recall-reach -- --short        400,000 tokens, 5 compactions
 */
import { parseArgs } from "node:util"
import { measureReach, reachReport } from "./recall-reach/measure.ts"

const LONG = { tokens: 10_000_000, compactions: 50 }
const SHORT = { tokens: 400_000, compactions: 5 }

const { values } = parseArgs({
  options: {
    tokens: { type: "string" },
    compactions: { type: "string" },
    json: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
  },
})
const usual = values.short ? SHORT : LONG
const tokens = Number(values.tokens ?? usual.tokens)
const compactions = Number(values.compactions ?? usual.compactions)
if (![tokens, compactions].every((value) => Number.isInteger(value) && value > 0)) {
  console.error("usage: npm run bench:recall-reach -- [--tokens 10000000] [--compactions 50] [--short] [--json]")
  process.exit(2)
}
const figures = await measureReach({ tokens, compactions })
console.log(values.json ? JSON.stringify(figures, null, 2) : reachReport(figures))
process.exitCode = figures.wrong === 0 && figures.unreached === 0 ? 0 : 1
