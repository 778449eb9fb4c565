import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { Readable } from "node:stream"
import { setTimeout as wait } from "node:timers/promises"
import { createMcpHandler } from "@modelcontextprotocol/server"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { createTestServer } from "../../../test/mcp-server.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../test/tool-context.ts"
import { isReadOnly } from "../defaults.ts"
import { connectMcpServers } from "./mcp.ts"
import type { ConnectionOptions, McpServerConfig, McpServerStatus } from "./mcp-connection.ts"
import { mcpToolName } from "./mcp-names.ts"

const program = join(import.meta.dirname, "../../../test/mcp-server.ts")
const stdio = (...args: string[]): McpServerConfig => ({ command: process.execPath, args: [program, ...args] })

async function connect(configs: Record<string, McpServerConfig>, options: ConnectionOptions = {}) {
  const seen: McpServerStatus[] = []
  const servers = await connectMcpServers(configs, { graceMs: 50, onStatus: (status) => seen.push(status), ...options })
  onTestFinished(() => servers.close())
  const tool = (name: string) => servers.tools.find((candidate) => candidate.name === name)!
  return { servers, tool, seen }
}

/** The same server over streamable HTTP, on loopback. */
async function serveHttp(): Promise<{ readonly url: string; readonly keys: (string | undefined)[] }> {
  const handler = createMcpHandler(createTestServer)
  const keys: (string | undefined)[] = []
  const server = createServer(async (request, response) => {
    keys.push(request.headers["x-key"] as string | undefined)
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method!,
        headers: request.headers as Record<string, string>,
        ...(request.method === "POST" ? { body: Readable.toWeb(request) as ReadableStream, duplex: "half" } : {}),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body) Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]).pipe(response)
    else response.end()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, keys }
}

function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]!.startsWith("Z")
  } catch {
    return false
  }
}

describe("MCP servers", () => {
  it("offer their tools with their own schema, in an order that does not change, under names the API takes", async () => {
    const { servers, tool, seen } = await connect({ "my test": stdio() })
    const names = servers.tools.map(({ name }) => name)
    expect(names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toContain("mcp__my_test__dotted_name")
    expect(names.filter((name) => name.startsWith("mcp__my_test__dotted_name"))).toHaveLength(2)
    expect(tool("mcp__my_test__echo")).toMatchObject({
      description: "Says it again.",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    })
    expect(isReadOnly(tool("mcp__my_test__echo"), {})).toBe(true)
    expect(isReadOnly(tool("mcp__my_test__fail"), {})).toBe(false)
    expect(servers.instructions).toEqual([{ type: "mcp_instructions", server: "my test", instructions: "Say please." }])
    expect(seen).toEqual([{ server: "my test", state: "connected", tools: names.length }])
    expect(tool("mcp__my_test__echo").question!({ text: "hi" }, testContext())).toMatchObject({
      kind: "other",
      summary: 'my test: echo {"text":"hi"}',
    })
  })

  it("LOOP-3: answer with blocks, and their errors are error results", async () => {
    const { tool } = await connect({ t: stdio() })
    expect(await call(tool("mcp__t__echo"), { text: "hi" })).toEqual({ content: [{ type: "text", text: "echo: hi" }] })
    expect(await call(tool("mcp__t__fail"), {})).toEqual({
      content: [{ type: "text", text: "no such thing" }],
      isError: true,
    })
    const { content } = await call(tool("mcp__t__parts"), {})
    expect(content).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: expect.any(String) } },
      { type: "text", text: "[image: image/tiff, 3 bytes, cannot be shown]" },
      { type: "text", text: "[audio: audio/wav, 3 bytes, cannot be played]" },
      { type: "text", text: "memory://note:\na note" },
      { type: "text", text: "[resource memory://blob: application/zip, 3 bytes, not text]" },
      { type: "text", text: "[more](memory://more): where more is" },
    ])
    const invalid = await call(tool("mcp__t__echo"), { text: 1 })
    expect(invalid.isError).toBe(true)
  })

  it("over HTTP too, with the headers that were given", async () => {
    const { url, keys } = await serveHttp()
    const { tool, servers } = await connect({ web: { url, headers: { "x-key": "k" } } })
    expect(textIn(await call(tool("mcp__web__echo"), { text: "hi" }))).toBe("echo: hi")
    expect(servers.instructions).toHaveLength(1)
    expect(new Set(keys)).toEqual(new Set(["k"]))
  })

  it("that fail are reported with what they said, and the others work", async () => {
    const { servers, tool } = await connect({
      missing: { command: "/no/such/program" },
      broken: stdio("broken"),
      refused: { url: "http://127.0.0.1:9/mcp" },
      nonsense: { url: "no url" },
      good: stdio(),
    })
    const states = Object.fromEntries(servers.status().map((status) => [status.server, status]))
    expect(states.missing).toMatchObject({ state: "failed", why: "ENOENT" })
    expect(states.broken).toMatchObject({ state: "failed", why: expect.stringContaining("no configuration found") })
    expect(states.refused).toMatchObject({ state: "failed" })
    expect(states.nonsense).toMatchObject({ state: "failed" })
    expect(states.good).toMatchObject({ state: "connected" })
    expect(textIn(await call(tool("mcp__good__echo"), { text: "hi" }))).toBe("echo: hi")
  })

  it("are not given up when one does not answer in time", async () => {
    const silent: McpServerConfig = { command: "sleep", args: ["60"] }
    const { servers } = await connect({ silent }, { startTimeoutMs: 50 })
    expect(servers.status()).toMatchObject([{ server: "silent", state: "failed" }])
  })

  it("get none of our environment but what every program needs", async () => {
    process.env.STRATA_TEST_API_KEY = "secret"
    onTestFinished(() => void delete process.env.STRATA_TEST_API_KEY)
    const { tool } = await connect({ t: { ...stdio(), env: { MINE: "yes" } } as McpServerConfig })
    const env = JSON.parse(textIn(await call(tool("mcp__t__env"), {})))
    expect(env).toMatchObject({ MINE: "yes", PATH: process.env.PATH })
    expect(env.STRATA_TEST_API_KEY).toBeUndefined()
  })
})

describe("MCP calls", () => {
  it("LOOP-3: show progress, and an abort reaches the server", async () => {
    const { tool } = await connect({ t: stdio() })
    const log = join(scratchDirectory(), "log")
    const abort = new AbortController()
    const context = testContext({ signal: abort.signal, progress: () => abort.abort() })
    expect(await call(tool("mcp__t__wait"), { log }, context)).toEqual({
      content: "t did not carry out wait: interrupted.",
      isError: true,
    })
    while (!existsSync(log) || readFileSync(log, "utf8") === "") await wait(2) // written in two steps by another process
    expect(readFileSync(log, "utf8")).toBe("cancelled\n")
    expect(textIn(await call(tool("mcp__t__echo"), { text: "on" }))).toBe("echo: on")
  })

  it("LOOP-3: end at their timeout", async () => {
    const { tool } = await connect({ t: { ...stdio(), timeoutMs: 150_000 } })
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const shown = Promise.withResolvers<string>() // the server is at work
    let ended = false
    const log = join(scratchDirectory(), "log")
    const waiting = call(tool("mcp__t__wait"), { log }, testContext({ progress: shown.resolve })).finally(() => {
      ended = true
    })
    expect(await shown.promise).toBe("waiting (1/4)")
    vi.advanceTimersByTime(149_999)
    await new Promise((resolve) => setImmediate(resolve))
    expect(ended).toBe(false)
    vi.advanceTimersByTime(1)
    expect(textIn(await waiting)).toBe("t did not carry out wait: no answer within 150 s.")
  })

  it("that only read are repeated once when the server dies of them", async () => {
    const { tool, seen } = await connect({ t: stdio() })
    const file = join(scratchDirectory(), "once")
    expect(textIn(await call(tool("mcp__t__die_reading"), { once: file }))).toBe("alive")
    expect(seen.map(({ state }) => state)).toEqual(["connected", "lost", "connected"])
  })

  it("that may have changed something are not repeated, but the next call connects again", async () => {
    const { tool, servers } = await connect({ t: stdio() })
    const file = join(scratchDirectory(), "once")
    const lost = await call(tool("mcp__t__die_writing"), { once: file })
    expect(lost.isError).toBe(true)
    expect(textIn(lost)).toContain("it is not known whether the call ran")
    expect(servers.status()).toMatchObject([{ state: "lost" }])
    expect(textIn(await call(tool("mcp__t__die_writing"), { once: file }))).toBe("alive")
  })

  it("do not restart a server forever that dies at every call", async () => {
    const { tool, seen } = await connect({ t: stdio() })
    expect((await call(tool("mcp__t__die"), {})).isError).toBe(true)
    expect(textIn(await call(tool("mcp__t__die"), {}))).toContain("was already restarted once")
    expect(seen.filter(({ state }) => state === "connected")).toHaveLength(2)
  })
})

describe("MCP close", () => {
  it.runIf(process.platform === "linux")("ends servers that do not want to end, and what they started", async () => {
    const file = join(scratchDirectory(), "pids")
    const { servers, tool } = await connect({ t: stdio("stubborn", file) })
    const pids = readFileSync(file, "utf8").trim().split("\n").map(Number)
    expect(pids.map(isRunning)).toEqual([true, true])
    await servers.close()
    expect(pids.map(isRunning)).toEqual([false, false])
    expect(textIn(await call(tool("mcp__t__echo"), { text: "x" }))).toContain("the connection is closed")
    expect(servers.status()).toEqual([{ server: "t", state: "closed" }])
  })

  it("without servers there is nothing to do", async () => {
    const { servers } = await connect({})
    expect(servers.tools).toEqual([])
  })
})

describe("MCP names", () => {
  it("stay within 64 characters and tell apart what was cut or cleaned", () => {
    const long = mcpToolName("server", "x".repeat(100))
    expect(long).toHaveLength(64)
    expect(long).not.toBe(mcpToolName("server", "x".repeat(101)))
    expect(mcpToolName("a", "b", new Set(["mcp__a__b"]))).toMatch(/^mcp__a__b_[0-9a-f]{8}$/)
    expect(mcpToolName("a b", "c.d")).toBe("mcp__a_b__c_d")
  })
})
