/** A transaction pooler in front of a server: Debian's pgbouncer, where it is installed. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createConnection } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { PGBOUNCER } from "../../core/test/needs.ts"
import { account, freePort, ownedByServer, type TestServer } from "./server.ts"

export interface TestPooler {
  readonly port: number
  stop(): Promise<void>
}

export interface PoolerOptions {
  readonly server: Pick<TestServer, "port">
  /** Number of connections to the server. */
  readonly connections: number
}

export async function startPooler({ server, connections }: PoolerOptions): Promise<TestPooler> {
  const root = mkdtempSync(join(tmpdir(), "strata-pooler-"))
  const port = await freePort()
  const settings = {
    ...{ listen_addr: "127.0.0.1", listen_port: port, unix_socket_dir: "" },
    ...{ auth_type: "any", pool_mode: "transaction", default_pool_size: connections, max_client_conn: 500 },
    server_login_retry: 1, // seconds before a restarted server is tried again
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const file = join(root, "pgbouncer.ini")
  writeFileSync(
    file,
    `[databases]\n* = host=127.0.0.1 port=${server.port} user=app\n[pgbouncer]\n${lines.join("\n")}\n`,
  )
  ownedByServer(root)
  const child = spawn(PGBOUNCER, ["-q", file], { ...account, stdio: ["ignore", "ignore", "pipe"] })
  let output = ""
  child.stderr!.on("data", (text: Buffer) => {
    output = (output + text.toString()).slice(-2_000)
  })
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer did not start:\n${output}`)
    await wait(20)
  }
  return {
    port,
    async stop() {
      const isOver = once(child, "exit")
      child.kill("SIGKILL")
      await isOver
      rmSync(root, { recursive: true, force: true })
    },
  }
}

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = createConnection(port, "127.0.0.1")
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })
