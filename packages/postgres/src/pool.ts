/** Pools that stores of one process share: a thousand tenants with one address need no more connections than one. */
import { StrataError } from "@strata/core"
import pg, { type Pool, type PoolClient } from "pg"

export interface PoolUse {
  readonly pool: Pool
  /** For messages to a person: never with a password. */
  readonly description: string
  /** Ends the pool if no one else uses it. */
  end(): Promise<void>
}

const MAX_CONNECTIONS = 10
const CONNECT_MS = 10_000

interface Shared {
  readonly pool: Pool
  users: number
}

const shared = new Map<string, Shared>()

/** `mostMs`: connecting takes no longer. */
export function sharedPool(connectionString: string, maxMs = CONNECT_MS): PoolUse {
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
    allowExitOnIdle: true, // a process that has nothing else to do ends
  })
}

/**
 * Without a listener for errors, a connection that the server ends would end the process. The pool takes its own listener off when it hands a
 * new connection over, and the server's last message may be in the same read: so each connection gets one when it is made, and keeps it. A
 * query that was under way fails by itself.
 */
export function keepErrorListeners(pool: Pool): void {
  if (pool.listenerCount("error") === 0) pool.on("error", ignore) // idle connections
  if (!pool.listeners("connect").includes(addErrorListener)) pool.on("connect", addErrorListener)
}

function addErrorListener(client: PoolClient): void {
  if (!client.listeners("error").includes(ignore)) client.on("error", ignore)
}

const ignore = () => undefined

/** A free connection. A pool that someone else made may let callers wait for ever, so this one gives up. */
export async function connectionOf(pool: Pool, timeoutMs: number): Promise<PoolClient> {
  const asked = pool.connect()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error("timeout exceeded: no connection was free")), timeoutMs)
  try {
    const client = await Promise.race([asked, late.promise])
    addErrorListener(client) // the pool may have made it before it was ours to use
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

/** A socket's path is an address too. */
const SOCKET = /^(?:\/|socket:)/

/** Throws where `pg` would take a part of the password for the host or the database: those are shown, and sent to others. */
export function checkAddress(connectionString: string): void {
  if (SOCKET.test(connectionString)) return
  const url = urlIn(connectionString)
  const isWhole = url && !url.pathname.includes("@") && url.hash === "" && ![...url.searchParams.keys()].some(hasAt)
  if (isWhole) return
  throw new StrataError(
    "The address of the database cannot be read. Nothing was opened. It looks like postgres://user:password@host:5432/database, and in a password each of / ? # @ : % is written as its code, such as %2F.",
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
