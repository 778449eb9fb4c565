import { describe, expect, test } from "vitest"
import { entriesOf, openTestConversation } from "../../test/open.ts"
import { InvalidContentError } from "../base/errors.ts"

/** Like `HumanMessage`, `AIMessage` and others of `@langchain/core`: the type is a method, the rest are fields. */
class LangChainMessage {
  readonly lc_serializable = true
  readonly lc_namespace = ["langchain_core", "messages"]
  readonly type: string
  readonly content: unknown
  readonly additional_kwargs: object = {}
  readonly response_metadata = {}
  readonly name: string | undefined = undefined
  readonly id: string | undefined = undefined

  constructor(type: string, content: unknown, more: object = {}) {
    this.type = type
    this.content = content
    Object.assign(this, more)
  }

  getType() {
    return this.type
  }

  toJSON() {
    return { lc: 1, type: "constructor", id: [...this.lc_namespace, this.type], kwargs: { content: this.content } }
  }
}
const aiMessage = (content: unknown, more: object = {}) =>
  new LangChainMessage("ai", content, { tool_calls: [], invalid_tool_calls: [], ...more })
const call = { name: "read", args: { path: "a" }, id: "call_1", type: "tool_call" }
const openAiCall = { id: "call_1", type: "function", function: { name: "read", arguments: "{}" } }
const created = new Date(0)
const mastra = (role: string, parts: readonly object[]) => ({
  ...{ id: "m1", role, createdAt: created, threadId: "t", resourceId: "r", content: { format: 2, parts } },
})
const text = (words: string) => ({ type: "text", text: words })

const textsOf = (entries: readonly object[]) =>
  (entries as { type: string; message?: { content: unknown } }[]).flatMap(({ type, message }) =>
    message ? `${type}: ${message.content}` : [],
  )

const PLAIN: readonly [string, object, { role: string; content: unknown }][] = [
  ["a HumanMessage", new LangChainMessage("human", "hi"), { role: "user", content: "hi" }],
  ["a HumanMessage of blocks", new LangChainMessage("human", [text("hi")]), { role: "user", content: "hi" }],
  ["an AIMessage", aiMessage("hi"), { role: "assistant", content: "hi" }],
  [
    "a UIMessage",
    { id: "u1", role: "assistant", parts: [{ type: "step-start" }, { ...text("hi"), state: "done" }, text("you")] },
    { role: "assistant", content: [text("hi"), text("you")] },
  ],
  ["a ModelMessage", { role: "user", content: [text("hi")] }, { role: "user", content: [text("hi")] }],
  ["a message of Mastra", mastra("user", [text("hi")]), { role: "user", content: "hi" }],
  [
    "OpenAI's",
    { role: "assistant", content: "hi", refusal: null, tool_calls: [] },
    { role: "assistant", content: "hi" },
  ],
  [
    "an item of OpenAI's Responses API",
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "hi", annotations: [] }] },
    { role: "assistant", content: "hi" },
  ],
]

const LANGCHAIN = /strataMiddleware\(\) of "@strata\/adapters\/langchain"/
const AI_SDK = /strataMiddleware\(\) of "@strata\/adapters\/ai-sdk"/
const MASTRA = /strataProcessor\(\) of "@strata\/adapters\/mastra"/
const result = { type: "tool-result", toolCallId: "c", toolName: "read", output: { type: "text", value: "x" } }
const MORE: readonly [string, object, RegExp, RegExp][] = [
  ["an AIMessage with calls", aiMessage("I look", { tool_calls: [call] }), /is an AIMessage of LangChain/, LANGCHAIN],
  [
    "a ToolMessage",
    new LangChainMessage("tool", "x", { tool_call_id: "c" }),
    /is a ToolMessage of LangChain/,
    LANGCHAIN,
  ],
  [
    "a HumanMessage with a picture",
    new LangChainMessage("human", [{ type: "image_url", image_url: { url: "https://x.example" } }]),
    /is a HumanMessage of LangChain/,
    LANGCHAIN,
  ],
  ["a HumanMessage with a name", new LangChainMessage("human", "hi", { name: "Ada" }), /a HumanMessage/, LANGCHAIN],
  ["a serialized one", new LangChainMessage("human", "hi").toJSON(), /a serialized message of LangChain/, LANGCHAIN],
  [
    "a ModelMessage with a call",
    { role: "assistant", content: [text("a"), { type: "tool-call", toolCallId: "c", toolName: "read", input: {} }] },
    /is a message with a "tool-call" part of the AI SDK/,
    AI_SDK,
  ],
  ["a ModelMessage with a result", { role: "tool", content: [result] }, /"tool-result" part of the AI SDK/, AI_SDK],
  [
    "a ModelMessage with reasoning",
    { role: "assistant", content: [{ type: "reasoning", text: "hm" }] },
    /"reasoning" part of the AI SDK/,
    AI_SDK,
  ],
  [
    "a UIMessage with a call",
    {
      id: "u",
      role: "assistant",
      parts: [text("a"), { type: "tool-read", toolCallId: "c", state: "output-available" }],
    },
    /is a UIMessage of the AI SDK/,
    AI_SDK,
  ],
  [
    "a message of Mastra with a call",
    mastra("assistant", [{ type: "tool-invocation", toolInvocation: { state: "call", toolCallId: "c" } }]),
    /is a message of Mastra/,
    MASTRA,
  ],
  [
    "OpenAI's with calls beside a text",
    { role: "assistant", content: "I look", tool_calls: [openAiCall] },
    /is a message with calls of OpenAI/,
    /"tool_use" blocks of the assistant/,
  ],
  [
    "OpenAI's result",
    { role: "tool", tool_call_id: "c", content: "x" },
    /a message with the role "tool" of OpenAI/,
    /"tool_result" blocks of the user/,
  ],
  [
    "an item of OpenAI's Responses API",
    { type: "function_call", call_id: "c", name: "read", arguments: "{}" },
    /is a "function_call" item of OpenAI/,
    /"tool_use" blocks/,
  ],
]

describe("messages of other libraries", () => {
  test.each(PLAIN)("MSG-12 a plain text is taken: %s", async (_name, message, expected) => {
    const last = { role: "user", content: "go on" } as const
    const added = await openTestConversation()
    await added.add(message as never)
    await added.add(last)
    const brought = await openTestConversation({ messages: [message as never, last] })
    for (const chat of [added, brought]) {
      const [entry] = (await entriesOf(chat)) as unknown as { message: object }[]
      expect(entry?.message).toEqual(expected)
    }
  })

  test.each(MORE)(
    "MSG-12 what is more than a text is named, and nothing is added: %s",
    async (_name, message, what, instead) => {
      const chat = await openTestConversation()
      const first = { role: "user", content: "hello" } as const
      for (const adding of [chat.add(message as never), chat.add([first, message as never])]) {
        const error = (await adding.catch((thrown: unknown) => thrown)) as InvalidContentError
        expect(error).toBeInstanceOf(InvalidContentError)
        expect(error.message).toMatch(what)
        expect(error.message).toMatch(instead)
      }
      await expect(chat.add([first, message as never])).rejects.toThrow(/added: messages\[1\] is an? /)
      expect(await entriesOf(chat)).toEqual([])
    },
  )

  test("MSG-12 a list of LangChain messages alone is a list of messages", async () => {
    const chat = await openTestConversation()
    await chat.add([new LangChainMessage("human", "one"), aiMessage("two")] as never)
    expect(textsOf(await entriesOf(chat))).toEqual(["user: one", "assistant: two"])
  })

  test("MSG-12 a system prompt in a message is an option, whoever writes it", async () => {
    const chat = await openTestConversation()
    const option = /Pass it as the option "system" of openConversation\(\)/
    await expect(chat.add({ role: "developer", content: "Help." } as never)).rejects.toThrow(option)
    await expect(chat.add(new LangChainMessage("system", "Help.") as never)).rejects.toThrow(option)
  })

  test("MSG-12 follow takes plain texts, names calls next to them, and keeps blocks of any type", async () => {
    const chat = await openTestConversation()
    const list = [new LangChainMessage("human", "one"), aiMessage("two"), new LangChainMessage("human", "three")]
    expect(await chat.syncMessages(list as never)).toEqual({ how: "added", added: 3 })
    expect(await chat.syncMessages([...list, aiMessage("four")] as never)).toEqual({ how: "added", added: 1 })
    const calling = [
      { role: "user", content: "one" },
      { role: "assistant", content: "a", tool_calls: [openAiCall] },
    ]
    await expect(chat.syncMessages(calling as never)).rejects.toThrow(/messages\[1\] is a message with calls of OpenAI/)
    const own = await openTestConversation()
    const block = { type: "a-part", held: 1 }
    await own.syncMessages([{ role: "user", content: [block] }])
    expect((await entriesOf(own))[0]).toMatchObject({ message: { content: [block] } })
  })
})

describe("record", () => {
  test("MSG-12 takes the answer's content as a text", async () => {
    const chat = await openTestConversation()
    await chat.add("hi")
    await chat.record({ content: "hello" })
    expect((await entriesOf(chat)).at(-1)).toMatchObject({
      message: { content: [text("hello")], stop_reason: "end_turn" },
    })
    await chat.add("more")
    await chat.record({ content: "" })
    expect((await entriesOf(chat)).at(-1)).toMatchObject({ message: { content: [] } })
    await chat.add("and more")
    expect((await chat.prepare()).messages.at(-1)).toMatchObject({ role: "user" })
  })

  test("MSG-12 takes an AIMessage that is a text", async () => {
    const chat = await openTestConversation()
    await chat.add("hi")
    await chat.record(aiMessage("hello", { id: "run-1" }) as never)
    expect((await entriesOf(chat)).at(-1)).toMatchObject({ message: { id: "run-1", content: [text("hello")] } })
  })

  test.each<[string, object, RegExp]>([
    [
      "an AIMessage with calls",
      aiMessage("I look", { tool_calls: [call] }),
      /the response is an AIMessage of LangChain/,
    ],
    ["a completion", { choices: [{ message: { role: "assistant", content: "hi" } }] }, /is a completion of OpenAI/],
    ["a message of OpenAI with calls", { content: "a", tool_calls: [openAiCall] }, /is a message with calls of OpenAI/],
    ["a result of the AI SDK", { content: [text("a"), { type: "tool-call" }] }, /a "tool-call" part of the AI SDK/],
    ["no content", {}, /the content of the response must be a text or a list of blocks/],
    ["nothing", undefined as never, /the content of the response must be a text or a list of blocks/],
  ])("MSG-12 what would lose a part is named: %s", async (_name, response, why) => {
    const chat = await openTestConversation()
    await chat.add("hi")
    await expect(chat.record(response as never)).rejects.toThrow(InvalidContentError)
    await expect(chat.record(response as never)).rejects.toThrow(why)
    expect(textsOf(await entriesOf(chat))).toEqual(["user: hi"])
  })
})
