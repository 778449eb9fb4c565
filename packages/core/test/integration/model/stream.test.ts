/** Answers over HTTP: text, thinking, calls spelled as the model wrote them, and unusable answers. */
import Anthropic from "@anthropic-ai/sdk"
import { describe, expect, test } from "vitest"
import type { AnswerBlock } from "../../../../sim/src/responder.ts"
import { malformedResponder } from "../../../../sim/src/responders/index.ts"
import { KEY, MODEL, scripted, simulator } from "../../../../sim/test/simulator.ts"
import { exactInputOf } from "../../../src/messages/exact-json.ts"
import { getUnusableInput } from "../../../src/model/tool-input-text.ts"
import { ask, LONG_TEXT, modelAt, play } from "./model.ts"

const READ = { name: "Read", input_schema: { type: "object" as const } }
const call = (inputText: string, id = "toolu_1"): AnswerBlock => ({ type: "tool_use", id, name: "Read", inputText })

describe("LOOP-1 an answer", () => {
  test("streams text and ends with the whole response", async () => {
    const sim = await simulator({ responder: scripted(LONG_TEXT) })
    const { events, text, response } = await play(modelAt(sim))
    expect(text).toBe(LONG_TEXT)
    expect(events.filter(({ type }) => type === "text").length).toBeGreaterThan(1)
    expect(events.at(-1)?.type).toBe("response")
    expect(response).toMatchObject({
      model: MODEL,
      stop_reason: "end_turn",
      content: [{ type: "text", text: LONG_TEXT }],
    })
    expect(response?.id).toMatch(/^msg_/)
    expect(response?.usage.output_tokens).toBeGreaterThan(1)
  })

  test("streams thinking, with a signature that is accepted in the next request", async () => {
    const thought = "The user greets me; a greeting is due in return."
    const responder = scripted([
      { type: "thinking", thinking: thought },
      { type: "text", text: "Hi." },
    ])
    const sim = await simulator({ responder, bindThinking: "error" })
    const request = ask({ thinking: { type: "adaptive", display: "summarized" } })
    const { events, response } = await play(modelAt(sim), request)
    const thinking = events.flatMap((event) => (event.type === "thinking" ? [event.text] : []))
    expect(thinking.join("")).toBe(thought)
    const next = await play(modelAt(sim), {
      ...request,
      messages: [
        ...request.messages,
        { role: "assistant", content: response!.content as never },
        { role: "user", content: "And now?" },
      ],
    })
    expect(next.error).toBeUndefined()
    expect(next.response?.stop_reason).toBe("end_turn")
  })

  test("streams the input of calls in pieces, the name first", async () => {
    const sim = await simulator({
      responder: scripted([call('{"path": "a.ts"}'), call('{"path": "b.ts"}', "toolu_2")]),
    })
    const { events, response } = await play(modelAt(sim), ask({ tools: [READ] }))
    const pieces = events.filter((event) => event.type === "tool-input")
    expect(pieces[0]).toEqual({ type: "tool-input", id: "toolu_1", name: "Read", text: "" })
    const textOf = (id: string) => pieces.flatMap((piece) => (piece.id === id ? [piece.text] : [])).join("")
    expect([textOf("toolu_1"), textOf("toolu_2")]).toEqual(['{"path": "a.ts"}', '{"path": "b.ts"}'])
    expect(response?.stop_reason).toBe("tool_use")
    expect(response?.content).toMatchObject([{ input: { path: "a.ts" } }, { input: { path: "b.ts" } }])
  })

  test("counts a request", async () => {
    const sim = await simulator()
    const { response } = await play(modelAt(sim))
    expect(await modelAt(sim).count(ask())).toBe(response?.usage.input_tokens)
  })

  test("the [1m] suffix is not sent, betas are", async () => {
    const sim = await simulator()
    const betas = ["context-management-2025-06-27"]
    const context_management = { edits: [{ type: "clear_tool_uses_20250919" }] }
    const model = modelAt(sim, { model: `${MODEL}[1m]`, betas })
    const { response, error } = await play(model, { ...ask({ model: `${MODEL}[1m]` }), context_management } as never)
    expect(error).toBeUndefined()
    expect(response?.model).toBe(MODEL)
    expect(model.name).toBe(`${MODEL}[1m]`)
  })
})

describe("WIN-1 a window of a million tokens", () => {
  const LONG = ask({ messages: [{ role: "user", content: "word ".repeat(250_000) }] })

  test.each([
    ["is asked for with the beta header where the model needs it", "claude-sonnet-4-5[1m]", true],
    ["is not asked for without the suffix", "claude-sonnet-4-5", false],
    ["needs no header where the model has it anyway", "claude-opus-4-6[1m]", true],
  ])("%s: %s", async (_, name, fits) => {
    const seen: string[] = []
    const sim = await simulator()
    const client = new Anthropic({
      ...{ baseURL: sim.url, apiKey: KEY },
      fetch: (url, init) => {
        seen.push(new Headers(init?.headers).get("anthropic-beta") ?? "")
        return fetch(url, init)
      },
    })
    const { error } = await play(modelAt(sim, { model: name, client }), { ...LONG, model: name })
    expect(error === undefined).toBe(fits)
    expect(seen).toEqual([name === "claude-sonnet-4-5[1m]" ? "context-1m-2025-08-07" : ""])
  })
})

describe("MSG-5 inputs are sent back as the model spelled them", () => {
  const SPELLING = '{ "n": 1.0, "big": 12345678901234567890, "2": "\\u0041" }'

  test("byte for byte, over HTTP and back", async () => {
    const bodies: string[] = []
    const sim = await simulator({ responder: scripted([call(SPELLING)], "Done.") })
    const client = new Anthropic({
      baseURL: sim.url,
      apiKey: KEY,
      openTelemetry: false,
      fetch: (url, init) => {
        bodies.push(String(init?.body))
        return fetch(url, init)
      },
    })
    const model = modelAt(sim, { client })
    const request = ask({ tools: [READ] })
    const { response } = await play(model, request)
    expect(exactInputOf(response!.content[0] as object)).toBe(SPELLING)
    const next = {
      ...request,
      messages: [
        ...request.messages,
        { role: "assistant" as const, content: response!.content as never },
        { role: "user" as const, content: [{ type: "tool_result" as const, tool_use_id: "toolu_1", content: "ok" }] },
      ],
    }
    expect((await play(model, next)).response?.stop_reason).toBe("end_turn")
    expect(await model.count(next)).toBeGreaterThan(0)
    const [first, second, counted] = bodies
    expect(first).not.toContain("1.0")
    expect(second).toContain(`"input":${SPELLING}`)
    expect(second).toContain('"stream":true')
    expect(counted).toContain(`"input":${SPELLING}`)
  })

  test.each([
    ["cut off", '{"file_path": "a.md", "content": "# A long', "max_tokens" as const],
    ["not JSON", "file_path=src/index.ts", undefined],
    ["not an object", '["ls"]', undefined],
  ])("an input that is %s is set aside, and the conversation goes on", async (_, inputText, stopReason) => {
    const answer = { content: [call(inputText)], ...(stopReason ? { stopReason } : {}) }
    const sim = await simulator({ responder: scripted(answer, "Then otherwise.") })
    const request = ask({ tools: [READ] })
    const { response } = await play(modelAt(sim), request)
    const [broken] = response!.content as [{ id: string; input: unknown }]
    expect(broken.input).toEqual({})
    expect(getUnusableInput(broken)?.text).toBe(inputText)
    const next = await play(modelAt(sim), {
      ...request,
      messages: [
        ...request.messages,
        { role: "assistant", content: response!.content as never },
        { role: "user", content: [{ type: "tool_result", tool_use_id: broken.id, is_error: true, content: "no" }] },
      ],
    })
    expect(next.text).toBe("Then otherwise.")
  })

  test("any answer of a model gives a response whose calls can be sent back", async () => {
    const sim = await simulator({ responder: malformedResponder(7) })
    const model = modelAt(sim)
    for (let turn = 0; turn < 60; turn++) {
      const { response, error } = await play(model, ask({ tools: [READ] }))
      expect(error).toBeUndefined()
      for (const block of response!.content as { type: string; input?: unknown }[]) {
        if (block.type === "tool_use") expect(Object.prototype.toString.call(block.input)).toBe("[object Object]")
      }
    }
  })
})
