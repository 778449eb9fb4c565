/** Settings of a database, a role or a schema: the store works with them, or reports at once that it cannot. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"
import { entriesOf, textsOf } from "../../store-contract/src/entries.ts"
import { migrate, postgresStore } from "../src/index.ts"
import { type SharedServer, sharedServer } from "./shared-server.ts"
import { withClient } from "./standby.ts"

describe("settings of the server", needs("postgres"), () => {
  let server: SharedServer
  const open: { close(): Promise<void> }[] = []
  beforeAll(async () => {
    server = await sharedServer()
  })
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close()
  })
  afterAll(() => server?.stop())

  const asOwner = (database: string, sql: string) => withClient(server.url(database), (client) => client.query(sql))

  /** A store whose role has these settings. */
  async function storeWith(...settings: readonly string[]) {
    const connectionString = await server.database()
    const database = new URL(connectionString).pathname.slice(1)
    for (const setting of settings) await asOwner(database, `alter role app in database ${database} set ${setting}`)
    const store = postgresStore({ connectionString })
    open.push(store)
    return { store, database }
  }

  test("BEY-12 bytes are read in both forms in which a server writes them", async () => {
    const { store } = await storeWith("bytea_output = 'escape'")
    const journal = await store.open({ project: "p", id: "bytes" }, { access: "write", create: true })
    const bytes = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256))
    for (const [name, data] of Object.entries({ all: bytes, start: "\\x41", twice: "\\\\\\", none: "" })) {
      await journal.writeBlob(name, data)
      expect(await journal.readBlob(name)).toEqual(Buffer.from(data))
    }
    const { user } = entriesOf("escape")
    await journal.append([user("\\ 日本語 \0 \ud800")])
    const { entries } = await journal.tail()
    expect(textsOf(entries)).toBe("\\ 日本語 \0 \ud800")
    await journal.close()
  })

  test("BEY-12 a backslash in a text of the server may mean something else", async () => {
    const { store } = await storeWith("standard_conforming_strings = off", "search_path = ''")
    const files = store.memories({ project: "p" })
    await files.install([
      { path: "shown.md", text: "a" },
      { path: ".hidden/b.md", text: "b" },
    ])
    expect((await files.list()).map(({ path }) => path)).toEqual(["shown.md"])
  })

  test.runIf(isWhole)(
    "BEY-12 no more have a permit than there are, also where transactions see only what was there at their start",
    async () => {
      const { store } = await storeWith("default_transaction_isolation = 'repeatable read'")
      const wanted = Array.from({ length: 12 }, (_, at) => ({
        id: `agent-${at}`,
        max: 2,
      }))
      for (let round = 0; round < 5; round++) {
        const got = await Promise.all(wanted.map((one) => store.permit({ project: "p", name: "agents" }).take(one)))
        const permits = got.flatMap((one) => (one.state === "acquired" ? [one.permit] : []))
        expect(permits).toHaveLength(2)
        for (const permit of permits) await permit.release()
      }
    },
  )

  test("BEY-12 a function of the same name in another schema does not run in the place of the server's own", async () => {
    const { store, database } = await storeWith()
    await asOwner(
      database,
      `create function public.cardinality(integer[]) returns integer language plpgsql as
       $$ begin raise exception 'stolen from %', current_setting('strata.tenant'); end $$`,
    )
    const journal = await store.open({ project: "p", id: "shadow" }, { access: "write", create: true })
    await journal.append([entriesOf("shadow").user("kept")])
    expect(textsOf((await journal.tail()).entries)).toBe("kept")
    await journal.close()
  })

  test.each(["LATIN1", "SQL_ASCII"])(
    "BEY-12 a database in %s is refused before anything is made in it",
    async (encoding) => {
      const name = `other_${encoding.toLowerCase()}`
      await asOwner(
        "postgres",
        `create database ${name} template template0 encoding '${encoding}' lc_collate 'C' lc_ctype 'C'`,
      )
      await expect(migrate({ connectionString: server.url(name) })).rejects.toThrow(
        `This database has the encoding ${encoding}, but Strata requires UTF8. Nothing was changed.`,
      )
      expect((await asOwner(name, "select from pg_namespace where nspname = 'strata'")).rowCount).toBe(0)
    },
  )
})
