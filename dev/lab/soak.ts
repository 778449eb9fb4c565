/**
 * Runs the soak: an agent with all default layers works against the simulator over HTTP until millions of tokens have passed through a much
 * smaller window. Nights pass with other conversations in the same project, so memories are stored, recalled and consolidated. Prints the
 * metrics, and fails if anything went wrong or if memory work took more than its share.
 *
 *     npm run soak -- [--tokens 10000000] [--window 200000] [--seed 1] [--json]
 *     npm run soak -- --short        300,000 tokens through a window of 32,000
 *     npm run soak -- --summary-seconds 88    how long a summary takes, in simulated time
 *     npm run soak -- --replay       also compares the bill with the cost in a replay of the journal
 *     npm run soak -- --proxy        twenty clients at once through one proxy, an hour of simulated time; --short: ten minutes
 *     npm run soak -- --offline      no server, no client, no key: a custom loop that only names a model
 */
import { parseArgs } from "node:util"
import { offlineSoak } from "./soak/offline.ts"
import { offlineReport } from "./soak/offline-report.ts"
import { proxiedReport, proxiedSoak } from "./soak/proxied.ts"
import { type SoakOptions, soak } from "./soak/run.ts"
import { textReport } from "./soak/text-report.ts"

const LONG = { tokens: 10_000_000, window: 200_000 }
const SHORT = { tokens: 300_000, window: 32_000 }

const { values } = parseArgs({
  options: {
    tokens: { type: "string" },
    window: { type: "string" },
    seed: { type: "string", default: "1" },
    "summary-seconds": { type: "string", default: "30" },
    json: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    offline: { type: "boolean", default: false },
    proxy: { type: "boolean", default: false },
    replay: { type: "boolean", default: false },
  },
})
const usual = values.short ? SHORT : LONG
const [tokens, window, seed, summarySeconds] = [
  Number(values.tokens ?? usual.tokens),
  Number(values.window ?? usual.window),
  Number(values.seed),
  Number(values["summary-seconds"]),
]
if (![tokens, window, seed, summarySeconds].every((value) => Number.isInteger(value) && value > 0)) {
  console.error(
    "usage: npm run soak -- [--tokens 10000000] [--window 200000] [--seed 1] [--summary-seconds 30] [--short] [--offline] [--proxy] [--json]",
  )
  process.exit(2)
}
const isWatched = process.stderr.isTTY && !values.json
const options: SoakOptions = {
  ...{ tokens, window, seed, summarySeconds, replay: values.replay },
  ...(isWatched ? { onProgress: (done) => process.stderr.write(`\r${Math.floor((100 * done) / tokens)}% `) } : {}),
}
const { report, text } = await (values.proxy ? runProxied() : values.offline ? runOffline() : runUsual())
if (isWatched) process.stderr.write("\r")
console.log(values.json ? JSON.stringify(report, null, 2) : text)
process.exitCode = report.problems.length === 0 ? 0 : 1

async function runUsual() {
  const report = await soak(options)
  return { report, text: textReport(report) }
}

async function runOffline() {
  const report = await offlineSoak(options)
  return { report, text: offlineReport(report) }
}

async function runProxied() {
  const report = await proxiedSoak({ clients: 20, minutes: values.short ? 10 : 60 })
  return { report, text: proxiedReport(report) }
}
