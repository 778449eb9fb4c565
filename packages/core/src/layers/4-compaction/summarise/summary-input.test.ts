import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { conversation, sketch } from "../../../../test/builders.ts"
import { size } from "../../../../test/size.ts"
import { image, pdf, randomConversation } from "../../../../test/summary-conversations.ts"
import type { Block } from "../../../messages/blocks.ts"
import type { FlatMessage } from "../../../messages/flatten.ts"
import type { ModelRequest } from "../../../messages/request.ts"
import { usable } from "../../../messages/usable.ts"
import { validateRequest } from "../../../messages/validate/validator.ts"
import { findModel } from "../../../tokens/models.ts"
import { summaryInput } from "./fit.ts"

const input = (builder: ReturnType<typeof conversation>) => sketch(summaryInput(builder.messages))
const long = Array.from({ length: 5_000 }, (_, i) => `line ${i}`).join("\n")

describe("L4-10 what the summariser reads", () => {
  test("images and documents are named, inside results too", () => {
    const builder = conversation()
      .user([image, { type: "text", text: "look" }, pdf])
      .call("Read")
      .result([{ type: "text", text: "a page" }, pdf, image])
    expect(input(builder)).toEqual([
      'user: "[image]" | "look" | "[document]"',
      "assistant: call toolu_0 Read",
      'user: result toolu_0 "a page\\n[document]\\n[image]"',
    ])
  })

  test("skill listings and discovery are left out, other attachments stay", () => {
    const shown = JSON.stringify(
      input(
        conversation()
          .user("hi")
          .attach({ type: "skill_listing", skills: [{ name: "listed-skill" }] })
          .attach({ type: "foreign", kind: "skill_discovery", data: {}, text: "found-skill" })
          .attach({ type: "skill_content", name: "used-skill", content: "how" })
          .attach({ type: "todo_list", todos: [{ content: "write it", status: "pending" }] }),
      ),
    )
    expect(shown).toMatch(/used-skill.*write it/)
    expect(shown).not.toMatch(/listed-skill|found-skill/)
  })

  test("an earlier summary takes part", () => {
    const builder = conversation().boundary().user("Summary:\n1. A", { isCompactSummary: true }).say("ok")
    expect(input(builder)).toEqual(['user: "Summary:\\n1. A"', 'assistant: "ok"'])
  })

  test("BEY-2 where it fits, thinking is text, and pictures are as they were, inside results too", () => {
    const thinking: Block = { type: "thinking", thinking: "It must be 4711.", signature: "s" }
    const { messages } = conversation()
      .user([image, { type: "text", text: "look" }])
      .respond([thinking, { type: "text", text: "b" }])
      .call("Read", { file_path: "/a.png" })
      .result([{ type: "text", text: "a page" }, image])
    const sent = summaryInput(messages, { thinking: true, media: true })
    expect(sent[0]!.content[0]).toEqual(image)
    expect(JSON.stringify(sent)).toContain("[thinking] It must be 4711.")
    expect(JSON.stringify(sent).split(JSON.stringify(image)).length - 1).toBe(2)
    expect(JSON.stringify(sent)).not.toContain('"signature"')
  })

  test("thinking goes, also where an answer was nothing else", () => {
    const thinking: Block = { type: "thinking", thinking: "hm", signature: "s" }
    const builder = conversation()
      .user("a")
      .respond([thinking, { type: "text", text: "b" }])
      .user("c")
      .respond([thinking])
    expect(input(builder)).toEqual(['user: "a"', 'assistant: "b"', 'user: "c"'])
  })

  test("what servers did themselves becomes text, without what is sealed", () => {
    const found = { type: "web_search_result", url: "https://a.example", encrypted_content: "SEALED" }
    const search = [
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
      { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [found] },
    ] as Block[]
    const shown = input(conversation().user("a").respond(search)).join("\n")
    expect(shown).toMatch(/web_search.*a\.example/)
    expect(shown).not.toContain("SEALED")
  })
})

describe("L4-25 what is too long is cut in its middle", () => {
  const limits = { result: 1_000, text: 2_000 }
  const cut = (builder: ReturnType<typeof conversation>) => summaryInput(builder.messages, { limits })

  test("results, of one text or several", () => {
    const [, , one] = cut(conversation().user("a").call("Read").result(long))
    const [, , several] = cut(
      conversation()
        .user("a")
        .call("Read")
        .result([{ type: "text", text: long }, image]),
    )
    for (const [message, end] of [
      [one, "line 4999"],
      [several, "line 4999\n[image]"],
    ] as const) {
      const { content } = message!.content[0] as { content: string }
      expect(content.length).toBeLessThanOrEqual(1_000)
      expect(content.startsWith("line 0\n")).toBe(true)
      expect(content.endsWith(end)).toBe(true)
      expect(content).toMatch(/characters left out here/)
    }
  })

  test("what a person pasted, and what a call was given", () => {
    const [text, called] = cut(conversation().user(long).call("Write", { file_path: "/a.ts", content: long }))
    expect(longest([text!])).toBeLessThanOrEqual(2_000)
    const { input: given } = called!.content[0] as { input: { file_path: string; content: string } }
    expect(given.file_path).toBe("/a.ts")
    expect(given.content).toMatch(/^line 0\n[\s\S]*left out here[\s\S]*line 4999$/)
  })

  test("a call with more strings than can be cut keeps its id and name", () => {
    const edits = Array.from({ length: 200 }, (_, i) => ({ old: `old ${i}`, new: `new ${i}` }))
    const [, called] = cut(conversation().user("a").call("MultiEdit", { edits }))
    expect(called!.content[0]).toMatchObject({ type: "tool_use", id: "toolu_0", name: "MultiEdit" })
    expect(longest([called!])).toBeLessThanOrEqual(1_000)
  })
})

test("L4-10 property: for any conversation, the input is valid, within its limits, and holds neither thinking nor media nor listings", () => {
  const limits = { result: 500, text: 800 }
  const { facts } = findModel("claude-opus-5-5")
  fc.assert(
    fc.property(randomConversation, (messages) => {
      const flat = summaryInput(messages, { limits })
      if (flat.length === 0) return
      const closing: FlatMessage = { role: "user", content: [{ type: "text", text: "Write a summary." }] }
      const request = { model: facts.id, max_tokens: 10, messages: [...flat, closing] } as unknown as ModelRequest
      expect(validateRequest({ request, model: facts })).toEqual([])
      expect(longest(flat)).toBeLessThanOrEqual(800)
      const kinds = new Set(flat.flatMap(({ content }) => content.map(({ type }) => type)))
      expect([...kinds].filter((kind) => !["text", "tool_use", "tool_result"].includes(kind))).toEqual([])
      expect(JSON.stringify(flat)).not.toContain("secret-skill")
    }),
    { numRuns: size(100, 500) },
  )
})

/** Number of characters of the longest text, result or call. */
function longest(messages: readonly FlatMessage[]): number {
  const sizes = messages.flatMap(({ content }) =>
    content.map((block) => {
      if (block.type === "text") return block.text.length
      if (block.type === "tool_result") return String(block.content).length
      return block.type === "tool_use" ? stringsOf(block.input).length : 0
    }),
  )
  return Math.max(0, ...sizes)
}

const stringsOf = (value: unknown): string =>
  typeof value === "string"
    ? value
    : typeof value === "object" && value
      ? Object.values(value).map(stringsOf).join("")
      : ""

test("MSG-14 blocks of a newer server are named, and what its tools found can be read", () => {
  const { messages } = conversation().user("a").call("Read").result("b")
  const content = [
    { type: "zork", depth: [1] },
    { type: "server_tool_use", id: "srv_1", name: "zork_search", input: { q: "x" } },
    { type: "zork_search_tool_result", tool_use_id: "srv_1", content: { hits: 2 } },
  ]
  const base = messages.find(({ type }) => type === "assistant")!
  const answer = usable({
    ...base,
    uuid: "zorks",
    asReceived: [0, 1, 2],
    message: { role: "assistant", id: "msg_zorks", content },
  } as never)
  const last = summaryInput([...messages, answer]).at(-1)!
  expect(last.content.map((block) => (block as { text?: string }).text)).toEqual([
    "[zork]",
    '[zork_search {"q":"x"}]',
    '[zork_search_tool_result] {"hits":2}',
  ])
})
