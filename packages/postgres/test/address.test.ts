import { inspect } from "node:util"
import { expect, test } from "vitest"
import { migrate, namedPostgresStore, postgresStore } from "../src/index.ts"

/** Addresses in which the driver would read a part of the password as host or database, and reveal it. */
const BROKEN = [
  "postgres://app:12/geheim@127.0.0.1:1/db",
  "postgres://app:12?geheim@127.0.0.1:1/db",
  "postgres://app:12#geheim@127.0.0.1:1/db",
  "postgres://app:x/geheim@127.0.0.1:1/db",
  "postgres://app:geheim@127.0.0.1:99999/db",
  "postgres:app:geheim@127.0.0.1/db",
  "host=127.0.0.1 password=geheim",
  "app:geheim@127.0.0.1:1/db",
]

test.each(BROKEN)("BEY-12 a password that breaks its address is in no sentence: %s", async (connectionString) => {
  const failures = await Promise.all(
    [
      async () => postgresStore({ connectionString }),
      async () => namedPostgresStore(connectionString),
      () => migrate({ connectionString }),
    ].map((call) => call().catch((error: unknown) => error)),
  )
  for (const failed of failures) {
    expect(failed).toMatchObject({ code: "postgres-address" })
    expect(inspect(failed, { depth: 9, showHidden: true })).not.toContain("geheim")
  }
})

test.each([
  ["postgres://app:ge%2Fheim@db.example:5433/strata?sslmode=require", "PostgreSQL at db.example:5433/strata"],
  ["postgresql://app@/strata", "PostgreSQL at localhost/strata"],
  ["postgres://db/strata?user=app@tenant&password=geheim", "PostgreSQL at db/strata"],
  ["/run/postgresql strata", "PostgreSQL at this machine"],
])("BEY-12 an address that is whole is taken: %s", async (connectionString, description) => {
  const store = postgresStore({ connectionString })
  expect(store.description).toBe(description)
  await store.close()
})
