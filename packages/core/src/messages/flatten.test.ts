import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { conversation, sketch } from "../../test/builders.ts"
import type { Block } from "./blocks.ts"
import { withExactInput } from "./exact-json.ts"
import { Flattener, flatten } from "./flatten.ts"
import type { Message, RepairRule } from "./messages.ts"

const flat = (messages: readonly Message[]) => sketch(flatten(messages).messages)
const rules = (messages: readonly Message[]): RepairRule[] => flatten(messages).repairs.map(({ rule }) => rule)
const NO_RESULT = '"No result: the call was interrupted before it finished."'

describe("MSG-2 flattening", () => {
  test("drops progress, system, sub-agents' and synthetic error messages", () => {
    const { messages } = conversation()
      .user("hi")
      .progress()
      .system("for the person")
      .user("aside", { isSidechain: true })
      .say("API Error: overloaded", { model: "<synthetic>", isApiErrorMessage: true })
      .say("hello")
    expect(flat(messages)).toEqual(['user: "hi"', 'assistant: "hello"'])
  })

  test("merges consecutive user messages, with attachments as user content", () => {
    const { messages } = conversation()
      .user("one")
      .attach({ type: "hook_output", hook: "lint", content: "clean" })
      .user("two")
    expect(flat(messages)).toEqual([
      'user: "one" | "<system-reminder>\\nOutput of the hook \\"lint\\":\\nclean\\n</system-reminder>" | "two"',
    ])
  })

  test("attachments meant for a user only give nothing", () => {
    const { messages } = conversation()
      .user("one")
      .attach({ type: "hook_output", hook: "h", content: "psst", audience: "person" })
    expect(flat(messages)).toEqual(['user: "one"'])
  })

  test("moves an attachment next to the message it belongs to", () => {
    const builder = conversation().user("one").user("two")
    const belongsTo = builder.messages[0]!.uuid
    builder.attach({ type: "hook_output", hook: "h", content: "about one", belongsTo })
    expect(flat(builder.messages)[0]).toMatch(/^user: "one" \| ".*about one.*" \| "two"$/)
  })

  test("merges the pieces of one response, also when tool results stand between them", () => {
    const { messages } = conversation()
      .user("go")
      .call("Read", {}, { id: "msg_x" })
      .result("a")
      .call("Grep", {}, { id: "msg_x" })
      .result("b")
      .say("done")
    expect(flat(messages)).toEqual([
      'user: "go"',
      "assistant: call toolu_0 Read | call toolu_1 Grep",
      'user: result toolu_0 "a" | result toolu_1 "b"',
      'assistant: "done"',
    ])
  })

  test("merges adjacent responses of different ids, also when the first waits for a result", () => {
    const { messages } = conversation().user("go").call("Read").call("Grep").result("a").result("b")
    expect(flat(messages)).toEqual([
      'user: "go"',
      "assistant: call toolu_0 Read | call toolu_1 Grep",
      'user: result toolu_0 "a" | result toolu_1 "b"',
    ])
  })

  test("removes trailing assistant messages that hold only thinking, and only trailing ones", () => {
    const thinking: Block[] = [{ type: "thinking", thinking: "hm", signature: "s" }]
    const builder = conversation().user("go").respond(thinking)
    expect(flat(builder.messages)).toEqual(['user: "go"'])
    expect(flat(builder.user("on").messages)).toEqual(['user: "go"', 'assistant: thinking "hm"', 'user: "on"'])
  })

  test("a response of which nothing can be sent lets the user turns around it grow together", () => {
    const builder = conversation()
      .user("one")
      .respond([])
      .user("two")
      .respond([{ type: "text", text: " " }])
      .user("three")
    expect(flat(builder.messages)).toEqual(['user: "one" | "two" | "three"'])
    expect(flat(builder.say("hm").user("four").messages)).toEqual([
      'user: "one" | "two" | "three"',
      'assistant: "hm"',
      'user: "four"',
    ])
  })

  test("strips breakpoints and our own metadata", () => {
    const { messages } = conversation().user([{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }], {
      isMeta: true,
    })
    expect(flatten(messages).messages).toEqual([{ role: "user", content: [{ type: "text", text: "hi" }] }])
  })

  test("a conversation that begins with the assistant gets a first user message, and says so", () => {
    const { messages } = conversation().say("as I said")
    expect(flat(messages)).toEqual([
      'user: "[the beginning of this conversation is not available]"',
      'assistant: "as I said"',
    ])
    expect(rules(messages)).toEqual(["starts-with-assistant"])
  })

  test("empty texts and thinking without a signature are dropped, and it is recorded", () => {
    const { messages } = conversation()
      .user("go")
      .respond([
        { type: "text", text: "\n\n" },
        { type: "thinking", thinking: "cut off", signature: "" },
        { type: "text", text: "yes" },
      ])
    expect(flat(messages)).toEqual(['user: "go"', 'assistant: "yes"'])
    expect(rules(messages)).toEqual(["empty-text", "unsigned-thinking"])
  })
})

describe("MSG-4 pairing", () => {
  test("results stand before text, whatever came first", () => {
    const { messages } = conversation().user("go").call("Read").user("typed while it ran").result("a")
    expect(flat(messages).at(-1)).toBe('user: result toolu_0 "a" | "typed while it ran"')
  })

  test("a call without a result gets a synthetic error result, and it is recorded", () => {
    const { messages } = conversation().user("go").call("Read").user("stop")
    expect(flat(messages).at(-1)).toBe(`user: result toolu_0 failed ${NO_RESULT} | "stop"`)
    expect(flatten(messages).repairs).toEqual([{ rule: "unanswered-tool-use", id: "toolu_0" }])
  })

  test("a result without a call is dropped, and it is recorded", () => {
    const { messages } = conversation().user("go").say("hm").result("whose?").user("on")
    expect(flat(messages).at(-1)).toBe('user: "on"')
    expect(rules(messages)).toEqual(["orphan-tool-result"])
  })

  test("of two results the first counts; of two calls with one id the first counts", () => {
    const twice: Block[] = [
      { type: "tool_use", id: "same", name: "A", input: {} },
      { type: "tool_use", id: "same", name: "B", input: {} },
    ]
    const answer: Block = { type: "tool_result", tool_use_id: "same", content: "1" }
    const { messages } = conversation()
      .user("go")
      .respond(twice)
      .user([answer])
      .user([{ ...answer, content: "2" }])
      .respond(twice)
    expect(flat(messages)).toEqual(['user: "go"', "assistant: call same A", 'user: result same "1"'])
    expect(rules(messages).sort()).toEqual([
      "duplicate-tool-result",
      ...["duplicate-tool-use", "duplicate-tool-use", "duplicate-tool-use"],
    ])
  })

  // found by a responder with malformed answers
  test.each([
    ["a name", { id: "a", name: "", input: {} }],
    ["an id", { id: "a b", name: "X", input: {} }],
    ["an input", { id: "a", name: "X", input: "ls" }],
  ])("a call with %s that the API does not take back is dropped with its result, and it is recorded", (_what, call) => {
    const { messages } = conversation()
      .user("go")
      .respond([
        { type: "tool_use", ...call },
        { type: "text", text: "so" },
      ])
    expect(flat(messages)).toEqual(['user: "go"', 'assistant: "so"'])
    expect(rules(messages)).toEqual(["malformed-tool-use"])
  })

  test("an answer that was made up and sent is kept even when the real one comes late", () => {
    const { messages } = conversation().user("go").call("Read").result("late")
    const frozen = flatten(messages, { answeredSynthetically: new Set(["toolu_0"]) })
    expect(sketch(frozen.messages).at(-1)).toBe(`user: result toolu_0 failed ${NO_RESULT}`)
    expect(frozen.repairs.map(({ rule }) => rule)).toEqual(["late-tool-result", "unanswered-tool-use"])
  })
})

describe("MSG-10 pairs of every kind are atomic", () => {
  const use = { type: "server_tool_use", id: "srv", name: "web_search", input: {} } as Block
  const result = { type: "web_search_tool_result", tool_use_id: "srv", content: [] } as Block
  const mcpUse = { type: "mcp_tool_use", id: "mcp", name: "x", server_name: "s", input: {} } as unknown as Block
  const mcpResult = { type: "mcp_tool_result", tool_use_id: "mcp", content: [] } as unknown as Block

  test("whole pairs stay where they are", () => {
    const { messages } = conversation().user("go").respond([use, result, mcpUse, mcpResult]).user("on")
    expect(flatten(messages)).toMatchObject({
      repairs: [],
      messages: [{}, { content: [use, result, mcpUse, mcpResult] }, {}],
    })
  })

  test("a call cut off before its result goes, and so does a result without its call", () => {
    const { messages } = conversation()
      .user("go")
      .respond([use, mcpResult, { type: "text", text: "x" }])
      .user("on")
    expect(flat(messages)).toEqual(['user: "go"', 'assistant: "x"', 'user: "on"'])
    expect(rules(messages)).toEqual(["unanswered-server-tool", "orphan-server-result"])
  })

  test("a paused turn keeps its open call, and its continuation is merged with it", () => {
    const builder = conversation().user("go").respond([use], { stop_reason: "pause_turn" })
    expect(flat(builder.messages)).toEqual(['user: "go"', "assistant: server_tool_use"])
    expect(flat(builder.respond([result]).messages)).toEqual([
      'user: "go"',
      "assistant: server_tool_use | web_search_tool_result",
    ])
  })

  // found by fuzzing: the synthetic result of the client's call ends the pause
  test("a paused turn that also calls a client's tool does not wait for the server", () => {
    const { messages } = conversation()
      .user("go")
      .respond([{ type: "tool_use", id: "a", name: "Read", input: {} }, use], { stop_reason: "pause_turn" })
    expect(flat(messages)).toEqual(['user: "go"', "assistant: call a Read", `user: result a failed ${NO_RESULT}`])
  })

  // found by fuzzing: the content after the server's call shows that the turn continued
  test("a paused turn that does not end in a server tool does not wait for the server", () => {
    const { messages } = conversation()
      .user("go")
      .respond([use, { type: "thinking", thinking: "hm", signature: "s" }], { stop_reason: "pause_turn" })
    expect(flat(messages)).toEqual(['user: "go"'])
  })
})

describe("MSG-5 flattening changes no message", () => {
  test("tool inputs keep key order, number spelling, escapes and white space", () => {
    const text = '{ "b": 1.0, "10": 12345678901234567890, "e": "\\u00e9" }'
    const call = withExactInput({ type: "tool_use" as const, id: "a", name: "X", input: {} }, text)
    const { messages } = conversation().user("go").respond([call])
    const sent = flatten(messages).messages[1]!.content[0]!
    expect(sent).toBe(call)
  })

  test("is deterministic, idempotent, and leaves its input unchanged", () => {
    const builder = conversation().user("go").call("Read").result("a").call("Grep").user("hm").say("done")
    const before = structuredClone(builder.messages)
    const once = flatten(builder.messages)
    expect(flatten(builder.messages)).toEqual(once)
    expect(builder.messages).toEqual(before)

    const again = conversation()
    for (const { role, content } of once.messages) role === "user" ? again.user(content) : again.respond(content)
    expect(flatten(again.messages).messages).toEqual(once.messages)
    expect(flatten(again.messages).repairs).toEqual([])
  })

  test("fed in one go or piece by piece, the result is the same", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 30 }), (choices) => {
        const builder = conversation().user("go")
        for (const choice of choices) {
          if (choice === 0) builder.user("words")
          else if (choice === 1) builder.call("Read")
          else if (choice === 2) builder.result("r")
          else if (choice === 3) builder.say("text")
          else if (choice === 4) builder.call("Grep", {}, { id: "msg_0" })
          else builder.attach({ type: "compact_file_reference", path: "a" })
        }
        const whole = flatten(builder.messages)
        for (let length = 1; length <= builder.messages.length; length++) {
          const part = flatten(builder.messages.slice(0, length))
          expect(whole.messages.slice(0, part.closed)).toEqual(part.messages.slice(0, part.closed))
        }
      }),
    )
  })

  test("a message that was shown and has not changed is the same object later, closed or not", () => {
    const builder = conversation().user("go")
    for (let turn = 0; turn < 5; turn++) builder.call("Read", {}).result("r")
    const flattener = new Flattener()
    let before: readonly object[] = []
    for (const message of builder.messages) {
      flattener.add(message)
      const now = [...flattener.closed, ...flattener.open().messages]
      expect(flattener.open().messages).toBe(flattener.open().messages)
      // a call waits for its result; until then its synthetic result is shown
      if (message.type === "user" && before.length > 0)
        for (const [at, shown] of before.entries()) expect(now[at]).toBe(shown)
      if (message.type === "user") before = now
    }
  })
})
