/** Agents with the middleware, in the shape of LangChain's, against the simulator. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { frozenClock, startSimulator } from "@strata/sim"
import { afterEach, describe, expect, onTestFinished, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import type { Answer, Responder, ResponderMessage, ResponderTurn } from "../../sim/src/responder.ts"
import { extractiveAnswer } from "../../sim/src/responders/extractive.ts"
import { closeStrata, type StrataOptions, strataMiddleware, strataStatus } from "../src/langchain.ts"
import { Agent, type AiChunk, ClaudeLike, type Listener } from "./langchain-like.ts"

const MODEL = "claude-opus-5-5"
const WINDOW = 60_000
const TOOLS = [{ name: "look", input_schema: { type: "object" } }]
const LONG = "line of a file with words in it\n".repeat(500)

afterEach(closeStrata)

/** Calls its tool as often as requested. When asked for the port, it calls Recall. */
class Worker implements Responder {
  readonly name = "worker"
  readonly asked: (readonly ResponderMessage[])[] = []
  #number = 0
  #left = 0
  /** Calls Recall and the tool in one message. */
  mixes = false

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
    if (!last.includes('"tool_result"')) this.#left = Number(/look (\d+) times/.exec(last)?.[1] ?? 0)
    if (last.includes("Which port?") && !last.includes('"tool_result"')) {
      const calls = [call("Recall", { search: "staging port" }), ...(this.mixes ? [call("look", {}, 1)] : [])]
      return { content: [thinking, { type: "text", text: "I look it up. " }, ...calls] }
    }
    const port = /the staging port is (\d+)/.exec(last)?.[1]
    if (last.includes("Quotations from the past"))
      return { content: [thinking, { type: "text", text: `It is ${port ?? "unknown"}.` }] }
    if (this.#left === 0) return { content: [thinking, { type: "text", text: `Done ${number}.` }] }
    this.#left--
    return { content: [thinking, { type: "text", text: `Answer ${number}.` }, call("look", { at: number })] }
  }
}

async function server(serverWindow = WINDOW) {
  const responder = new Worker()
  const models = { [MODEL]: { window: serverWindow } }
  const sim = await startSimulator({ responder, clock: frozenClock(), bindThinking: "error", models })
  const dir = mkdtempSync(join(tmpdir(), "strata-langchain-"))
  onTestFinished(async () => {
    await closeStrata()
    await sim.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const lines: string[] = []
  const agent = (options: StrataOptions | undefined, thread?: string) =>
    new Agent({
      model: new ClaudeLike(MODEL, sim.url),
      tools: TOOLS,
      tool: () => LONG,
      ...(thread === undefined ? {} : { thread }),
      ...(options
        ? {
            middleware: strataMiddleware({
              dir,
              recall: "always",
              settings: { models: { [MODEL]: { window: WINDOW } } },
              log: (line) => lines.push(line),
              ...options,
            }),
          }
        : {}),
    })
  return { responder, sim, dir, agent, lines }
}

/** A listener that records its callbacks. */
function listener(streams: boolean) {
  const heard: (readonly [string, ...unknown[]])[] = []
  const hear =
    (name: string) =>
    (...words: unknown[]) =>
      void heard.push([name, ...words])
  const handler: Listener = {
    name: "listener",
    lc_prefer_streaming: streams,
    handleChatModelStart: hear("start"),
    handleLLMNewToken: hear("token"),
    handleLLMEnd: hear("end"),
    handleLLMError: hear("error"),
  }
  const names = () => heard.map(([name]) => name)
  const chunks = () =>
    heard.flatMap(([name, ...words]) =>
      name === "token" ? [(words[5] as { chunk: { message: AiChunk } }).chunk.message] : [],
    )
  return { handler, heard, names, chunks }
}

const plain = (agent: Agent) => agent.messages.map(({ type, content, tool_calls }) => ({ type, content, tool_calls }))

describe("BEY-11 an agent of LangChain with the middleware", () => {
  test.each([true, false])(
    "while nothing is compacted, its messages are those without it; streaming %s",
    async (streams) => {
      const [without, through] = [await server(), await server()]
      const [direct, managed] = [without.agent(undefined, "t"), through.agent({ recall: false }, "t")]
      for (const agent of [direct, managed]) await agent.say("look 4 times", { callbacks: [listener(streams).handler] })
      expect(plain(managed)).toEqual(plain(direct))
      expect(managed.messages.at(-1)?.constructor).toBe(direct.messages.at(-1)?.constructor)
      expect(through.sim.stats().total.dollars).toBeLessThan(without.sim.stats().total.dollars) // Strata sets cache breakpoints
    },
  )

  test.runIf(isWhole).each([true, false])(
    "works over three windows, is restarted, and recalls what it saw first; streaming %s",
    async (streams) => {
      const { agent, sim, lines } = await server()
      const { handler, heard } = listener(streams)
      const callbacks = [handler]
      const first = agent({}, "long")
      await first.say("Count the files. the staging port is 4711. look 24 times", { callbacks })
      await closeStrata()
      const second = agent({}, "long")
      second.messages.push(...first.messages)
      expect(await second.say("And now look 16 times", { callbacks })).toMatch(/^Done/)
      expect(await second.say("Which port?", { callbacks })).toBe("I look it up. It is 4711.")
      expect(sim.log.filter(({ status }) => status >= 400)).toEqual([])
      const [row] = await strataStatus()
      expect(row!.decisions.join()).toMatch(/compaction: ([3-9]|\d\d)/)
      expect(row!.conversation).toBe("long")
      expect(lines).toEqual([])
      expect(
        JSON.stringify([second.messages, heard.map(([name, ...words]) => (name === "start" ? name : words))]),
      ).not.toMatch(/"name":"Recall"/)
    },
  )

  test("two rounds are one run to a listener: one start, one message, one end with the whole bill", async () => {
    const { agent, sim } = await server()
    const { handler, heard, names, chunks } = listener(true)
    const managed = agent({}, "t")
    await managed.say("the staging port is 4711. look 1 times")
    const before = sim.log.length
    await managed.say("Which port?", { callbacks: [handler] })
    expect(names().filter((name) => name !== "token")).toEqual(["start", "end"])
    const whole = chunks().reduce((all, chunk) => all.concat(chunk))
    const answer = managed.messages.at(-1)!
    expect(whole).toMatchObject({ content: answer.content, id: answer.id, usage_metadata: answer.usage_metadata })
    expect(new Set(chunks().flatMap(({ id }) => id ?? [])).size).toBe(1)
    const [one, two] = sim.log.slice(before)
    expect(answer.usage_metadata).toMatchObject({ output_tokens: one!.output! + two!.output! })
    expect(
      new Set(heard.map(([name, ...words]) => (name === "start" || name === "token" ? words[2] : words[1]))).size,
    ).toBe(1)
  })

  test("a call of Recall together with one of the client's is held until the client's result is there", async () => {
    const { agent, responder } = await server()
    responder.mixes = true
    const managed = agent({}, "t")
    await managed.say("the staging port is 4711. look 1 times")
    expect(await managed.say("Which port?")).toBe("It is 4711.")
    const results = responder.asked
      .at(-1)!
      .at(-1)!
      .content.filter(({ type }) => type === "tool_result")
    expect(results).toHaveLength(2)
    expect(JSON.stringify(managed.messages)).not.toContain("Recall")
  })

  test("a request that is too long for the server is sent again, and the agent does not see it", async () => {
    const { agent, sim } = await server(30_000)
    const managed = agent({ settings: { models: { [MODEL]: { window: 200_000 } } } }, "t")
    expect(await managed.say("look 9 times")).toMatch(/^Done/)
    expect(sim.log.filter(({ status }) => status === 400).length).toBeGreaterThan(0)
  })

  test("an error and an abort are the client's, and the conversation continues after them", async () => {
    const { agent, sim } = await server()
    const managed = agent({}, "t")
    await managed.say("look 2 times")
    sim.faults.add({ fault: { kind: "overloaded" }, times: 1 })
    await expect(managed.say("look 1 times")).rejects.toMatchObject({ status: 529 })
    managed.messages.pop()
    const stop = new AbortController()
    const { handler, names } = listener(true)
    const aborting = { ...handler, handleLLMNewToken: () => stop.abort() }
    await expect(managed.say("look 1 times", { callbacks: [aborting, handler], signal: stop.signal })).rejects.toThrow(
      /abort/i,
    )
    expect(names().at(-1)).toBe("error")
    managed.messages.pop()
    expect(await managed.say("look 1 times")).toMatch(/^Done/)
  })

  test("threads are conversations of their own, also at once", async () => {
    const { agent, responder } = await server()
    const agents = ["a", "b"].map((thread) => agent({}, thread))
    await Promise.all(agents.map((each, at) => each.say(`the staging port is ${4711 + at}. look 1 times`)))
    expect(await agents[0]!.say("Which port?")).toBe("I look it up. It is 4711.")
    expect(await agents[1]!.say("Which port?")).toBe("I look it up. It is 4712.")
    expect(responder.asked.filter((messages) => /4711.*4712|4712.*4711/.test(JSON.stringify(messages)))).toEqual([])
  })

  test("where a failure of Strata keeps the plan away, the request passes as it is", async () => {
    const { agent, lines } = await server()
    const managed = agent({ dir: "/dev/null/nowhere" }, "t")
    expect(await managed.say("look 1 times")).toMatch(/^Done/)
    expect(lines.join()).not.toContain("4711")
  })

  test("a model that is no chat model, or is asked in another way, is left alone", async () => {
    const middleware = strataMiddleware()
    const model = { invoke: async () => "as it is" }
    expect(await middleware.wrapModelCall({ model }, async (request) => request.model)).toBe(model)
    const { agent, sim } = await server()
    await agent({}, "t").say("look 1 times")
    const requests = sim.log.length
    const chat = new ClaudeLike(MODEL, sim.url)
    const asked = await strataMiddleware().wrapModelCall(
      { model: chat },
      async (request) => (request.model as ClaudeLike).model,
    )
    expect([asked, sim.log.length]).toEqual([MODEL, requests])
  })
})
