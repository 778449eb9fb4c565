/**
 * Deferred tools, as the API treats them: they cost nothing until a reference loads them, and loading changes nothing earlier in the
 * prompt.
 */
import { describe, expect, test } from "vitest"
import { hello, type Json, postJson, scripted, simulator } from "../test/simulator.ts"
import type { ResponderTurn } from "./responder.ts"

const LOOK = { name: "look", description: "Looks.", input_schema: { type: "object" } }
const later = (name: string, description = "Loaded when needed. ".repeat(40)) => ({
  name,
  description,
  defer_loading: true,
  input_schema: { type: "object" },
})
const MANY = Array.from({ length: 200 }, (_, i) => later(`later_${i}`))
const MARK = { cache_control: { type: "ephemeral" } }
const ask = { role: "user", content: "Look ".repeat(900) }
const loaded = (...names: string[]) => [
  ask,
  { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input: {} }] },
  {
    role: "user",
    content: [
      {
        type: "tool_result",
        tool_use_id: "toolu_1",
        content: names.map((tool_name) => ({ type: "tool_reference", tool_name })),
      },
    ],
  },
]
const body = (tools: readonly object[], messages: readonly object[], more: object = {}) =>
  hello({ tools, messages, ...more })
const counted = async (tools: readonly object[], messages: readonly object[]) => {
  const sim = await simulator()
  const { max_tokens: _, ...counting } = body(tools, messages)
  return (await postJson(sim, counting, { path: "/v1/messages/count_tokens" })).input_tokens as number
}

describe("TOOL-1 the simulator's deferred tools", () => {
  test("they cost no tokens until a reference loads them, and then those of what was loaded", async () => {
    const without = await counted([LOOK], [ask])
    expect(await counted([LOOK, ...MANY], [ask])).toBe(without)
    const declared = await counted([LOOK, ...MANY.map(({ defer_loading: _, ...tool }) => tool)], [ask])
    expect(declared).toBeGreaterThan(without + 200 * 100)
    const one = await counted([LOOK, ...MANY], loaded("later_7"))
    const two = await counted([LOOK, ...MANY], loaded("later_7", "later_9"))
    expect(two - one).toBeGreaterThan(100)
    expect(two - one).toBeLessThan(300)
  })

  test("a responder sees declared tools and loaded ones, no others", async () => {
    const seen: string[][] = []
    const note = ({ request }: ResponderTurn) => {
      seen.push((request.tools ?? []).map(({ name }) => name))
      return { content: [{ type: "text" as const, text: "Seen." }] }
    }
    const sim = await simulator({ responder: scripted(note, note) })
    await postJson(sim, body([LOOK, ...MANY], [ask]))
    await postJson(sim, body([LOOK, ...MANY], loaded("later_7", "look")))
    expect(seen).toEqual([["look"], ["look", "later_7"]])
  })

  test("loading reads everything before it from the cache; other deferred tools do not matter", async () => {
    const sim = await simulator()
    const tools = [{ ...LOOK, ...MARK }, ...MANY]
    const marked = { ...ask, content: [{ type: "text", text: ask.content, ...MARK }] }
    const first: Json = await postJson(sim, body(tools, [marked]))
    expect(first.usage.cache_creation_input_tokens).toBeGreaterThan(0)
    const second: Json = await postJson(sim, body(tools.slice(0, 50), [marked, ...loaded("later_7").slice(1)]))
    expect(second.usage.cache_read_input_tokens).toBe(first.usage.cache_creation_input_tokens)
  })

  test("thinking after a reference is bound to the definition that it loaded, and to no other deferred tool", async () => {
    const sim = await simulator({
      responder: scripted([
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "Done." },
      ]),
    })
    const bound = { model: "claude-opus-5-5" }
    const messages = loaded("later_7")
    const { content } = await postJson(sim, body([LOOK, ...MANY], messages, bound))
    const next = [...messages, { role: "assistant", content }, { role: "user", content: "And?" }]
    const fewer = [LOOK, later("later_7"), later("new")]
    expect(await postJson(sim, body(fewer, next, bound))).toMatchObject({ type: "message" })
    const changed = [LOOK, later("later_7", "Something else.")]
    expect(await postJson(sim, body(changed, next, bound))).toMatchObject({
      error: { message: expect.stringContaining("An earlier message differs") },
    })
  })
})
