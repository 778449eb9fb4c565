import { setImmediate } from "node:timers/promises"
import { dailyBudgetIn } from "@strata/core/store"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { ChangeNotifier } from "../src/change-notifier.ts"
import { postgresStore } from "../src/index.ts"
import { runFleet } from "./fleet/driver.ts"
import { SHORT } from "./fleet/sizes.ts"
import { verifyFleet } from "./fleet/verify.ts"
import { startPooler, type TestPooler } from "./pooler.ts"
import { startServer, type TestServer } from "./server.ts"
import { through } from "./tcp-proxy.ts"

/** Number of concurrent callers, each with seven calls. */
const CALLERS = 144

describe("pgbouncer", needs("postgres", "pgbouncer"), () => {
  let server: TestServer
  let pooler: TestPooler
  let narrow: TestPooler
  let direct: string
  beforeAll(async () => {
    server = await startServer()
    direct = await server.database()
    pooler = await startPooler({ server, connections: 5 })
    narrow = await startPooler({ server, connections: 2 })
  })
  afterAll(async () => {
    await pooler?.stop()
    await narrow?.stop()
    await server?.stop()
  })

  test("BEY-12 notices do not arrive through it: that is found out, and no connection is preserved for them", async () => {
    const found: unknown[] = []
    for (const connectionString of [direct, through(pooler, direct)]) {
      const pool = new pg.Pool({ connectionString, max: 4 })
      const arrivals = new ChangeNotifier(pool)
      const arrive = await arrivals.listens("strata_some")
      const kept = () => pool.totalCount - pool.idleCount
      // the connection of this query is released a moment later
      for (let turn = 0; kept() > 1 && turn < 10_000; turn++) await setImmediate()
      found.push({ arrive, kept: kept() })
      await arrivals.close()
      await pool.end()
    }
    expect(found).toEqual([
      { arrive: true, kept: 1 },
      { arrive: false, kept: 0 },
    ])
  })

  test("BEY-12 a message of another process arrives through it, because the server is asked again and again", async () => {
    const sender = postgresStore({ connectionString: direct, tenant: "asked" })
    const receiver = postgresStore({ connectionString: through(pooler, direct), tenant: "asked" })
    const [from, to] = [sender, receiver].map((store) => store.mailboxes({ project: "p", team: "t" }))
    for (let n = 0; n < 5; n++) {
      const arrival = to!.arrival(n === 0 ? undefined : String(n), new AbortController().signal)
      await from!.send({ from: "a", to: ["b"], content: { n } })
      await arrival
    }
    expect((await to!.read(undefined)).messages).toHaveLength(5)
    await Promise.all([from!.close(), to!.close()])
    await Promise.all([sender.close(), receiver.close()])
  })

  test("BEY-12 two tenants take turns in 1,000 calls over two connections, and neither sees anything of the other", async () => {
    const pool = new pg.Pool({ connectionString: through(narrow, direct), max: 8 })
    const tenants = ["one", "two"].map((tenant) => ({ tenant, store: postgresStore({ pool, tenant }) }))
    const call = async (n: number) => {
      const { tenant, store } = tenants[n % 2]!
      const files = store.memories({ project: "same" })
      const journal = await store.open({ project: "same", id: `c${n}` }, { access: "write", create: true })
      await journal.writeNotes(tenant)
      await files.install([{ path: "whose.md", text: tenant }])
      await dailyBudgetIn(store.memories({ project: "same" })).add(1, "2026-01-01")
      const [notes, text] = await Promise.all([journal.readNotes(), files.read("whose.md")])
      await journal.close()
      return notes === tenant && text === tenant
    }
    const answers: boolean[] = []
    for (let n = 0; n < CALLERS; n += 8)
      answers.push(...(await Promise.all(Array.from({ length: 8 }, (_, at) => call(n + at)))))
    expect(answers.filter((isOwn) => !isOwn)).toEqual([])
    for (const { store } of tenants) {
      expect(await dailyBudgetIn(store.memories({ project: "same" })).spentOn("2026-01-01")).toBe(CALLERS / 2)
      expect(await store.list("same", { isBare: true })).toHaveLength(CALLERS / 2)
      await store.close()
    }
    const left = await Promise.all(
      Array.from({ length: 20 }, () => pool.query("select current_setting('strata.tenant', true) as tenant")),
    )
    expect(new Set(left.map(({ rows }) => rows[0].tenant || ""))).toEqual(new Set([""]))
    const { rows } = await pool.query("select from strata.journal")
    expect(rows).toEqual([]) // outside a function no tenant is set
    await pool.end()
  })

  test("BEY-12 a fleet through it loses nothing", async () => {
    const connectionString = await server.database()
    const seed = Number(process.env.FUZZ_SEED ?? 1)
    const run = await runFleet({ size: SHORT, seed, server, connectionString: through(pooler, connectionString) })
    const store = postgresStore({ connectionString })
    const { problems } = await verifyFleet(run, store)
    await store.close()
    expect(problems).toEqual([])
  })
})
