import { randomUUID } from "node:crypto"
import { storeContract } from "@strata/core/store-contract"
import pg from "pg"
import { afterAll, beforeAll, describe, test } from "vitest"
import { postgresStore } from "../src/index.ts"
import { newestPrograms, oldestPrograms, startServer, type TestServer } from "./server.ts"

const servers = { "the newest PostgreSQL": newestPrograms(), "PostgreSQL 15": oldestPrograms() }

for (const [which, programs] of Object.entries(servers))
  describe.skipIf(programs === undefined)(`BEY-12 ${which}`, () => {
    let server: TestServer | undefined
    let pool: pg.Pool | undefined
    beforeAll(async () => {
      server = await startServer({ programs: programs! })
      pool = new pg.Pool({ connectionString: await server.database(), max: 20 })
    })
    afterAll(async () => {
      await pool?.end()
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
