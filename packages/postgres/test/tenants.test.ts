import type { Entry, Store } from "@strata/core"
import { dailyBudgetIn, encodeLine } from "@strata/core/store"
import pg from "pg"
import { afterAll, beforeAll, describe, onTestFinished as ending, expect, test } from "vitest"
import { uuidKey } from "../../core/src/base/text.ts"
import { needs } from "../../core/test/needs.ts"
import { postgresStore } from "../src/index.ts"
import { type SharedServer, sharedServer } from "./shared-server.ts"

const SECRET = "the acquisition of Initech"
const PROJECT = "shop"
const ADDRESS = { project: PROJECT, id: "conversation" }
const TEAM = { project: PROJECT, team: "team" }
const UUID = "5e6f0b52-8d3c-4a1e-9a0b-0123456789ab"
/** Names that would end a string, a list or a statement. */
const HOSTILE = [
  "'; drop table strata.line; --",
  "acme' or '1'='1",
  'acme" ',
  "acme,globex",
  "{acme}",
  "%",
  "acm_",
  "ACME",
  "acme ",
]

/** Tables that these tests leave empty. */
const UNFILLED = ["in_flight", "shelf", "shelf_source", "passage", "passage_pack", "token", "posting"]

describe("BEY-12 tenants", needs("postgres"), () => {
  let server: SharedServer
  let url: string
  let pool: pg.Pool
  let victim: Store

  beforeAll(async () => {
    server = await sharedServer()
    url = await server.database()
    pool = new pg.Pool({ connectionString: url })
    victim = postgresStore({ pool, tenant: "acme", leaseSeconds: 3_600 }) // renews no lease during the test
    await fill(victim)
  })
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  test.each(["globex", "default", ...HOSTILE])(
    "a tenant that is called %j finds nothing of another",
    async (tenant) => {
      const store = postgresStore({ pool, tenant })
      expect(await everything(store)).not.toContain("acquisition")
      expect(await store.projects()).toEqual([])
      expect(await store.has([ADDRESS, { ...ADDRESS, under: "conversation" }])).toEqual([false, false])
      expect(await store.writerOf(ADDRESS)).toBeUndefined()
      await expect(store.open(ADDRESS, { access: "read" })).rejects.toThrow("There is no conversation")
      await expect(store.open(ADDRESS, { access: "write" })).rejects.toThrow("There is no conversation")
      expect(await everything(victim)).toContain(SECRET)
    },
  )

  test("what one tenant writes under the same names is another's own, and both keep theirs", async () => {
    const other = postgresStore({ pool, tenant: "globex-2" })
    await fill(other, "our own")
    expect(await everything(other)).not.toContain("acquisition")
    const before = await everything(victim)
    expect(before).not.toContain("our own")
    expect(await dailyBudgetIn(other.memories({ project: PROJECT })).add(1, "2026-11-17")).toBe(3)
    expect(await dailyBudgetIn(victim.memories({ project: PROJECT })).spentOn("2026-11-17")).toBe(2)
  })

  /** A guessed number is used in every call of a journal, a team and an index. */
  test("a tenant that guesses the numbers of another's journals and teams reads and changes nothing", async () => {
    const owner = new pg.Pool({ connectionString: server.url(new URL(url).pathname.slice(1)) })
    ending(() => owner.end())
    const before = await rowsOf(owner)
    const { rows: functions } = await owner.query<{ name: string; parameters: string[]; types: string[] }>(
      `select p.proname as name, p.proargnames[1:p.pronargs] as parameters, array(select t::regtype::text from unnest(p.proargtypes) as t) as types
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname = 'strata' and p.proargnames[1] = 'p_tenant'`,
    )
    const guessing = functions.filter(({ parameters }) => parameters.some((name) => /^p_(?:jid|tid|sid)$/.test(name)))
    expect(guessing.length).toBeGreaterThan(15)
    for (const { name, parameters, types } of guessing) {
      const given = parameters.map((parameter, at) => guess(parameter, types[at]!))
      for (const tenant of ["globex", "default", ""]) {
        const call = `select * from strata.${name}(${given.map((_, at) => `$${at + 1}::${types[at]}`).join(", ")})`
        const answer = await pool.query(call, [tenant, ...given.slice(1)]).then(
          ({ rows }) =>
            JSON.stringify(rows, (_, value) => (value?.type === "Buffer" ? Buffer.from(value.data).toString() : value)),
          (error: Error) => error.message,
        )
        expect(answer, name).not.toContain("acquisition")
      }
    }
    const after = await rowsOf(owner)
    for (const [table, rows] of before) expect(after.get(table), table).toEqual(rows)
  })

  test("the application's role sees no row without a tenant, only its own with one, and writes none of another", async () => {
    const client = new pg.Client({ connectionString: url })
    ending(() => client.end())
    await client.connect()
    const tables = await tablesOf(client)
    expect(tables.length).toBeGreaterThan(15)
    for (const table of tables) {
      await client.query("begin")
      expect((await client.query(`select from strata.${table}`)).rowCount, table).toBe(0)
      await client.query("select set_config('strata.tenant', 'globex', true)")
      expect((await client.query(`select from strata.${table} where tenant = 'acme'`)).rowCount, table).toBe(0)
      expect((await client.query(`delete from strata.${table} where tenant = 'acme'`)).rowCount, table).toBe(0)
      expect(
        (await client.query(`update strata.${table} set tenant = 'globex' where tenant = 'acme'`)).rowCount,
        table,
      ).toBe(0)
      await client.query("select set_config('strata.tenant', 'acme', true)")
      const given = client.query(`update strata.${table} set tenant = 'globex'`)
      const isEmpty = UNFILLED.includes(table)
      if (isEmpty) expect((await given).rowCount, table).toBe(0)
      else await expect(given, table).rejects.toThrow("row-level security")
      await client.query("rollback")
    }
    const { rows: unguarded } = await client.query(
      "select relname::text as name from pg_class where relnamespace = 'strata'::regnamespace and relkind = 'r' and not (relrowsecurity and relforcerowsecurity)",
    )
    expect(unguarded).toEqual([{ name: "schema_version" }])
    const refused = [
      "alter table strata.line disable row level security",
      "alter table strata.line no force row level security",
      "drop policy tenant on strata.line",
      "drop table strata.line",
      "create table strata.mine (a int)",
      "create function strata.mine() returns int language sql security definer as 'select 1'",
      "insert into strata.schema_version values (99, 'x')",
      "select set_config('strata.tenant', 'globex', false); insert into strata.notes values ('acme', 1, 'x')",
    ]
    for (const sql of refused)
      await expect(client.query(sql), sql).rejects.toThrow(/must be owner|permission denied|row-level security/)
    await client.query("set row_security = off")
    await expect(client.query("select from strata.line")).rejects.toThrow("row-level security")
  })

  test("every table has a forced policy, and the tenant is first in every index", async () => {
    const { rows } = await pool.query<{ name: string; forced: boolean; policies: number }>(
      `select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced,
        (select count(*)::int from pg_policy p where p.polrelid = c.oid) as policies
       from pg_class c where c.relnamespace = 'strata'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'schema_version'`,
    )
    for (const { name, forced, policies } of rows) expect([name, forced, policies]).toEqual([name, true, 1])
    const { rows: indexes } = await pool.query<{ name: string; first: string }>(
      `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid, 1, true) as first
       from pg_index i join pg_class c on c.oid = i.indrelid
       where c.relnamespace = 'strata'::regnamespace and c.relname <> 'schema_version'`,
    )
    for (const { name, first } of indexes) expect([name, first]).toEqual([name, "tenant"])
  })
})

/** Writes data to every part of the store. */
async function fill(store: Store, text = SECRET): Promise<void> {
  for (const address of [ADDRESS, { ...ADDRESS, id: "agent", under: ADDRESS.id }]) {
    const journal = await store.open(address, { access: "write", create: true })
    await journal.append([userEntry(text)])
    await journal.writeBlob("result.txt", text)
    await journal.writeNotes(text)
    await journal.writeCheckpoint({ text })
    await journal.close()
  }
  for (const namespace of NAMESPACES) await store.memories(namespace).install([{ path: "a.md", text }])
  const mailbox = store.mailboxes(TEAM)
  await mailbox.join({ name: "b", conversation: text.replaceAll(" ", "-") })
  await mailbox.send({ from: "a", to: ["b"], content: { text } })
  await store.log({ project: PROJECT, name: "callers" }).append(text)
  await dailyBudgetIn(store.memories({ project: PROJECT })).add(2, "2026-11-17")
  await store.permit({ project: PROJECT, name: "agents" }).take({ id: "a", max: 1 })
}

const NAMESPACES = [
  { project: PROJECT },
  { project: PROJECT, collection: "dreams" },
  { shared: true },
  { agent: "reviewer", scope: "user" },
  { agent: "reviewer", scope: "local", project: PROJECT },
] as const

/** All data that a tenant can reach with known names. */
async function everything(store: Store): Promise<string> {
  const found: unknown[] = [await store.list(PROJECT), await store.list(PROJECT, { under: ADDRESS.id })]
  for (const namespace of NAMESPACES)
    found.push(await store.memories(namespace).readAll({ folders: [undefined, ".history"], paths: ["a.md"] }))
  const mailbox = store.mailboxes(TEAM)
  found.push(await mailbox.read(undefined), await mailbox.members(), await mailbox.last("a"))
  found.push(await store.log({ project: PROJECT, name: "callers" }).read())
  const feed = store.feed({ project: PROJECT })
  found.push([...(await feed.poll(new Set([ADDRESS.id]))).journals])
  for await (const { bytes } of feed.lines(ADDRESS.id, 0)) found.push(bytes.toString())
  return JSON.stringify(found)
}

const userEntry = (text: string): Entry => ({
  uuid: UUID,
  parentUuid: null,
  type: "user",
  timestamp: "2026-11-17T00:00:00.000Z",
  message: { role: "user", content: text },
})

const LINE = encodeLine(userEntry("planted"))

/** A value that would match the first journal or team of a database. */
function guess(parameter: string, type: string): unknown {
  if (/^p_(?:jid|tid|sid|fence|addition)$/.test(parameter)) return 1
  if (parameter === "p_at" || parameter === "p_from" || parameter === "p_after") return 0
  if (parameter === "p_lines") return LINE
  if (parameter === "p_lengths") return [LINE.length]
  if (parameter === "p_keys" && type === "bytea[]") return [uuidKey(UUID)]
  if (parameter === "p_keys" || parameter === "p_first" || parameter === "p_key") return uuidKey(UUID)
  if (parameter === "p_handle") return uuidKey(UUID).subarray(11)
  if (parameter === "p_name" || parameter === "p_member") return type === "text" ? "result.txt" : null
  if (type === "boolean") return true
  if (type === "bigint" || type === "integer" || type === "double precision") return 1_000_000
  if (type === "uuid") return UUID
  if (type.endsWith("[]")) return []
  return type === "bytea" ? Buffer.from("planted") : "planted"
}

async function tablesOf(client: pg.Client | pg.Pool): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'strata' and tablename <> 'schema_version'",
  )
  return rows.map(({ name }) => name)
}

/** The rows of the first tenant, read as the owner of the database. */
async function rowsOf(owner: pg.Pool): Promise<ReadonlyMap<string, unknown>> {
  const all = new Map<string, unknown>()
  for (const table of await tablesOf(owner))
    all.set(table, (await owner.query(`select t::text from strata.${table} t where tenant = 'acme' order by 1`)).rows)
  return all
}
