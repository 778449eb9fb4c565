/** The fleet as a program: `npm run fleet`. It prints what was acknowledged and what is there, and fails if anything is wrong. */
import { parseArgs } from "node:util"
import { postgresStore } from "../../src/postgres-store.ts"
import { newestPrograms, oldestPrograms, startServer } from "../server.ts"
import { type FleetSize, runFleet } from "./driver.ts"
import { LONG, SHORT } from "./sizes.ts"
import { verifyFleet } from "./verify.ts"

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    oldest: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
  },
})
const size: FleetSize = values.short ? SHORT : LONG
const programs = values.oldest ? oldestPrograms() : newestPrograms()
const started = performance.now()
const server = await startServer(programs === undefined ? {} : { programs })
try {
  const connectionString = await server.database()
  let troubles = 0
  const onTrouble = () => {
    if (++troubles % 50 === 0)
      console.error(`${troubles} troubles, ${Math.round((performance.now() - started) / 1_000)} s`)
  }
  const run = await runFleet({ size, seed: Number(values.seed), server, connectionString, onTrouble })
  const store = postgresStore({ connectionString })
  const { problems, figures } = await verifyFleet(run, store)
  await store.close()
  for (const [name, figure] of Object.entries(figures)) console.log(`${name}: ${figure}`)
  console.log(`seconds: ${Math.round((performance.now() - started) / 1_000)}`)
  for (const problem of problems.slice(0, 20)) console.error(problem)
  console.log(`problems: ${problems.length}`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  await server.stop()
}
