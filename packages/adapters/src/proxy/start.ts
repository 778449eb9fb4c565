/** Starts the proxy on this machine only, in front of one server. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Clock } from "@strata/core"
import { StrataError, systemClock } from "@strata/core/base"
import { ParsedBodies } from "../clients/http/parsed-bodies.ts"
import { isSecret } from "./access.ts"
import { ByteBudget } from "./body.ts"
import { DEFAULT_LIMITS, type ProxyLimits, withinLimit } from "./limits.ts"
import type { RequestPlanner } from "./plans.ts"
import { RunningRequests } from "./server.ts"
import { MAX_HEADER_BYTES, Upstream } from "./upstream.ts"

const HOST = "127.0.0.1"
/** Longer than clients keep an idle connection open: if the server closed it first, a request could be lost. */
const KEEP_ALIVE_MS = 600_000
const CONNECTIONS_PER_REQUEST = 4 // most of them idle

export interface ProxyOptions {
  /** The server's address, such as `https://api.anthropic.com`. It may have a path. */
  readonly upstream: string
  /** The plans are not closed with the proxy. */
  readonly plans: RequestPlanner
  /** Default: any free port. */
  readonly port?: number
  /** The first part of every path; see `newSecret`. */
  readonly secret: string
  readonly limits?: Partial<ProxyLimits>
  /** Receives one line for each request, without secrets, headers or content. */
  readonly onLog?: (line: string) => void
  /** Environment with `HTTPS_PROXY` and `NO_PROXY` for connections to the upstream. Default: neither is used. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
}

export interface RunningProxy {
  /** The base URL for a client, which contains the secret. */
  readonly url: string
  readonly port: number
  /** Stops accepting requests, waits for running responses up to `graceMs`, then ends them. */
  close(): Promise<void>
}

export async function startProxy({
  upstream: address,
  plans,
  port = 0,
  secret,
  limits: given,
  onLog = () => {},
  environment,
  clock = systemClock,
}: ProxyOptions): Promise<RunningProxy> {
  if (!isSecret(secret))
    throw new StrataError(
      'The proxy was not started: its secret must have 16 to 200 letters, digits, "-" or "_". Create one with newSecret().',
    )
  const limits = { ...DEFAULT_LIMITS, ...given }
  const upstream = new Upstream(address, environment ? { environment } : {})
  const held = new ByteBudget(limits.heldBytes)
  const known = new ParsedBodies(limits.knownBytes)
  const requests = new RunningRequests({ plans, upstream, secret, limits, held, known, clock, onLog })
  const server = createServer(
    // no request timeout: an upload is as slow as the upstream reads it
    { noDelay: true, keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES },
    (request, response) => requests.start(request, response),
  )
  server.maxConnections = limits.requests * CONNECTIONS_PER_REQUEST
  server.listen(port, HOST)
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "EADDRINUSE" ? "another program is using it" : error.message
    throw new StrataError(`The proxy cannot listen on port ${port}: ${why}. Choose another port.`)
  })
  const { port: taken } = server.address() as AddressInfo
  const end = () => {
    requests.abort()
    server.closeAllConnections()
    upstream.close()
  }
  if (upstream.isHere(taken)) {
    server.close()
    end()
    throw new StrataError("The proxy was not started: its upstream is the proxy itself. Choose another upstream.")
  }
  return {
    url: `http://${HOST}:${taken}/${secret}`,
    port: taken,
    close: async () => {
      server.close()
      requests.refuse()
      await withinLimit(() => requests.ended(), { ms: limits.graceMs, clock })
      end()
      await requests.ended()
    },
  }
}
