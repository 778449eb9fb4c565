/** Programs that send their whole list each time, through the proxy, against the simulator. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import type { Conversation } from "@strata/core"
import { frozenClock, type Simulator, startSimulator } from "@strata/sim"
import { describe, expect, onTestFinished, test } from "vitest"
import type { Answer, Brain, BrainMessage, BrainTurn } from "../../sim/src/brain.ts"
import { extractiveAnswer } from "../../sim/src/brains/extractive.ts"
import { Conversations, type ConversationsOptions } from "../src/index.ts"
import { proxy } from "./raw-upstream.ts"

const MODEL = "claude-opus-5-5"
const KEY = "sk-ant-secret-of-the-person"
const WINDOW = 60_000
const TOOLS = [{ name: "Bash", input_schema: { type: "object" as const } }]
const SYSTEM = [{ type: "text" as const, text: "You help. ".repeat(50), cache_control: { type: "ephemeral" as const } }]

type Messages = Anthropic.MessageParam[]

/** Calls a tool until it is asked to stop, writes summaries, and remembers what it was asked. */
class Worker implements Brain {
  readonly name = "worker"
  readonly asked: (readonly BrainMessage[])[] = []
  readonly aside: (readonly BrainMessage[])[] = []
  #answers = 0

  answer(turn: BrainTurn): Answer {
    const about = extractiveAnswer(turn)
    const { messages } = turn.request
    if (about || JSON.stringify(messages.at(-1)).includes("CRITICAL: Respond")) {
      this.aside.push(messages)
      return about ?? { content: [{ type: "text", text: "<summary>We count files.</summary>" }] }
    }
    this.asked.push(messages)
    const number = ++this.#answers
    const isEnd = JSON.stringify(messages.at(-1)).includes("stop here")
    return {
      content: [
        { type: "thinking", thinking: `Thought ${number}.` },
        { type: "text", text: `Answer ${number}.` },
        ...(isEnd
          ? []
          : [{ type: "tool_use", id: `toolu_${number}`, name: "Bash", input: { command: `ls ${number}` } } as const]),
      ],
    }
  }
}

interface Running {
  readonly brain: Worker
  readonly sim: Simulator
  readonly url: string
  readonly home: string
  readonly manager: Conversations
}

async function running(options: Partial<ConversationsOptions> = {}, brain = new Worker()): Promise<Running> {
  const models = { [MODEL]: { window: WINDOW } }
  const sim = await startSimulator({ brain, clock: frozenClock(), bindThinking: "error", models })
  const home = options.dir ?? mkdtempSync(join(tmpdir(), "strata-managed-"))
  const manager = managerOf(sim, { ...options, dir: home })
  const { url } = await proxy({ upstream: sim.url, manager })
  onTestFinished(async () => {
    await manager.close()
    await sim.close()
    rmSync(home, { recursive: true, force: true })
  })
  return { brain, sim, url, home, manager }
}

const managerOf = (sim: Simulator, options: Partial<ConversationsOptions>) =>
  new Conversations({
    upstream: sim.url,
    cwd: "/nowhere",
    env: {},
    clock: { now: () => new Date(sim.clock.now()) } as never,
    // results stay, so that windows fill
    settings: { models: { [MODEL]: { window: WINDOW } }, figures: { "tool-result-limit": 50_000 } },
    ...options,
  })

class Program {
  messages: Messages = [{ role: "user", content: "Count the files." }]
  readonly #client: Anthropic
  readonly #headers: Record<string, string>

  constructor(url: string, headers: Record<string, string> = {}) {
    this.#client = new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0, openTelemetry: false })
    this.#headers = headers
  }

  async ask(messages = this.messages): Promise<Anthropic.Message> {
    const request = { model: MODEL, max_tokens: 1_000, system: SYSTEM, tools: TOOLS, messages: marked(messages) }
    return this.#client.messages.stream(request, { headers: this.#headers }).finalMessage()
  }

  /** One request, its answer, and what the tools say. */
  async round(result = "a few words"): Promise<void> {
    const { content } = await this.ask()
    this.messages.push({ role: "assistant", content })
    const calls = content.filter((block) => block.type === "tool_use")
    const results = calls.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: result }))
    this.messages.push({ role: "user", content: results.length > 0 ? results : "Go on." })
  }

  say(text: string): void {
    const last = this.messages.at(-1)!
    const blocks = typeof last.content === "string" ? [{ type: "text" as const, text: last.content }] : last.content
    this.messages[this.messages.length - 1] = { role: "user", content: [...blocks, { type: "text", text }] }
  }
}

/** As clients mark: the end of the last message. */
function marked(messages: Messages): Messages {
  const last = messages.at(-1)!
  const blocks = typeof last.content === "string" ? [{ type: "text" as const, text: last.content }] : last.content
  const end = blocks.map((block, at) =>
    at < blocks.length - 1 ? block : { ...block, cache_control: { type: "ephemeral" } },
  )
  return [...messages.slice(0, -1), { ...last, content: end as never }]
}

const LONG = "line of a file with words in it\n".repeat(500)

describe("BEY-11 a program behind the proxy", () => {
  test("while nothing is decided, the server gets what it would get without us, for the same money", async () => {
    const direct = await running()
    const straight = new Program(direct.sim.url)
    const { brain, url, sim } = await running()
    const through = new Program(url)
    for (let round = 0; round < 6; round++) {
      await straight.round()
      await through.round()
    }
    expect(brain.asked).toEqual(direct.brain.asked)
    expect(sim.stats().total).toEqual(direct.sim.stats().total)
    expect(through.messages).toEqual(straight.messages)
  })

  test("a list that outgrows the window goes on, and the report has the simulator's bill to the cent", async () => {
    const { brain, url, sim, manager } = await running()
    const program = new Program(url)
    for (let round = 0; round < 14; round++) await program.round(LONG)
    const { errors, total } = sim.stats()
    expect(errors).toEqual({})
    expect(brain.aside.length).toBeGreaterThan(0)
    const [row] = await manager.status()
    expect(row!.decisions.join()).toMatch(/compaction: [1-9]/)
    expect(row!.sent).toBeLessThan(WINDOW)
    await manager.close()
    const [closed] = await manager.status()
    expect(closed!.cost).toBeCloseTo(total.dollars, 6)
    const last = JSON.stringify(brain.asked.at(-1))
    expect(last).toContain("Count the files.")
    expect(last).toContain("This conversation continues")
  })

  test("summaries are asked for as the client asks: its key, its prompt, from its cache", async () => {
    const { url, sim, brain } = await running()
    const program = new Program(url)
    for (let round = 0; round < 14; round++) await program.round(LONG)
    expect(brain.aside.length).toBeGreaterThan(0)
    const asides = sim.log.filter(({ input }) => input !== undefined && input.read > 0)
    expect(asides.length).toBeGreaterThan(10)
    expect(sim.stats().total.inputTokens).toBeLessThan(sim.stats().total.cacheReadTokens / 10)
  })

  test("observing changes nothing: the bytes and the bill are the client's, and the journal is kept", async () => {
    const direct = await running()
    const straight = new Program(direct.sim.url)
    const { brain, url, sim, manager } = await running({ observe: true })
    const program = new Program(url)
    for (let round = 0; round < 5; round++) {
      await straight.round(LONG)
      await program.round(LONG)
    }
    expect(brain.asked).toEqual(direct.brain.asked)
    expect(sim.stats().total).toEqual(direct.sim.stats().total)
    const [row] = await manager.status()
    expect(row).toMatchObject({ isObserved: true, requests: 5 })
    expect(row!.cost).toBeCloseTo(sim.stats().total.dollars, 6)
  })
})

describe("BEY-14 conversations behind the proxy", () => {
  test("another process goes on with the same bytes", async () => {
    const { brain, sim, url, home, manager } = await running()
    const program = new Program(url)
    for (let round = 0; round < 12; round++) await program.round(LONG)
    const before = brain.asked.at(-1)!
    expect(JSON.stringify(before)).toContain("This conversation continues")
    await manager.close()
    const again = managerOf(sim, { dir: home })
    onTestFinished(() => again.close())
    const other = await proxy({ upstream: sim.url, manager: again })
    const resumed = new Program(other.url)
    resumed.messages = program.messages
    await resumed.round()
    expect(brain.asked.at(-1)!.slice(0, before.length)).toEqual(before)
    expect(await again.status()).toHaveLength(1)
    expect((await again.status())[0]!.id).toBe((await manager.status())[0]!.id)
  })

  test("two that begin alike stay apart, and so do the threads of one id", async () => {
    const { url, manager } = await running()
    const session = { "x-claude-code-session-id": "11111111-1111-4111-8111-111111111111" }
    const programs = [
      new Program(url, session),
      new Program(url, { ...session, "x-claude-code-agent-id": "a1" }),
      new Program(url, { "x-claude-code-session-id": "22222222-2222-4222-8222-222222222222" }),
      new Program(url),
      new Program(url),
    ]
    for (let round = 0; round < 3; round++) for (const program of programs) await program.round()
    const rows = await manager.status()
    expect(rows.map(({ requests }) => requests)).toEqual([3, 3, 3, 3, 3])
  })

  test("a new id with a known beginning is a fork: the parent's journal is copied, and both go on", async () => {
    const { url, manager, brain } = await running()
    const parent = new Program(url, { "x-session-id": "parent" })
    for (let round = 0; round < 3; round++) await parent.round()
    const fork = new Program(url, { "x-session-id": "fork" })
    fork.messages = [...parent.messages]
    fork.say("Another way.")
    await fork.round()
    await parent.round()
    expect(JSON.stringify(brain.asked.at(-2))).toContain("Another way.")
    expect(JSON.stringify(brain.asked.at(-1))).not.toContain("Another way.")
    expect((await manager.status()).map(({ requests }) => requests).sort()).toEqual([1, 3 + 1])
  })

  test("the client's own compaction: the order is answered from our view, and its list goes on in the same conversation", async () => {
    const { url, manager, brain, sim } = await running()
    const program = new Program(url, { "x-session-id": "one" })
    for (let round = 0; round < 3; round++) await program.round()
    const order =
      "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\nAn <analysis> block followed by a <summary> block."
    const [...list] = program.messages
    program.say(order)
    await program.ask()
    const [call, result] = list.slice(-2)
    program.messages = [
      {
        role: "user",
        content:
          "This session is being continued from a previous conversation that ran out of context. We count files.",
      },
      call!,
      result!,
    ]
    await program.round()
    await program.round()
    expect(sim.stats().errors).toEqual({})
    const last = JSON.stringify(brain.asked.at(-1))
    expect(last.match(/A record of what was said and done/g)).toHaveLength(1)
    expect(last).toContain("We count files.")
    expect(await manager.status()).toHaveLength(1)
  })

  test("an answer that the client cut off, and one that it asks for again", async () => {
    const { url, brain, sim } = await running()
    const program = new Program(url, { "x-session-id": "one" })
    await program.round()
    await program.ask() // and lost
    await program.round()
    await program.round()
    expect(sim.stats().errors).toEqual({})
    expect(brain.asked.at(-1)).toHaveLength(program.messages.length - 2)
  })

  test("titles and other questions beside a conversation pass and are none", async () => {
    const { url, manager, sim } = await running()
    const client = new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0, openTelemetry: false })
    const headers = { "x-claude-code-session-id": "11111111-1111-4111-8111-111111111111" }
    await client.messages.create(
      { model: MODEL, max_tokens: 50, messages: [{ role: "user", content: "A title?" }] },
      { headers },
    )
    const tools = [{ name: "Read", input_schema: { type: "object" as const } }]
    const reminder = "<system-reminder>The date is known.</system-reminder>"
    const content = [reminder, "Warmup"].map((text) => ({ type: "text" as const, text }))
    await client.messages.create(
      { model: MODEL, max_tokens: 50, tools, messages: [{ role: "user", content }] },
      { headers },
    )
    expect(sim.stats().total.requests).toBe(2)
    expect((await manager.status()).map(({ id }) => id)).toEqual(["other-requests"])
  })
})

describe("BEY-11 when something of ours fails", () => {
  test("the client gets its answer, and after three failures in a row we step aside for this conversation", async () => {
    const { url, manager, sim } = await running()
    const program = new Program(url, { "x-session-id": "one" })
    await program.round()
    const chat = await openOf(manager)
    const prepare = chat.prepare.bind(chat)
    chat.prepare = () => Promise.reject(new Error("broken"))
    for (let round = 0; round < 4; round++) await program.round()
    chat.prepare = prepare
    expect(sim.stats().errors).toEqual({})
    expect((await manager.status())[0]!.off).toBe("broken")
  })

  test("thinking that the server refuses is dropped inside the same request", async () => {
    const { url, sim, manager } = await running()
    const program = new Program(url, { "x-session-id": "one" })
    await program.round()
    await program.round()
    const chat = await openOf(manager)
    const prepare = chat.prepare.bind(chat)
    let isFirst = true
    chat.prepare = async () => {
      const request = await prepare()
      if (!isFirst) return request
      isFirst = false
      const [first, ...rest] = request.messages
      return { ...request, messages: [{ role: first!.role, content: "Something else." }, ...rest] }
    }
    await program.round()
    expect(sim.stats().errors).toEqual({ invalid_request_error: 1 })
  })

  test("no key is on disk", async () => {
    const { url, home, manager } = await running()
    const program = new Program(url)
    for (let round = 0; round < 3; round++) await program.round(LONG)
    await manager.close()
    const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(files.length).toBeGreaterThan(0)
    for (const { parentPath, name } of files) expect(readFileSync(join(parentPath, name), "latin1")).not.toContain(KEY)
  })
})

/** The conversation that is open, as the manager holds it. */
async function openOf(manager: Conversations): Promise<Conversation> {
  const [open] = await manager.open()
  return open!
}
