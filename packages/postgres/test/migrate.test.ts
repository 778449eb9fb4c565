/** Migrations run by an administrator with few privileges. */
import pg from "pg"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { migrate, postgresStore, schemaStatus } from "../src/index.ts"
import { startServer, type TestServer } from "./server.ts"

describe("BEY-12 migrating with a role that may create no role", needs("postgres"), () => {
  let server: TestServer | undefined
  beforeAll(async () => {
    server = await startServer()
    const owner = new pg.Client({ connectionString: server.url() })
    await owner.connect()
    await owner.query("create role me login")
    await owner.query("create database mine owner me")
    await owner.end()
  })
  afterAll(() => server?.stop())

  test("BEY-12 it says what to do and changes nothing; with a role that exists it works", async () => {
    const connectionString = server!.url("mine", "me")
    await expect(migrate({ connectionString })).rejects.toThrow(/CREATE ROLE "strata_app" NOLOGIN.*--role/)
    expect(await schemaStatus(connectionString)).toMatchObject({ version: 0, ownsTables: false })
    expect(await migrate({ connectionString, role: "me" })).toMatchObject({ from: 0, role: "me" })
    expect(await schemaStatus(connectionString)).toMatchObject({ passesPolicies: false, ownsTables: true })
    const store = postgresStore({ connectionString })
    expect(await store.projects()).toEqual([])
    await store.close()
  })
})
