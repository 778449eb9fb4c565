/** The non-standard cache editing mode: off by default, marked when on. */
import { describe, expect, test } from "vitest"
import { hello, post, postJson, simulator } from "../test/simulator.ts"
import { countText, TAGGED_BLOCK_TOKENS } from "./tokens.ts"

const RESULT = "stone ".repeat(800).trim()
const round = [
  { role: "user", content: "Look" },
  { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input: {} }] },
]
const result = { type: "tool_result", tool_use_id: "toolu_1", content: RESULT, cache_reference: "toolu_1" }
const marked = { cache_control: { type: "ephemeral" } }
const RULES = "rule ".repeat(600).trim() // the rest must still exceed the model's minimum of 512
const before = hello({ system: RULES, messages: [...round, { role: "user", content: [{ ...result, ...marked }] }] })
const after = hello({
  system: RULES,
  messages: [
    ...round,
    { role: "user", content: [result] },
    { role: "assistant", content: "Seen." },
    {
      role: "user",
      content: [
        { type: "cache_edits", edits: [{ type: "delete", cache_reference: "toolu_1" }] },
        { type: "text", text: "Go on", ...marked },
      ],
    },
  ],
})

describe("BEY-8 cache edits", () => {
  test("are refused unless switched on", async () => {
    expect((await post(await simulator(), before)).status).toBe(400)
  })

  test("delete a result from the cached prefix without losing it", async () => {
    const sim = await simulator({ cacheEdits: true })
    const first = await post(sim, before)
    expect(first.headers.get("x-sim-non-standard")).toBe("cache-edits")
    const { usage } = await postJson(sim, after)
    const deleted = countText(RESULT)
    expect(usage.cache_deleted_input_tokens).toBe(deleted)
    // still in the cache: the rules, the question, the call, and the block of the deleted result without its content
    const shell = 4 + TAGGED_BLOCK_TOKENS
    const question = 4 + countText("Look")
    const call = 4 + TAGGED_BLOCK_TOKENS + countText("look") + countText("{}")
    expect(usage.cache_read_input_tokens).toBe(countText(RULES) + question + call + shell)
  })
})
