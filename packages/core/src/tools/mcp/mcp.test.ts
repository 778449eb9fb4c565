import { spawn } from "node:child_process"
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
import { allEnded, isRunning, pidsIn } from "../../../test/processes.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../test/tool-context.ts"
import { isReadOnly } from "../defaults.ts"
import { connectMcpServers } from "./mcp.ts"
import type { McpServerConfig } from "./mcp-config.ts"
import type { ConnectionOptions, McpServerStatus } from "./mcp-connection.ts"
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
    expect(states.missing).toMatchObject({
      state: "failed",
      why: "it ended before it answered: the program /no/such/program was not found",
    })
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

describe("LOOP-8: a killed process", () => {
  it.runIf(process.platform === "linux")("leaves no server, and nothing that a server started", async () => {
    const file = join(scratchDirectory(), "pids")
    const module = JSON.stringify(join(import.meta.dirname, "mcp.ts"))
    const config = JSON.stringify(stdio("stubborn", file))
    const host = spawn(
      process.execPath,
      [
        "--input-type=module",
        "--eval",
        `import { connectMcpServers } from ${module}; connectMcpServers({ t: ${config} })`,
      ],
      { stdio: "inherit" },
    )
    const pids = await pidsIn(file, 2)
    host.kill("SIGKILL")
    await allEnded(pids)
  })
})

describe("PERM-3: variables in the configuration of a server", () => {
  const env = { PATH: process.env.PATH, MY_TOKEN: "a-token-of-ours", EMPTY: "" }
  const variable = (name: string) => `\${${name}}`
  const printing = (text: string): McpServerConfig => ({ command: "sh", args: ["-c", `echo ${text} >&2`] })

  it("are filled in from the environment, which is how a server gets a key", async () => {
    const given = {
      ...stdio(),
      env: { KEY: `Bearer ${variable("MY_TOKEN")}`, PLACE: variable("EMPTY:-home") },
    } as McpServerConfig
    const { tool } = await connect({ t: given }, { env })
    const seen = JSON.parse(textIn(await call(tool("mcp__t__env"), {})))
    expect(seen).toMatchObject({ KEY: "Bearer a-token-of-ours", PLACE: "home" })
    expect(seen.MY_TOKEN).toBeUndefined()
    const { url, keys } = await serveHttp()
    await connect({ web: { url, headers: { "x-key": variable("MY_TOKEN") } } }, { env })
    expect(new Set(keys)).toEqual(new Set(["a-token-of-ours"]))
  })

  it("that are missing are reported by name; what was filled in is never shown", async () => {
    const { servers } = await connect(
      {
        missing: { command: "sh", env: { KEY: variable("NOT_SET") } },
        argument: printing(variable("MY_TOKEN")),
        named: { ...printing("$KEY"), env: { KEY: variable("MY_TOKEN") } },
        own: { ...printing("$API_KEY"), env: { API_KEY: "given-in-settings" } },
      },
      { env },
    )
    const [missing, ...others] = servers.status().map((status) => (status.state === "failed" ? status.why : ""))
    expect(missing).toContain("the variable NOT_SET is not set")
    expect(others).toEqual(Array(3).fill("it ended before it answered: [key removed]"))
  })
})

describe("a hostile MCP server", () => {
  const hostileProgram = join(import.meta.dirname, "../../../test/hostile-mcp-server.ts")
  const hostile = (...args: string[]): McpServerConfig => ({
    command: process.execPath,
    args: [hostileProgram, ...args],
  })

  it("may print anything between its messages", async () => {
    const { tool } = await connect({ t: hostile("garbage") })
    expect(textIn(await call(tool("mcp__t__work"), {}))).toBe("fine")
  })

  it.each([
    ["endless-line", 30_000, /it printed a line of more than/],
    ["endless-pages", 30_000, /./],
    ["dies-listing", 30_000, /^it ended before it answered: out of memory$/],
    ["never-lists", 100, /^it did not answer within 0.1 s$/],
  ])("that does not start properly is reported, in time: %s", async (mode, startTimeoutMs, why) => {
    const { servers } = await connect({ t: hostile(mode) }, { startTimeoutMs })
    expect(servers.status()).toEqual([{ server: "t", state: "failed", why: expect.stringMatching(why) }])
  })

  it("cannot fill the window or make requests that the API refuses: such tools are left out and reported", async () => {
    const { servers } = await connect({ t: hostile("tools") })
    expect(servers.tools).toHaveLength(200)
    expect(servers.tools.every(({ description }) => description.length <= 4_001)).toBe(true)
    expect(servers.problems).toEqual([
      expect.stringContaining('The tool "a_huge" of the MCP server t is left out: its input schema has'),
      expect.stringContaining('"a_property" of the MCP server t is left out: its input has the property "with space"'),
      expect.stringContaining('"a_union" of the MCP server t is left out: a tool\'s input is an object'),
      "The MCP server t offers 301 tools. The last 101 by name are left out.",
    ])
  })

  it.each(["no-content", "text-is-object", "content-is-text", "null-block", "unknown-block"])(
    "LOOP-3: gets an error or a text for a malformed result: %s",
    async (mode) => {
      const { tool } = await connect({ t: hostile(mode) })
      const output = await call(tool("mcp__t__work"), {})
      expect(textIn(output)).not.toBe("")
    },
  )

  it("LOOP-3: gets no image into a request that is none", async () => {
    const { tool } = await connect({ t: hostile("bad-image") })
    expect((await call(tool("mcp__t__work"), {})).content).toEqual([
      { type: "text", text: "[image: image/png, 0 bytes, cannot be shown]" },
      { type: "text", text: "[image: image/png, 2 bytes, cannot be shown]" },
    ])
  })
})

describe("MCP names", () => {
  it("stay within 64 characters and tell apart what was cut or cleaned", () => {
    const long = mcpToolName("server", "x".repeat(100))
    expect(long).toHaveLength(64)
    expect(long).not.toBe(mcpToolName("server", "x".repeat(101)))
    expect(mcpToolName("a", "b", new Set(["mcp__a__b"]))).toMatch(/^mcp__a__b_[0-9a-f]{8}$/)
    expect(mcpToolName("a b", "c.d")).toBe("mcp__a_b__c_d")
    const first = mcpToolName("a", "b", new Set(["mcp__a__b"]))
    expect(mcpToolName("a", "b", new Set(["mcp__a__b", first]))).not.toBe(first)
  })
})
