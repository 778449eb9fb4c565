import { describe, expect, test } from "vitest"
import { entriesOf, openTestConversation } from "../../../test/open.ts"
import type { Conversation } from "../../conversation/conversation.ts"
import type { Prompt } from "../../conversation/prompt.ts"
import type { Entry } from "../../journal/entries.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import { withExactInput } from "../../messages/exact-json.ts"
import type { ModelRequest, ToolDefinition } from "../../messages/request.ts"
import { buildRequest, serialiseRequest } from "./request.ts"

const READ: ToolDefinition = { name: "Read", input_schema: { type: "object" } }
const BASH: ToolDefinition = { name: "Bash", input_schema: { type: "object" } }

describe("building a request", () => {
  const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }]

  test("has the fields in one order, and leaves out what is empty", () => {
    const parts = { model: "m", maxTokens: 5, messages }
    expect(JSON.stringify(buildRequest({ ...parts, system: "s", tools: [READ] }))).toBe(
      `{"model":"m","max_tokens":5,"system":"s","tools":[{"name":"Read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`,
    )
    expect(Object.keys(buildRequest({ ...parts, system: "", tools: [] }))).toEqual(["model", "max_tokens", "messages"])
  })

  test("MSG-5 the body spells tool inputs as the model wrote them", () => {
    const input = '{ "n" : 1.0, "big" : 12345678901234567890, "b":1, "1":2 }'
    const call = withExactInput({ type: "tool_use" as const, id: "t", name: "Read", input: {} }, input)
    const request = buildRequest({
      model: "m",
      maxTokens: 5,
      system: "",
      tools: [],
      messages: [...messages, { role: "assistant", content: [call] }],
    })
    expect(serialiseRequest(request)).toBe(
      `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":${input}}]}]}`,
    )
  })

  test("where no input needs it, the body is what JSON.stringify writes", () => {
    const request = buildRequest({
      model: "m",
      maxTokens: 5,
      system: [{ type: "text", text: "ü" }],
      tools: [READ],
      messages,
    })
    expect(serialiseRequest(request)).toBe(JSON.stringify(request))
    expect(serialiseRequest({ messages: [{ role: "user", content: "plain" }] } as unknown as ModelRequest)).toBe(
      '{"messages":[{"role":"user","content":"plain"}]}',
    )
  })
})

describe("CACHE-1 the bytes of an earlier request come again", () => {
  test("MSG-5 exact inputs, from the response to the journal to the body, also after a resume", async () => {
    const store = memoryStore()
    const input = '{"b":1,"1":2,"n":1.0}'
    const chat = await openTestConversation({ store })
    await chat.add({ role: "user", content: "go" })
    await chat.record({
      id: "msg_1",
      model: "claude-opus-4-6",
      content: [withExactInput({ type: "tool_use", id: "t", name: "Read", input: {} }, input)],
      stop_reason: "tool_use",
      usage: { input_tokens: 1, output_tokens: 1 },
    })
    await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "r" }] })
    const body = serialiseRequest(await chat.prepare())
    expect(body).toContain(`"input":${input}`)
    await chat.close()
    const again = await openTestConversation({ store })
    expect(serialiseRequest(await again.prepare())).toBe(body)
  })

  test("a second request without anything new is the same bytes", async () => {
    const chat = await openTestConversation({ context: { Notes: "be brief" }, tools: [READ] })
    await chat.add({ role: "user", content: "go" })
    const first = serialiseRequest(await chat.prepare())
    expect(serialiseRequest(await chat.prepare())).toBe(first)
  })
})

describe("CACHE-2 system prompt, tools and context are rendered once", () => {
  const PROMPT: Prompt = { system: "You help.", tools: [READ], context: { Project: "Use tabs." } }

  async function prompts(chat: Conversation): Promise<readonly Extract<Entry, { subtype: "prompt-rendered" }>[]> {
    const entries = await entriesOf(chat)
    return entries.filter((entry) => entry.type === "strata" && entry.subtype === "prompt-rendered") as never
  }
  async function begun(prompt: Prompt = PROMPT, store = memoryStore()): Promise<Conversation> {
    const chat = await openTestConversation({ store, ...prompt })
    await chat.add({ role: "user", content: "go" })
    await chat.prepare()
    return chat
  }

  test("and recorded as they were, at the first request", async () => {
    const chat = await begun()
    await chat.prepare()
    expect(await prompts(chat)).toMatchObject([
      { why: "start", system: "You help.", tools: [READ], context: expect.stringContaining("# Project\nUse tabs.") },
    ])
  })

  test("equal bytes after a resume are not rendered again", async () => {
    const store = memoryStore()
    const chat = await begun(PROMPT, store)
    const body = serialiseRequest(await chat.prepare())
    await chat.close()
    const again = await openTestConversation({ store, ...PROMPT })
    expect(serialiseRequest(await again.prepare())).toBe(body)
    expect(await prompts(again)).toHaveLength(1)
  })

  test("what is not given at a resume goes on as it was", async () => {
    const store = memoryStore()
    const chat = await begun(PROMPT, store)
    const body = serialiseRequest(await chat.prepare())
    await chat.close()
    const again = await openTestConversation({ store, system: "You help." }) // neither tools nor context
    expect(serialiseRequest(await again.prepare())).toBe(body)
    expect(await prompts(again)).toHaveLength(1)
  })

  test.each<[string, Prompt, (request: ModelRequest) => unknown, unknown]>([
    ["system prompt", { system: "You sing." }, ({ system }) => system, "You sing."],
    ["tool list", { tools: [READ, BASH] }, ({ tools }) => tools, [READ, BASH]],
    ["empty tool list", { tools: [] }, ({ tools }) => tools, undefined],
  ])("another %s is a recorded event, and sent from the next request on", async (_name, change, partOf, expected) => {
    const chat = await begun()
    await chat.usePrompt(change)
    expect(partOf(await chat.prepare())).toEqual(expected)
    expect((await prompts(chat)).map(({ why }) => why)).toEqual(["start", "changed"])
  })

  test("another context is one too, and comes before the conversation", async () => {
    const chat = await begun()
    await chat.usePrompt({ context: { Project: "Use spaces." } })
    const { messages } = await chat.prepare()
    expect(JSON.stringify(messages[0])).toContain("Use spaces.")
    expect(JSON.stringify(messages)).not.toContain("Use tabs.")
    expect(await prompts(chat)).toHaveLength(2)
  })

  test("another prompt given at a resume is one", async () => {
    const store = memoryStore()
    const chat = await begun(PROMPT, store)
    await chat.close()
    const again = await openTestConversation({ store, ...PROMPT, system: "You sing." })
    expect((await again.prepare()).system).toBe("You sing.")
    expect((await prompts(again)).map(({ why }) => why)).toEqual(["start", "changed"])
  })

  test("the same prompt given again is no change", async () => {
    const chat = await begun()
    await chat.usePrompt(structuredClone(PROMPT))
    await chat.prepare()
    expect(await prompts(chat)).toHaveLength(1)
  })

  test("the caller's objects may change later without any effect", async () => {
    const tools = [structuredClone(READ)]
    const chat = await begun({ ...PROMPT, tools })
    const body = serialiseRequest(await chat.prepare())
    tools[0]!.name = "Write"
    tools.push(BASH)
    expect(serialiseRequest(await chat.prepare())).toBe(body)
  })
})
