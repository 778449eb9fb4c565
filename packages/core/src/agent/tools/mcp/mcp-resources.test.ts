/** Resources and prompts of a server. */
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { IN_MEMORY, serversInMemory } from "../../../../test/mcp-in-memory.ts"
import { isWhole } from "../../../../test/size.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../../test/tool-context.ts"
import { isReadOnly } from "../../../tools/defaults.ts"
import { isDeferrable } from "../../../tools/deferred/deferrable.ts"
import type { Tool, ToolServer, Toolset, UserQuestion } from "../../../tools/tool.ts"
import { judge } from "../../permissions/permissions.ts"
import { mcpServers, openTools } from "../toolsets.ts"
import { resourceOutput } from "./mcp-results.ts"
import { resourceTools } from "./resource-tools.ts"

async function open(...sets: Toolset[]) {
  const cwd = scratchDirectory()
  const opened = await openTools(sets, { cwd, root: cwd })
  onTestFinished(() => opened.close())
  const tool = (name: string): Tool => opened.tools.find((one) => one.name === name)!
  return { opened, tool }
}

const linesOf = async (tool: Tool, input: object, context = testContext()) =>
  textIn(await call(tool, input, context)).split("\n")

describe("MCP resources", () => {
  it("TOOL-1 are listed with their templates and read by uri, whichever toolset the server is in", async () => {
    const { opened, tool } = await open(serversInMemory({ "my db": IN_MEMORY }), serversInMemory({ other: IN_MEMORY }))
    const [list, read] = [tool("ListMcpResources"), tool("ReadMcpResource")]
    expect([list, read].map((one) => isReadOnly(one, {}) && isDeferrable(one))).toEqual([true, true])
    const lines = await linesOf(list, { server: "my db" })
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { server: "my db", uri: "memory://note", name: "note", mimeType: "text/plain", description: "A note." },
      { server: "my db", uri: "memory://dot", name: "dot", mimeType: "image/png" },
      { server: "my db", uriTemplate: "memory://users/{id}", name: "A user" },
    ])
    expect(await linesOf(list, {})).toHaveLength(6)
    expect(textIn(await call(read, { server: "other", uri: "memory://note" }))).toBe(
      "memory://note:\nremember the milk",
    )
    expect(textIn(await call(read, { server: "other", uri: "memory://users/7" }))).toContain("user 7")
    expect((await call(read, { server: "other", uri: "memory://dot" })).content).toMatchObject([
      { type: "image", source: { media_type: "image/png" } },
      { type: "text", text: "[resource memory://dot: application/zip, 3 bytes, not text]" },
    ])
    expect(await call(read, { server: "other", uri: "memory://none" })).toMatchObject({ isError: true })
    expect(textIn(await call(read, { server: "none", uri: "x" }))).toContain("These have: my db, other.")
    expect((await opened.fork()).tools.map(({ name }) => name)).toEqual(opened.tools.map(({ name }) => name))
  })

  it("PERM-2 are covered by the rules for their server", async () => {
    const resources = { list: async () => ({ resources: [], templates: [] }), read: async () => ({ content: "" }) }
    const source: ToolServer = { name: "my db", state: "connected", tools: [], resources }
    const [list, read] = resourceTools(() => [source]) as [Tool, Tool]
    const rules = { mode: "ask", allow: [], ask: [], project: "/", kept: [], readable: [] } as const
    const verdict = async (deny: readonly string[]) => {
      const question = await read.question!({ server: "my db", uri: "memory://note" }, testContext())
      return judge({ tool: read.name, isReadOnly: true, question }, { ...rules, deny } as never).verdict
    }
    expect(await verdict([])).toBe("allow")
    expect(await verdict(["mcp__other"])).toBe("allow")
    expect(await verdict(["mcp__my_db"])).toBe("deny")
    expect(await verdict(["ReadMcpResource"])).toBe("deny")
    const judgeStep = () => ({ verdict: "deny", why: "a rule" }) as const
    expect(await linesOf(list, {}, testContext({ judgeStep }))).toEqual(["There are no resources now."])
  })

  it("of a server that comes later bring their tools with it; without resources there are no such tools", async () => {
    const servers: ToolServer[] = []
    const later = {
      tools: () => [],
      introductions: () => [],
      isExpected: true,
      revision: () => servers.length,
      wake: () => undefined,
    }
    const slow: Toolset = {
      open: async () => ({ tools: [], later, servers: () => servers, close: async () => undefined }),
      *[Symbol.iterator]() {
        yield slow
      },
    }
    const { opened } = await open(slow)
    const names = () => [opened.tools, opened.later.tools()].map((tools) => tools.map(({ name }) => name))
    expect(names()).toEqual([[], []])
    const read = async () => ({ content: "" })
    const resources = { list: async () => ({ resources: [], templates: [] }), read }
    servers.push({ name: "late", state: "connected", tools: [], resources })
    expect(names()).toEqual([[], ["ListMcpResources", "ReadMcpResource"]])
  })
})

describe("MCP prompts", () => {
  it("are known after the start, return text with their arguments, and follow the server's list", async () => {
    const { opened, tool } = await open(serversInMemory({ t: IN_MEMORY }))
    const prompts = () => opened.servers()[0]!.prompts!
    while (prompts().length === 0) await wait(2)
    const [review] = prompts()
    expect(review).toMatchObject({
      name: "review",
      command: "mcp__t__review",
      description: "Reviews a file.",
      arguments: [
        { name: "file", isRequired: true, description: "Which file" },
        { name: "tone", isRequired: false },
      ],
    })
    const { signal } = new AbortController()
    expect(await review!.text({ file: "a.ts" }, signal)).toBe("Review a.ts, be kind.\n\n(as the assistant)\nI will.")
    await expect(review!.text({}, signal)).rejects.toThrow(/t did not return its prompt review: .*Nothing was sent\.$/s)
    await call(tool("mcp__t__grow"), {})
    while (prompts().length < 2) await wait(2)
    expect(prompts().map(({ command }) => command)).toEqual(["mcp__t__fresh", "mcp__t__review"])
  })
})

describe("the time limit of an MCP call", () => {
  /** Options for a server process, whose clock is independent of the test's. */
  const inItsProcess = {
    command: process.execPath,
    args: [join(import.meta.dirname, "../../../../test/mcp-server.ts")],
  }

  it.runIf(isWhole)("LOOP-3: does not run while the person answers a question of the server", async () => {
    const { tool } = await open(mcpServers({ t: { ...inItsProcess, timeoutMs: 1_000 } }))
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const answers = ["Ada", "7", "Yes"]
    const askPerson = async (_: UserQuestion) => {
      vi.advanceTimersByTime(60_000)
      return answers.shift()
    }
    const result = textIn(await call(tool("mcp__t__elicit"), {}, testContext({ promptUser: askPerson })))
    expect(JSON.parse(result)).toMatchObject({ action: "accept", content: { name: "Ada" } })
  })
})

it("LOOP-3 a huge blob is an answer, not a stack overflow", () => {
  const blob = "A".repeat(8_000_000)
  const of = (mimeType: string) => resourceOutput({ contents: [{ uri: "db://dump", mimeType, blob }] }).content
  expect(of("application/zip")).toEqual([
    { type: "text", text: "[resource db://dump: application/zip, 6000000 bytes, not text]" },
  ])
  expect(of("image/png")).toMatchObject([{ type: "image" }])
})
