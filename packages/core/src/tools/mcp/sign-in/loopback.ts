/**
 * Waits on this machine for the browser to come back after a sign-in, on a port of the system's choice. Only a request with the state of
 * this sign-in counts. Nothing that the browser brings is shown.
 */
import { timingSafeEqual } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const PATH = "/callback"
const DONE = "Signed in. You can close this window and go back to the terminal."
const WRONG = "This is not the sign-in that Strata waits for."

export interface Loopback {
  readonly url: string
  /** What the browser brings. */
  readonly callback: Promise<URLSearchParams>
  close(): void
}

export async function openLoopback(state: string): Promise<Loopback> {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams>()
  const server = createServer((request, response) => {
    const { pathname, searchParams } = targetOf(request.url)
    const isOurs = request.method === "GET" && pathname === PATH && isSame(searchParams.get("state"), state)
    response.writeHead(isOurs ? 200 : 400, { "content-type": "text/plain; charset=utf-8", connection: "close" })
    response.end(isOurs ? DONE : WRONG)
    if (isOurs) resolve(searchParams)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${PATH}`,
    callback: promise,
    close: () => {
      server.close()
      server.closeIdleConnections()
    },
  }
}

/** Any page in the browser can send a request here, also one whose target is not an address. */
const targetOf = (target = "/"): URL => URL.parse(target, "http://127.0.0.1") ?? new URL("http://127.0.0.1/")

export function isSame(given: string | null, wanted: string): boolean {
  const [a, b] = [Buffer.from(given ?? ""), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}
