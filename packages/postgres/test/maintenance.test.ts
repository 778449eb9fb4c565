/** The tables of a server: migrations, versions, retention and erasing, on a real server. */
import { spawn } from "node:child_process"
import { type Entry, memoryStore, type Store } from "@strata/core"
import { eraseFrom, pruneStore } from "@strata/core/memory"
import { dailyBudgetIn } from "@strata/core/store"
import pg from "pg"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { namespaceFor } from "../../core/src/base/owner.ts"
import { journalSearchIn } from "../../core/src/recall/journal-search.ts"
import { needs } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"
import { eraseTenant, migrate, postgresStore, SCHEMA_VERSION, schemaStatus } from "../src/index.ts"
import { runMigrations, STEPS } from "../src/migrate.ts"
import { newestPrograms } from "./server.ts"
import { type SharedServer, sharedServer } from "./shared-server.ts"
import { PROGRAM_ENV, STRATA } from "./strata-program.ts"

let server: SharedServer
const stores: { close(): Promise<void> }[] = []

beforeAll(async () => {
  if (newestPrograms() !== undefined) server = await sharedServer()
})
afterAll(() => server?.stop())
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
})

async function asOwner<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  client.on("error", () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function opened(connectionString: string, tenant?: string) {
  const store = postgresStore({ connectionString, ...(tenant === undefined ? {} : { tenant }), retryTimeoutMs: 500 })
  stores.push(store)
  return store
}

const user = (text: string): Entry => ({
  ...{ type: "user", uuid: crypto.randomUUID(), parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z" },
  message: { role: "user", content: text },
})

async function conversation(store: Store, address: { project: string; id: string; under?: string }, text: string) {
  const journal = await store.open(address, { access: "write", create: true })
  await journal.append([user(text)])
  return journal
}

function strata(url: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  const env = { ...PROGRAM_ENV, STRATA_STORE: url }
  const child = spawn(process.execPath, [STRATA, "store", ...args], { env, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => {
      output += text
    })
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })))
}

const DAY_MS = 24 * 60 * 60 * 1_000

describe("BEY-12 caring for the tables", needs("postgres"), () => {
  test.runIf(isWhole)("BEY-12 two migrations at once: one makes the tables, the other finds them", async () => {
    const url = await server.emptyDatabase()
    const reports = await Promise.all([migrate({ connectionString: url }), migrate({ connectionString: url })])
    expect(reports.map(({ from }) => from).sort()).toEqual([0, SCHEMA_VERSION])
    expect(await schemaStatus(url)).toMatchObject({ version: SCHEMA_VERSION, newest: SCHEMA_VERSION, ownsTables: true })
  })

  test.runIf(isWhole)(
    "BEY-12 a migration that is killed leaves nothing half, and the next one makes everything",
    async () => {
      const url = await server.emptyDatabase()
      await asOwner(url, async (watcher) => {
        // the migration waits for this lock after it has made the tables: the role is made last
        await watcher.query("begin")
        await watcher.query("lock table pg_authid in share row exclusive mode")
        const role = `killed_in_${new URL(url).pathname.slice(1)}`
        const migration = migrate({ connectionString: url, role }).catch((error: unknown) => error)
        for (;;) {
          const { rows } = await asOwner(url, (client) =>
            client.query<{ pid: number }>(
              "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
            ),
          )
          if (rows[0]) {
            await asOwner(url, (client) => client.query("select pg_terminate_backend($1)", [rows[0]!.pid]))
            break
          }
        }
        expect(await migration).toBeInstanceOf(Error)
        await watcher.query("rollback")
      })
      expect((await schemaStatus(url)).version).toBe(0)
      expect(await migrate({ connectionString: url })).toMatchObject({ from: 0, to: SCHEMA_VERSION })
    },
  )

  test.runIf(isWhole)(
    "BEY-12 tables of an earlier version go forward by the steps that they lack, and a step that fails changes nothing",
    async () => {
      const url = await server.emptyDatabase()
      await migrate({ connectionString: url })
      const later = (sql: string) => [
        ...STEPS,
        { version: SCHEMA_VERSION + 1, name: "later", sql: ["create table strata.later (n int)", sql] },
      ]
      await expect(runMigrations(later("no sql"), { connectionString: url })).rejects.toThrow("syntax error")
      expect((await schemaStatus(url)).version).toBe(SCHEMA_VERSION)
      const report = await runMigrations(later("insert into strata.later values (1)"), { connectionString: url })
      expect(report).toMatchObject({ from: SCHEMA_VERSION, to: SCHEMA_VERSION + 1 })
      await expect(migrate({ connectionString: url })).rejects.toThrow("Update Strata here")
    },
  )

  test.runIf(isWhole)("BEY-12 a log is read in pieces, and a small one in one call", async () => {
    const url = await server.database()
    const pool = new pg.Pool({ connectionString: url })
    stores.push({ close: () => pool.end() })
    const store = postgresStore({ pool })
    const lines = ["first", "", ...Array.from({ length: 5 }, (_, n) => String(n).repeat(2 * 1024 * 1024)), "last"]
    const same = store.log({ project: "p", name: "callers" })
    let calls = 0
    pool.on("acquire", () => void calls++)
    await same.append("first")
    calls = 0
    expect(await same.read()).toEqual(["first"])
    expect(calls).toBe(1)
    for (const line of lines.slice(1)) await same.append(line)
    calls = 0
    expect((await same.read()).map((line) => line.slice(0, 10))).toEqual(lines.map((line) => line.slice(0, 10)))
    expect(calls).toBe(3)
    const address = { kind: "log", project: "p", name: "callers" } as const
    const pieces: Buffer[] = []
    for (let from = 0, piece: Buffer; ; from += piece.length) {
      piece = await store.contents().lines(address, from)
      if (piece.length === 0) break
      pieces.push(piece)
    }
    expect(pieces).toHaveLength(3)
    expect(Buffer.concat(pieces).equals(Buffer.from(`${lines.join("\n")}\n`))).toBe(true)
  })

  test.runIf(isWhole)(
    "BEY-12 without tables, and with those of a later version, a store says what to do with its first call",
    async () => {
      const url = await server.emptyDatabase()
      await expect(opened(url).projects()).rejects.toThrow(/no tables of Strata[\s\S]*strata store migrate/)
      expect(await strata(url, "status")).toMatchObject({
        code: 1,
        output: expect.stringContaining("no tables of Strata yet"),
      })
      expect(await strata(url, "migrate")).toMatchObject({
        code: 0,
        output: expect.stringContaining(`0 to ${SCHEMA_VERSION}`),
      })
      expect(await opened(url).projects()).toEqual([])
      await asOwner(url, (client) => client.query("insert into strata.schema_version values (99, 'later')"))
      await expect(postgresStore({ pool: new pg.Pool({ connectionString: url }) }).projects()).rejects.toThrow(
        `have version 99, but this program supports only versions up to ${SCHEMA_VERSION}. Nothing was changed`,
      )
      expect(await strata(url, "migrate")).toMatchObject({
        code: 1,
        output: expect.stringContaining("Update Strata here"),
      })
      expect(await strata(url, "status")).toMatchObject({ code: 1, output: expect.stringContaining("version 99") })
    },
  )

  test.runIf(isWhole)(
    "BEY-12 a role that may not do something gets an error that says what an administrator must do, and nothing changes",
    async () => {
      const url = await server.emptyDatabase()
      const database = new URL(url).pathname.slice(1)
      const [plain, app, missing] = [`plain_${database}`, `app_${database}`, `missing_${database}`]
      await asOwner(url, (client) =>
        client.query(
          `create role ${plain} login; create role ${app} login; revoke create on database ${database} from public`,
        ),
      )
      const as = (role: string) => url.replace("//owner@", `//${role}@`)
      expect(await strata(as(plain), "migrate")).toMatchObject({
        code: 1,
        output: expect.stringMatching(
          /may not create or change the tables .*Nothing was changed.*CREATE on the database/s,
        ),
      })
      await asOwner(url, (client) => client.query(`grant create on database ${database} to ${plain}`))
      expect(await strata(as(plain), "migrate", "--role", missing)).toMatchObject({
        code: 1,
        output: expect.stringContaining(`CREATE ROLE "${missing}" NOLOGIN`),
      })
      expect((await schemaStatus(url)).version).toBe(0)
      expect(await strata(as(plain), "migrate")).toMatchObject({ code: 0 })
      expect(await strata(as(app), "status")).toMatchObject({
        code: 1,
        output: expect.stringContaining("GRANT strata_app TO that role"),
      })
    },
  )

  test("BEY-12 an address without a server is reported in a sentence, without a trace of the password", async () => {
    const { code, output } = await strata("postgres://me:geheim@127.0.0.1:1/strata", "status")
    expect(code).toBe(1)
    expect(output).toMatch(/^The database did not answer \(ECONNREFUSED\)\. Nothing was read or written\./)
    expect(output).not.toContain("geheim")
  })

  test.runIf(isWhole)(
    "BEY-12 prune removes old conversations with their sub-agents, what everyone has read and old sums, and nothing that is open",
    async () => {
      const [url, now] = [await server.database(), new Date()]
      const store = opened(url)
      const old = [
        ...[
          { project: "p", id: "old" },
          { project: "p", under: "old", id: "agent" },
        ],
        { project: "p", id: "open" },
      ]
      for (const address of old) await (await conversation(store, address, "old")).close()
      await (await conversation(store, { project: "p", id: "new" }, "new")).close()
      const mailbox = store.mailboxes({ project: "p", team: "t" })
      const member = await mailbox.join({ name: "a", conversation: "new" })
      for (const text of ["read", "unread"]) await mailbox.send({ from: "b", to: ["a"], content: { text } })
      const { messages } = await mailbox.read(undefined)
      await member.leave(messages[0]!.cursor)
      await dailyBudgetIn(store.memories({ project: "p" })).add(1, "2026-01-01")
      await asOwner(url.replace("app@", "owner@"), async (client) => {
        await client.query("update strata.journal set touched = now() - interval '100 days' where id <> 'new'")
        await client.query("update strata.message set sent = now() - interval '100 days'")
      })
      const open = await store.open({ project: "p", id: "open" }, { access: "write" })
      const before = new Date(now.getTime() - 90 * DAY_MS)
      const expected = { conversations: 1, subAgents: 1, messages: 1, sums: 1, open: ["conversation p/open"] }
      expect(await pruneStore(store, { before, dryRun: true })).toMatchObject(expected)
      const { code, output } = await strata(url, "prune", "--older-than", "90d", "--json")
      expect(code, output).toBe(0)
      expect(JSON.parse(output)).toMatchObject({ ...expected, removed: ["conversation p/old"] })
      await open.close()
      expect((await store.list("p")).map(({ id }) => id).sort()).toEqual(["new", "open"])
      expect(await store.list("p", { under: "old" })).toEqual([])
      expect((await mailbox.read(undefined)).messages.map(({ content }) => content.text)).toEqual(["unread"])
      expect(await pruneStore(store, { maxBytes: 0 })).toMatchObject({ conversations: 2 })
    },
  )

  test.runIf(isWhole)(
    "BEY-12 erasing an owner takes everything of it in all projects, and nothing of another",
    async () => {
      const store = opened(await server.database())
      for (const owner of ["jane", "john"])
        for (const project of ["shop", "blog"]) {
          const place = namespaceFor(project, owner)
          await (await conversation(store, { project: place, id: "c" }, "hello")).close()
          await store.memories({ project: place }).install([{ path: "a.md", text: owner }])
          await dailyBudgetIn(store.memories({ project: place })).add(1, "2026-11-17")
        }
      const report = await eraseFrom(store, { owner: "jane" })
      const { before, after, left } = report
      expect(before).toMatchObject({ conversations: 2, memoryFiles: 2, sums: 2 })
      expect({ after: Object.values(after), left }).toEqual({ after: [0, 0, 0, 0, 0, 0], left: [] })
      expect(await store.projects()).toEqual([namespaceFor("blog", "john"), namespaceFor("shop", "john")].sort())
      expect(await store.memories({ project: namespaceFor("shop", "john") }).read("a.md")).toBe("john")
      expect(await store.memories({ project: namespaceFor("shop", "jane") }).read("a.md")).toBeUndefined()
    },
  )

  test.runIf(isWhole)(
    "BEY-12 erasing a subject takes conversations, memories and messages that name it, and says what is open",
    async () => {
      const url = await server.database()
      for (const store of [opened(url), memoryStore()]) {
        await (await conversation(store, { project: "p", id: "names" }, 'mail "Jane Doe" now')).close()
        await (await conversation(store, { project: "p", id: "other" }, "nothing")).close()
        const open = await conversation(store, { project: "p", id: "open" }, "JANE DOE is here")
        const memories = store.memories({ project: "p" })
        await memories.install([
          { path: "jane.md", text: "---\nname: Jane\n---\nJane Doe likes tea\n" },
          { path: "tea.md", text: "---\nname: Tea\n---\nTea is green\n" },
        ])
        const mailbox = store.mailboxes({ project: "p", team: "t" })
        for (const text of ["one", "ask jane doe", "three"])
          await mailbox.send({ from: "a", to: ["b"], content: { text } })
        const report = await eraseFrom(store, { subject: "Jane Doe" })
        expect(report.before).toMatchObject({ conversations: 2, messages: 1 })
        expect(report.before.memoryFiles).toBeGreaterThan(0)
        expect(report.after).toMatchObject({ conversations: 1, messages: 0, memoryFiles: 0 })
        expect(report.left).toEqual([expect.stringContaining("conversation p/open")])
        const left = (await mailbox.read(undefined)).messages.map(({ content }) => content.text)
        expect(left).toEqual(["one", undefined, "three"])
        expect(await memories.read("tea.md")).toContain("green")
        await open.close()
        expect((await eraseFrom(store, { subject: "jane doe" })).after.conversations).toBe(0)
        expect((await store.list("p")).map(({ id }) => id)).toEqual(["other"])
      }
    },
  )

  test("BEY-12 what is erased is no longer in the search index on the server, and the rest is found", async () => {
    const url = await server.database()
    const store = opened(url)
    await (await conversation(store, { project: "p", id: "gone" }, "the zeppelin of Jane")).close()
    await (await conversation(store, { project: "p", id: "kept" }, "the lighthouse of John")).close()
    const past = journalSearchIn(store, { project: "p" })
    const ask = async (text: string) => {
      await past.update()
      const { answer } = await past.search({ text, now: new Date("2026-11-17") })
      return answer.found.filter((passage) => passage.text.includes(text)).length
    }
    expect(await ask("zeppelin")).toBe(1)
    await eraseFrom(opened(url), { subject: "Jane" })
    const words = (client: pg.Client) =>
      client.query(
        "select token from strata.token where token like '%zeppelin%' union all select 'text' from strata.passage where position('zeppelin'::bytea in text) > 0",
      )
    expect((await asOwner(url.replace("app@", "owner@"), words)).rows).toEqual([])
    expect(await ask("lighthouse")).toBe(1)
    await past.close()
  })

  test("BEY-12 erasing a tenant erases its rows in every table, also one that comes later, and no other tenant's", async () => {
    const url = await server.database()
    await asOwner(url.replace("app@", "owner@"), async (client) => {
      await client.query("create table strata.later (tenant text not null, word text)")
      await client.query("select strata.isolate('strata.later')")
      await client.query("grant all on strata.later to strata_app")
      await client.query("insert into strata.later values ('acme', 'x'), ('other', 'y')")
    })
    for (const tenant of ["acme", "other"]) {
      const store = opened(url, tenant)
      await (await conversation(store, { project: "p", id: "c" }, "hello")).close()
      await store.memories({ project: "p" }).install([{ path: "a.md", text: "x" }])
    }
    const asked = await strata(url, "erase", "--tenant", "acme")
    expect(asked).toMatchObject({ code: 2, output: expect.stringContaining("use --yes") })
    const { code, output } = await strata(url, "erase", "--tenant", "acme", "--yes")
    expect(output).toMatch(/later: 1[\s\S]*rows erased, 0 left/)
    expect(code).toBe(0)
    expect(await opened(url, "acme").projects()).toEqual([])
    expect(await opened(url, "other").memories({ project: "p" }).read("a.md")).toBe("x")
    const rows = await eraseTenant({ connectionString: url, tenant: "other", countsOnly: true })
    expect(rows.find(({ table }) => table === "later")).toEqual({ table: "later", rows: 1 })
  })
})
