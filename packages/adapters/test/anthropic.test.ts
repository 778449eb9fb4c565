/** Programs on the Anthropic SDK with one additional line, against the simulator. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import type { Answer, Responder, ResponderMessage, ResponderTurn } from "@strata/sim"
import { extractiveAnswer, frozenClock, startSimulator } from "@strata/sim"
import { afterEach, describe, expect, onTestFinished, test } from "vitest"
import { isWhole, size } from "../../core/test/size.ts"
import { closeStrata, withStrata } from "../src/anthropic.ts"
import type { StrataOptions } from "../src/options.ts"

const MODEL = "claude-opus-5-5"
const KEY = "sk-ant-secret-of-the-person"
const WINDOW = 60_000
const TOOLS = [{ name: "look", input_schema: { type: "object" as const } }]
const LONG = "line of a file with words in it\n".repeat(500)

afterEach(closeStrata)

/** Calls its tool until it is asked to stop. When asked for the port, it answers from the view, else calls Recall. */
class Worker implements Responder {
  readonly name = "worker"
  readonly asked: (readonly ResponderMessage[])[] = []
  calls = 1
  #number = 0

  answer(turn: ResponderTurn): Answer {
    const about = extractiveAnswer(turn)
    if (about) return about
    const { messages } = turn.request
    this.asked.push(messages)
    const last = JSON.stringify(messages.at(-1))
    const number = ++this.#number
    const thinking = { type: "thinking", thinking: `Thought ${number}.` } as const
    const call = (name: string, input: object, at = 0) =>
      ({ type: "tool_use", id: `toolu_${String(number).padStart(12, "0")}_${at}x`, name, input }) as const
    if (last.includes("Which port?") && !last.includes('"tool_result"'))
      return {
        content: [thinking, { type: "text", text: "I look it up." }, call("Recall", { search: "staging port" })],
      }
    const port = /the staging port is (\d+)/.exec(last)?.[1]
    if (last.includes("Quotations from the past"))
      return { content: [thinking, { type: "text", text: `It is ${port ?? "unknown"}.` }] }
    if (last.includes("stop here")) return { content: [thinking, { type: "text", text: `Done ${number}.` }] }
    const calls = Array.from({ length: this.calls }, (_, at) => call("look", { at: number * 10 + at }, at))
    return { content: [thinking, { type: "text", text: `Answer ${number}.` }, ...calls] }
  }
}

async function server() {
  const responder = new Worker()
  const models = { [MODEL]: { window: WINDOW } }
  const sim = await startSimulator({ responder, clock: frozenClock(), bindThinking: "error", models })
  const dir = mkdtempSync(join(tmpdir(), "strata-anthropic-"))
  onTestFinished(async () => {
    await closeStrata()
    await sim.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const plain = new Anthropic({ baseURL: sim.url, apiKey: KEY, maxRetries: 0 })
  const settings = { models }
  const strata = (options: StrataOptions = {}) => withStrata(plain, { dir, settings, ...options })
  return { responder, sim, dir, plain, strata }
}

/** A program that keeps its own list, as a developer would write it. */
class Program {
  readonly messages: Anthropic.MessageParam[] = [{ role: "user", content: "Count the files. the staging port is 4711" }]
  readonly client: Pick<Anthropic, "messages">
  readonly streams: boolean

  constructor(client: Pick<Anthropic, "messages">, { streams = false } = {}) {
    this.client = client
    this.streams = streams
  }

  async ask(): Promise<Anthropic.Message> {
    const body = { model: MODEL, max_tokens: 1_000, system: "You help.", tools: TOOLS, messages: this.messages }
    const answer = await (this.streams
      ? this.client.messages.stream(body).finalMessage()
      : this.client.messages.create(body))
    this.messages.push({ role: "assistant", content: answer.content })
    return answer
  }

  async work(rounds: number, result = LONG): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const { content } = await this.ask()
      const calls = content.filter((block) => block.type === "tool_use")
      const results = calls.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: result }))
      this.messages.push({ role: "user", content: results })
    }
  }

  async say(text: string): Promise<string> {
    const last = this.messages.at(-1)!
    if (last.role === "user" && Array.isArray(last.content)) last.content.push({ type: "text", text })
    else this.messages.push({ role: "user", content: text })
    const { content } = await this.ask()
    return content.map((block) => (block.type === "text" ? block.text : block.type)).join(" | ")
  }
}

describe("BEY-11 withStrata(new Anthropic())", () => {
  test.each([true, false])(
    "while nothing is compacted, answers are those without it; streaming %s",
    async (streams) => {
      const [without, through] = [await server(), await server()]
      const direct = new Program(without.plain, { streams })
      const managed = new Program(through.strata({ recall: false }), { streams })
      for (const program of [direct, managed]) await program.work(4)
      expect(managed.messages).toEqual(direct.messages)
      expect(through.sim.stats().total.dollars).toBeLessThan(without.sim.stats().total.dollars) // Strata sets cache breakpoints
    },
  )

  test.each(size([true], [true, false]))(
    "an agent works over three windows, is restarted, and recalls what it saw first; streaming %s",
    async (streams) => {
      const { responder, sim, strata } = await server()
      responder.calls = 2
      const program = new Program(strata(), { streams })
      await program.work(12)
      await closeStrata()
      const again = new Program(strata(), { streams })
      again.messages.splice(0, 1, ...program.messages)
      await again.work(12)
      expect(await again.say("stop here")).toMatch(/^thinking \| Done/)
      const seen = await again.say("Which port?")
      expect(seen).toBe("thinking | I look it up. | thinking | It is 4711.")
      expect(await again.say("stop here")).toMatch(/Done/)
      expect(sim.stats().errors).toEqual({})
      const sent = JSON.stringify(again.messages).length / 4
      expect(sent).toBeGreaterThan(3 * WINDOW)
      expect(JSON.stringify(responder.asked.at(-1)).length / 3).toBeLessThan(WINDOW * 1.2)
      expect(JSON.stringify(again.messages)).not.toContain("Recall")
    },
  )

  test.runIf(isWhole)("two conversations at once, an abort and an error in the middle harm nothing", async () => {
    const { sim, strata } = await server()
    const client = strata({ recall: "always" })
    const [one, two] = [new Program(client), new Program(client)]
    two.messages[0] = { role: "user", content: "Count the lines. the staging port is 8080" }
    await Promise.all([one.work(3), two.work(3)])
    const stream = client.messages.stream({ model: MODEL, max_tokens: 1_000, tools: TOOLS, messages: one.messages })
    stream.on("streamEvent", () => stream.abort())
    await expect(stream.finalMessage()).rejects.toThrow(Anthropic.APIUserAbortError)
    await one.work(1)
    sim.faults.add({ fault: { kind: "overloaded" }, times: 1 })
    await expect(two.ask()).rejects.toThrow(/529|overloaded/i)
    await two.work(1)
    await Promise.all([one.say("stop here"), two.say("stop here")])
    expect(await Promise.all([one.say("Which port?"), two.say("Which port?")])).toEqual([
      expect.stringContaining("It is 4711."),
      expect.stringContaining("It is 8080."),
    ])
  })

  test("a single question costs what it costs without Strata", async () => {
    const [without, through] = [await server(), await server()]
    const messages = [{ role: "user" as const, content: `${LONG} stop here` }]
    const choice = { tools: TOOLS, tool_choice: { type: "tool" as const, name: "look" } }
    for (const more of [{}, { ...choice, model: "claude-opus-4-6" }]) {
      await without.plain.messages.create({ model: MODEL, max_tokens: 100, messages, ...more })
      await through.strata({ recall: false }).messages.create({ model: MODEL, max_tokens: 100, messages, ...more })
    }
    // a cached prompt, and a text that is read once
    const system = [{ type: "text" as const, text: LONG, cache_control: { type: "ephemeral" as const } }]
    for (const client of [without.plain, through.strata({ recall: false })])
      await client.messages.create({ model: MODEL, max_tokens: 100, system, messages })
    expect(through.sim.stats().total.dollars).toBe(without.sim.stats().total.dollars)
  })

  test.runIf(isWhole)(
    "a process that serves many owners closes those that no one uses, and goes on with them later",
    async () => {
      const { dir, sim, strata } = await server()
      const owners = Array.from({ length: 110 }, (_, at) => `owner-${at}`)
      const messages = [{ role: "user" as const, content: "stop here" }]
      const ask = (owner: string, list: Anthropic.MessageParam[]) =>
        strata({ owner }).messages.create({ model: MODEL, max_tokens: 100, tools: TOOLS, messages: list })
      const [first] = await Promise.all(owners.slice(0, 1).map((owner) => ask(owner, messages)))
      for (const owner of owners.slice(1)) await ask(owner, messages)
      const locks = () =>
        readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".lock"))
      await expect.poll(() => locks().length).toBeLessThanOrEqual(100)
      expect(locks().length).toBeGreaterThan(50)
      const again = [...messages, { role: "assistant" as const, content: first!.content }, ...messages]
      await ask(owners[0]!, again)
      expect(await strata({ owner: owners[0]! }).strata.status()).toMatchObject([
        { requests: 1, id: expect.any(String) },
      ])
      expect(
        readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((file) => /via-.*\.jsonl$/.test(file)),
      ).toHaveLength(110)
      expect(sim.stats().errors).toEqual({})
    },
  )

  test("a tool runner continues in Strata's conversation, and does not leave it to the server", async () => {
    const { responder, sim, strata } = await server()
    const client = strata()
    const messages = [{ role: "user" as const, content: "Count the files. the staging port is 4711" }]
    const run = async () => (responder.asked.length > 4 ? "stop here" : LONG)
    const tools = TOOLS.map((tool) => ({ ...tool, run, parse: (input: unknown) => input }))
    const last = await client.beta.messages.toolRunner({ model: MODEL, max_tokens: 1_000, tools, messages })
    expect(JSON.stringify(last.content)).toContain("Done")
    expect(sim.stats().errors).toEqual({})
    const rows = await client.strata.status()
    expect(rows.map(({ requests }) => requests)).toEqual([responder.asked.length])
  })

  test("a thread that the program keeps at the server passes as it is", async () => {
    const { strata } = await server()
    const client = strata()
    const thread = client.beta.messages.thread({ model: MODEL, max_tokens: 1_000, tools: TOOLS })
    const sent = thread.send({ role: "user", content: "Hello" })
    await expect(sent).rejects.toThrow(/this server does not support message threads/) // the simulator reports this
    expect((await client.strata.status()).map(({ id }) => id)).toEqual(["other-requests"])
  })

  test("a copy with other options does it too, and a client that is too old gets an error with the required version", async () => {
    const { strata } = await server()
    const copy = strata().withOptions({ timeout: 60_000 })
    await new Program(copy).work(1)
    const [row] = await copy.strata.status()
    expect([copy.timeout, row!.requests]).toEqual([60_000, 1])
    const elsewhere = await server()
    const moved = copy.withOptions({ baseURL: elsewhere.sim.url, fetch: (url, init) => fetch(url, init) })
    await new Program(moved).work(2)
    expect((await moved.strata.status()).map(({ requests }) => requests)).toEqual([1, 2]) // one row for each server
    const old = { baseURL: "http://127.0.0.1", messages: {} }
    expect(() => withStrata(old as never)).toThrow(/needs @anthropic-ai\/sdk 0\.50 or newer/)
  })

  test.runIf(isWhole)("other calls pass, keys reach no file, and the status says what was done", async () => {
    const { dir, strata } = await server()
    const client = strata({ conversation: "mine" })
    const program = new Program(client)
    await program.work(14)
    const { input_tokens } = await client.messages.countTokens({
      model: MODEL,
      messages: [{ role: "user", content: LONG }],
    })
    expect(input_tokens).toBeGreaterThan(1_000)
    const beta = await client.beta.messages.create({
      ...{ model: MODEL, max_tokens: 1_000, tools: TOOLS },
      messages: program.messages as never,
    })
    expect(beta.usage.input_tokens + (beta.usage.cache_read_input_tokens ?? 0)).toBeLessThan(WINDOW)
    const [row] = await client.strata.status()
    expect(row!.decisions.join()).toMatch(/compaction: [1-9]/)
    expect(row!.cost).toBeLessThan(row!.directCost!)
    const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    for (const { parentPath, name } of files) expect(readFileSync(join(parentPath, name), "utf8")).not.toContain(KEY)
  })
})

test("CACHE-6 thinking in the program's list that another server signed is refused once, then left out", async () => {
  const { sim, responder, strata } = await server()
  const program = new Program(strata())
  const external = { type: "thinking" as const, thinking: "Signed elsewhere.", signature: "EqQBsignedElsewhere" }
  program.messages.push({ role: "assistant", content: [external, { type: "text", text: "Which files?" }] })
  for (const text of ["All, and stop here.", "Again, and stop here.", "And stop here."])
    expect(await program.say(text)).toContain("Done")
  expect(sim.stats().errors).toEqual({ invalid_request_error: 1 })
  const [first, , last] = responder.asked.map((messages) => JSON.stringify(messages))
  expect(last!.startsWith(first!.slice(0, -1))).toBe(true)
  expect(last).not.toContain("Signed elsewhere.")
})
