import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { Readable } from "node:stream"
import { setTimeout as wait } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { createMcpHandler } from "@modelcontextprotocol/server"
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { IN_MEMORY, openInMemory } from "../../../../test/mcp-in-memory.ts"
import { createTestServer } from "../../../../test/mcp-server.ts"
import { needs } from "../../../../test/needs.ts"
import { allEnded, isRunning, pidsIn } from "../../../../test/processes.ts"
import { everyNth, isWhole, size } from "../../../../test/size.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../../test/tool-context.ts"
import { isReadOnly } from "../../../tools/defaults.ts"
import type { ToolContext, UserQuestion } from "../../../tools/tool.ts"
import { judge } from "../../permissions/permissions.ts"
import { connectMcpServers } from "./mcp.ts"
import type { McpServerConfig } from "./mcp-config.ts"
import type { ConnectionOptions, McpServerStatus } from "./mcp-connection.ts"
import { mcpToolName } from "./mcp-names.ts"

const program = join(import.meta.dirname, "../../../../test/mcp-server.ts")
/** Compile cache for servers, which do not inherit the environment, so that their compiled code is reused. */
const { NODE_COMPILE_CACHE = "" } = process.env
const stdio = (...args: string[]): McpServerConfig => ({
  command: process.execPath,
  args: [program, ...args],
  env: { NODE_COMPILE_CACHE },
})

async function connect(configs: Record<string, McpServerConfig>, options: ConnectionOptions = {}) {
  const seen: McpServerStatus[] = []
  const servers = await connectMcpServers(configs, {
    graceMs: 50,
    openTransport: openInMemory,
    onStatus: (status) => seen.push(status),
    ...options,
  })
  onTestFinished(() => servers.close())
  const tool = (name: string) => servers.tools.find((candidate) => candidate.name === name)!
  return { servers, tool, seen }
}

const PROJECT = realpathSync(mkdtempSync(join(tmpdir(), "strata-mcp-")))
afterAll(() => rmSync(PROJECT, { recursive: true }))
const talking = () => connect({ t: { ...IN_MEMORY, timeoutMs: 150_000 } }, { cwd: PROJECT })

const variable = (name: string) => `\${${name}}`

async function serve(handler: RequestListener): Promise<string> {
  const server = createServer(handler).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}/mcp`
}

const HANDSHAKE: Readonly<Record<string, () => object>> = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "by hand", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "add", inputSchema: { type: "object" } }] }),
}

async function messageIn(request: IncomingMessage): Promise<{ readonly id?: number; readonly method: string }> {
  return new Response(Readable.toWeb(request) as ReadableStream).json() as ReturnType<typeof messageIn>
}

/** Serves the older transport, with responses as events on an open stream. */
async function serveEvents() {
  const keys = new Set<unknown>()
  const answers: Readonly<Record<string, () => object>> = {
    ...HANDSHAKE,
    "tools/call": () => ({ content: [{ type: "text", text: "by event" }] }),
  }
  let stream: ServerResponse | undefined
  const url = await serve(async (request, response) => {
    keys.add(request.headers["x-key"])
    if (request.method === "GET") {
      stream = response.writeHead(200, { "content-type": "text/event-stream" })
      return void stream.write("event: endpoint\ndata: /messages\n\n")
    }
    const { id, method } = await messageIn(request)
    response.writeHead(202).end()
    if (id === undefined) return
    const answer = { jsonrpc: "2.0", id, result: answers[method]?.() ?? {} }
    stream?.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`)
  })
  return { url, keys }
}

/** Serves with sessions. After `forget` it responds to issued sessions with 404. */
async function serveSessions() {
  let session = 0
  let ran = 0
  const answers: Readonly<Record<string, () => object>> = {
    ...HANDSHAKE,
    "tools/call": () => ({ content: [{ type: "text", text: String(++ran) }] }),
  }
  const url = await serve(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end()
    const { id, method } = await messageIn(request)
    const isKnown = method === "initialize" || request.headers["mcp-session-id"] === `s${session}`
    if (!isKnown) return void response.writeHead(404).end("no such session")
    if (id === undefined) return void response.writeHead(202).end()
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": `s${session}` })
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.() ?? {} }))
  })
  return { url, forget: () => void session++, ran: () => ran }
}

/** Serves the same server over streamable HTTP on loopback. */
async function serveHttp(): Promise<{ readonly url: string; readonly keys: (string | undefined)[] }> {
  const handler = createMcpHandler(() => createTestServer())
  const keys: (string | undefined)[] = []
  const url = await serve(async (request, response) => {
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
  return { url, keys }
}

describe("MCP servers", () => {
  it.runIf(isWhole)(
    "offer their tools with their own schema, in an order that does not change, under names the API takes",
    async () => {
      const { servers, tool, seen } = await connect({ "my test": IN_MEMORY })
      const names = servers.tools.map(({ name }) => name)
      expect(names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true)
      expect(new Set(names).size).toBe(names.length)
      expect(names).toContain("mcp__my_test__dotted_name")
      expect(names.filter((name) => name.startsWith("mcp__my_test__dotted_name"))).toHaveLength(2)
      expect(tool("mcp__my_test__echo")).toMatchObject({
        description: "Says it again.",
        inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      })
      expect(isReadOnly(tool("mcp__my_test__echo"), {})).toBe(false) // it is only the server's word
      expect(isReadOnly(tool("mcp__my_test__fail"), {})).toBe(false)
      expect(servers.instructions).toEqual([
        { type: "mcp_instructions", server: "my test", instructions: "Say please." },
      ])
      expect(seen).toEqual([{ server: "my test", state: "connected", tools: names.length }])
      expect(tool("mcp__my_test__echo").question!({ text: "hi" }, testContext())).toMatchObject({
        kind: "other",
        summary: 'my test: echo {"text":"hi"}',
      })
    },
  )

  it("LOOP-3: answer with blocks, and their errors are error results", async () => {
    const { tool } = await talking()
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
    expect((await call(tool("mcp__t__structured"), {})).content).toEqual([
      { type: "text", text: "two hits" },
      { type: "text", text: "[more](memory://more)" },
      { type: "text", text: '{"hits":2}' },
    ])
    expect((await call(tool("mcp__t__structured"), { twice: true })).content).toHaveLength(1)
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

  it("over server-sent events, with the headers that were given", async () => {
    const { url, keys } = await serveEvents()
    const { tool } = await connect({ old: { type: "sse", url, headers: { "x-key": "k" } } })
    expect(textIn(await call(tool("mcp__old__add"), {}))).toBe("by event")
    expect(keys).toEqual(new Set(["k"]))
  })

  it("that fail are reported with their texts, and the others work", async () => {
    const gone = await closedAddress()
    const { servers, tool } = await connect({
      missing: { command: "/no/such/program" },
      broken: stdio("broken"),
      refused: { url: gone },
      nonsense: { url: "no url" },
      good: stdio(),
    })
    const states = Object.fromEntries(servers.status().map((status) => [status.server, status]))
    expect(states.missing).toMatchObject({
      state: "failed",
      why: "it ended before it answered: the program /no/such/program was not found",
    })
    expect(states.broken).toMatchObject({ state: "failed", why: expect.stringContaining("no configuration found") })
    expect(states.refused).toMatchObject({ state: "failed", why: `nothing answers at ${new URL(gone).host}` })
    expect(states.nonsense).toMatchObject({ state: "failed", why: "its url is not valid" })
    expect(states.good).toMatchObject({ state: "connected" })
    expect(textIn(await call(tool("mcp__good__echo"), { text: "hi" }))).toBe("echo: hi")
  })

  it.runIf(isWhole)("are not given up when one does not answer in time", async () => {
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

describe("MCP configurations that people have", () => {
  it.runIf(isWhole)("name the kind of server, a directory inside the project and a timeout", async () => {
    const cwd = realpathSync(scratchDirectory())
    mkdirSync(join(cwd, "sub"))
    const { servers, tool } = await connect(
      {
        plain: { type: "stdio", ...stdio() } as McpServerConfig,
        inside: { ...stdio(), cwd: `${variable("CLAUDE_PROJECT_DIR")}/sub`, timeout: 5_000 } as McpServerConfig,
        nowhere: { ...stdio(), cwd: "missing" } as McpServerConfig,
      },
      { cwd },
    )
    const place = async (name: string) => JSON.parse(textIn(await call(tool(name), {}))).PWD
    expect(await place("mcp__plain__env")).toBe(cwd)
    expect(await place("mcp__inside__env")).toBe(join(cwd, "sub"))
    expect(servers.status().find(({ server }) => server === "nowhere")).toMatchObject({
      state: "failed",
      why: expect.stringContaining(`the directory ${join(cwd, "missing")} does not exist`),
    })
  })

  it.each([
    [401, "it refuses access (HTTP 401). Put a key into its headers"],
    [404, "there is no MCP server at this address (HTTP 404)"],
    [503, "it has an error of its own (HTTP 503)"],
    [200, "it answers, but not as an MCP server does"],
  ])("get a sentence for HTTP %i", async (status, why) => {
    const url = await serve((_, response) => response.writeHead(status).end("<html>"))
    const { servers } = await connect({ web: { type: "http", url } })
    expect(servers.status()).toEqual([{ server: "web", state: "failed", why: expect.stringContaining(why) }])
  })
})

describe("MCP tools that come later", () => {
  it.runIf(isWhole)("join when a slow server is ready, which does not hold up the others", async () => {
    const go = join(scratchDirectory(), "go")
    const { servers, tool, seen } = await connect({ slow: stdio("slow", go), quick: stdio() }, { openTimeoutMs: 0 })
    expect(servers.status()).toMatchObject([{ state: "starting" }, { state: "starting" }])
    expect(servers.tools).toEqual([])
    expect(servers.later).toMatchObject({ isExpected: true })
    while (seen.length < 1) await wait(5)
    expect(servers.later.tools().every(({ name }) => name.startsWith("mcp__quick__"))).toBe(true)
    writeFileSync(go, "")
    while (seen.length < 2) await wait(5)
    expect(servers.later.revision()).toBe(2)
    const echo = servers.later.tools().find(({ name }) => name === "mcp__slow__echo")!
    expect(servers.later.tools().indexOf(echo)).toBeGreaterThan(1)
    expect(textIn(await call(echo, { text: "late" }))).toBe("echo: late")
    expect(servers.later.introductions()).toHaveLength(2)
    expect(tool("mcp__slow__echo")).toBeUndefined()
  })

  it("are those that a server adds while it runs; what it takes away is gone", async () => {
    const changed = Promise.withResolvers<void>()
    let isOpen = false
    const { servers, tool } = await connect({ t: IN_MEMORY }, { onTools: () => void (isOpen && changed.resolve()) })
    isOpen = true
    expect(servers.later.tools()).toEqual([])
    await call(tool("mcp__t__grow"), {})
    await changed.promise
    expect(servers.later.tools().map(({ name }) => name)).toEqual(["mcp__t__grown"])
    expect(textIn(await call(servers.later.tools()[0]!, {}))).toBe("I am new")
    expect(servers.servers()).toMatchObject([{ name: "t", state: "connected" }])
  })

  it.runIf(isWhole)("come from a server that was away at the start, once it is back", async () => {
    let now = 0
    const file = join(scratchDirectory(), "there")
    const { servers, seen } = await connect({ t: stdio("away", file) }, { now: () => now })
    expect(servers.status()).toMatchObject([{ state: "failed" }])
    writeFileSync(file, "")
    servers.later.wake()
    expect(servers.status()).toMatchObject([{ state: "failed" }])
    now += 1_000
    servers.later.wake()
    while (seen.length < 2) await wait(5)
    expect(seen.at(-1)).toMatchObject({ state: "connected" })
    expect(servers.later.tools().length).toBeGreaterThan(5)
  })
})

describe("an MCP session over HTTP that the server lost", () => {
  it("is renewed, and the call that was refused is repeated", async () => {
    const { url, forget, ran } = await serveSessions()
    const { tool, seen } = await connect({ web: { url } })
    expect(textIn(await call(tool("mcp__web__add"), {}))).toBe("1")
    forget()
    expect(textIn(await call(tool("mcp__web__add"), {}))).toBe("2")
    expect(ran()).toBe(2)
    expect(seen.map(({ state }) => state)).toEqual(["connected", "lost", "connected"])
  })
})

describe("what an MCP server asks for", () => {
  const asked = async (promptUser?: ToolContext["promptUser"], input: object = {}) => {
    const { tool } = await talking()
    return textIn(await call(tool("mcp__t__elicit"), input, testContext(promptUser ? { promptUser } : {})))
  }

  it("reaches the person, field by field, and each answer gets the field's type", async () => {
    const questions: UserQuestion[] = []
    const answers = ["Ada", "7", "No"]
    const result = await asked(async (question) => {
      questions.push(question)
      return answers.shift()
    })
    expect(JSON.parse(result)).toEqual({ action: "accept", content: { name: "Ada", count: 7, sure: false } })
    expect(questions.map(({ text }) => text)).toEqual([
      "The MCP server t asks (1 of 3): Who is it?\nname: Your \\u001b[31mname",
      "The MCP server t asks (2 of 3): Who is it?\nHow many",
      "The MCP server t asks (3 of 3): Who is it?\nsure",
    ])
    expect(questions[2]!.options).toEqual(["Yes", "No", "Leave it empty", "Decline"])
  })

  it("offers a field's default first, also for an empty answer, and the person can choose otherwise", async () => {
    const offered: (readonly string[])[] = []
    const first = await asked(
      async ({ options = [] }) => {
        offered.push(options)
        return offered.length === 1 ? "" : options[0]
      },
      { defaults: true },
    )
    expect(JSON.parse(first)).toEqual({
      action: "accept",
      content: { name: "Ada", count: 7, sure: false, colour: "blue", days: ["mon", "tue"] },
    })
    expect(offered).toEqual([
      ["Ada", "Decline"],
      ["7", "Leave it empty", "Decline"],
      ["No", "Yes", "Leave it empty", "Decline"],
      ["blue", "red", "Leave it empty", "Decline"],
      ["mon, tue", "mon", "tue", "wed", "Leave it empty", "Decline"],
    ])
    const answers = ["Grace", "Leave it empty", "Yes", "red", "wed"]
    expect(JSON.parse(await asked(async () => answers.shift(), { defaults: true }))).toEqual({
      action: "accept",
      content: { name: "Grace", sure: true, colour: "red", days: ["wed"] },
    })
  })

  it("reaches the person however many fields it has, and the person can decline at each", async () => {
    const many = { fields: 25 }
    let asks = 0
    const all = JSON.parse(await asked(async () => `answer ${++asks}`, many))
    expect(all.action).toBe("accept")
    expect(Object.values(all.content)).toHaveLength(25)
    expect(all.content.field25).toBe("answer 25")
    asks = 0
    expect(JSON.parse(await asked(async () => (++asks === 12 ? "Decline" : "yes"), many))).toEqual({
      action: "decline",
    })
    expect(asks).toBe(12)
  })

  it.each([
    ["no one is there", undefined],
    ["the person does not answer", async () => undefined],
    ["a number is none", async () => "many"],
  ])("is declined where %s", async (_, askPerson) => {
    expect(JSON.parse(await asked(askPerson))).toEqual({ action: "decline" })
  })

  it("is the project for its roots, and never the model", async () => {
    const { tool } = await talking()
    expect(JSON.parse(textIn(await call(tool("mcp__t__roots"), {})))).toEqual([
      { uri: pathToFileURL(PROJECT).href, name: basename(PROJECT) },
    ])
    expect(textIn(await call(tool("mcp__t__sample"), {}))).toContain("Strata does not let servers use its model")
  })
})

describe("MCP calls", () => {
  it("LOOP-3: show progress, and an abort reaches the server", async () => {
    const { tool } = await talking()
    const log = join(scratchDirectory(), "log")
    const abort = new AbortController()
    const context = testContext({ signal: abort.signal, progress: () => abort.abort() })
    expect(await call(tool("mcp__t__wait"), { log }, context)).toEqual({
      content: "t did not carry out wait: interrupted.",
      isError: true,
    })
    while (!existsSync(log) || readFileSync(log, "utf8") === "") await wait(2) // another process writes it in two steps
    expect(readFileSync(log, "utf8")).toBe("cancelled\n")
    expect(textIn(await call(tool("mcp__t__echo"), { text: "on" }))).toBe("echo: on")
  })

  it("LOOP-3: end at their timeout", async () => {
    const { tool } = await talking()
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const shown = Promise.withResolvers<string>() // resolves when the server is working
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

  it.runIf(isWhole)("that only read are repeated once when the server dies of them", async () => {
    const { tool, seen } = await connect({ t: stdio() })
    const file = join(scratchDirectory(), "once")
    expect(textIn(await call(tool("mcp__t__die_reading"), { once: file }))).toBe("alive")
    expect(seen.map(({ state }) => state)).toEqual(["connected", "lost", "connected"])
  })

  it.runIf(isWhole)("that may have changed something are not repeated, but the next call connects again", async () => {
    const { tool, servers } = await connect({ t: stdio() })
    const file = join(scratchDirectory(), "once")
    const lost = await call(tool("mcp__t__die_writing"), { once: file })
    expect(lost.isError).toBe(true)
    expect(textIn(lost)).toContain("it is not known whether the call ran")
    expect(servers.status()).toMatchObject([{ state: "lost" }])
    expect(textIn(await call(tool("mcp__t__die_writing"), { once: file }))).toBe("alive")
  })

  it("do not restart a server forever that dies at every call", async () => {
    const { tool, seen } = await connect({ t: IN_MEMORY }, { now: () => 0 })
    expect((await call(tool("mcp__t__die"), {})).isError).toBe(true)
    expect(textIn(await call(tool("mcp__t__die"), {}))).toContain("was already restarted")
    expect(seen.filter(({ state }) => state === "connected")).toHaveLength(2)
  })

  it("try a server again that was away, after a pause that grows until a call is answered", async () => {
    let now = 0
    const { tool, seen } = await connect({ t: IN_MEMORY }, { now: () => now })
    const restarts = () => seen.filter(({ state }) => state === "connected").length - 1
    const echo = async () => textIn(await call(tool("mcp__t__echo"), { text: "on" }))
    await call(tool("mcp__t__die"), {}) // read-only, so it is repeated, and the server dies again
    expect(restarts()).toBe(1)
    expect(await echo()).toBe(
      "t did not carry out echo: the server is not running, and was already restarted. It can be tried again in 1 s.",
    )
    now += 1_000
    await call(tool("mcp__t__die"), {})
    expect(restarts()).toBe(2)
    now += 1_000
    expect(await echo()).toContain("tried again in 1 s")
    now += 1_000
    expect(await echo()).toBe("echo: on")
  })
})

describe("MCP close", () => {
  it.runIf(isWhole)("ends servers that do not want to end, and what they started", needs("linux"), async () => {
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
  it("leaves no server, and nothing that a server started", needs("linux"), async () => {
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
  const printing = (text: string): McpServerConfig => ({ command: "sh", args: ["-c", `echo ${text} >&2`] })

  it.runIf(isWhole)("are filled in from the environment, which is how a server gets a key", async () => {
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
  const hostileProgram = join(import.meta.dirname, "../../../../test/hostile-mcp-server.ts")
  const hostile = (...args: string[]): McpServerConfig => ({
    command: process.execPath,
    args: [hostileProgram, ...args],
  })

  it("may print anything between its messages", async () => {
    const { tool } = await connect({ t: hostile("garbage") })
    expect(textIn(await call(tool("mcp__t__work"), {}))).toBe("fine")
  })

  it.each<[string, number, RegExp]>([
    ...size<[string, number, RegExp][]>([], [["endless-line", 30_000, /it printed a line of more than/]]),
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

  it("PERM-3 a bad tool costs only itself, and is named", async () => {
    const { servers, tool } = await connect({ t: hostile("bad-tools") })
    expect(servers.tools.map(({ name }) => name)).toEqual(["mcp__t__described", "mcp__t__evil__31m", "mcp__t__work"])
    expect(textIn(await call(tool("mcp__t__work"), {}))).toBe("fine")
    const problems = servers.problems.join("\n")
    for (const why of [
      '"work" of the MCP server t is left out: another tool of the server has this name',
      '"deep" of the MCP server t is left out: its input schema is nested more than 50 levels deep',
      '"cycle" of the MCP server t is left out',
      '"laughs" of the MCP server t is left out',
      '"proto" of the MCP server t is left out',
      "is left out: its name has 100000 characters",
      "more tools of the MCP server t are left out",
    ])
      expect(problems).toContain(why)
    expect(problems).not.toContain("\u001b")
  })

  it.runIf(isWhole).each(["too-long", "too-long-id-last"])(
    "LOOP-3: an answer that is too long is told as our limit, and the server stays: %s",
    async (mode) => {
      const { tool, servers } = await connect({ t: hostile(mode) })
      expect(textIn(await call(tool("mcp__t__work"), {}))).toContain(
        "its answer has more than 32 MB, which is Strata's limit",
      )
      expect(servers.status()).toMatchObject([{ state: "connected" }])
    },
  )

  it('LOOP-3: an answer to the request "3" is none to the request 3', async () => {
    const { tool } = await connect({ t: hostile("text-id") })
    expect(textIn(await call(tool("mcp__t__work"), {}))).toBe("fine")
  })

  it("PERM-4 what it calls read-only asks, also in plan mode, unless the person trusts its word", async () => {
    const { url } = await serveHttp()
    const asked = async (trustReadOnlyHint: boolean, mode: "ask" | "plan", allow: readonly string[] = []) => {
      const { tool } = await connect({ t: { url, trustReadOnlyHint } })
      const echo = tool("mcp__t__echo")
      const question = await echo.question!({ text: "a" }, testContext())
      const policy = { mode, allow, ask: [], deny: [], project: "/", protectedDirectories: [], readable: [] }
      return judge({ tool: echo.name, isReadOnly: isReadOnly(echo, { text: "a" }), question }, policy).verdict
    }
    expect(await asked(false, "ask")).toBe("ask")
    expect(await asked(false, "plan")).toBe("deny")
    expect(await asked(false, "ask", ["mcp__t__*"])).toBe("allow")
    expect(await asked(true, "ask")).toBe("allow")
    expect(await asked(true, "plan")).toBe("allow")
  })

  it.each(everyNth(["no-content", "text-is-object", "content-is-text", "null-block", "unknown-block"], 3))(
    "LOOP-3: gets an error or a text for a malformed result: %s",
    async (mode) => {
      const { tool } = await connect({ t: hostile(mode) })
      const output = await call(tool("mcp__t__work"), {})
      expect(textIn(output)).not.toBe("")
    },
  )

  it("LOOP-3: gets no image into something that is not a request", async () => {
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
