/**
 * Tests the analyzer of shell commands by execution. It generates command lines, analyzes each as the agent does without a sandbox, and
 * runs those that need no permission next to canaries, until the requested number has run. A line that has an effect is printed, and the
 * exit code is 1.
 *
 * npm run judge                         100,000 lines that need no permission, with a random seed
 * npm run judge -- 5000 --seed 7        5,000 lines, reproducible
 * npm run judge -- --line 'sh -c ls'    one line
 * npm run judge -- --except '\bsh\b'    without lines that match "PATH=… line", while a known cause is unfixed
 *
 * It needs bubblewrap. On a disposable machine, such as a container in CI, `--disposable` runs it without.
 */
import { parseArgs } from "node:util"
import { findContainment, runJudge } from "./contained.ts"
import type { JudgeFinding } from "./inside.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string" },
    line: { type: "string" },
    except: { type: "string" },
    most: { type: "string", default: "20" },
    disposable: { type: "boolean", default: false },
  },
})
const lines = Number(positionals[0] ?? 100_000)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
if (![lines, seed, Number(values.most)].every(Number.isInteger)) {
  console.error(
    "usage: npm run judge -- [number of lines] [--seed number] [--line text] [--except pattern] [--most findings] [--disposable]",
  )
  process.exit(2)
}
const containment = findContainment({ isDisposable: values.disposable })
if (containment.state === "none") {
  console.error(`Nothing was run: ${containment.why}. Lines that are wrongly allowed would run on this machine.`)
  console.error("Install bubblewrap, or pass --disposable where the machine may be thrown away.")
  process.exit(2)
}
if (containment.state === "uncontained")
  console.log("Without bubblewrap: lines that are wrongly allowed reach this machine.")
console.log(values.line === undefined ? `${lines} lines that need no question, seed ${seed}` : values.line)

const started = Date.now()
const shown = (finding: JudgeFinding): string =>
  [
    `\nHARM ${finding.effects.join(", ")}`,
    `  line      ${JSON.stringify(finding.line)}`,
    ...(finding.shrunk === undefined ? [] : [`  shorter   ${JSON.stringify(finding.shrunk)}`]),
    `  mode      ${finding.mode}`,
    `  in        ${finding.directory}`,
    `  PATH      ${finding.path}`,
    `  number    ${finding.number}, seed ${seed}`,
  ].join("\n")
const { judged, ran, findings } = await runJudge({
  lines,
  seed,
  containment,
  maxFindings: Number(values.most),
  ...(values.except === undefined ? {} : { except: values.except }),
  ...(values.line === undefined ? {} : { only: [values.line], shares: 1 }),
  onFinding: (finding) => console.log(shown(finding)),
})
const seconds = ((Date.now() - started) / 1_000).toFixed(1)
console.log(`\n${judged} lines judged, ${ran} allowed and run, ${findings.length} with an effect, in ${seconds} s`)
process.exit(findings.length > 0 ? 1 : 0)
