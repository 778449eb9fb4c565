import { randomUUID } from "node:crypto"
import { storeContract } from "@strata/store-contract"
import pg from "pg"
import { afterAll, beforeAll, describe, test } from "vitest"
import { needs, type TestRequirement } from "../../core/test/needs.ts"
import { size } from "../../core/test/size.ts"
import { postgresStore } from "../src/index.ts"
import { startPooler, type TestPooler } from "./pooler.ts"
import { newestPrograms, oldestPrograms, startServer, type TestServer } from "./server.ts"
import { type SharedServer, sharedServer } from "./shared-server.ts"
import { through } from "./tcp-proxy.ts"

interface TestedServer {
  readonly programs: string | undefined
  readonly needed: readonly TestRequirement[]
  /** Number of server connections of a transaction pooler. Absent: there is no pooler. */
  readonly pooled?: number
}

const newest: Readonly<Record<string, TestedServer>> = {
  "the newest PostgreSQL": { programs: newestPrograms(), needed: ["postgres"] },
}
const servers = size(newest, {
  ...newest,
  "PostgreSQL 15": { programs: oldestPrograms(), needed: ["postgres15"] },
  "the newest through pgbouncer": { programs: newestPrograms(), needed: ["postgres", "pgbouncer"], pooled: 5 },
})

const given = { runs: size(1, 2), seed: Number(process.env.FUZZ_SEED ?? 1) }

for (const [which, { programs, needed, pooled }] of Object.entries(servers))
  describe(`BEY-12 ${which}`, needs(...needed), () => {
    let server: TestServer | SharedServer | undefined
    let pooler: TestPooler | undefined
    let pool: pg.Pool | undefined
    beforeAll(async () => {
      server = which in newest ? await sharedServer() : await startServer({ programs: programs! })
      const direct = await server.database()
      if (pooled !== undefined) pooler = await startPooler({ server, connections: pooled })
      pool = new pg.Pool({ connectionString: pooler ? through(pooler, direct) : direct, max: 20 })
    })
    afterAll(async () => {
      await pool?.end()
      await pooler?.stop()
      await server?.stop()
    })

    /** Each case has its own tenant: that it starts empty shows that tenants share nothing. */
    const open = () => {
      const tenant = randomUUID()
      const stores: { close(): Promise<void> }[] = []
      return {
        store: () => {
          const store = postgresStore({ pool: pool!, tenant })
          stores.push(store)
          return store
        },
        close: async () => void (await Promise.all(stores.map((store) => store.close()))),
      }
    }

    for (const { name, run } of storeContract({ open, ...given })) test(name, run)
  })
