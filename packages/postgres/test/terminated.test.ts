/** A server that ends connections: the process continues, and the call is repeated. */

import type { AddressInfo } from "node:net"
import { createServer } from "node:net"
import pg from "pg"
import { afterEach, expect, test } from "vitest"
import { postgresStore, StoreUnreachableError } from "../src/index.ts"

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const message = (type: string, content: Buffer): Buffer => {
  const size = Buffer.alloc(4)
  size.writeInt32BE(content.length + 4)
  return Buffer.concat([Buffer.from(type), size, content])
}
const AUTHENTICATION_OK = message("R", Buffer.alloc(4))
const READY_FOR_QUERY = message("Z", Buffer.from("I"))
const TERMINATED = message(
  "E",
  Buffer.from("SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"),
)

/**
 * Starts a server that ends each connection as soon as it is ready, so that the client gets both messages in one read. Returns its address.
 */
async function terminatingServer(): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined) // the client has disconnected
    socket.once("data", () => socket.end(Buffer.concat([AUTHENTICATION_OK, READY_FOR_QUERY, TERMINATED])))
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  ends.push(() => server.close())
  return `postgres://app@127.0.0.1:${(server.address() as AddressInfo).port}/none`
}

test.for(["a pool of our own", "a pool that is passed"])(
  "BEY-12 a connection that ends in the read in which it was ready does not end the process: %s",
  async (whose) => {
    const uncaught: unknown[] = []
    const onUncaught = (error: unknown) => void uncaught.push(error)
    process.on("uncaughtExceptionMonitor", onUncaught)
    ends.push(() => process.off("uncaughtExceptionMonitor", onUncaught))
    const connectionString = await terminatingServer()
    const pool = new pg.Pool({ connectionString })
    ends.push(() => pool.end())
    const by = whose === "a pool of our own" ? { connectionString } : { pool }
    const store = postgresStore({ ...by, retryTimeoutMs: 0, timeoutMs: 2_000 })
    ends.push(() => store.close())
    await expect(store.projects()).rejects.toThrow(StoreUnreachableError)
    expect(uncaught).toEqual([])
  },
)
