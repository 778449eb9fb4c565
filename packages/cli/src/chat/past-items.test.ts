import type { Message } from "@strata/core"
import { expect, test } from "vitest"
import { pastItems } from "./past-items.ts"

const placed = { uuid: "u", parentUuid: null, timestamp: "2026-01-01T00:00:00Z" }
const user = (content: unknown, more = {}) =>
  ({ ...placed, type: "user", message: { role: "user", content }, ...more }) as Message
const assistant = (content: unknown) =>
  ({ ...placed, type: "assistant", message: { role: "assistant", content } }) as Message

test("a conversation that was kept is shown as it was seen", () => {
  const items = pastItems([
    user("Read it"),
    assistant([
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "t1", name: "Read", input: { file_path: "a.txt" } },
      { type: "tool_use", id: "t2", name: "Bash", input: { command: "ls" } },
    ]),
    user([{ type: "tool_result", tool_use_id: "t1", content: "text" }]),
    user("internal", { isMeta: true }),
  ])
  expect(items).toEqual([
    { kind: "user", text: "Read it" },
    { kind: "thinking", text: "hm" },
    { kind: "answer", text: "I look." },
    {
      kind: "tool",
      id: "t1",
      name: "Read",
      summary: "a.txt",
      outcome: { state: "ok", text: "text", fullText: "text", ms: 0 },
    },
    {
      kind: "tool",
      id: "t2",
      name: "Bash",
      summary: "ls",
      outcome: { state: "failed", text: "interrupted", fullText: "interrupted", ms: 0 },
    },
  ])
})

test("of a long one the end is shown, and how much is not", () => {
  const items = pastItems(Array.from({ length: 100 }, (_, i) => user(`message ${i}`)))
  expect(items).toHaveLength(61)
  expect(items[0]).toMatchObject({ text: "40 earlier items are not shown. The model still has them." })
  expect(items.at(-1)).toEqual({ kind: "user", text: "message 99" })
})

test("MSG-13 a summary is one line, which opens", () => {
  const summary = user("This goes on.\nSummary: all is well.", { isCompactSummary: true })
  expect(pastItems([summary, user("Go on")], { tokensAfter: 54_000 })).toEqual([
    {
      kind: "compaction",
      summary: "This goes on.\nSummary: all is well.",
      restored: [],
      outcome: { tokensAfter: 54_000 },
    },
    { kind: "user", text: "Go on" },
  ])
})
