import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { needs } from "../../../core/test/needs.ts"
import { postgresStore } from "../../src/index.ts"
import { startServer, type TestServer } from "../server.ts"
import { runFleet } from "./driver.ts"
import { SHORT } from "./sizes.ts"
import { verifyFleet } from "./verify.ts"

describe("a fleet", needs("postgres"), () => {
  let server: TestServer | undefined
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server?.stop())

  test("BEY-12 agents in processes that are killed and paused, a server that is restarted, connections that are cut: nothing acknowledged is lost or twice", async () => {
    const connectionString = await server!.database()
    const seed = Number(process.env.FUZZ_SEED ?? 1)
    const run = await runFleet({ size: SHORT, seed, server: server!, connectionString })
    const store = postgresStore({ connectionString })
    const { problems, figures } = await verifyFleet(run, store)
    await store.close()
    expect(problems).toEqual([])
    expect(figures).toMatchObject({ kill: SHORT.kills, restart: SHORT.restarts })
    expect(figures["entries acknowledged"]).toBeGreaterThan(100)
  })
})
