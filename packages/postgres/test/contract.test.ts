import { randomUUID } from "node:crypto"
import { storeContract } from "@strata/core/store-contract"
import pg from "pg"
import { afterAll, beforeAll, describe, test } from "vitest"
import { postgresStore } from "../src/index.ts"
import { hasPooler, POOLER, startPooler, type TestPooler } from "./pooler.ts"
import { newestPrograms, oldestPrograms, startServer, type TestServer } from "./server.ts"
import { through } from "./tcp-proxy.ts"

interface Tried {
  readonly programs: string | undefined
  /** Connections of a transaction pooler to the server. Absent: none is between. */
  readonly pooled?: number
}

const servers = {
  "the newest PostgreSQL": { programs: newestPrograms() },
  "PostgreSQL 15": { programs: oldestPrograms() },
  [`the newest through ${POOLER}`]: { programs: hasPooler ? newestPrograms() : undefined, pooled: 5 },
}

for (const [which, { programs, pooled }] of Object.entries<Tried>(servers))
  describe.skipIf(programs === undefined)(`BEY-12 ${which}`, () => {
    let server: TestServer | undefined
    let pooler: TestPooler | undefined
    let pool: pg.Pool | undefined
    beforeAll(async () => {
      server = await startServer({ programs: programs! })
      const direct = await server.database()
      if (pooled !== undefined) pooler = await startPooler({ server, connections: pooled })
      pool = new pg.Pool({ connectionString: pooler ? through(pooler, direct) : direct, max: 20 })
    })
    afterAll(async () => {
      await pool?.end()
      await pooler?.stop()
      await server?.stop()
    })

    /** A tenant of its own for each case: that it is empty shows that tenants share nothing. */
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

    for (const { name, run } of storeContract({ open, seed: Number(process.env.FUZZ_SEED ?? 1) })) test(name, run)
  })
