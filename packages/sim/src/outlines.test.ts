import { expect, test } from "vitest"
import { Outlines } from "./tokens.ts"

const LONG = "long text ".repeat(50)
const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

test("BEY-8 the same content has the same outline, with or without a cache mark, in any order of requests", () => {
  const outlines = new Outlines()
  const blocks = [1, 2, 3].map((index) => ({ type: "text", text: `${LONG}${index}` }))
  const first = blocks.map((block) => outlines.of(block))
  for (const order of [blocks, blocks.toReversed(), blocks])
    for (const block of order) {
      const marked = { ...copyOf(block), cache_control: { type: "ephemeral" } }
      expect(outlines.of(marked)).toBe(first[blocks.indexOf(block)])
    }
})

test("BEY-8 other content has another outline", () => {
  const outlines = new Outlines()
  const values = [
    { type: "text", text: LONG },
    { type: "text", text: "#0" },
    { text: LONG, type: "text" }, // the order of the keys matters, as on the wire
    { type: "text", text: [LONG] },
    { type: "tool_result", tool_use_id: "a", content: LONG },
    { type: "tool_result", tool_use_id: "b", content: LONG },
    { type: "tool_result", tool_use_id: "b", content: [{ type: "text", text: LONG }] },
    {
      type: "tool_result",
      tool_use_id: "b",
      content: [{ type: "text", text: LONG, cache_control: { type: "ephemeral" } }],
    },
    { type: "tool_use", input: { a: 1 } },
    { type: "tool_use", input: { a: "1" } },
    { type: "tool_use", input: { a: null } },
    { type: "tool_use", input: { 'a":null,"b': null } },
    { type: "tool_use", input: { a: null, b: null } },
  ]
  expect(new Set(values.map((value) => outlines.of(value))).size).toBe(values.length)
})

test("BEY-8 strings that were long not seen are dropped, and never share a number", () => {
  const outlines = new Outlines()
  const block = (index: number) => ({ type: "text", text: `${index} ${"x".repeat(4_000_000)}` })
  const seen = Array.from({ length: 12 }, (_, index) => outlines.of(block(index)))
  expect(new Set(seen).size).toBe(seen.length)
  expect(outlines.of(block(11))).toBe(seen[11])
  expect(seen).not.toContain(outlines.of(block(0)))
})
