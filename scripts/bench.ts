/**
 * Runs the benches, all or those named: `npm run bench -- turn journal`, each with a short form: `npm run bench -- --short`.
 * Every figure in the documentation comes from here.
 */
import { spawnSync } from "node:child_process"

const BENCHES: Readonly<Record<string, string>> = {
  turn: "packages/core/bench/turn.ts",
  conversations: "packages/core/bench/conversations.ts",
  survey: "packages/core/bench/survey.ts",
  planner: "packages/core/bench/planner.ts",
  compact: "packages/core/bench/compact.ts",
  journal: "packages/core/bench/journal.ts",
  mailbox: "packages/core/bench/mailbox.ts",
  estimator: "packages/core/bench/estimator.ts",
  import: "packages/core/bench/import.ts",
  start: "packages/cli/bench/start.ts",
  look: "packages/page/bench/look.ts",
  proxy: "packages/adapters/bench/proxy/added-time.ts",
  pages: "packages/page/bench/pages.ts",
  sim: "packages/sim/bench/requests.ts",
  langgraph: "packages/sessions/bench/langgraph.ts",
  postgres: "packages/postgres/bench/beside-files.ts",
  policies: "packages/lab/bench/policies.ts",
  recall: "packages/lab/bench/recall.ts",
  memory: "packages/lab/bench/memory.ts",
  search: "packages/postgres/bench/search.ts",
  "deferred-tools": "packages/lab/bench/deferred-tools.ts",
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
