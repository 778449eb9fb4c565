/** Messages of LangChain converted to a body of the Messages API and back are unchanged. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { size } from "../../core/test/size.ts"
import { responseOf } from "../src/langchain/answer.ts"
import { fromBody } from "../src/langchain/from-body.ts"
import type { Dialect, LangChainMessage } from "../src/langchain/shapes.ts"
import { toBody, toolDefinition } from "../src/langchain/to-body.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? size(50, 200))
const back = (list: readonly LangChainMessage[], dialect: Dialect) =>
  fromBody({ ...toBody(list, dialect)! }, { dialect, keepsBreakpoints: dialect === "anthropic" })

const word = fc.string({ minLength: 1, maxLength: 12 })
const id = fc.uuid()
const json = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.oneof(word, fc.integer(), fc.boolean()))
const text = word.map((value) => ({ type: "text", text: value }))
const picture = fc.oneof(
  fc.record({ detail: fc.constantFrom("low", "high") }).map(({ detail }) => ({
    type: "image_url",
    image_url: { url: "data:image/png;base64,iVBO", detail },
  })),
  fc.constant({ type: "image_url", image_url: "https://example.com/a.png" }),
  fc.constant({ type: "image", data: "iVBO", mimeType: "image/png" }),
  fc.constant({ type: "image", source_type: "base64", data: "iVBO", mime_type: "image/png" }),
  fc.constant({ type: "image", url: "https://example.com/a.png", metadata: { from: "a" } }),
  fc.constant({ type: "image", source: { type: "base64", media_type: "image/png", data: "iVBO" } }),
)
const external = fc.oneof(
  fc.record({ type: fc.constant("input_audio"), input_audio: json }),
  fc.record({ type: fc.constant("reasoning"), summary: fc.array(word), encrypted_content: word }),
  fc.record({ type: fc.constant("file"), data: word, mimeType: fc.constant("application/pdf") }),
)
const parts = fc.array(fc.oneof(text, picture, external), { minLength: 2, maxLength: 4 })
const content = fc.oneof(word, parts)
const call = fc.record({ id, name: word, args: json, type: fc.constant("tool_call") })
const kwargs = fc.dictionary(fc.constantFrom("reasoning_content", "audio"), word, { minKeys: 1 })

const human = fc.record({ role: fc.constant("user"), content, name: word }, { requiredKeys: ["role", "content"] })
const late = fc.record({ role: fc.constant("system"), content: word })
const answer = fc.record(
  {
    ...{ role: fc.constant("assistant"), content, id, additional_kwargs: kwargs },
    ...{ tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }), response_metadata: kwargs },
  },
  { requiredKeys: ["role", "content"] },
)
/** A result for each call, in the form of an agent. */
const withResults = fc
  .tuple(answer, fc.array(fc.tuple(content, fc.boolean()), { minLength: 3, maxLength: 3 }))
  .map(([texts, results]) => [
    texts,
    ...(texts.tool_calls ?? []).map(({ id: tool_call_id, name }, at) => ({
      role: "tool",
      tool_call_id,
      name,
      content: results[at]![0],
      ...(results[at]![1] ? { status: "error" } : {}),
    })),
  ])
const list = fc
  .tuple(
    fc.option(word, { nil: undefined }),
    human,
    fc.array(
      fc.oneof(
        withResults,
        human.map((each) => [each]),
        late.map((each) => [each]),
      ),
      { maxLength: 6 },
    ),
  )
  .map(([prompt, first, turns]) => [
    ...(prompt === undefined ? [] : [{ role: "system", content: prompt }]),
    ...[first, ...turns.flat()],
  ])

describe("BEY-11 messages of LangChain", () => {
  test("come back as they were, for every provider", () => {
    fc.assert(
      fc.property(list, (messages) => {
        expect(back(messages as LangChainMessage[], "other")).toEqual(messages)
      }),
      { numRuns: RUNS },
    )
  })

  test("are the same body each time, and a body of the Messages API: roles, and a result for each call in one message", () => {
    fc.assert(
      fc.property(list, (messages) => {
        const given = messages as LangChainMessage[]
        const body = toBody(given, "other")!
        expect(JSON.stringify(toBody(structuredClone(given), "other"))).toBe(JSON.stringify(body))
        body.messages.forEach(({ role, content: blocks }, at) => {
          if (role !== "assistant" || typeof blocks === "string") return
          const calls = blocks.filter(({ type }) => type === "tool_use").map((each) => each.id)
          const next = body.messages[at + 1]?.content
          const results = Array.isArray(next) ? next.filter(({ type }) => type === "tool_result") : []
          expect(results.map((each) => each.tool_use_id).slice(0, calls.length)).toEqual(calls)
        })
      }),
      { numRuns: RUNS },
    )
  })

  const CLAUDES = [
    { type: "thinking", thinking: "Hm.", signature: "sig" },
    { type: "text", text: "I look.", cache_control: { type: "ephemeral" } },
    { type: "tool_use", id: "toolu_1", name: "look", input: { at: 1 } },
  ]

  test("Claude gets its own blocks: cache breakpoints, thinking, and results that are errors", () => {
    const sent = back(
      [
        { type: "system", content: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }] },
        { type: "human", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBO" } }] },
        { type: "ai", content: CLAUDES, tool_calls: [{ id: "toolu_1", name: "look", args: { at: 1 } }] },
        { type: "tool", tool_call_id: "toolu_1", content: "no such file", status: "error" },
      ],
      "anthropic",
    )
    expect(sent).toEqual([
      { role: "system", content: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }] },
      {
        role: "user",
        content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "iVBO" } }],
      },
      { role: "assistant", content: CLAUDES },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "no such file", is_error: true }],
      },
    ])
  })

  test.each([
    ["whole", CLAUDES.map((part) => part)],
    [
      "put together from a stream",
      [
        { index: 0, ...CLAUDES[0] },
        { index: 1, ...CLAUDES[1] },
        { index: 2, type: "tool_use", id: "toolu_1", name: "look", input: "" },
        { index: 2, type: "input_json_delta", input: '{"at":1}' },
      ],
    ],
    [
      "in LangChain's own blocks",
      [
        { type: "reasoning", reasoning: "Hm.", signature: "sig" },
        CLAUDES[1],
        { type: "tool_call", id: "toolu_1", name: "look", args: { at: 1 } },
      ],
    ],
  ])("an answer is the same blocks: %s", (_, parts) => {
    const message = {
      type: "ai",
      id: "msg_1",
      content: parts,
      tool_calls: [{ id: "toolu_1", name: "look", args: { at: 1 } }],
      usage_metadata: {
        ...{ input_tokens: 100, output_tokens: 7, total_tokens: 107 },
        input_token_details: { cache_read: 60, cache_creation: 30 },
      },
      response_metadata: { usage: { cache_creation: { ephemeral_5m_input_tokens: 30 } } },
    }
    const asked = { model: "claude-opus-5-5", dialect: "anthropic", body: {} } as const
    expect(responseOf(message, asked)).toMatchObject({
      ...{ id: "msg_1", content: CLAUDES, stop_reason: "tool_use" },
      usage: {
        ...{ input_tokens: 10, output_tokens: 7, cache_read_input_tokens: 60, cache_creation_input_tokens: 30 },
        cache_creation: { ephemeral_5m_input_tokens: 30 },
      },
    })
  })

  test("what a provider does not count is estimated", () => {
    const asked = {
      model: "local",
      dialect: "other",
      body: { messages: [{ role: "user", content: "word ".repeat(200) }] },
    } as const
    const { usage, stop_reason } = responseOf({ type: "ai", content: "Yes." }, asked)
    expect(usage.input_tokens).toBeGreaterThan(100)
    expect([usage.output_tokens > 0, stop_reason]).toEqual([true, "end_turn"])
  })

  test("a list that no request can have is not translated", () => {
    expect(
      toBody(
        [
          { type: "human", content: "a" },
          { type: "function", content: "b" },
        ],
        "other",
      ),
    ).toBeUndefined()
    expect(
      toBody(
        [
          { type: "human", content: "a" },
          { type: "system", content: "b" },
        ],
        "anthropic",
      ),
    ).toBeUndefined()
  })

  test("tools in the shape of a provider, of LangChain, and of the API", () => {
    const schema = { type: "object", properties: {} }
    const wanted = { name: "look", description: "Looks", input_schema: schema }
    const { name, description } = wanted
    expect(toolDefinition({ type: "function", function: { name, description, parameters: schema } })).toEqual(wanted)
    expect(toolDefinition({ name, description, schema })).toEqual(wanted)
    expect(toolDefinition(wanted)).toBe(wanted)
    expect(toolDefinition({ name, description, schema: { _def: {} } })).toEqual({
      ...wanted,
      input_schema: { type: "object" },
    })
    expect(toolDefinition({ type: "web_search_20250305", name: "web_search" })).toMatchObject({
      type: "web_search_20250305",
    })
  })
})
