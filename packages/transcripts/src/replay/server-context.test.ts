import type { Block } from "@strata/core"
import { describe, expect, test } from "vitest"
import type { PromptItem } from "./cache-model.ts"
import { type SentMessage, ServerContext } from "./server-context.ts"

const item = (block: object, tokens: number): PromptItem => ({ block: block as Block, tokens })

/** A call and its result of 1,000 tokens. */
const round = (number: number, name = "Read"): SentMessage[] => [
  {
    role: "assistant",
    items: [
      item({ type: "thinking", thinking: "hm", signature: "s" }, 50),
      item({ type: "tool_use", id: `t${number}`, name, input: {} }, 100),
    ],
  },
  { role: "user", items: [item({ type: "tool_result", tool_use_id: `t${number}`, content: "text" }, 1_000)] },
]
const rounds = (count: number, name?: string) => Array.from({ length: count }, (_, i) => round(i, name)).flat()

const clearToolUses = (trigger: number, atLeast: number, more: object = {}) => ({
  type: "clear_tool_uses_20250919",
  trigger: { type: "input_tokens", value: trigger },
  clear_at_least: { type: "input_tokens", value: atLeast },
  ...more,
})
const tokens = (messages: readonly SentMessage[]) =>
  messages.reduce((sum, { items }) => items.reduce((all, each) => all + each.tokens, sum), 0)

describe("L2-5 the server's copy of a conversation", () => {
  test("is left alone below the trigger, and where too little could be cleared", () => {
    const messages = rounds(10)
    const edit = (edits: readonly unknown[]) => new ServerContext("keeps").edit(messages, { edits, prompt: 0 })
    expect(edit([clearToolUses(11_500, 0)]).messages).toBe(messages)
    expect(edit([clearToolUses(11_499, 7_000)]).messages).toBe(messages)
    expect(edit([]).messages).toBe(messages)
  })

  test("loses all results but the newest three, and the inputs that are named", () => {
    const server = new ServerContext("keeps")
    const edits = [clearToolUses(11_499, 6_000, { clear_tool_inputs: ["Write"] })]
    const { messages, edit } = server.edit(rounds(10, "Write"), { edits, prompt: 0 })
    expect(edit).toEqual({ cleared: 7, tokens: 7 * (1_000 - 20) + 7 * (100 - 20) })
    expect(tokens(messages)).toBe(11_500 - edit.tokens)
    expect(messages.slice(-6).every(({ items }) => items.every(({ isCleared }) => !isCleared))).toBe(true)
  })

  test("keeps the results of tools that are excluded", () => {
    const edits = [clearToolUses(0, 0, { exclude_tools: ["Read"] })]
    expect(new ServerContext("keeps").edit(rounds(10), { edits, prompt: 0 }).edit.cleared).toBe(0)
  })

  test("does not change after a clearing until the trigger is passed again", () => {
    const server = new ServerContext("keeps")
    const ask = (count: number) =>
      server.edit(rounds(count), { edits: [clearToolUses(11_000, 6_000)], prompt: 0 }).edit.cleared
    // at 16 the trigger is passed, but 6 results are too few
    expect([10, 11, 12, 13, 14, 15, 16, 17].map(ask)).toEqual([7, 0, 0, 0, 0, 0, 0, 7])
  })

  test("clears more with every call where each request is judged by itself", () => {
    const server = new ServerContext("forgets")
    const ask = (count: number) =>
      server.edit(rounds(count), { edits: [clearToolUses(11_000, 6_000)], prompt: 0 }).edit.cleared
    expect([10, 11, 12].map(ask)).toEqual([7, 1, 1])
  })

  test("forgets old thinking where it is asked to", () => {
    const edits = [{ type: "clear_thinking_20251015", keep: { type: "thinking_turns", value: 2 } }]
    expect(tokens(new ServerContext("keeps").edit(rounds(5), { edits, prompt: 0 }).messages)).toBe(5 * 1_150 - 3 * 50)
    const all = [{ type: "clear_thinking_20251015", keep: "all" }]
    expect(tokens(new ServerContext("keeps").edit(rounds(5), { edits: all, prompt: 0 }).messages)).toBe(5 * 1_150)
  })
})
