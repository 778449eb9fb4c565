/** An administrator repeatedly terminates backends while processes without error handlers use them. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { dailyBudgetIn } from "@strata/core/store"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { postgresStore } from "../src/index.ts"
import { type SharedServer, sharedServer } from "./shared-server.ts"

const PROCESSES = 4
const TERMINATIONS = 600 // about one in a hundred used to crash a process

const source = (path: string) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)))

/** Adds to a total until its input ends, over its own pool or one that is passed, and prints the number of additions. */
const worker = (connectionString: string, isPassed: boolean) => `
  import pg from ${JSON.stringify(import.meta.resolve("pg"))}
  import { dailyBudgetIn } from ${JSON.stringify(import.meta.resolve("@strata/core/store"))}
  import { postgresStore } from ${source("../src/postgres-store.ts")}
  const by = ${isPassed} ? { pool: new pg.Pool({ connectionString: ${JSON.stringify(connectionString)} }) } : { connectionString: ${JSON.stringify(connectionString)} }
  const store = postgresStore({ ...by, retryTimeoutMs: 60_000 })
  let isOver = false
  process.stdin.resume().on("end", () => { isOver = true })
  let sum = 0
  const add = async () => { while (!isOver) { await dailyBudgetIn(store.memories({ project: "storm" })).add(1, "2026-01-01"); sum++ } }
  await Promise.all(Array.from({ length: 8 }, add))
  await store.close()
  await by.pool?.end()
  process.stdout.write(String(sum))`

describe("a storm", needs("postgres"), () => {
  let server: SharedServer
  beforeAll(async () => {
    server = await sharedServer()
  })
  afterAll(() => server?.stop())

  test("BEY-12 no process ends when its connections are terminated, and each call is made once", async () => {
    const connectionString = await server.database()
    const children = Array.from({ length: PROCESSES }, (_, nth) =>
      spawn(process.execPath, ["--input-type=module", "-e", worker(connectionString, nth % 2 === 1)]),
    )
    const ended = children.map(async (child) => {
      const [output, complaint, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, "exit") as Promise<[number]>,
      ])
      return { code, complaint, sum: Number(output) }
    })
    const owner = new pg.Client({ connectionString: server.url(new URL(connectionString).pathname.slice(1)) })
    await owner.connect()
    let terminated = 0
    while (terminated < TERMINATIONS && children.some(({ exitCode }) => exitCode === null)) {
      const { rowCount } = await owner.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = 'app' order by random() limit 8",
      )
      terminated += rowCount ?? 0
    }
    await owner.end()
    for (const child of children) child.stdin.end()
    const results = await Promise.all(ended)
    expect(results.map(({ code, complaint }) => ({ code, complaint }))).toEqual(
      children.map(() => ({ code: 0, complaint: "" })),
    )
    const store = postgresStore({ connectionString })
    const sums = results.map(({ sum }) => sum)
    expect(await dailyBudgetIn(store.memories({ project: "storm" })).spentOn("2026-01-01")).toBe(
      sums.reduce((all, sum) => all + sum, 0),
    )
    expect(Math.min(...sums)).toBeGreaterThan(0)
    await store.close()
  })
})
