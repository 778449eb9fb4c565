/** An MCP server over HTTP that requires sign-in, with its authorization server: metadata, registration, codes, tokens. */
import { hash } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { createMcpHandler } from "@modelcontextprotocol/server"
import { onTestFinished } from "vitest"
import { createTestServer } from "./mcp-server.ts"

export interface OAuthServer {
  readonly url: string
  /** Every requested path, in order. */
  readonly asked: string[]
  /** Invalidates all access tokens. */
  expire(): void
  /** Invalidates all refresh tokens too. */
  revoke(): void
  /** Issues tokens as another process would get them. */
  issue(): object
  /** The scope that tool calls require from now on. */
  requiredScope: string | undefined
  /** The scope that the last sign-in requested. */
  readonly requestedScope: string | undefined
  /** Called before a token is granted. Its result replaces the response of the next token request. */
  beforeToken: (() => Promise<{ readonly status: number; readonly body: string } | undefined>) | undefined
}

interface Code {
  readonly challenge: string
  readonly redirect: string
}

export async function oauthServer(): Promise<OAuthServer> {
  const handler = createMcpHandler(() => createTestServer())
  const asked: string[] = []
  const codes = new Map<string, Code>()
  const [access, refresh] = [new Set<string>(), new Set<string>()]
  let issued = 0
  let requestedScope: string | undefined
  const scopes = new Map<string, string>()
  const server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `${origin}/mcp`

  const state: OAuthServer = {
    url,
    asked,
    expire: () => access.clear(),
    revoke: () => refresh.clear(),
    issue: () => tokens(),
    beforeToken: undefined,
    requiredScope: undefined,
    get requestedScope() {
      return requestedScope
    },
  }

  const tokens = () => {
    const [token, renewal] = [`access-token-${++issued}`, `refresh-token-${issued}`]
    access.add(token)
    scopes.set(token, requestedScope ?? "")
    refresh.add(renewal)
    return {
      access_token: token,
      refresh_token: renewal,
      token_type: "Bearer",
      expires_in: 3600,
      scope: requestedScope,
    }
  }
  const grant = (given: URLSearchParams): object | undefined => {
    if (given.get("grant_type") === "refresh_token")
      return refresh.delete(given.get("refresh_token") ?? "") ? tokens() : undefined
    const code = codes.get(given.get("code") ?? "")
    codes.delete(given.get("code") ?? "")
    const isProven = hash("sha256", given.get("code_verifier") ?? "", "base64url") === code?.challenge
    return isProven && given.get("redirect_uri") === code?.redirect ? tokens() : undefined
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", origin)
    asked.push(pathname)
    const json = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    if (pathname.startsWith("/.well-known/oauth-protected-resource"))
      return void json(200, { resource: url, authorization_servers: [origin] })
    if (pathname === "/.well-known/oauth-authorization-server")
      return void json(200, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      })
    if (pathname === "/register")
      return void json(201, { ...((await bodyOf(request).json()) as object), client_id: "client-1" })
    if (pathname === "/authorize") {
      requestedScope = searchParams.get("scope") ?? undefined
      const redirect = new URL(searchParams.get("redirect_uri")!)
      const code = `code-${codes.size + 1}`
      codes.set(code, { challenge: searchParams.get("code_challenge")!, redirect: redirect.href })
      redirect.searchParams.set("code", code)
      redirect.searchParams.set("state", searchParams.get("state")!)
      return void response.writeHead(302, { location: redirect.href }).end()
    }
    if (pathname === "/token") {
      const instead = await state.beforeToken?.()
      if (instead) return void response.writeHead(instead.status).end(instead.body)
      const granted = grant(new URLSearchParams(await bodyOf(request).text()))
      return void (granted ? json(200, granted) : json(400, { error: "invalid_grant" }))
    }
    const token = (request.headers.authorization ?? "").replace("Bearer ", "")
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`
    if (!access.has(token)) {
      return void response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end()
    }
    const body = request.method === "POST" ? await bodyOf(request).text() : undefined
    const { requiredScope: needed } = state
    if (needed && body?.includes("tools/call") && !scopes.get(token)?.split(" ").includes(needed)) {
      const challenge = `Bearer error="insufficient_scope", scope="${needed}", resource_metadata="${metadata}"`
      return void response.writeHead(403, { "www-authenticate": challenge }).end()
    }
    const result = await handler.fetch(
      new Request(url, {
        method: request.method!,
        headers: request.headers as Record<string, string>,
        ...(body === undefined ? {} : { body }),
      }),
    )
    response.writeHead(result.status, Object.fromEntries(result.headers))
    if (result.body) Readable.fromWeb(result.body as Parameters<typeof Readable.fromWeb>[0]).pipe(response)
    else response.end()
  }

  return state
}

const bodyOf = (request: IncomingMessage) => new Response(Readable.toWeb(request) as ReadableStream)
