import { describe, expect, test } from "vitest"
import { needs } from "../../../core/test/needs.ts"
import { entriesOf, textsOf } from "../../../store-contract/src/entries.ts"
import { postgresStore } from "../../src/index.ts"
import { SHORT_FAILOVERS } from "../fleet/sizes.ts"
import { newestPrograms, oldestPrograms, startServer, type TestServer } from "../server.ts"
import { promote, startStandby, waitForStandby, withClient } from "../standby.ts"
import { startProxy, through } from "../tcp-proxy.ts"
import { runFailovers } from "./failover.ts"

const servers = [
  { which: "the newest PostgreSQL", programs: newestPrograms(), needed: "postgres" },
  { which: "PostgreSQL 15", programs: oldestPrograms(), needed: "postgres15" },
] as const

test(
  "BEY-12 the primary is killed under load and the standby promoted: nothing acknowledged is lost",
  needs("postgres"),
  async () => {
    const seed = Number(process.env.FUZZ_SEED ?? 1)
    const { problems, figures } = await runFailovers({ programs: newestPrograms()!, seed, ...SHORT_FAILOVERS })
    expect(problems).toEqual([])
    expect(figures["entries acknowledged"]).toBeGreaterThan(50)
  },
)

for (const { which, programs, needed } of servers)
  describe(which, needs(needed), () => {
    test("BEY-12 a commit whose wait for the standby is cancelled is not acknowledged before the standby has it", async () => {
      const primary = await startServer({ programs: programs! })
      const address = await primary.database()
      const standby = await startStandby({ primary, programs: programs! })
      const proxy = await startProxy(primary.port)
      const store = postgresStore({ connectionString: through(proxy, address) })
      try {
        await waitForStandby(primary)
        const journal = await store.open({ project: "p", id: "c" }, { access: "write", create: true })
        const mailbox = store.mailboxes({ project: "p", team: "t" })
        await mailbox.send({ from: "a", to: ["b"], content: { n: 1 } })
        await standby.kill()
        let acknowledged = 0
        const count = () => void acknowledged++
        const writing = [
          journal.append([entriesOf("x").user("kept")]).then(count),
          mailbox.send({ from: "a", to: ["b"], content: { n: 2 } }).then(count),
        ]
        const first = await waiting(primary, 2)
        await withClient(primary.url(), (client) =>
          client.query("select pg_cancel_backend(unnest($1::int[]))", [first]),
        )
        const again = await waiting(primary, 2, first) // each has looked up its earlier write and waits again
        expect(again).toHaveLength(2)
        expect(acknowledged).toBe(0)
        await standby.start()
        await Promise.all(writing)
        await primary.kill("SIGKILL")
        await promote(standby)
        proxy.point(standby.port)
        proxy.cutAll()
        expect(textsOf((await journal.tail()).entries)).toBe("kept")
        const messages = (await mailbox.read(undefined)).messages.map(({ content }) => content.n)
        expect(messages).toEqual([1, 2])
        await mailbox.close()
        await journal.close()
      } finally {
        await store.close()
        await proxy.close()
        await standby.stop()
        await primary.stop()
      }
    })
  })

/** Ids of server processes of the application that wait for the standby: `count` of them, other than those in `before`. */
async function waiting({ url }: TestServer, count: number, before: readonly number[] = []): Promise<readonly number[]> {
  return withClient(url(), async (client) => {
    for (;;) {
      const { rows } = await client.query<{ pid: number }>(
        "select pid from pg_stat_activity where wait_event = 'SyncRep' and usename = 'app' and pid <> all ($1) and query not like '%renew%'",
        [before],
      )
      if (rows.length >= count) return rows.map(({ pid }) => pid)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })
}
