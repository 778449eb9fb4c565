/** A TCP proxy that fails on demand: it cuts connections, swallows answers and delivers late. */
import { connect, createServer, type Socket } from "node:net"

export interface TcpProxy {
  readonly port: number
  /** Number of open connections. */
  readonly open: number
  /** Directs new connections to another server. */
  point(port: number): void
  /** Cuts one of the connections, chosen by a number. Returns false if there is no connection. */
  cut(which: number): boolean
  /** Cuts a connection at the server's next answer: the server has done the work, and the client does not learn it. */
  swallowAnswer(which: number): boolean
  /** Delays data that clients of the current connections send from now on. The result delivers it. */
  holdBack(): () => void
  cutAll(): void
  close(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  swallows: boolean
  /** Delayed data of the client. Undefined while nothing is delayed. */
  held: Buffer[] | undefined
}

export async function startProxy(target: number): Promise<TcpProxy> {
  let to = target
  const pairs = new Set<Pair>()
  const chosen = (which: number): Pair | undefined => [...pairs][which % Math.max(1, pairs.size)]

  const listener = createServer((client) => {
    const pair: Pair = { client, server: connect(to, "127.0.0.1"), swallows: false, held: undefined }
    const { server } = pair
    pairs.add(pair)
    client.setNoDelay(true)
    server.setNoDelay(true)
    client.on("data", (data) => void (pair.held ? pair.held.push(data) : server.write(data)))
    server.on("data", (data) => void (pair.swallows ? end(pair) : client.write(data)))
    for (const socket of [client, server]) {
      socket.on("error", () => undefined)
      // delayed data outlives its client, as on a slow network
      socket.on("close", () => void (socket === client && pair.held ? pairs.delete(pair) : end(pair)))
    }
  })

  function end(pair: Pair): void {
    pairs.delete(pair)
    pair.client.destroy()
    pair.server.destroy()
  }

  await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve))
  const address = listener.address()
  return {
    port: typeof address === "object" && address ? address.port : 0,
    get open() {
      return pairs.size
    },
    point(port) {
      to = port
    },
    cut(which) {
      const pair = chosen(which)
      if (pair) end(pair)
      return pair !== undefined
    },
    swallowAnswer(which) {
      const pair = chosen(which)
      if (pair) pair.swallows = true
      return pair !== undefined
    },
    holdBack() {
      const held = [...pairs]
      for (const pair of held) pair.held = []
      return () => {
        for (const { server, held: kept = [] } of held) server.end(Buffer.concat(kept))
      }
    },
    cutAll() {
      for (const pair of [...pairs]) end(pair)
    },
    async close() {
      for (const pair of [...pairs]) end(pair)
      await new Promise<void>((resolve) => void listener.close(() => resolve()))
    },
  }
}

/** The same address with another port of this machine. */
export function through({ port }: Pick<TcpProxy, "port">, address: string): string {
  const url = new URL(address)
  url.port = String(port)
  return url.href
}
