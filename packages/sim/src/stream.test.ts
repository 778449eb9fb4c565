/** The stream, event by event, and how a generation ends. */
import { describe, expect, test } from "vitest"
import { client, hello, type Json, post, postJson, scripted, simulator } from "../test/simulator.ts"
import type { AnswerBlock } from "./responder.ts"
import type { Simulator } from "./start.ts"
import { countText } from "./tokens.ts"

/** Every frame the client gets. */
async function frames(sim: Simulator, body: object, betas: readonly string[] = []): Promise<Json[]> {
  const response = await post(sim, { ...body, stream: true }, { betas })
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/)
  const text = await response.text()
  return text
    .split("\n\n")
    .filter(Boolean)
    .map((frame) => {
      const [event, data] = frame.split("\n")
      const parsed = JSON.parse(data!.replace(/^data: /, ""))
      expect(event).toBe(`event: ${parsed.type}`)
      return parsed
    })
}

const ROUND: readonly AnswerBlock[] = [
  { type: "thinking", thinking: "The user wants the weather; I have a tool for that." },
  { type: "text", text: "Let me check the weather for you, one moment please." },
  { type: "tool_use", id: "toolu_A", name: "get_weather", input: { location: "Paris", unit: "celsius" } },
]

describe("BEY-8 streaming", () => {
  test("thinking, text and a tool call come in pieces, in order", async () => {
    const sim = await simulator({ responder: scripted(ROUND) })
    const events = await frames(sim, hello({ thinking: { type: "adaptive", display: "summarized" } }))
    expect(events[0]).toMatchObject({
      type: "message_start",
      message: { content: [], stop_reason: null, usage: { input_tokens: 5, output_tokens: 1 } },
    })
    expect(events[0].message.usage).not.toHaveProperty("output_tokens_details") // nothing has been generated yet
    expect(events[1]).toEqual({ type: "ping" })
    const kinds = events.map(({ type, delta }) => (type === "content_block_delta" ? delta.type : type))
    expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "thinking_delta",
      "signature_delta",
      "content_block_stop",
      "content_block_start",
      "text_delta",
      "content_block_stop",
      "content_block_start",
      "input_json_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ])
    const starts = events.filter(({ type }) => type === "content_block_start").map(({ content_block }) => content_block)
    expect(starts).toEqual([
      { type: "thinking", thinking: "", signature: "" },
      { type: "text", text: "" },
      { type: "tool_use", id: "toolu_A", name: "get_weather", input: {}, caller: { type: "direct" } },
    ])
    const fragments = events
      .filter(({ delta }) => delta?.type === "input_json_delta")
      .map(({ delta }) => delta.partial_json)
    expect(fragments[0]).toBe("")
    expect(fragments.length).toBeGreaterThan(3)
    expect(JSON.parse(fragments.join(""))).toEqual({ location: "Paris", unit: "celsius" })
  })

  test("the last message_delta has the stop reason and the total usage", async () => {
    const sim = await simulator({ responder: scripted(ROUND) })
    const delta = (await frames(sim, hello())).at(-2)
    expect(delta).toMatchObject({ type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null } })
    expect(delta.usage.output_tokens).toBeGreaterThan(20)
    expect(delta.usage.output_tokens_details.thinking_tokens).toBeGreaterThan(5)
  })

  test("streamed and not streamed are the same message", async () => {
    const streamed = await client(await simulator({ responder: scripted(ROUND) }))
      .messages.stream(hello() as never)
      .finalMessage()
    const { parsed_output: _, ...message } = streamed as Json
    const whole = await postJson(await simulator({ responder: scripted(ROUND) }), hello())
    expect(message).toEqual(whole)
  })

  test("usage counts the text and the calls of an answer, streamed or not", async () => {
    const input = { path: `docs/${"part/".repeat(30)}memory.md` }
    const answer = [
      { type: "text", text: "I will read it." } as const,
      { type: "tool_use", name: "read", input } as const,
    ]
    const tokens = countText("I will read it.") + countText(`read${JSON.stringify(input)}`)
    const delta = (await frames(await simulator({ responder: scripted(answer) }), hello())).at(-2)
    const whole = await postJson(await simulator({ responder: scripted(answer) }), hello())
    expect([delta.usage.output_tokens, whole.usage.output_tokens]).toEqual([tokens, tokens])
  })

  test("long answers contain pings", async () => {
    const sim = await simulator({ responder: scripted("many words ".repeat(400)) })
    const events = await frames(sim, hello({ max_tokens: 2000 }))
    expect(events.filter(({ type }) => type === "ping").length).toBeGreaterThan(3)
  })

  test("omitted thinking: only the signature comes", async () => {
    const sim = await simulator({ responder: scripted(ROUND) })
    const events = await frames(sim, hello({ thinking: { type: "adaptive", display: "omitted" } }))
    const deltas = events.filter(({ index, delta }) => index === 0 && delta)
    expect(deltas.map(({ delta }) => delta.type)).toEqual(["signature_delta"])
  })

  test("an answer has no thinking if thinking is off", async () => {
    const sim = await simulator({ responder: scripted(ROUND) })
    const { content, usage } = await postJson(sim, hello({ thinking: { type: "disabled" } }))
    expect(content.map(({ type }: Json) => type)).toEqual(["text", "tool_use"])
    expect(usage.output_tokens_details.thinking_tokens).toBe(0)
  })

  test("emoji survive being cut into pieces", async () => {
    const text = "🪨".repeat(50)
    const sim = await simulator({ responder: scripted(text) })
    expect(
      await client(sim)
        .messages.stream(hello({ max_tokens: 1000 }) as never)
        .finalText(),
    ).toBe(text)
  })
})

describe("BEY-8 how a generation ends", () => {
  const TEXT = "one two three four five six seven eight nine ten"

  test("max_tokens in the middle of a text", async () => {
    const sim = await simulator({ responder: scripted(TEXT) })
    const { content, stop_reason, usage } = await postJson(sim, hello({ max_tokens: 3 }))
    expect([content[0].text, stop_reason, usage.output_tokens]).toEqual(["one two three", "max_tokens", 3])
  })

  test("max_tokens in the middle of a tool call: a stream has half of its JSON", async () => {
    const call: AnswerBlock[] = [
      { type: "tool_use", id: "toolu_1", name: "write", input: { path: "a.txt", text: TEXT } },
    ]
    const body = hello({ max_tokens: 8 })
    const sim = await simulator({ responder: scripted(call, call) })
    const events = await frames(sim, body)
    const json = events.flatMap(({ delta }) => delta?.partial_json ?? []).join("")
    expect(json.length).toBeGreaterThan(0)
    expect(() => JSON.parse(json)).toThrow()
    expect(events.at(-2).delta.stop_reason).toBe("max_tokens")
    const whole = await postJson(sim, body)
    expect(whole).toMatchObject({
      stop_reason: "max_tokens",
      content: [{ type: "tool_use", name: "write", input: {} }],
    })
    expect(whole.content[0]).not.toHaveProperty("inputText")
  })

  test("the window ends it: model_context_window_exceeded", async () => {
    const sim = await simulator({
      responder: scripted(TEXT),
      models: { small: { window: 9, accepts: { overflowingOutput: true } } },
    })
    // "Hello" takes 4 + 1 of 9 tokens: 4 are left
    const { content, stop_reason } = await postJson(sim, hello({ model: "small", max_tokens: 100 }))
    expect([content[0].text, stop_reason]).toEqual(["one two three four", "model_context_window_exceeded"])
  })

  test("a stop sequence", async () => {
    const sim = await simulator({ responder: scripted(TEXT) })
    const { content, stop_reason, stop_sequence } = await postJson(sim, hello({ stop_sequences: ["nine", " four"] }))
    expect([content[0].text, stop_reason, stop_sequence]).toEqual(["one two three", "stop_sequence", " four"])
  })

  test("the responder's own reason: refusal, pause_turn", async () => {
    const content = [{ type: "text" as const, text: "No." }]
    const sim = await simulator({
      responder: scripted({ content, stopReason: "refusal" }, { content, stopReason: "pause_turn" }),
    })
    expect((await postJson(sim, hello())).stop_reason).toBe("refusal")
    expect((await postJson(sim, hello())).stop_reason).toBe("pause_turn")
  })

  test("malformed tool input can be streamed as it is", async () => {
    const sim = await simulator({
      responder: scripted([{ type: "tool_use", id: "toolu_1", name: "look", inputText: '{"a": 1' }]),
    })
    const json = (await frames(sim, hello())).flatMap(({ delta }) => delta?.partial_json ?? []).join("")
    expect(json).toBe('{"a": 1')
  })

  test("a responder that fails is a 500 that is not retried", async () => {
    const responder = { name: "broken", answer: () => Promise.reject(new Error("out of turns")) }
    const sim = await simulator({ responder })
    const error = await client(sim, { maxRetries: 2 })
      .messages.create(hello() as never)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 500, apiMessage: 'The responder "broken" failed: out of turns' })
    expect(sim.log).toHaveLength(1)
  })
})
