/** The shared server with a proxy before it, whose connections a test can break. What a test opens is closed after it. */
import { afterAll, afterEach, beforeAll } from "vitest"
import { type SharedServer, sharedServer } from "./shared-server.ts"
import { startProxy, type TcpProxy } from "./tcp-proxy.ts"

export interface ProxiedServer {
  readonly server: SharedServer
  readonly proxy: TcpProxy
  /** Of a database with the schema, without the proxy. */
  readonly address: string
  /** Closed after the test, the last first. */
  readonly open: { close(): Promise<void> }[]
}

/** To be called in a `describe`: what it returns is there when a test runs. */
export function proxiedServer(): ProxiedServer {
  const open: ProxiedServer["open"] = []
  let server: SharedServer | undefined
  let proxy: TcpProxy | undefined
  let address: string | undefined
  beforeAll(async () => {
    server = await sharedServer()
    address = await server.database()
    proxy = await startProxy(server.port)
  })
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close()
  })
  afterAll(async () => {
    await proxy?.close()
    await server?.stop()
  })
  return {
    open,
    get server() {
      return server!
    },
    get proxy() {
      return proxy!
    },
    get address() {
      return address!
    },
  }
}
