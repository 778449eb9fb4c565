/** No query waits indefinitely: every query has a timeout on this side, on any connection. */
import pg from "pg"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { ChangeNotifier } from "../src/change-notifier.ts"
import { eraseTenant, migrate, postgresStore, schemaStatus } from "../src/index.ts"
import { runMigrations, SCHEMA_VERSION, STEPS } from "../src/migrate.ts"
import { type SharedServer, sharedServer } from "./shared-server.ts"
import { withClient } from "./standby.ts"

interface QueryLimit {
  readonly query_timeout?: number
}

describe("BEY-12 limits on this side", needs("postgres"), () => {
  let server: SharedServer | undefined
  let address = ""
  const owner = () => server!.url(new URL(address).pathname.slice(1))
  beforeAll(async () => {
    server = await sharedServer()
    address = await server.database()
  })
  afterAll(() => server?.stop())

  test("BEY-12 every query has one: migrating, its status, calls, listening, erasing a tenant", async () => {
    const sent: { readonly text: string; readonly limit: number }[] = []
    const query = pg.Client.prototype.query as (this: pg.Client, ...given: unknown[]) => unknown
    const spy = vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...given) {
      const [first] = given as unknown as [string | ({ readonly text: string } & QueryLimit)]
      const { query_timeout: ofClient = 0 } = (this as unknown as { connectionParameters: QueryLimit })
        .connectionParameters
      const { text, query_timeout: own = 0 }: { text: string } & QueryLimit =
        typeof first === "string" ? { text: first } : first
      sent.push({ text, limit: own || Number(ofClient) })
      return query.apply(this, given) as never
    })
    try {
      await migrate({ connectionString: owner() })
      await schemaStatus(owner())
      const pool = new pg.Pool({ connectionString: address, max: 3 })
      const store = postgresStore({ pool, tenant: "t" })
      const journal = await store.open({ project: "p", id: "c" }, { access: "write", create: true })
      await journal.close()
      const arrivals = new ChangeNotifier(pool)
      expect(await arrivals.listens("strata_one")).toBe(true)
      await arrivals.close()
      await store.close()
      await eraseTenant({ connectionString: address, tenant: "t" })
      await pool.end()
    } finally {
      spy.mockRestore()
    }
    const words = new Set(sent.map(({ text }) => /^\w+/.exec(text)?.[0]))
    for (const word of ["begin", "commit", "select", "listen", "notify", "unlisten"]) expect(words).toContain(word)
    expect(sent.filter(({ limit }) => !(limit > 0))).toEqual([])
  })

  test("BEY-12 a migration does not wait for ever for another one, and says so", async () => {
    await withClient(owner(), async (client) => {
      await client.query("begin")
      await client.query("select pg_advisory_xact_lock(7827191482)")
      await expect(runMigrations(STEPS, { connectionString: owner(), turnMs: 50 })).rejects.toThrow(
        /Another migration.*Nothing was changed/,
      )
      await client.query("rollback")
    })
    expect(await migrate({ connectionString: owner() })).toMatchObject({ from: SCHEMA_VERSION, to: SCHEMA_VERSION })
  })
})
