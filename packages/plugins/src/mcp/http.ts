/**
 * MCP over Streamable HTTP on this machine. Every request needs the token. The headers `host` and `origin` must name this machine: a web
 * page whose domain resolves to it (DNS rebinding) is refused. Responses are plain JSON; the server never pushes messages, so it needs no
 * streams.
 */
import { hash, randomUUID, timingSafeEqual } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { StrataError } from "@strata/core/base"
import { clientIn, type Methods, PROTOCOL_VERSIONS, respond, unreadable } from "./protocol.ts"

const HOST = "127.0.0.1"
const MCP_PATH = "/mcp"
const MAX_BYTES = 4 * 1024 * 1024 // in a request
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i
const SESSION = "mcp-session-id"

export interface HttpOptions {
  readonly token: string
  /** 0 selects any free port. */
  readonly port: number
}

export interface HttpServer {
  readonly url: string
  close(): Promise<void>
}

export async function serveHttp(methods: Methods, { token, port }: HttpOptions): Promise<HttpServer> {
  const server = createServer((request, response) => {
    // a client that disconnects during its request gets no response
    handleRequest(request, { methods, token }).then(
      (answer) => sendReply(response, answer),
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

interface HttpReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const refused = (status: number, message: string): HttpReply => ({ status, body: { error: message } })

async function handleRequest(
  request: IncomingMessage,
  { methods, token }: { readonly methods: Methods; readonly token: string },
): Promise<HttpReply> {
  const { headers, method, url = "" } = request
  if (!LOOPBACK.test(headers.host ?? "")) return refused(403, "The header host does not name this machine.")
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin))
    return refused(403, "The header origin does not name this machine.")
  if (!matchesToken(headers.authorization, token))
    return {
      ...refused(401, "The header authorization must have the token: Bearer TOKEN."),
      headers: { "www-authenticate": "Bearer" },
    }
  if (url.split("?")[0] !== MCP_PATH) return refused(404, `The server answers at ${MCP_PATH}.`)
  if (method === "DELETE") return { status: 204 } // sessions have no state
  if (method !== "POST") return { ...refused(405, "Send messages with POST."), headers: { allow: "POST, DELETE" } }
  const version = headers["mcp-protocol-version"]
  if (version !== undefined && !PROTOCOL_VERSIONS.some((known) => known === version))
    return refused(400, `The protocol version must be one of ${PROTOCOL_VERSIONS.join(", ")}.`)
  const text = await readBody(request)
  if (text === undefined) return refused(413, `A request may have at most ${MAX_BYTES} bytes.`)
  const message = parseJson(text)
  if (message === undefined) return { status: 400, body: unreadable() }
  const introduced = clientIn(message)
  const body = await respond(message, methods, introduced ?? clientOf(headers[SESSION]))
  if (body === undefined) return { status: 202 }
  return { status: 200, body, ...(introduced === undefined ? {} : { headers: { [SESSION]: sessionOf(introduced) } }) }
}

/** The session id contains the client's name, so the server needs no state. */
const sessionOf = (client: string) => `${Buffer.from(client).toString("base64url")}.${randomUUID()}`

function clientOf(session: string | string[] | undefined): string | undefined {
  const name = typeof session === "string" ? Buffer.from(session.split(".")[0]!, "base64url").toString() : ""
  return clientIn({ method: "initialize", params: { clientInfo: { name } } })
}

const isOwnOrigin = (origin: string): boolean => URL.canParse(origin) && LOOPBACK.test(new URL(origin).host)

function matchesToken(given: string | undefined, token: string): boolean {
  const digest = (text: string) => hash("sha256", text, "buffer")
  return timingSafeEqual(digest(/^bearer +(.+)$/i.exec(given ?? "")?.[1] ?? ""), digest(token))
}

/** Returns nothing for a body that is too long. The rest is still received, or the client would never read the response. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= MAX_BYTES) chunks.push(chunk)
  }
  return bytes > MAX_BYTES ? undefined : Buffer.concat(chunks).toString("utf8")
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function sendReply(response: ServerResponse, { status, headers = {}, body }: HttpReply): void {
  response.writeHead(status, { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}
