/** Tables of an earlier version: their contents survive the migration, and running programs of that version continue to work. */
import { randomUUID } from "node:crypto"
import { CONSOLIDATE, contentName, dailyBudgetIn } from "@strata/core/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { listOf } from "../../store-contract/src/assertions.ts"
import { postgresStore } from "../src/index.ts"
import { runMigrations, STEPS } from "../src/migrate.ts"
import { startServer, type TestServer } from "./server.ts"
import { withClient } from "./standby.ts"

const HOLDER = randomUUID()

describe("BEY-12 tables of version 2", needs("postgres"), () => {
  let server: TestServer | undefined
  beforeAll(async () => {
    server = await startServer()
    await withClient(server.url(), async (client) => {
      await client.query("create role me login") // no policy applies to this role
      await client.query("create role app_of_me login")
      await client.query("create database mine owner me")
    })
  })
  afterAll(() => server?.stop())

  test("BEY-12 data of an earlier version is there after the migration, and its running processes continue", async () => {
    const [owner, connectionString] = [server!.url("mine", "me"), server!.url("mine", "app_of_me")]
    const earlier = async (name: string, ...values: readonly unknown[]) => {
      const given = values.map((_, at) => `$${at + 1}`).join(", ")
      const { rows } = await withClient(connectionString, (client) =>
        client.query<Record<string, unknown>>(`select * from strata.${name}(${given})`, [...values]),
      )
      return rows[0]!
    }
    const sit = (id: string, max: number, call = randomUUID()) =>
      earlier("sit", "jane", "shop", "agents", id, max, HOLDER, process.pid, "earlier", 300, call)
    await runMigrations(STEPS.slice(0, 2), { connectionString: owner, role: "app_of_me" })
    const call = randomUUID()
    expect(await sit("a", 1, call)).toMatchObject({ is_seated: true })
    await earlier("memory_consolidate", "jane", "memory/shop", Date.parse("2026-01-02T12:00:00.000Z"))
    const spend = (day: string, dollars: number, once = randomUUID()) =>
      earlier("spend", "jane", once, "shop", day, dollars)
    for (const [day, dollars] of [
      ["2026-11-15", 3],
      ["2026-11-17", 1.5],
      ["2026-11-16", 0.25],
    ] as const)
      await spend(day, dollars)

    expect(await runMigrations(STEPS, { connectionString: owner, role: "app_of_me" })).toMatchObject({ from: 2, to: 3 })
    const [store, other] = ["jane", "john"].map((tenant) => postgresStore({ connectionString, tenant }))
    const agents = store!.permit({ project: "shop", name: "agents" })
    expect(await agents.state()).toEqual({ taken: 1 })
    expect(await other!.permit({ project: "shop", name: "agents" }).state()).toEqual({ taken: 0 })
    expect(await agents.take({ id: "b", max: 1 })).toMatchObject({ state: "full", by: { host: "earlier" } })
    expect(await store!.permit({ project: "shop", name: CONSOLIDATE }).state()).toEqual({
      taken: 0,
      last: new Date("2026-01-02T12:00:00.000Z"),
    })

    await earlier("leave_seat", "jane", "shop", "agents", "a", HOLDER, call)
    const taken = await agents.take({ id: "b", max: 1 })
    expect(taken.state).toBe("acquired")
    expect(await sit("c", 1)).toMatchObject({ is_seated: false, taken: "1" })
    if (taken.state === "acquired") await taken.permit.release()
    expect(await sit("c", 1)).toMatchObject({ is_seated: true })

    const budget = dailyBudgetIn(store!.memories({ project: "shop" }))
    const once = randomUUID()
    expect(await earlier("spent_on", "jane", "shop", "2026-11-17")).toEqual({ spent_on: 1.5 })
    expect(await earlier("spent_on", "jane", "shop", "2026-11-18")).toEqual({ spent_on: 0 })
    for (const _ of [1, 2]) expect(await spend("2026-11-16", 1, once)).toEqual({ spend: 1.25 })
    const listed = await listOf(store!.contents().list())
    expect(listed.map(({ address }) => contentName(address))).toEqual(["memory shop", "sums shop"])
    expect(listed[0]!.files.map(({ name }) => name)).toEqual([":consolidated"])
    const days = (await store!.contents().files({ kind: "sums", project: "shop" }, ["days"])).get("days")
    expect(JSON.parse(days!.toString())).toEqual({
      ...{ day: "2026-11-17", dollars: 1.5 },
      earlier: { "2026-11-16": 1.25, "2026-11-15": 3 },
    })
    expect(await budget.add(1, "2026-11-17")).toBe(2.5)
    expect(await budget.spentOn("2026-11-16")).toBe(1.25)
    expect(await spend("2026-11-17", 0.5)).toEqual({ spend: 3 })
    expect(await dailyBudgetIn(other!.memories({ project: "shop" })).spentOn("2026-11-17")).toBe(0)
    await store!.contents().erase({ kind: "memories", namespace: { project: "shop" } })
    expect(await budget.spentOn("2026-11-17")).toBe(3) // project totals are erased separately
    await store!.contents().erase({ kind: "sums", project: "shop" })
    expect(await listOf(store!.contents().list())).toEqual([])
    for (const one of [store, other]) await one!.close()
  })
})
