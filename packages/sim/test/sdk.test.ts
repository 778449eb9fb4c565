/** The official SDKs against the simulator: the current one, an old one with the old headers, and the Vercel AI SDK. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai"
import OldAnthropic from "anthropic-sdk-0"
import { describe, expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import type { AnswerBlock, ResponderTurn } from "../src/responder.ts"
import { client, KEY, MODEL, scripted, simulator } from "./simulator.ts"

const ASK = {
  model: MODEL,
  max_tokens: 500,
  messages: [{ role: "user" as const, content: "How is the weather in Paris?" }],
}
const CALL: readonly AnswerBlock[] = [
  { type: "text", text: "Let me look." },
  { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Paris" } },
]
const WEATHER = {
  name: "weather",
  description: "The weather in a city",
  input_schema: { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] },
}
/** Answers with the last tool result. */
const report = ({ request }: ResponderTurn) => {
  const result = request.messages.at(-1)?.content.find(({ type }) => type === "tool_result")?.content
  const text = typeof result === "string" ? result : (result?.[0]?.text ?? "nothing")
  return { content: [{ type: "text" as const, text: `It says: ${text}` }] }
}
const weatherTool = {
  ...WEATHER,
  type: "custom" as const,
  run: ({ city }: { city: string }) => `Sunny in ${city}`,
  parse: (input: unknown) => input as { city: string },
}

describe.each([
  {
    name: "SDK 1.8",
    version: "2026-10-21",
    key: "authorization",
    connect: (url: string, maxRetries = 0) => client({ url } as never, { maxRetries }),
  },
  {
    name: "SDK 0.137, with the old headers",
    version: "2023-06-01",
    key: "x-api-key",
    connect: (url: string, maxRetries = 0) =>
      new OldAnthropic({ baseURL: url, apiKey: KEY, maxRetries }) as never as ReturnType<typeof client>,
  },
])("BEY-8 $name", ({ connect }) => {
  test("a message", async () => {
    const sim = await simulator({ responder: scripted("Fine, thank you.") })
    const message = await connect(sim.url).messages.create(ASK)
    expect(message.content).toEqual([{ type: "text", text: "Fine, thank you." }])
    expect(message._request_id).toMatch(/^req_/)
  })

  test("a stream", async () => {
    const sim = await simulator({ responder: scripted("Fine, thank you; and how are you today?") })
    const stream = connect(sim.url).messages.stream(ASK)
    const pieces: string[] = []
    stream.on("text", (piece) => pieces.push(piece))
    expect(await stream.finalText()).toBe("Fine, thank you; and how are you today?")
    expect(pieces.length).toBeGreaterThan(1)
  })

  test("a tool call and its result", async () => {
    const sim = await simulator({ responder: scripted(CALL, report) })
    const api = connect(sim.url)
    const { content, stop_reason } = await api.messages.stream({ ...ASK, tools: [WEATHER] }).finalMessage()
    expect(stop_reason).toBe("tool_use")
    expect(content[1]).toMatchObject({ type: "tool_use", input: { city: "Paris" } })
    const answer = await api.messages.create({
      ...ASK,
      tools: [WEATHER],
      messages: [
        ...ASK.messages,
        { role: "assistant", content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "Rain" }] },
      ],
    })
    expect(answer.content[0]).toMatchObject({ text: "It says: Rain" })
  })

  test.runIf(isWhole)("retries after overload", async () => {
    const sim = await simulator({ faults: [{ fault: { kind: "rate-limit", retryAfterSeconds: 0 }, times: 1 }] })
    expect((await connect(sim.url, 1).messages.create(ASK)).stop_reason).toBe("end_turn")
    expect(sim.log.map(({ status }) => status)).toEqual([429, 200])
  })

  test("count_tokens", async () => {
    const sim = await simulator()
    const { max_tokens: _, ...params } = ASK
    expect((await connect(sim.url).messages.countTokens(params)).input_tokens).toBeGreaterThan(5)
    expect((await connect(sim.url).beta.messages.countTokens(params)).input_tokens).toBeGreaterThan(5)
  })

  test("the tool runner", async () => {
    const sim = await simulator({ responder: scripted(CALL, report) })
    const runner = connect(sim.url).beta.messages.toolRunner({ ...ASK, tools: [weatherTool] } as never)
    const final = (await runner) as { content: unknown[] }
    expect(final.content[0]).toMatchObject({ text: "It says: Sunny in Paris" })
  })
})

describe("BEY-8 skills", () => {
  test("the list has those of Anthropic, page by page; each can be shown, and an unknown one is a 404", async () => {
    const skills = client(await simulator()).beta.skills
    const listed: Awaited<ReturnType<typeof skills.retrieve>>[] = []
    for await (const skill of skills.list({ limit: 3 })) listed.push(skill)
    expect(listed.map(({ id }) => id)).toEqual(["docx", "pdf", "pptx", "xlsx"])
    expect(await skills.retrieve("pdf")).toEqual(listed[1])
    expect(listed[1]).toMatchObject({ type: "skill", source: { type: "anthropic" } })
    expect((await skills.list({ source: "custom" })).data).toEqual([])
    await expect(skills.retrieve("none")).rejects.toMatchObject({ status: 404, type: "not_found_error" })
  })
})

describe("BEY-8 SDK 1.8: threads and compaction", () => {
  test("the tool runner asks for a thread, is refused, and continues without", async () => {
    const sim = await simulator({ responder: scripted(CALL, report) })
    await client(sim).beta.messages.toolRunner({ ...ASK, tools: [weatherTool] })
    expect(sim.log.map(({ status }) => status)).toEqual([400, 200, 200])
    expect(sim.stats().errors).toEqual({ invalid_request_error: 1 })
  })

  test("the tool runner without threads is never refused", async () => {
    const sim = await simulator({ responder: scripted(CALL, report) })
    await client(sim).beta.messages.toolRunner({ ...ASK, tools: [weatherTool], thread: false })
    expect(sim.log.map(({ status }) => status)).toEqual([200, 200])
  })

  test("the tool runner compacts before its next turn", async () => {
    const sim = await simulator({ responder: scripted(CALL, "<summary>Paris was asked about.</summary>", "Sunny.") })
    const betas = ["compact-2026-09-04"]
    const runner = client(sim).beta.messages.toolRunner({ ...ASK, tools: [weatherTool], thread: false, betas })
    const stops: (string | null)[] = []
    for await (const message of runner) {
      stops.push(message.stop_reason)
      if (stops.length === 1) runner.compactBeforeNextTurn()
    }
    expect(stops).toEqual(["tool_use", "compaction", "end_turn"])
  })
})

describe("BEY-8 Vercel AI SDK", () => {
  const provider = (url: string) => createAnthropic({ baseURL: `${url}/v1`, apiKey: KEY })

  test("generates text", async () => {
    const sim = await simulator({ responder: scripted("Fine, thank you.") })
    const { text, usage } = await generateText({
      model: provider(sim.url)(MODEL),
      prompt: "How are you?",
      maxRetries: 0,
    })
    expect(text).toBe("Fine, thank you.")
    expect(usage.outputTokens).toBe(5)
  })

  test("streams text", async () => {
    const sim = await simulator({ responder: scripted("Fine, thank you; and how are you today?") })
    const { textStream } = streamText({ model: provider(sim.url)(MODEL), prompt: "How are you?", maxRetries: 0 })
    const pieces: string[] = []
    for await (const piece of textStream) pieces.push(piece)
    expect(pieces.join("")).toBe("Fine, thank you; and how are you today?")
    expect(pieces.length).toBeGreaterThan(1)
  })

  test("runs tools", async () => {
    const sim = await simulator({ responder: scripted(CALL, report) })
    const { text, steps } = await generateText({
      model: provider(sim.url)(MODEL),
      prompt: "How is the weather in Paris?",
      tools: {
        weather: tool({
          description: WEATHER.description,
          inputSchema: jsonSchema<{ city: string }>(WEATHER.input_schema as never),
          execute: ({ city }) => `Sunny in ${city}`,
        }),
      },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    })
    expect(steps).toHaveLength(2)
    expect(text).toMatch(/Sunny in Paris/)
  })
})
