/** A model that pauses, stalls, never ends, refuses images or repeats itself: each query ends, and the conversation continues. */
import { describe, expect, onTestFinished, test } from "vitest"
import type { FaultRule } from "../../../../sim/src/faults.ts"
import type { Answer, ResponderTurn } from "../../../../sim/src/responder.ts"
import { type ScriptedTurn, scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import type { Simulator } from "../../../../sim/src/start.ts"
import { KEY, simulator } from "../../../../sim/test/simulator.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import { NoAnswerError } from "../../../src/agent/loop/no-answer.ts"
import type { QueryEvent } from "../../../src/agent/loop/query-events.ts"
import { manualClock } from "../../../src/base/clock.ts"
import { type Content, textOf } from "../../../src/messages/blocks.ts"
import { anthropicModel } from "../../../src/model/anthropic/anthropic.ts"
import { isWhole, size } from "../../size.ts"
import { agentFor, ask, calls, MODEL, ofType, project } from "./agents.ts"

const forEver = (turn: ScriptedTurn) => scriptedResponder([turn], { afterLast: "repeat" })
const paused = (text?: string): Answer => ({
  content: text === undefined ? [] : [{ type: "text", text }],
  stopReason: "pause_turn",
})

const call = (turn: ResponderTurn, name: string, input: unknown): Answer => ({
  content: [{ type: "tool_use", id: turn.nextToolUseId(), name, input }],
})

async function opened(responder: ReturnType<typeof scriptedResponder>, faults: readonly FaultRule[] = []) {
  const sim = await simulator({ responder, faults })
  return { sim, agent: await agentFor(sim, project({ "a.txt": "x" }), { model: modelOn(sim), mode: "bypass" }) }
}

/** A model whose clock runs while the server delays a request. */
function modelOn(sim: Simulator) {
  const clock = manualClock()
  const tick = setInterval(() => {
    if (sim.held > 0) clock.advance(10_000)
  }, 5)
  onTestFinished(() => clearInterval(tick))
  return anthropicModel({ model: MODEL, apiKey: KEY, baseURL: sim.url, random: () => 0, delay: async () => {}, clock })
}

async function spoken(agent: Agent): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const entry of agent.conversation.entries())
    if (entry.type === "assistant") texts.push(textOf(entry.message.content))
  return texts
}

/** Asserts that the next question gets an answer. */
async function goesOn({ sim, agent }: { sim: Simulator; agent: Agent }) {
  sim.faults.set([])
  const { end } = await ask(agent, "and now?")
  return end
}

describe("LOOP-6 a query without progress ends with a clear event", () => {
  test.each([
    ["nothing in it", () => paused(), 3, "paused 3 times in a row without anything new"],
    ["the same text each time", () => paused("Searching."), 4, "paused 3 times in a row without anything new"],
    ["new text each time", (n: number) => paused(`Step ${n}.`), 21, "paused more than 20 times in a row"],
  ])("pauses for ever, %s", async (_, pause, requests, why) => {
    const { sim, agent } = await opened(forEver(({ index }) => pause(index)))
    const { end, events } = await ask(agent, "search")
    expect(end).toMatchObject({ reason: "no-progress", why: expect.stringContaining(why) })
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "no-progress", turns: requests })
    expect(sim.log).toHaveLength(requests)
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
  })

  test("a pause with new content is continued", async () => {
    const { agent } = await opened(scriptedResponder([paused("One."), paused("Two."), "Three."]))
    expect((await ask(agent, "search")).end).toEqual({ reason: "answer", text: "Three." })
  })

  test("ask() says it as an error", async () => {
    const { agent } = await opened(forEver(paused()))
    await expect(agent.ask("search")).rejects.toThrow(NoAnswerError)
    await expect(agent.ask("search")).rejects.toThrow(
      /made no progress\. The model paused 3 times .* Everything so far/,
    )
  })

  test.each([
    ["a file that is not there", calls(["Read", { file_path: "missing.txt" }]), 6, "Read"],
    ["an input that does not fit", calls(["Read", { wrong: 1 }]), 6, "Read"],
    ["a tool that does not exist", calls(["Nope", {}]), 6, "Nope"],
    ...size<[string, ReturnType<typeof calls>, number, string][]>(
      [],
      [["a command that fails", calls(["Bash", { command: "exit 3" }]), 6, "Bash"]],
    ),
  ])("the same failing call for ever: %s", async (_, call, requests, name) => {
    const { sim, agent } = await opened(forEver(call))
    const { end } = await ask(agent, "go")
    expect(end).toMatchObject({ reason: "no-progress", why: expect.stringContaining(`(${name})`) })
    expect(sim.log).toHaveLength(requests)
  })

  test.runIf(isWhole)("different calls that all fail", async () => {
    const { sim, agent } = await opened(forEver((turn) => call(turn, "Read", { file_path: `${turn.index}.txt` })))
    const { end } = await ask(agent, "go")
    expect(end).toMatchObject({ reason: "no-progress", why: "Every tool call of the last 30 rounds failed." })
    expect(sim.log).toHaveLength(30)
  })

  test.runIf(isWhole)("calls that succeed and bring nothing new", async () => {
    const { sim, agent } = await opened(forEver((turn) => call(turn, "Bash", { command: `echo ${turn.index % 2}` })))
    const { end } = await ask(agent, "go")
    expect(end).toMatchObject({ reason: "no-progress", why: expect.stringContaining("50 times in a row (Bash)") })
    expect(sim.log).toHaveLength(52)
  })

  test("an answer cut at the output limit again and again", async () => {
    const { sim, agent } = await opened(
      forEver({ content: [{ type: "text", text: "more" }], stopReason: "max_tokens" }),
    )
    const { end, events } = await ask(agent, "write")
    expect(end.reason).toBe("answer")
    expect(ofType(events, "notice").at(-1)?.message).toMatch(/^The response was cut/)
    expect(sim.log).toHaveLength(4)
  })

  test("a Stop hook that is never content", async () => {
    const sim = await simulator({ responder: forEver("Done.") })
    const hooks = [{ event: "Stop" as const, name: "more", run: () => ({ block: "not yet" }) }]
    const agent = await agentFor(sim, project(), { hooks })
    const { end } = await ask(agent, "go")
    expect(end).toMatchObject({ reason: "no-progress", why: expect.stringContaining("25 times") })
    expect(sim.log).toHaveLength(25)
  })
})

describe("LOOP-5 a stream that stalls or never ends", () => {
  test("a stall: three requests, a clear sentence, and received content is preserved", async () => {
    const both = await opened(forEver("First words. ".repeat(20)), [{ fault: { kind: "stall", afterEvents: 8 } }])
    const { end, events } = await ask(both.agent, "talk")
    expect(end).toMatchObject({
      reason: "error",
      error: { name: "StalledError", attempts: 3 },
      message: expect.stringMatching(/sent nothing for 90 seconds .* characters had arrived/),
    })
    expect(ofType(events, "retry")).toHaveLength(2)
    expect(ofType(events, "notice").at(-1)?.message).toMatch(/Its first \d+ characters are in the journal/)
    expect((await spoken(both.agent))[0]).toMatch(/^First words\./)
    expect((await goesOn(both)).reason).toBe("answer")
  })

  test("the figures of the settings count", async () => {
    const sim = await simulator({ responder: forEver("x"), faults: [{ fault: { kind: "no-answer" } }] })
    const settings = { figures: { "first-token-timeout": 7 } }
    const agent = await agentFor(sim, project(), { model: modelOn(sim), settings })
    const { events } = await ask(agent, "hello")
    expect(ofType(events, "retry")[0]?.reason).toBe("no answer for 7 seconds")
  })

  test("endless text: one request, the beginning is preserved, and the conversation continues", async () => {
    const both = await opened(forEver("Fine."), [{ fault: { kind: "endless", what: "text" } }])
    const { end } = await ask(both.agent, "talk")
    expect(end).toMatchObject({ reason: "error", error: { name: "EndlessAnswerError" } })
    expect(both.sim.log).toHaveLength(1)
    const [kept] = await spoken(both.agent)
    expect(kept!.length).toBeGreaterThan(10_000)
    expect(kept!.length).toBeLessThan(400_000)
    expect(await goesOn(both)).toEqual({ reason: "answer", text: "Fine." })
  })

  test("LOOP-4 a reader that leaves in the middle of a text: it is preserved", async () => {
    const { agent } = await opened(scriptedResponder(["First words. ".repeat(200), "Second."]))
    for await (const event of agent.query("talk")) if (event.type === "text") break
    expect((await spoken(agent))[0]).toMatch(/^First words\./)
    expect((await ask(agent, "and?")).end).toEqual({ reason: "answer", text: "Second." })
  })

  test("LOOP-4 an abort in a stall ends at once and keeps what arrived", async () => {
    const sim = await simulator({
      responder: forEver("words ".repeat(50)),
      faults: [{ fault: { kind: "stall", afterEvents: 8 } }],
    })
    const agent = await agentFor(sim, project())
    const stop = new AbortController()
    let hasText = false
    const timer = setInterval(() => hasText && sim.held > 0 && stop.abort(), 1)
    onTestFinished(() => clearInterval(timer))
    const watch = ({ type }: QueryEvent) => {
      hasText ||= type === "text"
    }
    expect((await ask(agent, "talk", { signal: stop.signal, watch })).end).toEqual({ reason: "aborted" })
    expect((await spoken(agent))[0]).toMatch(/^words/)
  })
})

describe("MSG-11 a model that refuses every image", () => {
  const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
  const picture: Content = [
    { type: "text", text: "What is this?" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
  ]

  test("is asked again without it, once, and the conversation continues", async () => {
    const { sim, agent } = await opened(forEver("I see no picture."), [{ fault: { kind: "refused-media" } }])
    const { end, events } = await ask(agent, picture as never)
    expect(end).toEqual({ reason: "answer", text: "I see no picture." })
    expect(ofType(events, "notice")[0]?.message).toMatch(/1 is left out.*Could not process image/)
    expect((await ask(agent, "another question")).end.reason).toBe("answer")
    expect(sim.log.map(({ status }) => status)).toEqual([400, 200, 200])
  })

  test("and keeps refusing without one: the API's words, in bounded requests", async () => {
    const message = "messages.0.content.1.image.source.base64: Could not process image"
    const { sim, agent } = await opened(forEver("x"), [{ fault: { kind: "invalid-request", message } }])
    const { end } = await ask(agent, picture as never)
    expect(end).toMatchObject({ reason: "error", message: expect.stringContaining(message) })
    expect(sim.log).toHaveLength(2)
  })
})
