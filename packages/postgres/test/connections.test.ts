/** Connections that break, hang or are too few: the process continues, and every call is made once. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as wait } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { dailyBudgetIn } from "@strata/core/store"
import pg from "pg"
import { describe, expect, test } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"
import { entriesOf, textsOf } from "../../store-contract/src/entries.ts"
import { ChangeNotifier } from "../src/change-notifier.ts"
import { Database } from "../src/database.ts"
import { type PostgresStore, type PostgresStoreOptions, postgresStore } from "../src/index.ts"
import { ProcessLease } from "../src/process-lease.ts"
import { proxiedServer } from "./proxied-server.ts"
import { through } from "./tcp-proxy.ts"

const PROJECT = "p"

describe("connections", needs("postgres"), () => {
  const at = proxiedServer()

  let tenants = 0
  function storeOf(options: PostgresStoreOptions = {}): PostgresStore {
    const by = options.pool ? {} : { connectionString: through(at.proxy, at.address) }
    const store = postgresStore({ tenant: `t${++tenants}`, ...by, ...options })
    at.open.push(store)
    return store
  }
  function poolOf(options: pg.PoolConfig): pg.Pool {
    const pool = new pg.Pool({ connectionString: through(at.proxy, at.address), ...options })
    at.open.push({ close: () => pool.end() })
    return pool
  }
  const asOwner = async (sql: string, values: unknown[] = []) => {
    const client = new pg.Client({ connectionString: at.server.url(new URL(at.address).pathname.slice(1)) })
    await client.connect()
    try {
      return (await client.query(sql, values)).rows as Record<string, unknown>[]
    } finally {
      await client.end()
    }
  }

  test.runIf(isWhole)(
    "BEY-12 a connection that is cut in the middle of a call does not end the process, and the call is made once",
    async () => {
      const store = storeOf()
      const journal = await store.open({ project: PROJECT, id: "cut" }, { access: "write", create: true })
      const entries = entriesOf("cut")
      for (let n = 0; n < 20; n++) {
        for (let which = 0; which < 5; which++) at.proxy.swallowAnswer(which)
        await journal.append([entries.user(String(n))])
        await dailyBudgetIn(store.memories({ project: PROJECT })).add(1, "2026-01-01")
      }
      expect(textsOf((await journal.tail()).entries)).toBe(Array.from({ length: 20 }, (_, n) => n).join(" "))
      expect(await dailyBudgetIn(store.memories({ project: PROJECT })).spentOn("2026-01-01")).toBe(20)
      await journal.close()
    },
  )

  test("BEY-12 a listener that is lost again and again takes no slot of the pool", async () => {
    const pool = poolOf({ max: 3 })
    pool.on("error", () => undefined)
    const arrivals = new ChangeNotifier(pool, { pauseMs: 0 })
    at.open.push(arrivals)
    for (let n = 0; n < 5; n++) {
      const ended = new AbortController()
      const woken = listening(arrivals, ended.signal)
      await until(async () => (await listeners()) > 0)
      at.proxy.cutAll()
      ended.abort()
      await woken
    }
    await until(async () => pool.totalCount === pool.idleCount)
  })

  /** Waits until it is aborted, as a mailbox does. */
  async function listening(arrivals: ChangeNotifier, signal: AbortSignal): Promise<void> {
    for (let tries = 0; !signal.aborted; tries++) {
      const since = arrivals.wakes("strata_some")
      await arrivals.next("strata_some", { tries, since, signal })
    }
  }
  const listeners = async () =>
    Number(
      (
        await asOwner(
          "select count(*) as n from pg_stat_activity where datname = current_database() and query ilike 'listen %' and query not ilike '%probe%'",
        )
      )[0]!.n,
    )

  test("BEY-12 a notice that is here before the answer that does not know it is not missed", async () => {
    const arrivals = new ChangeNotifier(poolOf({ max: 2 }))
    at.open.push(arrivals)
    const since = arrivals.wakes("strata_early")
    arrivals.wake("strata_early") // before the caller waits
    const looked = arrivals.next("strata_early", { tries: 10, since, signal: new AbortController().signal })
    const first = await Promise.race([looked.then(() => "looks again"), nextTurn().then(() => "waits")])
    expect(first).toBe("looks again")
  })

  test("BEY-12 a pool with one connection does not listen, and messages arrive", async () => {
    const store = storeOf({ pool: poolOf({ max: 1 }), timeoutMs: 2_000 })
    const mailbox = store.mailboxes({ project: PROJECT, team: "one" })
    const arrival = mailbox.arrival(undefined, new AbortController().signal)
    await mailbox.send({ from: "a", to: ["b"], content: { text: "hello" } })
    await arrival
    expect((await mailbox.read(undefined)).messages).toHaveLength(1)
    await mailbox.close()
  })

  test("BEY-12 a wait for messages ends when it is aborted, also while the connection hangs", async () => {
    const store = storeOf()
    const mailbox = store.mailboxes({ project: PROJECT, team: "hanging" })
    await mailbox.send({ from: "a", to: ["b"], content: {} })
    const { cursor } = await mailbox.read(undefined)
    const over = new AbortController()
    const arrivals = new ChangeNotifier(poolOf({ max: 2 }))
    at.open.push(arrivals)
    const deliver = at.proxy.holdBack()
    const waiting = arrivals.next("strata_hangs", { tries: 0, since: 0, signal: over.signal })
    over.abort()
    await waiting
    deliver()
    at.proxy.cutAll()
    expect((await mailbox.read(cursor)).messages).toEqual([])
    await mailbox.close()
  })

  test.runIf(isWhole)(
    "BEY-12 what the network delivers late changes nothing: the call was repeated, and others were made since",
    async () => {
      const store = storeOf({ timeoutMs: 300, pool: poolOf({ max: 1 }) })
      const journal = await store.open({ project: PROJECT, id: "late" }, { access: "write", create: true })
      const entries = entriesOf("late")
      const files = store.memories({ project: PROJECT })
      const log = store.log({ project: PROJECT, name: "callers" })
      const mailbox = store.mailboxes({ project: PROJECT, team: "late" })
      await mailbox.send({ from: "a", to: ["b"], content: { text: "before" } })
      const writes: Record<string, (n: string) => Promise<unknown>> = {
        append: (n) => journal.append([entries.user(n)]),
        blob: (n) => journal.writeBlob("blob.txt", n),
        notes: (n) => journal.writeNotes(n),
        memory: (n) => files.install([{ path: "memory.md", text: n }]),
        sum: () => dailyBudgetIn(store.memories({ project: PROJECT })).add(1, "2026-01-01"),
        log: (n) => log.append(n),
        send: (text) => mailbox.send({ from: "a", to: ["b"], content: { text } }),
      }
      for (const write of Object.values(writes)) {
        const deliver = at.proxy.holdBack() // data of the pool's connection is delayed from now on, until the test delivers it
        await write("first") // its first attempt hangs, and its second uses another connection
        await write("second")
        deliver()
        await until(async () => (await backends()) <= at.proxy.open) // the backend with the delayed call has run it and ended
      }
      expect(textsOf((await journal.tail()).entries)).toBe("first second")
      expect((await journal.readBlob("blob.txt"))?.toString()).toBe("second")
      expect(await journal.readNotes()).toBe("second")
      expect(await files.read("memory.md")).toBe("second")
      expect(await dailyBudgetIn(store.memories({ project: PROJECT })).spentOn("2026-01-01")).toBe(2)
      expect(await log.read()).toEqual(["first", "second"])
      const texts = (await mailbox.read(undefined)).messages.map(({ content }) => content.text)
      expect(texts).toEqual(["before", "first", "second"])
      await mailbox.close()
      await journal.close()
    },
  )

  const backends = async () =>
    Number(
      (
        await asOwner(
          "select count(*) as n from pg_stat_activity where usename = 'app' and datname = current_database()",
        )
      )[0]!.n,
    )

  test("BEY-12 a try that is still on its way and its repetition are one line of a log", async () => {
    const database = new URL(at.address).pathname.slice(1)
    const one = new pg.Client({ connectionString: at.server.url(database, "app") })
    const two = new pg.Client({ connectionString: at.server.url(database, "app") })
    await Promise.all([one.connect(), two.connect()])
    const append =
      "select strata.log_append('x', '0b1c2d3e-0000-4000-8000-000000000001', 'p', 'callers', 'once'::bytea)"
    await one.query("begin")
    await one.query(append)
    const repeated = two.query(append)
    await one.query("commit")
    await repeated
    await Promise.all([one.end(), two.end()])
    const lines = await asOwner("select from strata.log_line where tenant = 'x'")
    expect(lines).toHaveLength(1)
  })

  test.runIf(isWhole)(
    "BEY-12 a conversation whose row is locked does not keep the process from renewing what else it holds",
    async () => {
      const tenant = "renewing"
      const store = storeOf({ tenant, leaseSeconds: 2, timeoutMs: 60_000 })
      const other = storeOf({ tenant, leaseSeconds: 2 })
      const kept = await store.open({ project: PROJECT, id: "kept" }, { access: "write", create: true })
      await (await store.open({ project: PROJECT, id: "locked" }, { access: "write", create: true })).close()
      const locker = new pg.Client({ connectionString: at.server.url(new URL(at.address).pathname.slice(1)) })
      await locker.connect()
      await locker.query("begin")
      await locker.query("select from strata.journal where id = 'locked' for update")
      const opening = store.open({ project: PROJECT, id: "locked" }, { access: "write" })
      await until(
        async () =>
          (
            await asOwner(
              "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
            )
          ).length > 0,
      )
      const [before] = await asOwner("select max(until) as until from strata.holder where tenant = $1", [tenant])
      await until(async () => {
        const [now] = await asOwner("select max(until) as until from strata.holder where tenant = $1", [tenant])
        return Number(now!.until) - Number(before!.until) > 2_000
      })
      expect(await other.writerOf({ project: PROJECT, id: "kept" })).toMatchObject({ pid: process.pid })
      await locker.query("commit")
      await locker.end()
      await (await opening).close()
      await kept.close()
    },
  )

  test("BEY-12 a process that was paused leaves no permit that another has taken since", async () => {
    const tenant = "permits"
    const [paused, other] = [storeOf({ tenant }), storeOf({ tenant })]
    const agents = { project: PROJECT, name: "agents" }
    const wanted = { id: "one", max: 1 }
    const taken = await paused.permit(agents).take(wanted)
    await asOwner("update strata.holder set until = now() - interval '1 second' where tenant = $1", [tenant])
    const takenAgain = await other.permit(agents).take(wanted)
    if (taken.state === "acquired") await taken.permit.release()
    expect(await other.permit(agents).take({ id: "two", max: 1 })).toMatchObject({ state: "full", taken: 1 })
    if (takenAgain.state === "acquired") await takenAgain.permit.release()
    expect((await other.permit(agents).take({ id: "two", max: 1 })).state).toBe("acquired")
  })

  test("BEY-12 conversations that are opened and closed while a renewal is on its way add no renewals", async () => {
    const answers: (() => void)[] = []
    // a pool that provides connections when the test decides
    const pool = {
      ...SILENT_POOL,
      connect: () => new Promise((_, reject) => answers.push(() => reject(new Error("no")))),
    }
    const database = new Database({ pool: pool as unknown as pg.Pool })
    const holder = new ProcessLease({ database, tenant: "", leaseSeconds: 0.006 })
    const first = holder.keep()
    await until(async () => answers.length === 1)
    first()
    const second = holder.keep()
    for (let turn = 0; turn < 20; turn++) await wait(1)
    expect(answers).toHaveLength(1)
    second()
    for (const answer of answers) answer()
  })

  test.runIf(isWhole)(
    "BEY-12 a process that only waits for a server that is away stays until it has its answer",
    async () => {
      const source = `
      import { postgresStore } from ${JSON.stringify(fileURLToPath(new URL("../src/postgres-store.ts", import.meta.url)))}
      const store = postgresStore({ connectionString: "postgres://app@127.0.0.1:1/none", patienceMs: 500 })
      await store.projects().catch((error) => console.log(error.name))`
      const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
        stdio: ["ignore", "pipe", "inherit"],
      })
      let output = ""
      child.stdout!.on("data", (text: Buffer) => {
        output += text.toString()
      })
      await once(child, "close")
      expect(output.trim()).toBe("StoreUnreachableError")
    },
  )
})

const SILENT_POOL = { listenerCount: () => 1, listeners: () => [], on: () => undefined }

const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve))

/** Waits for a condition of the server's own state. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10))
}
