/** Translation in both directions, with fake models of each interface version that record requests and answer with given parts. */
import { describe, expect, test } from "vitest"
import type { Block } from "../../messages/blocks.ts"
import type { ModelRequest } from "../../messages/request.ts"
import type { ModelResponse } from "../model.ts"
import { aiSdkModel } from "./ai-sdk.ts"
import type { AiSdkLanguageModel, CallOptions, StreamPart } from "./interface.ts"

const NO_COUNTS = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}
const finish = (unified: string, usage: object = NO_COUNTS, raw?: string) =>
  ({ type: "finish", finishReason: { unified, raw }, usage }) as StreamPart
const STOP = finish("stop")

/** A model that answers with these parts, and the calls it received. */
function fakeModel(parts: readonly unknown[], { version = "v4", provider = "test.chat" } = {}) {
  const calls: CallOptions[] = []
  const languageModel = {
    specificationVersion: version,
    provider,
    modelId: "some-model",
    supportedUrls: {},
    async doStream(options: CallOptions) {
      calls.push(options)
      return { stream: ReadableStream.from(parts) }
    },
  } as unknown as AiSdkLanguageModel
  return { languageModel, calls }
}

const ask = (...content: Block[]): ModelRequest => ({
  model: "some-model",
  max_tokens: 100,
  messages: [{ role: "user", content }],
})
const HELLO = ask({ type: "text", text: "Hello" })

async function answerOf(languageModel: AiSdkLanguageModel, request = HELLO): Promise<ModelResponse> {
  for await (const event of aiSdkModel(languageModel, { maxAttempts: 1 }).stream(request)) {
    if (event.type === "response") return event.response
  }
  throw new Error("there was no response")
}

test("LOOP-5 a refusal that names the output is answered with a smaller request; one of another package is recognised", async () => {
  const refusals: Error[] = [
    Object.assign(new Error("max_tokens is too large: 100. This model supports at most 60 completion tokens."), {
      name: "AI_APICallError",
      statusCode: 400,
    }),
  ]
  const { languageModel, calls } = fakeModel([STOP])
  const answering = languageModel.doStream.bind(languageModel)
  const refusing = {
    ...languageModel,
    doStream: async (options: CallOptions) => {
      const refusal = refusals.pop()
      if (refusal) throw refusal
      return answering(options as never)
    },
  } as AiSdkLanguageModel
  await answerOf(refusing)
  expect(calls).toMatchObject([{ maxOutputTokens: 60 }])
  refusals.push(
    Object.assign(new Error("prompt too long; exceeded max context length by 12 tokens"), { name: "ResponseError" }),
  )
  await expect(answerOf(refusing)).rejects.toMatchObject({ name: "PromptTooLongError", gap: 12 })
})

async function promptFor(request: ModelRequest, options: Parameters<typeof fakeModel>[1] = {}): Promise<CallOptions> {
  const { languageModel, calls } = fakeModel([options?.version === "v2" ? V2_STOP : STOP], options)
  await answerOf(languageModel, request)
  return calls[0]!
}

const V2_STOP = {
  type: "finish",
  finishReason: "stop",
  usage: { inputTokens: 100, outputTokens: 5, cachedInputTokens: 60 },
}

const PNG = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBO" } } as const
const CONVERSATION: ModelRequest = {
  ...HELLO,
  system: "Be brief.",
  tools: [{ name: "Read", description: "Reads", input_schema: { type: "object" } }],
  tool_choice: { type: "any" },
  stop_sequences: ["END"],
  output_config: { effort: "low" },
  messages: [
    { role: "user", content: [{ type: "text", text: "Look at this." }, PNG] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "sig" },
        { type: "text", text: "Let me see." },
        { type: "tool_use", id: "toolu_1", name: "Read", input: { path: "a" } },
        { type: "tool_use", id: "toolu_2", name: "Read", input: { path: "b" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "seen" }, PNG] },
        { type: "tool_result", tool_use_id: "toolu_2", content: "no such file", is_error: true },
        { type: "text", text: "Go on." },
      ],
    },
  ],
}

describe("a request as the AI SDK takes it", () => {
  test("where results cannot hold images, these follow the results, and no bytes are sent as text", async () => {
    const { prompt } = await promptFor(CONVERSATION, { provider: "openai.chat" })
    const file = { type: "file", mediaType: "image/png", data: { type: "data", data: "iVBO" } }
    expect(prompt.slice(-2)).toMatchObject([
      { role: "tool", content: [{ output: { type: "text", value: "seen\n[image: in the next message]" } }, {}] },
      {
        role: "user",
        content: [
          { type: "text", text: "[From the result of Read, call toolu_1:]" },
          file,
          { type: "text", text: "Go on." },
        ],
      },
    ])
  })

  test("system, media, calls, results and reasoning", async () => {
    const call = await promptFor(CONVERSATION, { provider: "google.generative-ai" })
    const file = { type: "file", mediaType: "image/png", data: { type: "data", data: "iVBO" } }
    expect(call.prompt).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Look at this." }, file] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "sig" } } },
          { type: "text", text: "Let me see." },
          { type: "tool-call", toolCallId: "toolu_1", toolName: "Read", input: { path: "a" } },
          { type: "tool-call", toolCallId: "toolu_2", toolName: "Read", input: { path: "b" } },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "toolu_1",
            toolName: "Read",
            output: { type: "content", value: [{ type: "text", text: "seen" }, file] },
          },
          {
            type: "tool-result",
            toolCallId: "toolu_2",
            toolName: "Read",
            output: { type: "error-text", value: "no such file" },
          },
        ],
      },
      { role: "user", content: [{ type: "text", text: "Go on." }] },
    ])
    expect(call).toMatchObject({
      maxOutputTokens: 100,
      stopSequences: ["END"],
      toolChoice: { type: "required" },
      reasoning: "low",
      tools: [{ type: "function", name: "Read", description: "Reads", inputSchema: { type: "object" } }],
    })
  })

  test("documents keep their kind and title, and blocks without a counterpart are described in words", async () => {
    const request = ask(
      { type: "document", title: "Notes", source: { type: "text", media_type: "text/plain", data: "abc" } },
      { type: "document", source: { type: "url", url: "https://example.com/a.pdf" } },
      { type: "search_result", title: "T", source: "https://x", content: [{ type: "text", text: "found" }] },
    )
    const { prompt } = await promptFor(request)
    expect(prompt[0]?.content).toEqual([
      { type: "file", filename: "Notes", mediaType: "text/plain", data: { type: "text", text: "abc" } },
      { type: "file", mediaType: "application/pdf", data: { type: "url", url: new URL("https://example.com/a.pdf") } },
      { type: "text", text: "T (https://x)\nfound" },
    ])
  })

  test("older versions get files and pictures in results as they know them", async () => {
    const files = async (version: string) => {
      const { prompt, reasoning } = await promptFor(CONVERSATION, { version, provider: "google.generative-ai" })
      expect(reasoning).toBeUndefined()
      const [, , , results] = prompt
      const { output } = results!.content[0] as { output: { value: unknown[] } }
      return [prompt[1]?.content[1], output.value[1]]
    }
    const file = { type: "file", mediaType: "image/png", data: "iVBO" }
    expect(await files("v3")).toEqual([file, { type: "file-data", mediaType: "image/png", data: "iVBO" }])
    expect(await files("v2")).toEqual([file, { type: "media", mediaType: "image/png", data: "iVBO" }])
  })

  test("breakpoints are set for Claude alone", async () => {
    const breakpointsFor = async (provider: string) =>
      JSON.stringify(await promptFor(CONVERSATION, { provider })).match(/cacheControl/g)
    expect(await breakpointsFor("anthropic.messages")).toHaveLength(4)
    expect(await breakpointsFor("openai.responses")).toBeNull()
  })
})

describe("an answer of the AI SDK", () => {
  const text = (id: string, ...deltas: string[]) => [
    { type: "text-start", id },
    ...deltas.map((delta) => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
  ]

  test("cached tokens are taken out of the input", async () => {
    const usage = {
      inputTokens: { total: 100, noCache: undefined, cacheRead: 60, cacheWrite: 30 },
      outputTokens: { total: 7, text: undefined, reasoning: undefined },
    }
    const { languageModel } = fakeModel([...text("1", "Hi"), finish("stop", usage)])
    expect((await answerOf(languageModel)).usage).toEqual({
      input_tokens: 10,
      output_tokens: 7,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
    })
    const old = fakeModel([...text("1", "Hi"), V2_STOP], { version: "v2" })
    expect((await answerOf(old.languageModel)).usage).toMatchObject({ input_tokens: 40, cache_read_input_tokens: 60 })
  })

  test("a provider that does not count is counted for", async () => {
    const { languageModel } = fakeModel([...text("1", "word ".repeat(100)), STOP])
    const { usage } = await answerOf(languageModel, ask({ type: "text", text: "word ".repeat(1000) }))
    expect(usage.input_tokens).toBeGreaterThan(500)
    expect(usage.output_tokens).toBeGreaterThan(50)
  })

  test.each([
    ["stop", undefined, "end_turn"],
    ["length", undefined, "max_tokens"],
    ["content-filter", undefined, "refusal"],
    ["other", "pause_turn", "pause_turn"],
    ["length", "model_context_window_exceeded", "model_context_window_exceeded"],
    ["other", "UNHEARD_OF", "end_turn"],
  ])("%s (%s) is %s", async (unified, raw, expected) => {
    const { languageModel } = fakeModel([...text("1", "Hi"), finish(unified, NO_COUNTS, raw)])
    expect((await answerOf(languageModel)).stop_reason).toBe(expected)
  })

  test.each(["error", "interrupted"])("%s is no end", async (unified) => {
    const { languageModel } = fakeModel([...text("1", "Hi"), finish(unified)])
    await expect(answerOf(languageModel)).rejects.toMatchObject({ name: "ConnectionLostError" })
  })

  test("calls that come whole, a stop that wants a tool, tools the provider ran itself", async () => {
    const { languageModel } = fakeModel([
      { type: "response-metadata", id: "resp_1", modelId: "some-model-2026" },
      { type: "tool-call", toolCallId: "c1", toolName: "Read", input: '{"n":1.0}' },
      { type: "tool-call", toolCallId: "c2", toolName: "web_search", input: "{}", providerExecuted: true },
      STOP,
    ])
    expect(await answerOf(languageModel)).toMatchObject({
      id: "resp_1",
      model: "some-model-2026",
      stop_reason: "tool_use",
      content: [{ type: "tool_use", id: "c1", name: "Read", input: { n: 1 } }],
    })
  })

  test("what a provider notes on its parts comes back to it, at the same part", async () => {
    const notes = (signature: string) => ({ providerMetadata: { google: { thoughtSignature: signature } } })
    const parts = [
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: "Hm." },
      { type: "reasoning-end", id: "r", ...notes("on reasoning") },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "So." },
      { type: "text-end", id: "t", ...notes("on text") },
      { type: "tool-call", toolCallId: "c1", toolName: "Read", input: "{}", ...notes("on call") },
      finish("tool-calls"),
    ]
    const { languageModel, calls } = fakeModel(parts)
    const { content } = await answerOf(languageModel)
    const kept = JSON.parse(JSON.stringify(content)) as Block[] // as stored in the journal
    expect(kept.map(({ type }) => type)).toEqual(["thinking", "thinking", "text", "thinking", "tool_use"])
    await answerOf(languageModel, { ...HELLO, messages: [...HELLO.messages, { role: "assistant", content: kept }] })
    const google = (thoughtSignature: string) => ({ providerOptions: { google: { thoughtSignature } } })
    expect(calls[1]?.prompt[1]?.content).toEqual([
      { type: "reasoning", text: "Hm.", ...google("on reasoning") },
      { type: "text", text: "So.", ...google("on text") },
      { type: "tool-call", toolCallId: "c1", toolName: "Read", input: {}, ...google("on call") },
    ])
  })

  test("Claude's signatures and redacted thinking stay as they are", async () => {
    const anthropic = (fields: object) => ({ providerMetadata: { anthropic: fields } })
    const { languageModel, calls } = fakeModel([
      { type: "reasoning-start", id: "1" },
      { type: "reasoning-delta", id: "1", delta: "Hm." },
      { type: "reasoning-delta", id: "1", delta: "", ...anthropic({ signature: "EqQB" }) },
      { type: "reasoning-end", id: "1" },
      { type: "reasoning-start", id: "2", ...anthropic({ redactedData: "xyz" }) },
      { type: "reasoning-end", id: "2" },
      {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "Read",
        input: "{}",
        ...anthropic({ caller: { type: "direct" } }),
      },
      finish("tool-calls"),
    ])
    const { content } = await answerOf(languageModel)
    expect(content).toEqual([
      { type: "thinking", thinking: "Hm.", signature: "EqQB" },
      { type: "redacted_thinking", data: "xyz" },
      { type: "tool_use", id: "c1", name: "Read", input: {} },
    ])
    const messages = [...HELLO.messages, { role: "assistant" as const, content: content as Block[] }]
    await answerOf(languageModel, { ...HELLO, messages })
    expect(calls[1]?.prompt[1]?.content.slice(0, 2)).toEqual([
      { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "EqQB" } } },
      { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: "xyz" } } },
    ])
  })

  test("a provider that pays no heed to the signal is left all the same", async () => {
    const stop = new AbortController()
    const endless = new ReadableStream({
      start: (controller) => controller.enqueue({ type: "text-delta", id: "1", delta: "a" }),
    })
    const { languageModel } = fakeModel([])
    const deaf = { ...languageModel, doStream: async () => ({ stream: endless }) } as AiSdkLanguageModel
    const consume = async () => {
      for await (const _ of aiSdkModel(deaf).stream(HELLO, { signal: stop.signal })) setImmediate(() => stop.abort())
    }
    await expect(consume()).rejects.toMatchObject({ name: "ModelAbortedError" })
  })
})
