import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Block } from "../../messages/blocks.ts"
import { withExactInput } from "../../messages/exact-json.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { placeBreakpoints } from "./breakpoints.ts"
import { compareRequests } from "./compare-requests.ts"

type Message = ModelRequest["messages"][number]

const text = (words: string): Block => ({ type: "text", text: words })
const user = (...content: Block[]): Message => ({ role: "user", content })
const assistant = (...content: Block[]): Message => ({ role: "assistant", content })
const tool = (name: string) => ({ name, input_schema: { type: "object" as const } })
const request = (more: Partial<ModelRequest> & { betas?: readonly string[] } = {}): ModelRequest =>
  ({
    model: "claude-opus-5",
    max_tokens: 100,
    tools: [tool("Read"), tool("Write")],
    system: "You help.",
    messages: [user(text("a"), text("b")), assistant(text("c")), user(text("d"))],
    ...more,
  }) as ModelRequest

const change = (more: Parameters<typeof request>[0]) => compareRequests(request(), request(more))

describe("CACHE-4 where a request leaves the one before", () => {
  test("nothing to compare with, nothing changed", () => {
    expect(compareRequests(undefined, request())).toEqual({ kind: "initial" })
    expect(compareRequests(request(), structuredClone(request()))).toEqual({ kind: "same" })
  })

  test("more messages, and more in the last one", () => {
    const { messages } = request()
    expect(change({ messages: [...messages, assistant(text("e"))] })).toEqual({
      kind: "appended",
      message: 3,
      block: 0,
    })
    expect(change({ messages: messages.with(2, user(text("d"), text("e"))) })).toEqual({
      kind: "appended",
      message: 2,
      block: 1,
    })
  })

  test("the model, the tools, the system prompt, in this order", () => {
    const others = { model: "claude-opus-4-8", tools: [tool("Read")], system: "You hurry." }
    expect(change(others)).toEqual({ kind: "changed", part: "model" })
    expect(change({ ...others, model: "claude-opus-5" })).toEqual({ kind: "changed", part: "tools", block: 1, byte: 0 })
    expect(change({ system: "You hurry." })).toEqual({ kind: "changed", part: "system", block: 0, byte: 28 })
    const { system: _, ...bare } = request()
    expect(compareRequests(request(), bare)).toMatchObject({ part: "system", block: 0, byte: 0 })
  })

  test("settings that are part of the prompt; stating the default is no change", () => {
    expect(change({ tool_choice: { type: "none" } })).toMatchObject({ part: "settings", setting: "tool_choice" })
    expect(change({ tool_choice: { type: "auto" } })).toEqual({ kind: "same" })
    expect(change({ output_config: { effort: "low" } })).toMatchObject({ part: "settings", setting: "effort" })
    const image: Block = { type: "image", source: { type: "base64", media_type: "image/png", data: "" } }
    const messages = [...request().messages, assistant(text("e")), user(image)]
    expect(change({ messages })).toMatchObject({ part: "settings", setting: "images" })
  })

  test("a message, with block and byte; bytes are those of UTF-8", () => {
    const { messages } = request()
    const at = (blocks: Block[], message = 0) => change({ messages: messages.with(message, user(...blocks)) })
    const start = JSON.stringify({ type: "text", text: "" }).length - 2
    expect(at([text("a"), text("x")])).toEqual({ kind: "changed", part: "messages", message: 0, block: 1, byte: start })
    expect(at([text("a"), text("b"), text("c")])).toMatchObject({ message: 0, block: 2, byte: 0 }) // the change is not in the last message
    expect(at([text("a")])).toMatchObject({ message: 0, block: 1, byte: 0 })
    expect(at([text("c")], 1)).toMatchObject({ message: 1, block: 0, byte: 0 }) // the role differs
    expect(change({ messages: messages.slice(0, 1) })).toMatchObject({
      part: "messages",
      message: 1,
      block: 0,
      byte: 0,
    })
    const [umlaut, other] = ["äb", "äc"].map((words) => request({ messages: [user(text(words))] }))
    expect(compareRequests(umlaut, other!)).toMatchObject({ byte: start + 2 })
  })

  test("the spelling of a call's input counts", () => {
    const call = { type: "tool_use" as const, id: "toolu_1", name: "Read", input: { n: 1 } }
    const withBlock = (block: Block) => request({ messages: [user(text("a")), assistant(block)] })
    const exact = withExactInput(call, '{"n":1.0}') as Block
    expect(compareRequests(withBlock(call), withBlock(exact))).toMatchObject({ part: "messages", message: 1, block: 0 })
  })

  test("betas, where all else is as it was", () => {
    expect(change({ betas: ["x"] })).toEqual({ kind: "changed", part: "betas" })
    expect(change({ betas: ["x"], system: "Else." })).toMatchObject({ part: "system" })
  })

  test("property: breakpoints do not count, wherever they are", () => {
    const blocks = fc.array(
      fc.string({ minLength: 1 }).map((words) => text(`${words}.`)),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(fc.array(blocks, { minLength: 1, maxLength: 8 }), (contents) => {
        const messages = contents.map((content, i) => (i % 2 === 0 ? user(...content) : assistant(...content)))
        const bare = request({ messages })
        expect(compareRequests(bare, placeBreakpoints(bare))).toEqual({ kind: "same" })
        expect(compareRequests(placeBreakpoints(bare), bare)).toEqual({ kind: "same" })
      }),
      { numRuns: 50 },
    )
  })

  test("what did not change is not looked into", () => {
    const untouchable = new Proxy(text("old"), {
      get(target, key) {
        if (key === "text") throw new Error("looked into")
        return Reflect.get(target, key)
      },
    })
    const old = user(untouchable)
    const later = [old, assistant(text("x"))]
    expect(compareRequests(request({ messages: [old] }), request({ messages: later }))).toMatchObject({
      kind: "appended",
    })
    expect(
      compareRequests(request({ messages: [user(untouchable)] }), request({ messages: [user(untouchable)] })),
    ).toEqual({ kind: "same" })
  })
})
