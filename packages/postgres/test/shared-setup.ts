/**
 * Runs once before all tests: the first file that asks for it (`sharedServer`) starts one PostgreSQL server for the entire run. A run
 * without such a file starts none. Workers ask over a loopback port, because this process outlives them and stops the server.
 */
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import type { TestProject } from "vitest/node"
import type { TestServer } from "./server.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The loopback port that answers with the address of the PostgreSQL server. */
    postgresPort: number
  }
}

/** The answer to a worker. */
export interface SharedAddress {
  readonly port: number
  /** A database with the schema, used only as a template. */
  readonly template: string
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<{ readonly server: TestServer; readonly address: SharedAddress }> | undefined
  const asked = createServer((socket) => {
    socket.on("error", () => undefined)
    starting ??= start()
    starting.then(
      ({ address }) => socket.end(JSON.stringify(address)),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    )
  })
  asked.listen(0, "127.0.0.1")
  await once(asked, "listening")
  provide("postgresPort", (asked.address() as AddressInfo).port)
  return async () => {
    asked.close()
    const started = await starting?.catch(() => undefined)
    await started?.server.stop()
  }
}

async function start() {
  const { startServer } = await import("./server.ts") // imported late, because most runs need no server
  const server = await startServer()
  const template = new URL(await server.database()).pathname.slice(1)
  return { server, address: { port: server.port, template } }
}
