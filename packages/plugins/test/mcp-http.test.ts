import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, readFileSync, statSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { text } from "node:stream/consumers"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { called, PROGRAM } from "./mcp-client.ts"
import { claudeLines, claudePath, scratch } from "./sample-transcripts.ts"

const ID = "cccccccc-1111-4111-8111-111111111111"
const place = scratch()
const { project, env, write } = place

async function started(more: Record<string, string> = {}) {
  const { NODE_COMPILE_CACHE = "" } = process.env
  const child = spawn(process.execPath, [PROGRAM, "mcp", "--http", "--port", "0"], {
    ...{ cwd: project, env: { ...env, NODE_COMPILE_CACHE, ...more }, stdio: ["ignore", "pipe", "pipe"] },
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const errors = text(child.stderr)
  const [first, second] = [await lines.next(), await lines.next()] // undefined if the server did not start
  return { child, errors, url: String(first.value), announcement: String(second.value) }
}

let server: Awaited<ReturnType<typeof started>>
const tokenFile = join(env.STRATA_HOME!, "mcp-token")
const token = () => readFileSync(tokenFile, "utf8").trim()

beforeAll(async () => {
  write(claudePath(project, ID), claudeLines(project, ID, ["The grebe is on port 4011."]))
  server = await started()
})

afterAll(async () => {
  server.child.kill("SIGTERM")
  await once(server.child, "close")
  place.remove()
})

/** A request with headers that a browser would set. */
function status(
  headers: Record<string, string>,
  { method = "POST", body = "{}", path = "/mcp" } = {},
): Promise<number> {
  const { port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers: { host: `127.0.0.1:${port}`, ...headers } })
    sent.once("response", (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    sent.once("error", reject)
    sent.end(body)
  })
}

const bearer = () => ({ authorization: `Bearer ${token()}` })

describe("BEY-11 strata mcp over HTTP", () => {
  test("the official client connects with the token, and its own conversation is the newest of its program", async () => {
    const client = new Client({ name: "claude-code", version: "1" })
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: bearer() } }))
    expect((await client.listTools()).tools).toHaveLength(2)
    expect(await called(client, "recall", { search: "grebe", in: "conversation" })).toContain("port 4011")
    await client.close()
  })

  test("it listens on this machine only; the token is in a file that only the user can read, and not printed", () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    expect(server.announcement).toContain(tokenFile)
    expect(server.announcement).not.toContain(token())
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600)
    expect(token().length).toBeGreaterThan(40)
  })

  test("without the token, with another name for this machine or from a web page, nothing is answered", async () => {
    expect(await status({})).toBe(401)
    expect(await status({ authorization: "Bearer wrong" })).toBe(401)
    expect(await status({ authorization: token() })).toBe(401)
    expect(await status({ ...bearer(), host: "rebound.example:4017" })).toBe(403)
    expect(await status({ ...bearer(), host: "127.0.0.1.rebound.example" })).toBe(403)
    expect(await status({ ...bearer(), origin: "https://rebound.example" })).toBe(403)
    expect(await status({ ...bearer(), origin: "null" })).toBe(403)
    expect(await status({ ...bearer(), origin: "http://localhost:3000" })).toBe(200)
  })

  test("what is no message is answered with an error, and the server continues", async () => {
    expect(await status(bearer(), { body: "no JSON" })).toBe(400)
    expect(await status(bearer(), { path: "/other" })).toBe(404)
    expect(await status(bearer(), { method: "GET", body: "" })).toBe(405)
    expect(await status({ ...bearer(), "mcp-protocol-version": "1999-01-01" })).toBe(400)
    expect(await status(bearer(), { body: "x".repeat(5_000_000) })).toBe(413)
    expect(await status(bearer(), { body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' })).toBe(202)
    expect(await status(bearer(), { body: '[{"jsonrpc":"2.0","id":1,"method":"ping"}]' })).toBe(200)
  })

  test("a client that leaves in the middle of a request does not end the server", async () => {
    const { port } = new URL(server.url)
    const headers = { ...bearer(), host: `127.0.0.1:${port}`, "content-length": "1000" }
    const sent = request({ host: "127.0.0.1", port, method: "POST", path: "/mcp", headers })
    const left = once(sent, "error")
    sent.write("{", () => sent.destroy(new Error("left")))
    await left
    expect(await status(bearer())).toBe(200)
    expect(server.child.exitCode).toBe(null)
  })

  test("a token file that others can read is refused, and so is a short token", async () => {
    chmodSync(tokenFile, 0o644)
    const open = await started()
    expect(await open.errors).toContain("Other users can read")
    chmodSync(tokenFile, 0o600)
    const short = await started({ STRATA_MCP_TOKEN: "short" })
    expect(await short.errors).toContain("at least 16 characters")
  })
})
