import { describe, expect, test } from "vitest"
import { z } from "zod"
import { testContext } from "../../test/tool-context.ts"
import type { ToolUse } from "../messages/blocks.ts"
import { callTool } from "./deferred/deferred-tools.ts"
import { defineTool } from "./define-tool.ts"
import { type CallRun, type PreparedCall, prepareCalls, runCall } from "./run-calls.ts"
import type { Tool } from "./tool.ts"

const use = (name: string, input: unknown = {}, id = `toolu_${name}`): ToolUse => ({
  type: "tool_use",
  id,
  name,
  input,
})

function tool(name: string, more: Partial<Tool> = {}): Tool {
  return { name, description: "", inputSchema: z.object({}), execute: () => `${name} ran`, ...more }
}

const admitted: Pick<CallRun, "authorize"> = { authorize: async () => ({ state: "admitted" }) }

async function run(calls: readonly ToolUse[], tools: readonly Tool[], more: Partial<CallRun> = {}) {
  const groups = await prepareCalls(calls, tools)
  const options: CallRun = { context: testContext(), signal: new AbortController().signal, ...admitted, ...more }
  const outcomes = await Promise.all(groups.flat().map((prepared) => runCall(prepared, options)))
  return outcomes.map(({ result }) => result)
}

/** Runs one call and returns its complete outcome. */
async function runOne(only: Tool, more: Partial<CallRun> = {}) {
  const [[prepared]] = (await prepareCalls([use(only.name)], [only])) as [[PreparedCall]]
  return runCall(prepared, { context: testContext(), signal: new AbortController().signal, ...admitted, ...more })
}

describe("LOOP-4 every call gets exactly one result", () => {
  test("also one that is unknown, does not fit, throws, is refused or returns nothing", async () => {
    const tools = [
      tool("good"),
      tool("strict", { inputSchema: z.object({ city: z.string() }) }),
      tool("throws", {
        execute: () => {
          throw new Error("it broke")
        },
      }),
      tool("checks", {
        inputSchema: z.object({}).refine(() => {
          throw new Error("the check broke")
        }),
      }),
      tool("guesses", {
        readOnly: () => {
          throw new Error("cannot tell")
        },
      }),
      tool("asks", { question: () => Promise.reject(new Error("no question")) }),
      tool("forbidden"),
      tool("silent", { execute: () => undefined }),
    ]
    const calls = [...tools.map(({ name }) => use(name)), use("nothing")]
    const results = await run(calls, tools, {
      authorize: async ({ call }) =>
        call.name === "forbidden" ? { state: "refused", why: "no" } : { state: "admitted" },
    })
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(calls.map(({ id }) => id))
    expect(results.map(({ content }) => content)).toEqual([
      "good ran",
      expect.stringMatching(/^The input does not fit the tool strict, so it was not run: city: /),
      "it broke",
      "the check broke",
      "cannot tell",
      "no question",
      "Not allowed: no",
      "",
      expect.stringMatching(/^There is no tool named nothing\. The tools are: good, /),
    ])
    expect(results.map(({ is_error = false }) => is_error)).toEqual([false, ...Array(6).fill(true), false, true])
  })

  test("also when it is interrupted, before it starts or while it runs", async () => {
    const stop = new AbortController()
    const deaf = tool("deaf", { execute: () => new Promise(() => stop.abort()) })
    expect(await run([use("deaf")], [deaf], { signal: stop.signal })).toMatchObject([
      { content: "Interrupted before it finished.", is_error: true },
    ])
    expect(await run([use("good")], [tool("good")], { signal: stop.signal, interrupted: "Stopped." })).toMatchObject([
      { content: "Stopped.", is_error: true },
    ])
  })

  test("a tool may be named like a member of every object", async () => {
    const names = ["constructor", "toString", "__proto__", "hasOwnProperty"]
    const tools = names.map((name) => defineTool(tool(name)))
    expect(
      (
        await run(
          names.map((name) => use(name)),
          tools,
        )
      ).map(({ content }) => content),
    ).toEqual(names.map((name) => `${name} ran`))
    expect(await run([use("constructor")], [])).toMatchObject([{ is_error: true }])
  })
})

test("LOOP-3 neighbouring calls that change nothing form a group", async () => {
  const tools = [tool("look", { readOnly: true }), tool("change")]
  const calls = ["look", "look", "change", "look", "unknown", "change"].map((name) => use(name))
  const groups = await prepareCalls(calls, tools)
  expect(groups.map((group) => group.map(({ call }) => call.name))).toEqual([
    ["look", "look"],
    ["change"],
    ["look", "unknown"],
    ["change"],
  ])
})

test("what runs around a tool may change its output", async () => {
  const results = await run([use("good")], [tool("good")], {
    authorize: async () => ({
      state: "admitted",
      perform: async (execute) => ({ ...(await execute()), content: "replaced" }),
    }),
  })
  expect(results).toEqual([{ type: "tool_result", tool_use_id: "toolu_good", content: "replaced" }])
})

test("an outcome carries what the tool touched and attached, and what a refusal attached", async () => {
  const attachments = [{ type: "hook_output", hook: "h", content: "said" }] as const
  const busy = tool("busy", { execute: () => ({ content: "done", touched: ["/a"], attachments }) })
  expect(await runOne(busy)).toMatchObject({ touched: ["/a"], attachments })
  const refused = await runOne(busy, { authorize: async () => ({ state: "refused", why: "no", attachments }) })
  expect(refused).toMatchObject({ touched: [], attachments })
})

test("what a call read before it failed does not count as read", async () => {
  const context = testContext()
  const failing = tool("failing", {
    execute: (_, { reads, toolUseId }) => {
      reads.set("/a", { content: "x", modifiedMs: 0, at: "", toolUseId })
      throw new Error("it broke")
    },
  })
  await runOne(failing, { context })
  expect(context.reads.get("/a")).toBeUndefined()
})

test("LOOP-4 a call that is interrupted while someone decides does not run", async () => {
  const stop = new AbortController()
  const ran: string[] = []
  const { result } = await runOne(tool("late", { execute: () => ran.push("late") }), {
    signal: stop.signal,
    authorize: async () => {
      stop.abort()
      return { state: "admitted" }
    },
  })
  expect(ran).toEqual([])
  expect(result).toMatchObject({ content: "Interrupted before it finished.", is_error: true })
})

test("a tool without a question asks with its name and input", async () => {
  const questions: unknown[] = []
  await run([use("weather", { city: "Rome" })], [tool("weather", { inputSchema: {} })], {
    authorize: async ({ question }) => {
      questions.push(question)
      return { state: "admitted" }
    },
  })
  expect(questions).toEqual([{ kind: "other", summary: 'weather {"city":"Rome"}', preview: '{\n  "city": "Rome"\n}' }])
})

describe("TOOL-1 a call through CallTool", () => {
  const city = tool("mcp__w__weather", {
    inputSchema: z.object({ city: z.string() }),
    readOnly: true,
    execute: ({ city: name }) => `Sunny in ${name}.`,
  })
  const call = callTool(new Set([city.name]))
  const search = (unseen: readonly string[] | undefined): Tool =>
    tool("ToolSearch", { unseen: () => unseen && new Set(unseen) })
  const through = (input: unknown) => use("CallTool", input)

  test("is one of the tool it names: its schema, its effects, its result", async () => {
    const tools = [tool("Bash"), city, call]
    const [[prepared]] = (await prepareCalls([through({ name: city.name, input: { city: "Rome" } })], tools)) as [
      [PreparedCall],
    ]
    expect(prepared).toMatchObject({
      state: "ready",
      tool: { name: city.name },
      input: { city: "Rome" },
      isReadOnly: true,
    })
    expect(prepared.call).toMatchObject({ id: "toolu_CallTool", name: city.name, input: { city: "Rome" } })
    const results = await run(
      [
        through({ name: city.name, input: '{"city":"Oslo"}' }),
        through({ name: city.name, input: {} }),
        through({ name: city.name, input: "Oslo" }),
        through({ name: "Bash", input: {} }),
        through({ name: "CallTool", input: {} }),
        through({ name: city.name }),
      ],
      tools,
    )
    expect(results.map(({ content }) => String(content))).toEqual([
      "Sunny in Oslo.",
      expect.stringContaining("does not fit the tool mcp__w__weather"),
      expect.stringContaining("is a text that is not JSON"),
      expect.stringContaining('CallTool cannot call "Bash". Call a declared tool directly'),
      expect.stringContaining("CallTool cannot call"),
      expect.stringContaining("does not fit the tool CallTool"),
    ])
  })

  test("a guessed call of a tool that is not loaded works if the input fits; otherwise the answer names ToolSearch", async () => {
    const tools = [tool("Bash"), city, search([city.name]), call]
    const results = await run([use(city.name, { city: "Rome" }), use(city.name), use("mcp__w__wind")], tools)
    expect(results.map(({ content }) => String(content))).toEqual([
      "Sunny in Rome.",
      expect.stringContaining('Load it with ToolSearch, query "select:mcp__w__weather"'),
      "There is no tool named mcp__w__wind. The tools are: Bash, ToolSearch, CallTool. ToolSearch finds 1 more.",
    ])
  })

  test("where no tool waits, neither of the two is mentioned", async () => {
    const [result] = await run([use("nothing")], [tool("Bash"), city, search(undefined), call])
    expect(result!.content).toBe("There is no tool named nothing. The tools are: Bash, mcp__w__weather.")
  })
})
