/**
 * Runs the benches, all or those named: `npm run bench -- turn journal`, each with a short form: `npm run bench -- --short`.
 * Every figure in the documentation comes from here.
 */
import { spawnSync } from "node:child_process"

const BENCHES: Readonly<Record<string, string>> = {
  turn: "dev/bench/core/turn.ts",
  conversations: "dev/bench/core/conversations.ts",
  survey: "dev/bench/core/survey.ts",
  planner: "dev/bench/core/planner.ts",
  compact: "dev/bench/core/compact.ts",
  journal: "dev/bench/core/journal.ts",
  open: "dev/bench/core/open.ts",
  mailbox: "dev/bench/core/mailbox.ts",
  estimator: "dev/bench/core/estimator.ts",
  import: "dev/bench/core/import.ts",
  start: "dev/bench/cli/start.ts",
  usage: "dev/bench/page/usage.ts",
  with: "dev/bench/adapters/with-strata.ts",
  proxy: "dev/bench/adapters/proxy/added-time.ts",
  pages: "dev/bench/page/pages.ts",
  sim: "dev/bench/sim/requests.ts",
  langgraph: "dev/bench/sessions/langgraph.ts",
  postgres: "dev/bench/postgres/against-files.ts",
  policies: "dev/bench/lab/policies.ts",
  recall: "dev/bench/lab/recall.ts",
  memory: "dev/bench/lab/memory.ts",
  search: "dev/bench/postgres/search.ts",
  "deferred-tools": "dev/bench/lab/deferred-tools.ts",
}

const names = process.argv.slice(2).filter((word) => !word.startsWith("--"))
const options = process.argv.slice(2).filter((word) => word.startsWith("--"))
const unknown = names.filter((name) => !(name in BENCHES))
if (unknown.length > 0) {
  console.error(`There is no bench named ${unknown.join(", ")}. The benches are: ${Object.keys(BENCHES).join(", ")}.`)
  process.exit(2)
}
for (const [name, file] of Object.entries(BENCHES)) {
  if (names.length > 0 && !names.includes(name)) continue
  console.log(`\n== ${name}`)
  const { status } = spawnSync(process.execPath, [file, ...options], { stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}
