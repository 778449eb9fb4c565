/** The shared server behind a proxy whose connections a test can break. Resources that a test opens are closed after it. */
import { afterAll, afterEach, beforeAll } from "vitest"
import { type SharedServer, sharedServer } from "./shared-server.ts"
import { startProxy, type TcpProxy } from "./tcp-proxy.ts"

export interface ProxiedServer {
  readonly server: SharedServer
  readonly proxy: TcpProxy
  /** The direct address of a database with the schema, without the proxy. */
  readonly address: string
  /** Resources to close after the test, in reverse order. */
  readonly open: { close(): Promise<void> }[]
}

/** Call it in a `describe`. The result is available when a test runs. */
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
