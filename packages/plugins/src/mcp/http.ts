/**
 * MCP over Streamable HTTP on this machine. Every request needs the token. The headers `host` and `origin` must name this machine: a web page
 * whose name leads here (DNS rebinding) is refused. Answers are plain JSON; the server sends nothing by itself, so it needs no streams.
 */
import { hash, randomUUID, timingSafeEqual } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { StrataError } from "@strata/core/base"
import { answerTo, clientIn, type Methods, PROTOCOL_VERSIONS, unreadable } from "./protocol.ts"

const HOST = "127.0.0.1"
const MCP_PATH = "/mcp"
const MAX_BYTES = 4 * 1024 * 1024 // of a request
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i
const SESSION = "mcp-session-id"

export interface HttpOptions {
  readonly token: string
  /** 0: any that is free. */
  readonly port: number
}

export interface HttpServer {
  readonly url: string
  close(): Promise<void>
}

export async function serveHttp(methods: Methods, { token, port }: HttpOptions): Promise<HttpServer> {
  const server = createServer((request, response) => {
    // a client that leaves in the middle of its request gets no answer
    handled(request, { methods, token }).then(
      (answer) => sent(response, answer),
      () => response.destroy(),
    )
  })
  server.listen(port, HOST)
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "EADDRINUSE" ? "another program listens there" : error.message
    throw new StrataError(`The server cannot listen on port ${port}: ${why}. Choose another --port.`)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${HOST}:${taken}${MCP_PATH}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

interface HttpAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const refused = (status: number, message: string): HttpAnswer => ({ status, body: { error: message } })

async function handled(
  request: IncomingMessage,
  { methods, token }: { readonly methods: Methods; readonly token: string },
): Promise<HttpAnswer> {
  const { headers, method, url = "" } = request
  if (!LOOPBACK.test(headers.host ?? "")) return refused(403, "The header host does not name this machine.")
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin))
    return refused(403, "The header origin does not name this machine.")
  if (!isToken(headers.authorization, token))
    return {
      ...refused(401, "The header authorization must have the token: Bearer TOKEN."),
      headers: { "www-authenticate": "Bearer" },
    }
  if (url.split("?")[0] !== MCP_PATH) return refused(404, `The server answers at ${MCP_PATH}.`)
  if (method === "DELETE") return { status: 204 } // a session holds nothing
  if (method !== "POST") return { ...refused(405, "Send messages with POST."), headers: { allow: "POST, DELETE" } }
  const version = headers["mcp-protocol-version"]
  if (version !== undefined && !PROTOCOL_VERSIONS.some((known) => known === version))
    return refused(400, `The protocol version must be one of ${PROTOCOL_VERSIONS.join(", ")}.`)
  const text = await bodyOf(request)
  if (text === undefined) return refused(413, `A request has at most ${MAX_BYTES} bytes.`)
  const message = parsed(text)
  if (message === undefined) return { status: 400, body: unreadable() }
  const introduced = clientIn(message)
  const body = await answerTo(message, methods, introduced ?? clientOf(headers[SESSION]))
  if (body === undefined) return { status: 202 }
  return { status: 200, body, ...(introduced === undefined ? {} : { headers: { [SESSION]: sessionOf(introduced) } }) }
}

/** The client's name is in the id of its session, so nothing has to be kept for it. */
const sessionOf = (client: string) => `${Buffer.from(client).toString("base64url")}.${randomUUID()}`

function clientOf(session: string | string[] | undefined): string | undefined {
  const name = typeof session === "string" ? Buffer.from(session.split(".")[0]!, "base64url").toString() : ""
  return clientIn({ method: "initialize", params: { clientInfo: { name } } })
}

const isOwnOrigin = (origin: string): boolean => URL.canParse(origin) && LOOPBACK.test(new URL(origin).host)

function isToken(given: string | undefined, token: string): boolean {
  const digest = (text: string) => hash("sha256", text, "buffer")
  return timingSafeEqual(digest(/^bearer +(.+)$/i.exec(given ?? "")?.[1] ?? ""), digest(token))
}

/** Nothing where it is too long. The rest of it is still taken in, or the client would never read the answer. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= MAX_BYTES) chunks.push(chunk)
  }
  return bytes > MAX_BYTES ? undefined : Buffer.concat(chunks).toString("utf8")
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function sent(response: ServerResponse, { status, headers = {}, body }: HttpAnswer): void {
  response.writeHead(status, { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}
