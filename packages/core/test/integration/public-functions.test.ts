/**
 * The public functions against the simulator, as a new user would call them: the official client, functions of the root entry, no other
 * options.
 */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { Responder, ResponderTurn } from "../../../sim/src/responder.ts"
import { client, scripted, simulator } from "../../../sim/test/simulator.ts"
import { anthropicModel, codingTools, defineTool, NoAnswerError, openAgent, openConversation } from "../../src/index.ts"
import { isWhole } from "../size.ts"
import { calls, project } from "./agent/agents.ts"

const MODEL = "claude-opus-5-5"
const KEY = "sk-sim-test"
const LONG = "You answer briefly. ".repeat(600) // longer than the shortest prefix that is cached

describe("your own loop", () => {
  test("CACHE-3 reads the cache from the second request on", async () => {
    const sim = await simulator({ responder: scripted("one", "two", "three") })
    const sdk = client(sim)
    const { cwd, dir } = project()
    await using chat = await openConversation({ model: MODEL, client: sdk, system: LONG, cwd, dir, env: {} })
    for (const question of ["a", "b", "c"]) {
      await chat.add(question)
      await chat.record(await sdk.messages.stream(await chat.prepare()).finalMessage())
    }
    const { recent } = chat.cacheHistory()
    expect(recent.map(({ tokens }) => tokens.cacheRead > 1_000)).toEqual([false, true, true])
    expect(chat.ledger()).toMatchObject({ requests: 3, dollars: expect.any(Number) })
  })

  test.runIf(isWhole)("L4-23 compacts through your client when the window fills", async () => {
    const responder: Responder = {
      name: "talkative",
      answer({ request, index }) {
        const asked = request.messages.at(-1)!.content.map(({ text = "" }) => text)
        const isForSummary = asked.some((text) => text.includes("<summary>"))
        const text = isForSummary
          ? "<summary>\nMany questions, many words.\n</summary>"
          : `${index} ${"word ".repeat(900)}`
        return { content: [{ type: "text", text }] }
      },
    }
    const sim = await simulator({ responder })
    const sdk = client(sim)
    const settings = { models: { [MODEL]: { window: 60_000 } } }
    const { cwd, dir } = project()
    await using chat = await openConversation({ model: MODEL, client: sdk, cwd, dir, env: {}, settings })
    const reached: string[] = []
    chat.on("compaction", ({ phase }) => reached.push(phase))
    for (let turn = 0; turn < 30 && !reached.includes("done"); turn++) {
      await chat.add(`Question ${turn}: ${"more ".repeat(500)}`)
      await chat.record(await sdk.messages.stream(await chat.prepare()).finalMessage())
    }
    expect(reached).toContain("done")
    expect(JSON.stringify((await chat.prepare()).messages[0])).toContain("Many questions, many words.")
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
  })
})

describe("our loop", () => {
  test("ask resolves with the answer and its cost; the key comes from the environment", async () => {
    const sim = await simulator({ responder: scripted("It is done.") })
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: sim.url }
    await using agent = await openAgent({ model: MODEL, tools: codingTools(), ...project(), env })
    const { text, cost, turns } = await agent.ask("Fix the failing test")
    expect({ text, turns }).toEqual({ text: "It is done.", turns: 1 })
    expect(cost).toBeGreaterThan(0)
    expect(cost).toBeCloseTo(agent.conversation.ledger().dollars, 9)
  })

  test("an OpenFeature client drives the flags, and the system prompt may be blocks", async () => {
    const seen: unknown[] = []
    const answer = ({ request }: ResponderTurn) => {
      seen.push(request.system)
      return { content: [{ type: "text" as const, text: "Yes." }] }
    }
    const sim = await simulator({ responder: scripted(answer) })
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: sim.url }
    const asked = new Set<string>()
    const flags = {
      getBooleanValue: async (name: string, otherwise: boolean) => asked.add(name) && otherwise,
      getNumberValue: async (_: string, otherwise: number) => otherwise,
    }
    const system = [{ type: "text" as const, text: "You answer briefly." }]
    await using agent = await openAgent({ model: MODEL, ...project(), env, flags, system })
    expect((await agent.ask("Ready?")).text).toBe("Yes.")
    expect(asked).toContain("tool-result-storage")
    expect(JSON.stringify(seen)).toContain("You answer briefly.")
  })

  test("without a key, ask throws a sentence that says what to set, and nothing is sent", async () => {
    await using agent = await openAgent({ model: MODEL, ...project(), env: {} })
    await expect(agent.ask("hi")).rejects.toThrow(/no key for Anthropic.*Set ANTHROPIC_API_KEY/)
  })

  test("an error is an event, and is thrown after the last event unless it is taken", async () => {
    const sim = await simulator({
      faults: [
        { fault: { kind: "server-error" }, nth: 1 },
        { fault: { kind: "server-error" }, nth: 2 },
      ],
    })
    const model = anthropicModel({ model: MODEL, apiKey: KEY, baseURL: sim.url, maxAttempts: 1 })
    await using agent = await openAgent({ model, ...project(), env: {} })
    const seen: string[] = []
    const watching = async () => {
      for await (const { type } of agent.query("hi")) seen.push(type)
    }
    await expect(watching()).rejects.toThrow(/500|server|failed/i)
    expect(seen.slice(-2)).toEqual(["error", "done"])
    for await (const event of agent.query("again")) {
      if (event.type === "error") expect(event.take()).toMatchObject({ status: 500 })
    }
    await expect(agent.ask("and again")).resolves.toMatchObject({ text: "Done." })
  })

  test("a second query at the same time is refused, and the first continues", async () => {
    const sim = await simulator({ responder: scripted("one", "two") })
    const model = anthropicModel({ model: MODEL, apiKey: KEY, baseURL: sim.url })
    await using agent = await openAgent({ model, ...project(), env: {} })
    const first = agent.query("one")
    await first.next()
    await expect(agent.ask("two")).rejects.toThrow(/already running a query.*enqueue\(\)/)
    for await (const _ of first) void _
    await expect(agent.ask("two")).resolves.toMatchObject({ text: "two" })
    await expect(agent.ask(5 as never)).rejects.toThrow(/must be a text or a list of blocks/)
  })

  test("LOOP-6 a limit is thrown by ask, and names itself", async () => {
    const sim = await simulator({
      responder: scripted([{ type: "tool_use", id: "toolu_1", name: "Nothing", input: {} }]),
    })
    const model = anthropicModel({ model: MODEL, apiKey: KEY, baseURL: sim.url })
    await using agent = await openAgent({ model, ...project(), env: {} })
    const asking = agent.ask("go", { maxTurns: 1 })
    await expect(asking).rejects.toThrow(NoAnswerError)
    await expect(asking).rejects.toThrow(/stopped after 1 request without a final answer/)
  })
})

describe("tools of your own", () => {
  const asked: string[] = []
  const weather = defineTool({
    name: "weather",
    description: "Says what the weather is like.",
    inputSchema: z.object({ city: z.string().describe("Which city") }),
    execute: async ({ city }) => {
      asked.push(city)
      return { city, sky: "clear" }
    },
  })

  test("ten lines are enough: it runs unasked, and the model gets its value as JSON", async () => {
    const responder = {
      name: "weather",
      answer: scripted(calls(["weather", { city: "Bern" }]) as never, "Clear.").answer,
    }
    const sim = await simulator({ responder })
    const model = anthropicModel({ model: MODEL, apiKey: KEY, baseURL: sim.url })
    await using agent = await openAgent({ model, tools: [weather], ...project(), env: {} })
    const results: unknown[] = []
    for await (const event of agent.query("Weather?"))
      if (event.type === "tool-result") results.push(event.result.content)
    expect(asked).toEqual(["Bern"])
    expect(results).toEqual(['{"city":"Bern","sky":"clear"}'])
  })

  test("PERM-1 with needsApproval and no one to ask it is refused", async () => {
    const responder = { name: "weather", answer: scripted(calls(["weather", { city: "Rome" }]) as never, "Ok.").answer }
    const sim = await simulator({ responder })
    const model = anthropicModel({ model: MODEL, apiKey: KEY, baseURL: sim.url })
    const careful = { ...weather, needsApproval: true }
    await using agent = await openAgent({ model, tools: [careful], ...project(), env: {} })
    const denied: string[] = []
    for await (const event of agent.query("Weather?")) if (event.type === "tool-denied") denied.push(event.why)
    expect(denied).toEqual([expect.stringMatching(/asks for approval of every call/)])
    expect(asked).not.toContain("Rome")
  })
})

test("closing an agent ends the commands it left running", async () => {
  const { cwd, dir } = project()
  const command = `sleep 600 & echo $! > ${join(cwd, "pid")}; wait`
  const responder = scripted(calls(["Bash", { command, run_in_background: true }]) as never, "Started.")
  const sim = await simulator({ responder })
  const model = anthropicModel({ model: MODEL, apiKey: KEY, baseURL: sim.url })
  const agent = await openAgent({
    model,
    tools: codingTools(),
    cwd,
    dir,
    mode: "bypass",
    env: { PATH: process.env.PATH },
  })
  await agent.ask("Start it")
  const pid = await pidIn(join(cwd, "pid"))
  expect(() => process.kill(pid, 0)).not.toThrow()
  await agent.close()
  while (isRunning(pid)) await new Promise((resolve) => setImmediate(resolve))
  await agent.close() // a second call does nothing
})

async function pidIn(file: string): Promise<number> {
  const { readFileSync } = await import("node:fs")
  while (!existsSync(file) || readFileSync(file, "utf8").trim() === "")
    await new Promise((resolve) => setImmediate(resolve))
  return Number(readFileSync(file, "utf8"))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test("PERM-1 with no one to ask, accepted edits cannot make git run a program", async () => {
  const { cwd, dir } = project()
  execFileSync("git", ["init", "--quiet"], { cwd })
  const config = join(cwd, ".git", "config")
  const evil = `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch ${cwd}/ran; false"\n`
  const responder = scripted(
    calls(["Read", { file_path: config }]) as never,
    calls(["Write", { file_path: config, content: evil }]) as never,
    calls(["Bash", { command: "git status" }]) as never,
  )
  await using agent = await openAgent({
    model: MODEL,
    client: client(await simulator({ responder })),
    tools: codingTools(),
    cwd,
    dir,
  })
  const results: unknown[] = []
  for await (const event of agent.query("Look at the project"))
    if (event.type === "tool-result") results.push(event.result.content)
  expect(results[1]).toBe("Not allowed: .git/config decides which programs run, and there is no one to ask")
  expect(results[2]).toMatch(/No commits yet/)
  expect(existsSync(join(cwd, "ran"))).toBe(false)
})

describe("tools that go wrong", () => {
  const tool = (execute: () => unknown, more: object = {}) =>
    defineTool({ name: "odd", description: "Odd.", inputSchema: z.object({}), execute, ...more })

  async function resultOf(odd: ReturnType<typeof tool>, options: object = {}, input: object = {}) {
    const responder = scripted(calls(["odd", input]) as never)
    const sdk = client(await simulator({ responder }))
    await using agent = await openAgent({ model: MODEL, client: sdk, tools: [odd], ...project(), ...options })
    const results: unknown[] = []
    for await (const event of agent.query("go")) if (event.type === "tool-result") results.push(event.result)
    return results[0]
  }

  test.each<[string, unknown, RegExp]>([
    ["a number that JSON lacks", 1n, /^odd ran, but what it returned cannot be sent: .*BigInt/],
    [
      "a text block without text",
      { content: [{ type: "text" }] },
      /cannot be sent: block 0 of its content needs "text"/,
    ],
    ["a block no result can have", { content: [{ type: "zork" }] }, /has the type "zork", which a tool result cannot/],
  ])("%s becomes an error result, and the conversation continues", async (_, value, why) => {
    expect(await resultOf(tool(() => value))).toMatchObject({ is_error: true, content: expect.stringMatching(why) })
  })

  test("an input that JSON has no form for reaches the tool", async () => {
    const inputSchema = z.object({ n: z.string().transform((text) => BigInt(text)) })
    const odd = defineTool({ name: "odd", description: "", inputSchema, execute: ({ n }) => String(n + 1n) })
    expect(await resultOf(odd as never, {}, { n: "41" })).toMatchObject({ content: "42" })
  })

  test("a promise as `readOnly` does not make a call read-only in plan mode", async () => {
    const odd = tool(() => "ran", { readOnly: async () => false })
    expect(await resultOf(odd, { mode: "plan" })).toMatchObject({
      is_error: true,
      content: expect.stringContaining("plan mode"),
    })
  })

  test.each([[undefined], [true], [{ allowed: "false" }]])("a permission answer %j allows nothing", async (answer) => {
    const odd = tool(() => "ran", { needsApproval: true })
    const result = await resultOf(odd, { askPermission: async () => answer as never })
    expect(result).toMatchObject({ is_error: true, content: expect.stringContaining("askPermission must return") })
  })
})

describe("leaving early", () => {
  /** A tool that waits until it is aborted. */
  function waiting() {
    const started = Promise.withResolvers<void>()
    const aborted = Promise.withResolvers<void>()
    const tool = defineTool({
      name: "wait",
      description: "Waits.",
      inputSchema: z.object({}),
      execute: (_, { signal, progress }) => {
        started.resolve()
        progress("waiting")
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted.resolve()
            reject(new Error("aborted"))
          })
        })
      },
    })
    return { tool, started: started.promise, aborted: aborted.promise }
  }

  test("a break in the loop ends the tool under way, and the conversation continues", async () => {
    const { tool, aborted } = waiting()
    const sdk = client(await simulator({ responder: scripted(calls(["wait", {}]) as never, "Again.") }))
    await using agent = await openAgent({ model: MODEL, client: sdk, tools: [tool], ...project() })
    for await (const event of agent.query("go")) if (event.type === "tool-progress") break
    await aborted
    expect((await agent.ask("again")).text).toBe("Again.")
  })

  test("close ends the query that runs: ask throws that the conversation is closed", async () => {
    const { tool, started, aborted } = waiting()
    const sdk = client(await simulator({ responder: scripted(calls(["wait", {}]) as never) }))
    const agent = await openAgent({ model: MODEL, client: sdk, tools: [tool], ...project() })
    const asked = expect(agent.ask("go")).rejects.toThrow(/conversation is closed/)
    await started
    await Promise.all([agent.close(), agent.close()])
    await aborted
    await asked
  })
})

test("a response of a model of your own needs no usage", async () => {
  const { facts } = anthropicModel({ model: MODEL, apiKey: KEY })
  const response = { content: [{ type: "text", text: "Hi." }], stop_reason: "end_turn" }
  const stream = async function* () {
    yield { type: "response", response }
  }
  const model = { name: MODEL, provider: "mine", facts, stream } as never
  await using agent = await openAgent({ model, ...project(), env: {} })
  expect((await agent.ask("hi")).text).toBe("Hi.")
})
