/**
 * The fleet as a program: `npm run fleet`. Agents under kills, restarts and cut connections, then a primary that is killed under load. It
 * prints acknowledged and stored writes, and fails if any check fails.
 */
import { parseArgs } from "node:util"
import { postgresStore } from "../../src/postgres-store.ts"
import { runFailovers } from "../failover/failover.ts"
import { startPooler } from "../pooler.ts"
import { newestPrograms, oldestPrograms, startServer } from "../server.ts"
import { through } from "../tcp-proxy.ts"
import { runFleet } from "./driver.ts"
import { FAILOVERS, LONG, SHORT, SHORT_FAILOVERS } from "./sizes.ts"
import { type FleetReport, verifyFleet } from "./verify.ts"

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    oldest: { type: "boolean", default: false }, // PostgreSQL 15
    pooled: { type: "boolean", default: false }, // through pgbouncer
    only: { type: "string" }, // agents or failovers
    seed: { type: "string", default: "1" },
  },
})
const seed = Number(values.seed)
const programs = values.oldest ? oldestPrograms() : newestPrograms()
if (programs === undefined) throw new Error("This version of PostgreSQL is not installed.")

async function agents(): Promise<FleetReport> {
  const server = await startServer({ programs: programs! })
  const pooler = values.pooled ? await startPooler({ server, connections: 5 }) : undefined
  try {
    const direct = await server.database()
    const connectionString = pooler ? through(pooler, direct) : direct
    const run = await runFleet({ size: values.short ? SHORT : LONG, seed, server, connectionString })
    const store = postgresStore({ connectionString: direct })
    const report = await verifyFleet(run, store)
    await store.close()
    return report
  } finally {
    await pooler?.stop()
    await server.stop()
  }
}

const failovers = (): Promise<FleetReport> =>
  runFailovers({ programs: programs!, seed, ...(values.short ? SHORT_FAILOVERS : FAILOVERS) })

for (const [name, part] of Object.entries({ agents, failovers })) {
  if (values.only !== undefined && values.only !== name) continue
  const started = performance.now()
  const { problems, figures } = await part()
  console.log(`${name}, seed ${seed}:`)
  for (const [what, figure] of Object.entries(figures)) console.log(`  ${what}: ${figure}`)
  console.log(`  seconds: ${Math.round((performance.now() - started) / 1_000)}`)
  console.log(`  problems: ${problems.length}`)
  for (const problem of problems.slice(0, 20)) console.error(`  ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}
