/**
 * A real PostgreSQL server for tests: the newest version from npm, or an installed one. It listens on loopback, in a directory of its own.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import pg from "pg"
import { newestPrograms } from "../../core/test/needs.ts"
import { migrate } from "../src/migrate.ts"

export { newestPrograms, oldestPrograms } from "../../core/test/needs.ts"

export interface TestServer {
  readonly port: number
  readonly directory: string
  /** The address of a database, by default for the role that owns everything. */
  url(database?: string, role?: string): string
  /** Creates a database with the schema and returns its address for the application's role. */
  database(): Promise<string>
  /** Kills the server without a checkpoint. Default: SIGQUIT, which ends its children too; with SIGKILL they notice it themselves. */
  kill(signal?: "SIGQUIT" | "SIGKILL"): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

export interface ServerOptions {
  /** The directory of `postgres` and `initdb`. Default: that of the newest version. */
  readonly programs?: string
  readonly settings?: Readonly<Record<string, string>>
  /** An existing data directory, for a standby. */
  readonly directory?: string
}

/** The account of the server, which refuses to run as root: that of the package, or one without privileges. */
export const account = ((): { readonly uid?: number; readonly gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string, name: string) => Number(execFileSync("id", [flag, name], { encoding: "utf8" }))
  const name = ["postgres", "nobody"].find((one) => {
    try {
      return idOf("-u", one) > 0
    } catch {
      return false
    }
  })
  return name === undefined ? {} : { uid: idOf("-u", name), gid: idOf("-g", name) }
})()

/** Gives a directory and its files to the account of the server. */
export function ownedByServer(directory: string): void {
  if (account.uid !== undefined) execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, directory])
}

const SETTINGS = { fsync: "off", max_connections: "200", shared_buffers: "64MB", log_min_messages: "fatal" }

export async function startServer({
  programs = newestPrograms(),
  settings = {},
  directory,
}: ServerOptions = {}): Promise<TestServer> {
  if (programs === undefined)
    throw new Error("There is no PostgreSQL for this platform. Install it, or skip this test.")
  const root = mkdtempSync(join(tmpdir(), "strata-postgres-"))
  const data = directory ?? join(root, "data")
  mkdirSync(join(root, "socket"))
  if (account.uid !== undefined) {
    for (const path of [root, join(root, "socket")]) chownSync(path, account.uid, account.gid!)
    // the directory of this test run, which the account must be able to enter
    if (basename(tmpdir()).startsWith("strata-")) chmodSync(tmpdir(), 0o711)
  }
  if (directory === undefined)
    execFileSync(
      join(programs, "initdb"),
      ["-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
      { ...account, stdio: "pipe", cwd: root },
    )
  const port = await freePort()
  const url = addressOn(port)
  let child: ChildProcess | undefined
  let guard: ChildProcess | undefined

  async function start(): Promise<void> {
    const given = Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    const process = spawn(
      join(programs!, "postgres"),
      ["-D", data, "-h", "127.0.0.1", "-p", String(port), "-k", join(root, "socket"), ...given],
      { ...account, stdio: ["ignore", "ignore", "pipe"], cwd: root },
    )
    child = process
    guard = stopWithThisProcess({ pid: process.pid!, root })
    let log = ""
    process.stderr!.on("data", (text: Buffer) => {
      log = (log + text.toString()).slice(-4_000)
    })
    for (;;) {
      if (process.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${log}`)
      if (await answers(url())) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async function end(signal: "SIGKILL" | "SIGINT" | "SIGQUIT"): Promise<void> {
    const ending = child
    child = undefined
    guard?.kill("SIGKILL")
    if (!ending || ending.exitCode !== null) return
    const isOver = new Promise((resolve) => ending.once("exit", resolve))
    ending.kill(signal)
    await isOver
  }

  let databases = 0

  await start()
  return {
    ...{ port, directory: data, url, start },
    async database() {
      const name = `strata_${++databases}`
      await run(url(), `create database ${name}`)
      await migrate({ connectionString: url(name) })
      await run(
        url(),
        "do $$ begin create role app login in role strata_app; exception when duplicate_object then null; end $$",
      )
      return url(name, "app")
    },
    kill: (signal = "SIGQUIT") => end(signal),
    async stop() {
      await end("SIGINT")
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** The address of a database on a test server, for the role that owns everything or another one. */
export const addressOn =
  (port: number) =>
  (database = "postgres", role = "owner") =>
    `postgres://${role}@127.0.0.1:${port}/${database}`

/** Stops the server of an interrupted or killed test run: the standard input of this shell ends with the process that started it. */
const stopWithThisProcess = ({ pid, root }: { readonly pid: number; readonly root: string }): ChildProcess =>
  spawn(
    "sh",
    ["-c", `read -r _; kill -INT "$0"; while kill -0 "$0"; do sleep 0.1; done; rm -rf "$1"`, String(pid), root],
    {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true, // so that a keyboard interrupt does not reach it
    },
  )

export async function run(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1_000 })
  client.on("error", () => undefined)
  try {
    await client.connect()
    await client.query("select 1")
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

export const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer()
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0))
    })
  })
