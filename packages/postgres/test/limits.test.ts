/** Results of calls when the server does not answer, or refuses: within their limits, in plain sentences, without a password. */

import { readFileSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { dailyBudgetIn } from "@strata/core/store"
import pg from "pg"
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"
import { entriesOf, textsOf } from "../../store-contract/src/entries.ts"
import { type PostgresStoreOptions, postgresStore, StoreUnreachableError } from "../src/index.ts"
import { startServer, type TestServer } from "./server.ts"
import { withClient } from "./standby.ts"
import { startProxy, through } from "./tcp-proxy.ts"

const DAY = "2026-01-01"

describe("limits", needs("postgres"), () => {
  let server: TestServer
  let address: string
  const open: { close(): Promise<void> }[] = []
  beforeAll(async () => {
    server = await startServer()
    address = await server.database()
  })
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close()
  })
  afterAll(() => server?.stop())

  function storeOf(options: PostgresStoreOptions) {
    const store = postgresStore(options)
    open.push(store)
    return store
  }
  const owner = () => server.url(new URL(address).pathname.slice(1))
  const withPassword = (connectionString: string) => connectionString.replace("//app@", "//app:geheim@")
  /** Waits, as the application does, for a lock that another session holds. */
  async function whileLocked(table: string, work: () => Promise<void>): Promise<void> {
    await withClient(owner(), async (client) => {
      await client.query("begin")
      await client.query(`lock table ${table} in access exclusive mode`)
      await work()
      await client.query("rollback")
    })
  }

  test("BEY-12 a call that hangs is given up, tried again, and then the store cannot be reached: no password is in the sentence", async () => {
    const store = storeOf({ connectionString: withPassword(address), timeoutMs: 100, retryTimeoutMs: 300 })
    await whileLocked("strata.memory_file", async () => {
      const failed = await dailyBudgetIn(store.memories({ project: "p" }))
        .spentOn(DAY)
        .catch((error: unknown) => error)
      expect(failed).toBeInstanceOf(StoreUnreachableError)
      expect(String(failed)).toContain("The database did not answer (Query read timeout).")
      expect(String(failed) + JSON.stringify(failed)).not.toContain("geheim")
      const { rows } = await withClient(owner(), (client) =>
        client.query("select from pg_stat_activity where usename = 'app' and query like '%memory_read%'"),
      )
      expect(rows.length).toBeGreaterThan(1) // tried more than once
    })
    expect(await dailyBudgetIn(store.memories({ project: "p" })).spentOn(DAY)).toBe(0)
  })

  test.runIf(isWhole)(
    "BEY-12 a write that was given up and made after all: the next one says so, and opening again finds it",
    async () => {
      const store = storeOf({ connectionString: address, timeoutMs: 100, retryTimeoutMs: 100 })
      const where = { project: "p", id: "given-up" }
      const journal = await store.open(where, { access: "write", create: true })
      const entries = entriesOf("given up")
      await withClient(owner(), async (client) => {
        await client.query("begin")
        await client.query("select from strata.journal where id = 'given-up' for update")
        await expect(journal.append([entries.user("in doubt")])).rejects.toThrow(StoreUnreachableError)
        await client.query("commit")
        while ((await client.query("select from strata.line")).rowCount === 0) await wait(10)
      })
      await expect(journal.append([entries.user("next")])).rejects.toThrow(/was made after all.*open it again/)
      await journal.close()
      const again = await store.open(where, { access: "write" })
      await again.append([entries.user("next")])
      expect(textsOf((await again.tail()).entries)).toBe("in doubt next")
      await again.close()
    },
  )

  test("BEY-12 a call that hangs is tried again, also where one try takes longer than the patience", async () => {
    const proxy = await startProxy(server.port)
    open.push(proxy)
    const pool = new pg.Pool({ connectionString: through(proxy, address), max: 1 })
    open.push({ close: () => pool.end() })
    const store = storeOf({ pool, timeoutMs: 100, retryTimeoutMs: 1 })
    expect(await dailyBudgetIn(store.memories({ project: "p" })).spentOn(DAY)).toBe(0)
    proxy.holdBack() // the pool's connection is dead from now on, without an error
    expect(await dailyBudgetIn(store.memories({ project: "p" })).spentOn(DAY)).toBe(0)
  })

  test("BEY-12 a pool whose connections are all in use: the call ends, and what it waited for is released", async () => {
    const pool = new pg.Pool({ connectionString: address, max: 1 })
    open.push({ close: () => pool.end() })
    const store = storeOf({ pool, timeoutMs: 50, retryTimeoutMs: 100 })
    const taken = await pool.connect()
    await expect(dailyBudgetIn(store.memories({ project: "p" })).spentOn(DAY)).rejects.toThrow(
      /did not answer \(timeout exceeded: no connection was free\)/,
    )
    taken.release()
    expect(await dailyBudgetIn(store.memories({ project: "p" })).spentOn(DAY)).toBe(0)
    expect(pool.idleCount).toBe(pool.totalCount)
  })

  test.runIf(isWhole)(
    "BEY-12 a call that begins in the middle of an outage does not wait for as long again",
    async () => {
      const pool = new pg.Pool({ host: "127.0.0.1", port: 1 })
      const tries = vi.spyOn(pool, "connect")
      const store = storeOf({ pool, retryTimeoutMs: 1_000 })
      await expect(store.projects()).rejects.toThrow("The database did not answer (ECONNREFUSED). Nothing was read")
      expect(tries.mock.calls.length).toBeGreaterThan(3)
      tries.mockClear()
      await expect(store.projects()).rejects.toThrow(StoreUnreachableError)
      expect(tries).toHaveBeenCalledTimes(2)
      await pool.end()
    },
  )

  test("BEY-12 who finds a conversation open hears when a process that was killed has lost it", async () => {
    const [one, other] = [
      storeOf({ connectionString: address, tenant: "seconds" }),
      storeOf({ connectionString: address, tenant: "seconds", leaseSeconds: 20 }),
    ]
    const journal = await one.open({ project: "p", id: "c" }, { access: "write", create: true })
    const second = other.open({ project: "p", id: "c" }, { access: "write" })
    await expect(second).rejects.toThrow("If that process was killed, the lock ends by itself within 20 seconds.")
    await journal.close()
  })

  test.runIf(isWhole)(
    "BEY-12 a program is informed when calls wait for the server, once for all of them, and when it answers",
    async () => {
      const notices: boolean[] = []
      const began = Promise.withResolvers<void>()
      const proxy = await startProxy(server.port)
      open.push(proxy)
      const store = storeOf({
        connectionString: through(proxy, address),
        onWaiting: (isWaiting) => {
          notices.push(isWaiting)
          began.resolve()
        },
      })
      await store.projects()
      expect(notices).toEqual([])
      proxy.point(1)
      proxy.cutAll()
      const calls = [store.projects(), store.projects()]
      await began.promise
      proxy.point(server.port)
      await Promise.all(calls)
      expect(notices).toEqual([true, false])
    },
  )

  test("BEY-12 without patience a server that is away is asked once", async () => {
    let connections = 0
    const silent = createServer((socket) => {
      connections++
      socket.resume().on("error", () => undefined) // it ends with the client's end
    })
    await new Promise<void>((resolve) => void silent.listen(0, "127.0.0.1", resolve))
    const { port } = silent.address() as AddressInfo
    const store = storeOf({
      connectionString: `postgres://app@127.0.0.1:${port}/none`,
      retryTimeoutMs: 0,
      timeoutMs: 100,
    })
    await expect(store.projects()).rejects.toThrow("did not answer")
    expect(connections).toBe(1)
    silent.close()
  })

  test.runIf(isWhole)("BEY-12 a server that is away and starts again: calls wait for it", async () => {
    const store = storeOf({ connectionString: address })
    await dailyBudgetIn(store.memories({ project: "p" })).spentOn(DAY)
    await server.kill()
    const added = Promise.all(
      Array.from({ length: 5 }, () => dailyBudgetIn(store.memories({ project: "starts" })).add(1, DAY)),
    )
    await server.start()
    await added
    expect(await dailyBudgetIn(store.memories({ project: "starts" })).spentOn(DAY)).toBe(5)
  })

  test.for([
    ["57P03", "the server is starting up"],
    ["53300", "too many connections"],
    ["25006", "the server is read only: it was the primary before"],
    ["55P03", "a lock is not free within the server's own limit"],
    ["40P01", "a deadlock"],
  ])("BEY-12 %s, %s: the call is made again", async ([code]) => {
    const store = storeOf({ connectionString: address })
    await failing({ code: code!, times: 2 }, async () => {
      expect(await dailyBudgetIn(store.memories({ project: `p-${code}` })).add(1, DAY)).toBe(1)
    })
  })

  test("BEY-12 a full disk is not tried again: the sentence says what to do", async () => {
    const store = storeOf({ connectionString: address })
    await failing({ code: "53100", times: 1 }, async () => {
      await expect(dailyBudgetIn(store.memories({ project: "full" })).add(1, DAY)).rejects.toThrow(
        /53100.*everything acknowledged is kept.*make room, then try again/s,
      )
      expect(await dailyBudgetIn(store.memories({ project: "full" })).add(1, DAY)).toBe(1) // the failed addition was not counted
    })
  })

  /** Makes the next additions to a total fail with an error of the server. A sequence counts them, because it is not rolled back. */
  async function failing(
    { code, times }: { readonly code: string; readonly times: number },
    work: () => Promise<void>,
  ) {
    await withClient(owner(), (client) =>
      client.query(`
        create sequence public.failures;
        grant usage on sequence public.failures to strata_app;
        create function public.fail() returns trigger language plpgsql as $$ begin
          if nextval('public.failures') <= ${times} then raise exception 'it fails' using errcode = '${code}'; end if;
          return new;
        end $$;
        create trigger fail before insert on strata.memory_file for each row execute function public.fail();`),
    )
    try {
      await work()
    } finally {
      await withClient(owner(), (client) =>
        client.query(
          "drop trigger fail on strata.memory_file; drop function public.fail; drop sequence public.failures",
        ),
      )
    }
  }

  test("BEY-12 a wrong password fails at once, with a plain sentence", async () => {
    const file = join(server.directory, "pg_hba.conf")
    writeFileSync(file, `host all guarded 127.0.0.1/32 scram-sha-256\n${readFileSync(file, "utf8")}`)
    await withClient(owner(), (client) =>
      client.query("create role guarded login password 'right'; select pg_reload_conf()"),
    )
    const connectionString = owner().replace("//owner@", "//guarded:geheim@")
    // until the server has read the file
    while (await withClient(connectionString, async () => true).catch(() => false)) await wait(10)
    const store = storeOf({ connectionString })
    const failed = await store.projects().catch((error: unknown) => error)
    expect(failed).not.toBeInstanceOf(StoreUnreachableError)
    expect(String(failed)).toMatch(
      /The database refused the connection \(28P01: .*Nothing was read or written\. Check the user, the password/,
    )
    expect(String(failed)).not.toContain("geheim")
  })
})
