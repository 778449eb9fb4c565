/** Pools shared by the stores of one process: a thousand tenants with one address need no more connections than one. */
import { StrataError } from "@strata/core"
import pg, { type Pool, type PoolClient } from "pg"

export interface PoolHandle {
  readonly pool: Pool
  /** For messages to users. It never contains a password. */
  readonly description: string
  /** Ends the pool if no other store uses it. */
  end(): Promise<void>
}

const MAX_CONNECTIONS = 10
const CONNECT_MS = 10_000

interface SharedPool {
  readonly pool: Pool
  users: number
}

const shared = new Map<string, SharedPool>()

/** Returns the pool for an address. `maxMs` limits the time to connect. */
export function sharedPool(connectionString: string, maxMs = CONNECT_MS): PoolHandle {
  checkAddress(connectionString)
  const connectMs = Math.min(CONNECT_MS, maxMs)
  const key = `${connectMs} ${connectionString}`
  const found = shared.get(key) ?? { pool: newPool(connectionString, connectMs), users: 0 }
  shared.set(key, found)
  found.users++
  let isOver = false
  return {
    pool: found.pool,
    description: describe(connectionString),
    async end() {
      if (isOver) return
      isOver = true
      if (--found.users > 0) return
      shared.delete(key)
      await found.pool.end()
    },
  }
}

function newPool(connectionString: string, connectMs: number): Pool {
  return new pg.Pool({
    connectionString,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    allowExitOnIdle: true, // the process may exit if it has nothing else to do
  })
}

/**
 * Adds an error listener to each connection when it is made. Without one, a connection that the server ends would crash the process: the
 * pool removes its own listener when it hands out a new connection, and the server's last message may be in the same read. A running query
 * fails with its own error.
 */
export function addErrorListeners(pool: Pool): void {
  if (pool.listenerCount("error") === 0) pool.on("error", ignore) // for idle connections
  if (!pool.listeners("connect").includes(addErrorListener)) pool.on("connect", addErrorListener)
}

function addErrorListener(client: PoolClient): void {
  if (!client.listeners("error").includes(ignore)) client.on("error", ignore)
}

const ignore = () => undefined

/** A free connection. A custom pool may let callers wait indefinitely, so this function has a timeout. */
export async function acquireConnection(pool: Pool, timeoutMs: number): Promise<PoolClient> {
  const asked = pool.connect()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error("timeout exceeded: no connection was free")), timeoutMs)
  try {
    const client = await Promise.race([asked, late.promise])
    addErrorListener(client) // the pool may have made the connection before this store used it
    return client
  } catch (error) {
    void asked.then(
      (client) => client.release(),
      () => undefined,
    )
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Host and database. */
function describe(connectionString: string): string {
  const { host, pathname } = urlIn(connectionString) ?? { host: "", pathname: "" }
  return `PostgreSQL at ${host || "this machine"}${pathname}`
}

/** The path of a socket is an address too. */
const SOCKET = /^(?:\/|socket:)/

/** Throws if `pg` would read a part of the password as host or database, which are displayed and sent to others. */
export function checkAddress(connectionString: string): void {
  if (SOCKET.test(connectionString)) return
  const url = urlIn(connectionString)
  const isWhole = url && !url.pathname.includes("@") && url.hash === "" && ![...url.searchParams.keys()].some(hasAt)
  if (isWhole) return
  throw new StrataError(
    "The address of the database cannot be read. Nothing was opened. The expected form is postgres://user:password@host:5432/database. In a password, percent-encode the characters / ? # @ : %, such as %2F.",
    { code: "postgres-address" },
  )
}

const hasAt = (name: string) => name.includes("@")

function urlIn(connectionString: string): URL | undefined {
  if (!/^postgres(?:ql)?:\/\//i.test(connectionString)) return undefined
  try {
    return new URL(connectionString.replace("@/", "@localhost/")) // `pg` takes one without a host
  } catch {
    return undefined
  }
}
