/**
 * Releases take effect even if the server was unreachable or an attempt arrives late, and a process does not release what it has lost to
 * others.
 */

import { ConversationLockedError } from "@strata/core"
import { CONSOLIDATE } from "@strata/core/store"
import pg from "pg"
import { describe, expect, test, vi } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"
import { type PostgresStoreOptions, postgresStore, StoreUnreachableError } from "../src/index.ts"
import { proxiedServer } from "./proxied-server.ts"
import { withClient } from "./standby.ts"
import { through } from "./tcp-proxy.ts"

const PROJECT = "p"
const CREATE = { access: "write", create: true } as const

describe("giving back", needs("postgres"), () => {
  const at = proxiedServer()

  function storeOf(options: PostgresStoreOptions) {
    const store = postgresStore(options.pool ? options : { connectionString: at.address, ...options })
    at.open.push(store)
    return store
  }
  const owner = () => at.server.url(new URL(at.address).pathname.slice(1))
  const asOwner = (sql: string) => withClient(owner(), (client) => client.query(sql))
  /** Runs work while calls that use these tables get no answer and have no effect. */
  async function whileAway(tables: string, work: () => Promise<void>): Promise<void> {
    await withClient(owner(), async (client) => {
      await client.query("begin")
      await client.query(`lock table ${tables} in access exclusive mode`)
      await work()
      await client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app' and datname = current_database()",
      )
      await client.query("rollback")
    })
  }

  test.runIf(isWhole)(
    "BEY-12 a conversation that could not be released is taken again by the same process",
    async () => {
      const store = storeOf({ tenant: "again", timeoutMs: 200, retryTimeoutMs: 200 })
      const kept = await store.open({ project: PROJECT, id: "kept" }, CREATE) // keeps the process renewing
      const where = { project: PROJECT, id: "c" }
      const journal = await store.open(where, CREATE)
      await expect(store.open(where, CREATE)).rejects.toThrow(ConversationLockedError)
      await whileAway("strata.journal", () => expect(journal.close()).rejects.toThrow(StoreUnreachableError))
      const again = await store.open(where, { access: "write" })
      expect(again.fence).toBeGreaterThan(journal.fence!)
      await again.close()
      await kept.close()
    },
  )

  test("BEY-12 what could not be released is free for other processes after the next renewal", async () => {
    const store = storeOf({ tenant: "others", timeoutMs: 200, retryTimeoutMs: 200, leaseSeconds: 2 })
    const kept = await store.open({ project: PROJECT, id: "kept" }, CREATE)
    const journal = await store.open({ project: PROJECT, id: "c" }, CREATE)
    await whileAway("strata.journal", () => expect(journal.close()).rejects.toThrow(StoreUnreachableError))
    const other = storeOf({ tenant: "others" })
    const taken = await vi.waitFor(() => other.open({ project: PROJECT, id: "c" }, { access: "write" }), 10_000)
    await taken.close()
    expect(await other.writerOf({ project: PROJECT, id: "kept" })).toBeDefined()
    await kept.close()
  })

  test.runIf(isWhole)(
    "BEY-12 a member that could not leave has left after the next renewal, and its name is free",
    async () => {
      const store = storeOf({ tenant: "members", timeoutMs: 200, retryTimeoutMs: 200, leaseSeconds: 2 })
      const kept = await store.open({ project: PROJECT, id: "kept" }, CREATE)
      const [here, elsewhere] = [store, storeOf({ tenant: "members" })].map((one) =>
        one.mailboxes({ project: PROJECT, team: "team" }),
      )
      const bob = await here!.join({ name: "bob", conversation: "c" })
      await whileAway("strata.member", () => expect(bob.leave(undefined)).rejects.toThrow(StoreUnreachableError))
      await vi.waitFor(async () => expect(await elsewhere!.members()).toEqual([]), 10_000)
      await (await elsewhere!.join({ name: "bob", conversation: "d" })).leave(undefined)
      await kept.close()
    },
  )

  test.runIf(isWhole)("BEY-12 a try that arrives after all was released takes nothing", async () => {
    const pool = new pg.Pool({ connectionString: through(at.proxy, at.address), max: 1 })
    at.open.push({ close: () => pool.end() })
    const [store, other] = [storeOf({ pool, tenant: "late", timeoutMs: 300 }), storeOf({ tenant: "late" })]
    const kept = await store.open({ project: PROJECT, id: "kept" }, CREATE)
    const agents = { project: PROJECT, name: "agents" }
    const takes: readonly (() => Promise<void>)[] = [
      async () => (await store.open({ project: PROJECT, id: "c" }, CREATE)).close(),
      async () => {
        const got = await store.permit(agents).take({ id: "a", max: 1 })
        if (got.state === "acquired") await got.permit.release()
      },
    ]
    for (const take of takes) {
      const deliver = at.proxy.holdBack()
      await take() // its first attempt hangs, and its second uses another connection
      deliver()
      await vi.waitFor(async () => {
        const { rowCount } = await asOwner(
          "select from pg_stat_activity where usename = 'app' and datname = current_database() and client_port is not null",
        )
        expect(rowCount).toBeLessThanOrEqual(at.proxy.open)
      }, 10_000)
    }
    expect(await other.writerOf({ project: PROJECT, id: "c" })).toBeUndefined()
    await (await other.open({ project: PROJECT, id: "c" }, { access: "write" })).close()
    expect((await other.permit(agents).take({ id: "b", max: 1 })).state).toBe("acquired")
    await kept.close()
  })

  /** Simulates a process that was paused for longer than its lease. */
  const pauseAll = (tenant: string) =>
    asOwner(`update strata.holder set until = clock_timestamp() - interval '1 second' where tenant = '${tenant}'`)

  test("BEY-12 a member that was replaced does not send its follower back to messages that were read", async () => {
    const [paused, next] = [storeOf({ tenant: "cursor" }), storeOf({ tenant: "cursor" })].map((store) =>
      store.mailboxes({ project: PROJECT, team: "team" }),
    )
    const member = { name: "bob", conversation: "c" }
    await paused!.join(member)
    for (const text of ["1", "2", "3"]) await paused!.send({ from: "a", to: ["bob"], content: { text } })
    const first = (await paused!.read(undefined)).messages[0]!.cursor
    await paused!.read(first, "bob")
    await pauseAll("cursor")
    const { cursor } = await next!.join(member)
    const read = await next!.read(cursor)
    expect(read.messages).toHaveLength(2)
    await next!.read(read.cursor, "bob")
    await paused!.read(first, "bob") // the process resumes
    await pauseAll("cursor")
    expect((await paused!.join(member)).cursor).toBe(read.cursor)
  })

  test("BEY-12 a permit that another process has taken over is not free because the first one leaves it", async () => {
    const [paused, next] = [storeOf({ tenant: "permit" }), storeOf({ tenant: "permit" })].map((store) =>
      store.permit({ project: PROJECT, name: CONSOLIDATE }),
    )
    const wanted = { id: "a", max: 1 }
    const first = await paused!.take(wanted)
    await pauseAll("permit")
    expect((await next!.take(wanted)).state).toBe("acquired")
    if (first.state === "acquired") await first.permit.release(new Date())
    expect(await paused!.state()).toEqual({ taken: 1 }) // nor does it record a completion time
    const refused = await paused!.take({ ...wanted, id: "b" })
    expect(refused).toMatchObject({ state: "full", taken: 1, by: { pid: process.pid, endsAfterSeconds: 30 } })
  })

  test.runIf(isWhole)("BEY-12 what is too large to be read again is not written", async () => {
    const store = storeOf({ tenant: "large" })
    const journal = await store.open({ project: PROJECT, id: "large" }, CREATE)
    await expect(journal.writeBlob("large.bin", Buffer.alloc(121 * 1024 * 1024))).rejects.toThrow(
      "A stored result of 121 MB is too large for PostgreSQL",
    )
    expect(await journal.readBlob("large.bin")).toBeUndefined()
    await journal.close()
  })
})
