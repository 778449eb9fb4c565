/** A standby of a server, made like a backup: the directory is copied while the primary runs, between two calls of the server. */
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import pg from "pg"
import { ownedByServer, startServer, type TestServer } from "./server.ts"

/** Files that belong to the running primary, and its settings. */
const LEFT_OUT =
  /\/(?:postmaster\.(?:pid|opts)|pg_replslot\/.+|pg_wal\/.+|standby\.signal|backup_label\.old|postgresql\.auto\.conf)$/

export interface StandbyOptions {
  readonly primary: TestServer
  readonly programs: string
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts a standby that follows the primary under the name `standby`. */
export async function startStandby({ primary, programs, settings = {} }: StandbyOptions): Promise<TestServer> {
  const root = mkdtempSync(join(tmpdir(), "strata-standby-"))
  const directory = join(root, "data")
  await withClient(primary.url(), async (client) => {
    await client.query("select pg_backup_start('standby', true)")
    const isLeftOut = (path: string) => LEFT_OUT.test(path.slice(primary.directory.length))
    cpSync(primary.directory, directory, {
      recursive: true,
      filter: (path) => existsSync(path) && !isLeftOut(path),
    })
    const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop(false)")
    writeFileSync(join(directory, "backup_label"), rows[0]!.labelfile)
    writeFileSync(join(directory, "standby.signal"), "")
    chmodSync(directory, 0o700)
    ownedByServer(root)
  })
  const standby = await startServer({
    ...{ programs, directory },
    settings: {
      ...settings,
      primary_conninfo: `host=127.0.0.1 port=${primary.port} user=owner application_name=standby`,
      hot_standby: "on",
    },
  })
  return {
    ...standby,
    async stop() {
      await standby.stop()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Makes the server wait for the standby with each commit from now on. */
export async function waitForStandby({ url }: TestServer): Promise<void> {
  await withClient(url(), async (client) => {
    await client.query("alter system set synchronous_standby_names = 'standby'")
    await client.query("select pg_reload_conf()")
    const follows = "select from pg_stat_replication where sync_state = 'sync' and state = 'streaming'"
    while ((await client.query(follows)).rowCount === 0) await wait(10)
  })
}

/** Promotes a standby to primary. */
export async function promote({ url }: TestServer): Promise<void> {
  await withClient(url(), (client) => client.query("select pg_promote()"))
}

/** Runs work with a connection of the role that owns everything. */
export async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
