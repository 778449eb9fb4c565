/** Erased data leaves nothing on the server, even if the process is killed in the middle or others write meanwhile. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { type Entry, memoryStore, type Store } from "@strata/core"
import { eraseFrom } from "@strata/core/memory"
import { moveContents } from "@strata/core/store"
import pg from "pg"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { namespaceFor } from "../../core/src/base/owner.ts"
import { journalSearchIn } from "../../core/src/recall/journal-search.ts"
import { needs } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"
import { eraseTenant, postgresStore } from "../src/index.ts"
import { newestPrograms } from "./server.ts"
import { type SharedServer, sharedServer } from "./shared-server.ts"
import { PROGRAM_ENV, STRATA } from "./strata-program.ts"

let server: SharedServer
const stores: { close(): Promise<void> }[] = []
const clients: pg.Client[] = []

beforeAll(async () => {
  if (newestPrograms() !== undefined) server = await sharedServer()
})
afterAll(() => server?.stop())
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  for (const client of clients.splice(0)) await client.end()
})

function opened(connectionString: string) {
  const store = postgresStore({ connectionString, retryTimeoutMs: 500 })
  stores.push(store)
  return store
}

async function asOwner(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url.replace("app@", "owner@") })
  await client.connect()
  clients.push(client)
  return client
}

const user = (text: string): Entry => ({
  ...{ type: "user", uuid: crypto.randomUUID(), parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z" },
  message: { role: "user", content: text },
})

async function conversation(store: Store, address: { project: string; id: string; under?: string }, text: string) {
  const journal = await store.open(address, { access: "write", create: true })
  await journal.append([user(text)])
  await journal.close()
}

/** Builds the index of a namespace, or of one conversation in it. */
async function indexed(store: Store, place: { project: string; under?: string }, only?: string): Promise<void> {
  const search = journalSearchIn(store, place, only)
  await search.update()
  search.close()
}

/** The tables that still contain a word. */
async function tablesWith(url: string, word: string): Promise<readonly string[]> {
  const client = await asOwner(url)
  const { rows } = await client.query<{ name: string }>(
    "select c.relname as name from pg_class c join pg_namespace s on s.oid = c.relnamespace where s.nspname = 'strata' and c.relkind = 'r' order by 1",
  )
  const found: string[] = []
  for (const { name } of rows) {
    const all = await client.query<{ text: string }>(`select t::text as text from strata.${name} t`)
    const hex = Buffer.from(word).toString("hex")
    if (all.rows.some(({ text }) => text.toLowerCase().includes(word) || text.includes(hex))) found.push(name)
  }
  return found
}

describe("BEY-12 erasing on a server", needs("postgres"), () => {
  test.runIf(isWhole)(
    "BEY-12 the index of one conversation goes with it, and so do those of its sub-agents",
    async () => {
      const url = await server.database()
      const store = opened(url)
      await conversation(store, { project: "shop", id: "one" }, "zanzibar lives here")
      await conversation(store, { project: "shop", under: "one", id: "agent" }, "nothing of xylophone")
      await conversation(store, { project: "shop", id: "two" }, "something else")
      await indexed(store, { project: "shop" })
      await indexed(store, { project: "shop" }, "one")
      await indexed(store, { project: "shop", under: "one" })
      await eraseFrom(store, { subject: "Zanzibar" })
      expect(await tablesWith(url, "zanzibar")).toEqual([])
      expect(await tablesWith(url, "xylophone")).toEqual([])
      expect(await tablesWith(url, "something")).toContain("passage")
    },
  )

  test("BEY-12 erasing again after a kill takes the rest out of the index", async () => {
    const url = await server.database()
    const store = opened(url)
    await conversation(store, { project: "shop", id: "one" }, "zanzibar lives here")
    await indexed(store, { project: "shop" })
    await store.contents().erase({ kind: "journal", project: "shop", id: "one" }) // simulates a process that is killed here
    await eraseFrom(store, { subject: "zanzibar" })
    expect(await tablesWith(url, "zanzibar")).toEqual([])
  })

  test.runIf(isWhole)(
    "BEY-12 the command erases the index of what a killed one had erased, also where nothing else is left",
    async () => {
      const url = await server.database()
      const store = opened(url)
      const place = namespaceFor("shop", "jane")
      await conversation(store, { project: place, id: "one" }, "zanzibar lives here")
      await indexed(store, { project: place })
      await store.contents().erase({ kind: "journal", project: place, id: "one" }) // simulates a process that is killed here
      const env = { ...PROGRAM_ENV, STRATA_STORE: url }
      const erasing = promisify(execFile)(process.execPath, [STRATA, "store", "erase", "--owner", "jane", "--yes"], {
        env,
      })
      expect((await erasing).stdout).toContain("Nothing of it is kept")
      expect(await tablesWith(url, "zanzibar")).toEqual([])
    },
  )

  test("BEY-12 what a process indexes after another one erased it goes with the next erasing", async () => {
    const url = await server.database()
    const [store, other] = [opened(url), opened(url)]
    await conversation(store, { project: "shop", id: "one" }, "zanzibar lives here")
    const facts = {
      uuid: "u",
      blocks: "",
      kind: "text",
      isDialogue: true,
      facts: 0,
      time: 0,
      start: 0,
      length: 8,
      terms: 1,
    }
    const passages = [{ ...facts, tokens: ["zanzibar"], text: "zanzibar" }]
    await eraseFrom(store, { subject: "zanzibar" })
    await other.passages!({ project: "shop", tokens: 1 }).extend([
      { source: "one", from: undefined, to: "1", passages },
    ])
    await eraseFrom(store, { subject: "zanzibar" })
    expect(await tablesWith(url, "zanzibar")).toEqual([])
  })

  test("BEY-12 a tenant is erased with what others write in the same moment", async () => {
    const url = await server.database()
    const store = opened(url)
    const journal = await store.open({ project: "shop", id: "one" }, { access: "write", create: true })
    await journal.append([user("hello")])
    await store.memories({ project: "shop" }).install([{ path: "a.md", text: "hello" }])
    const [writer, watcher] = [await asOwner(url), await asOwner(url)]
    await writer.query("begin")
    await writer.query(
      "select strata.blob_write(j.tenant, gen_random_uuid(), j.jid, j.holder, j.fence, 'b.txt', 'zanzibar', true) from strata.journal j",
    )
    await writer.query(
      "select strata.content_memory_write(h.tenant, h.place, array['z.md'], array['zanzibar'::bytea], array[null::float8], array[true], null) from strata.memory_head h",
    )
    const erasing = eraseTenant({ connectionString: url, tenant: "default" })
    for (let waiting = 0; waiting === 0; ) {
      const { rowCount } = await watcher.query(
        "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      )
      waiting = rowCount ?? 0
    }
    await writer.query("commit")
    await erasing
    expect(await tablesWith(url, "zanzibar")).toEqual([])
    await expect(journal.close()).resolves.toBeUndefined()
  })

  test.runIf(isWhole)(
    "BEY-12 a process that has searched finds nothing of a tenant that was erased, and all that is new",
    async () => {
      const url = await server.database()
      const [store, other] = [opened(url), opened(url)]
      for (const id of ["one", "two", "three"])
        await conversation(store, { project: "shop", id }, `zanzibar lives in house ${id}`)
      const search = journalSearchIn(other, { project: "shop" })
      const found = async (text: string) => {
        const { answer } = await search.search({ text, now: new Date("2026-01-02"), limit: 5 })
        return answer.found.map(({ source }) => source).sort()
      }
      expect(await found("zanzibar")).toEqual(["one", "three", "two"])
      await eraseTenant({ connectionString: url, tenant: "default" })
      await conversation(store, { project: "shop", id: "new" }, "okapi lives here")
      await indexed(store, { project: "shop" })
      expect(await found("okapi")).toEqual(["new"])
      expect(await found("zanzibar")).toEqual([])
      search.close()
    },
  )

  test("BEY-12 a conversation that is open at the target is named, and the rest is moved", async () => {
    const url = await server.database()
    const [from, to] = [memoryStore(), opened(url)]
    for (const id of ["a", "b", "c"]) await conversation(from, { project: "shop", id }, `hello ${id}`)
    await moveContents({ from, to })
    const open = await to.open({ project: "shop", id: "a" }, { access: "write" })
    for (const id of ["a", "d"]) await conversation(from, { project: "shop", id }, `more ${id}`)
    const report = await moveContents({ from, to })
    expect(report.refused).toEqual([expect.stringContaining("shop/a")])
    expect(report.outcomes).toMatchObject({ copied: 1, equal: 2 })
    await open.close()
  })
})
