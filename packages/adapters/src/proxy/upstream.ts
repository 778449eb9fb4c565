/** The server behind the proxy: persistent connections, and requests with the client's original headers. */

import { once } from "node:events"
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import type { Readable } from "node:stream"
import { StrataError } from "@strata/core/base"
import { type RawHeaders, valuesOf, without } from "./headers.ts"

const LOOPBACK_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\])$/i
/** Counts the proxies on this machine that a request has passed. It is sent only to servers on this machine. */
const HOPS = "strata-proxy-hops"
const MAX_HOPS = 4 // a proxy inside a wrapped command is fine; a loop is not
/** Limit for the headers of a request or a response. Node's own limit is a quarter of it, and cookies of a gateway can be long. */
export const MAX_HEADER_BYTES = 64 * 1024
/** Methods that have no body unless a header announces one. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "CONNECT"])

export interface UpstreamRequest {
  readonly method: string
  /** Path with its query. */
  readonly path: string
  /** Headers without those of the client's connection. */
  readonly headers: RawHeaders
  /** `undefined` if there is no body. */
  readonly body: Buffer | Readable | undefined
  /** Aborts the request at once. */
  readonly signal: AbortSignal
}

export interface UpstreamOptions {
  /** Environment with `HTTPS_PROXY` and `NO_PROXY`. Default: neither is used. */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

export class Upstream {
  readonly #url: URL
  readonly #environment: UpstreamOptions["environment"]
  readonly #persistentAgent: HttpAgent

  constructor(address: string, { environment }: UpstreamOptions = {}) {
    this.#url = validateUrl(address)
    this.#environment = environment
    this.#persistentAgent = this.#agent({ keepAlive: true })
  }

  /** Origin for messages, without the path, which may contain a secret. */
  get name(): string {
    return this.#url.origin
  }

  /** Whether it is a server on this machine at this port. */
  isHere(port: number): boolean {
    const { port: own, protocol } = this.#url
    return this.#isOnThisMachine && Number(own || (protocol === "https:" ? 443 : 80)) === port
  }

  /** Whether the request has passed so many proxies that it must be in a loop. */
  isLoop(headers: RawHeaders): boolean {
    return hopsIn(headers) >= MAX_HOPS
  }

  /**
   * Resolves with the head of the response. If the server closed an idle connection, the request is repeated on a new one, as long as its
   * body can be sent again.
   */
  async send(request: UpstreamRequest): Promise<IncomingMessage> {
    const isRepeatable = request.body === undefined || Buffer.isBuffer(request.body)
    const first = await this.#attempt(request, this.#persistentAgent)
    if (first.kind === "answered") return first.answer
    if (!first.isStale || !isRepeatable || request.signal.aborted) throw first.error
    const second = await this.#attempt(request, this.#agent({ keepAlive: false }))
    if (second.kind === "answered") return second.answer
    throw second.error
  }

  close(): void {
    this.#persistentAgent.destroy()
  }

  #agent(options: { readonly keepAlive: boolean }): HttpAgent {
    if (!this.#isSecure) return new HttpAgent(options)
    const proxyEnv = this.#environment && { proxyEnv: { ...this.#environment } }
    return new HttpsAgent({ ...options, ...proxyEnv })
  }

  async #attempt({ method, path, headers, body, signal }: UpstreamRequest, agent: HttpAgent): Promise<AttemptResult> {
    const { hostname, port, pathname } = this.#url
    const outgoing = (this.#isSecure ? httpsRequest : httpRequest)({
      agent,
      method,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      ...(port !== "" && { port }),
      path: pathname.replace(/\/$/, "") + path,
      headers: [...this.#headers({ method, headers, body })],
      signal,
      maxHeaderSize: MAX_HEADER_BYTES,
    })
    const answered = once(outgoing, "response") as Promise<[IncomingMessage]>
    outgoing.on("error", () => {}) // errors after the head are reported by the body's stream
    if (body === undefined || Buffer.isBuffer(body)) outgoing.end(body)
    else body.pipe(outgoing)
    try {
      const [answer] = await answered
      return { kind: "answered", answer }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return { kind: "failed", error, isStale: outgoing.reusedSocket && (code === "ECONNRESET" || code === "EPIPE") }
    }
  }

  #headers({ method, headers, body }: Pick<UpstreamRequest, "method" | "headers" | "body">): RawHeaders {
    const own = without(headers, ["host", HOPS])
    const hasLength = valuesOf(headers, "content-length").length > 0
    const length = Buffer.isBuffer(body) ? String(body.length) : "0"
    const isChunked = !hasLength && body !== undefined && !Buffer.isBuffer(body)
    return [
      ...["Host", this.#url.host],
      ...own,
      ...(isChunked ? ["Transfer-Encoding", "chunked"] : []),
      ...(hasLength || isChunked || (body === undefined && WITHOUT_BODY.has(method)) ? [] : ["Content-Length", length]),
      ...(this.#isOnThisMachine ? [HOPS, String(hopsIn(headers) + 1)] : []),
    ]
  }

  get #isSecure(): boolean {
    return this.#url.protocol === "https:"
  }

  get #isOnThisMachine(): boolean {
    return LOOPBACK_NAME.test(this.#url.hostname)
  }
}

type AttemptResult =
  | { readonly kind: "answered"; readonly answer: IncomingMessage }
  | {
      readonly kind: "failed"
      readonly error: unknown
      /** Whether the connection was reused from an earlier request and the server had closed it. */
      readonly isStale: boolean
    }

const hopsIn = (headers: RawHeaders): number => {
  const hops = Number(valuesOf(headers, HOPS)[0] ?? 0)
  return Number.isSafeInteger(hops) && hops >= 0 ? hops : MAX_HOPS
}

function validateUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const why =
    url === undefined || !["http:", "https:"].includes(url.protocol)
      ? "it must begin with http:// or https://"
      : url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== ""
        ? "it must be an address without a name, a password or a query"
        : undefined
  if (url === undefined || why !== undefined)
    throw new StrataError(`The proxy was not started. The upstream's address cannot be used: ${why}.`)
  return url
}
