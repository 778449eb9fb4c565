/** Context editing and compaction at a threshold, as a client sees them. */
import { describe, expect, test } from "vitest"
import { hello, type Json, post, postJson, type Script, scripted, simulator } from "../../test/simulator.ts"
import { BETA } from "../api-dialect.ts"
import type { Answer, ResponderTurn } from "../responder.ts"
import { countText } from "../tokens.ts"
import { CLEARED_RESULT } from "./edits.ts"

const RESULT = "stone ".repeat(1000).trim()
const CLEARED = countText(RESULT) - countText(CLEARED_RESULT) // what clearing one result saves
const EDITING = { betas: [BETA.contextManagement] }

/** A question and a number of rounds of tool calls, each with a result of 1,000 words. */
function rounds(count: number) {
  return [
    { role: "user", content: "Look around" },
    ...Array.from({ length: count }, (_, index) => [
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: `toolu_${index}`, name: index === 0 ? "first" : "look", input: { at: "place" } },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${index}`, content: RESULT }] },
    ]).flat(),
  ]
}

const clearing = (edit: object, count = 6) =>
  hello({ messages: rounds(count), context_management: { edits: [{ type: "clear_tool_uses_20250919", ...edit }] } })
const OVER_2000 = { trigger: { type: "input_tokens", value: 2000 } }

/** Records the last request that the responder got. */
function watching(...answers: Script) {
  const responder = scripted(...answers)
  const seen: ResponderTurn["request"][] = []
  return {
    seen,
    responder: {
      name: "watched",
      answer: (turn: ResponderTurn): Answer | Promise<Answer> => {
        seen.push(turn.request)
        return responder.answer(turn)
      },
    },
  }
}
const resultsIn = ({ messages }: ResponderTurn["request"]) =>
  messages.flatMap(({ content }) => content.flatMap((block) => (block.type === "tool_result" ? [block.content] : [])))

describe("BEY-8 clear_tool_uses_20250919", () => {
  test("clears all results but the last three, and reports how much that was", async () => {
    const { responder, seen } = watching()
    const sim = await simulator({ responder })
    const message = await postJson(sim, clearing(OVER_2000), EDITING)
    expect(message.context_management.applied_edits).toEqual([
      { type: "clear_tool_uses_20250919", cleared_tool_uses: 3, cleared_input_tokens: 3 * CLEARED },
    ])
    expect(resultsIn(seen[0]!)).toEqual([CLEARED_RESULT, CLEARED_RESULT, CLEARED_RESULT, RESULT, RESULT, RESULT])
    const whole = (await postJson(sim, hello({ messages: rounds(6) }))).usage.input_tokens
    expect(message.usage.input_tokens).toBe(whole - 3 * CLEARED)
  })

  test.each([
    { name: "keep", edit: { ...OVER_2000, keep: { type: "tool_uses", value: 5 } }, cleared: 1 },
    { name: "keep nothing", edit: { ...OVER_2000, keep: { type: "tool_uses", value: 0 } }, cleared: 6 },
    { name: "exclude_tools", edit: { ...OVER_2000, exclude_tools: ["first"] }, cleared: 2 },
    { name: "a trigger by tool uses", edit: { trigger: { type: "tool_uses", value: 5 } }, cleared: 3 },
    { name: "a trigger by tool uses not reached", edit: { trigger: { type: "tool_uses", value: 6 } }, cleared: 0 },
    { name: "the default trigger of 100,000 not reached", edit: {}, cleared: 0 },
    {
      name: "clear_at_least within reach",
      edit: { ...OVER_2000, clear_at_least: { type: "input_tokens", value: 3 * CLEARED } },
      cleared: 3,
    },
    {
      name: "clear_at_least out of reach: not applied at all",
      edit: { ...OVER_2000, clear_at_least: { type: "input_tokens", value: 3 * CLEARED + 1 } },
      cleared: 0,
    },
  ])("$name → $cleared cleared", async ({ edit, cleared }) => {
    const sim = await simulator()
    const { context_management } = await postJson(sim, clearing(edit), EDITING)
    expect(context_management.applied_edits[0]?.cleared_tool_uses ?? 0).toBe(cleared)
  })

  test("clear_tool_inputs empties the calls too: all of them or those named", async () => {
    for (const [clear_tool_inputs, emptied] of [
      [true, 3],
      [["first"], 1],
      [false, 0],
    ] as const) {
      const { responder, seen } = watching()
      const sim = await simulator({ responder })
      await postJson(sim, clearing({ ...OVER_2000, clear_tool_inputs }), EDITING)
      const inputs = seen[0]!.messages.flatMap(({ content }) => content.flatMap((block) => block.input ?? []))
      expect(inputs.filter((input) => JSON.stringify(input) === "{}")).toHaveLength(emptied)
    }
  })

  test("clearing invalidates the cache from the cleared position", async () => {
    const sim = await simulator()
    const automatic = { cache_control: { type: "ephemeral" } }
    await post(sim, { ...hello({ messages: rounds(6) }), ...automatic })
    const { usage } = await postJson(sim, { ...clearing(OVER_2000), ...automatic }, EDITING)
    expect(usage.cache_read_input_tokens).toBe(0)
  })

  test("count_tokens reports both sizes", async () => {
    const sim = await simulator()
    const { max_tokens: _, ...body } = clearing(OVER_2000) as Json
    const path = "/v1/messages/count_tokens"
    const counted = await postJson(sim, body, { ...EDITING, path })
    const original = (await postJson(sim, { ...body, context_management: undefined }, { ...EDITING, path }))
      .input_tokens
    expect(counted).toEqual({
      input_tokens: original - 3 * CLEARED,
      context_management: { original_input_tokens: original },
    })
  })

  test("in a stream the edits come with the last message_delta", async () => {
    const sim = await simulator()
    const response = await post(sim, { ...clearing(OVER_2000), stream: true }, EDITING)
    const deltas = (await response.text()).split("\n").filter((line) => line.includes('"message_delta"'))
    expect(JSON.parse(deltas.at(-1)!.replace("data: ", ""))).toMatchObject({
      context_management: { applied_edits: [{ cleared_tool_uses: 3 }] },
    })
  })
})

describe("BEY-8 clear_thinking_20251015", () => {
  const thinking =
    (edit: object, more: object = {}) =>
    async () => {
      const SHOWN = { thinking: { type: "adaptive", display: "summarized" } }
      const thought = "a long thought ".repeat(50).trim()
      const sim = await simulator({
        responder: scripted(
          ...Array.from({ length: 4 }, () => [
            { type: "thinking" as const, thinking: thought },
            { type: "text" as const, text: "So." },
          ]),
        ),
      })
      const messages: Json[] = [{ role: "user", content: "Think" }]
      for (let turn = 0; turn < 3; turn++) {
        const { content } = await postJson(sim, hello({ messages, max_tokens: 1000, ...SHOWN }))
        messages.push({ role: "assistant", content }, { role: "user", content: "Again" })
      }
      const edits = [{ type: "clear_thinking_20251015", ...edit }]
      const { context_management } = await postJson(
        sim,
        hello({ messages, context_management: { edits }, ...SHOWN, ...more }),
        EDITING,
      )
      return { applied: context_management.applied_edits, size: 8 + countText(thought) }
    }

  test("keeps the thinking of the last turns", async () => {
    const { applied, size } = await thinking({ keep: { type: "thinking_turns", value: 1 } })()
    expect(applied).toEqual([
      { type: "clear_thinking_20251015", cleared_thinking_turns: 2, cleared_input_tokens: 2 * size },
    ])
  })

  test.each([{ keep: "all" }, { keep: { type: "all" } }, {}])(
    "%o clears nothing on a model that keeps all",
    async (edit) => {
      expect((await thinking(edit)()).applied).toEqual([])
    },
  )
})

describe("BEY-8 compact_20260112", () => {
  const COMPACTING = { betas: [BETA.compactAtThreshold] }
  const LONG = "stone ".repeat(60_000).trim()
  const compacting = (edit: object = {}, more: object = {}) =>
    hello({
      messages: [{ role: "user", content: LONG }],
      context_management: {
        edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value: 50_000 }, ...edit }],
      },
      ...more,
    })
  const SUMMARY = "<summary>Many stones.</summary>"

  test("summarizes, continues from the summary, and bills both", async () => {
    const { responder, seen } = watching(SUMMARY, "I see many stones.")
    const sim = await simulator({ responder })
    const { content, stop_reason, usage } = await postJson(sim, compacting(), COMPACTING)
    expect(content).toMatchObject([
      { type: "compaction", content: "Many stones." },
      { type: "text", text: "I see many stones." },
    ])
    expect(stop_reason).toBe("end_turn")
    expect(seen[0]!.messages.at(-1)!.content.at(-1)!.text).toMatch(/Write that summary now/)
    expect(seen[1]!.messages).toEqual([{ role: "user", content: [{ type: "text", text: "Many stones." }] }])

    const [compaction, message] = usage.iterations
    expect(compaction).toMatchObject({ type: "compaction", output_tokens: countText("Many stones.") })
    expect(compaction.input_tokens).toBeGreaterThan(60_000)
    expect(message).toMatchObject({ type: "message", input_tokens: 4 + 8 + countText("Many stones.") })
    expect(usage.input_tokens).toBe(message.input_tokens) // the compaction is counted in the iterations only
    expect(sim.stats().total.inputTokens).toBe(compaction.input_tokens + message.input_tokens)
  })

  test("below the threshold nothing happens, and iterations are still reported", async () => {
    const sim = await simulator()
    const { content, usage } = await postJson(
      sim,
      compacting({ trigger: { type: "input_tokens", value: 70_000 } }),
      COMPACTING,
    )
    expect(content).toMatchObject([{ type: "text" }])
    expect(usage.iterations).toMatchObject([{ type: "message" }])
  })

  test("pause_after_compaction: only the block", async () => {
    const sim = await simulator({ responder: scripted(SUMMARY) })
    const { content, stop_reason, usage } = await postJson(
      sim,
      compacting({ pause_after_compaction: true }),
      COMPACTING,
    )
    expect(content).toMatchObject([{ type: "compaction", content: "Many stones." }])
    expect([stop_reason, usage.iterations.length]).toEqual(["compaction", 1])
  })

  test("own instructions replace the default ones", async () => {
    const { responder, seen } = watching(SUMMARY)
    const sim = await simulator({ responder })
    await post(sim, compacting({ instructions: "Name the stones." }), COMPACTING)
    expect(seen[0]!.messages.at(-1)!.content.at(-1)!.text).toBe("Name the stones.")
  })

  test("sent back, the block hides everything before it; one without content hides nothing", async () => {
    const { responder, seen } = watching(SUMMARY, "I see.")
    const sim = await simulator({ responder })
    const { content } = await postJson(sim, compacting(), COMPACTING)
    const next = (assistant: unknown) => [
      { role: "user", content: LONG },
      { role: "assistant", content: assistant },
      { role: "user", content: "And now?" },
    ]
    const { usage } = await postJson(sim, hello({ messages: next(content) }), COMPACTING)
    expect(usage.input_tokens).toBeLessThan(40)
    expect(seen.at(-1)!.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"])

    const failed = [
      { type: "compaction", content: null },
      { type: "text", text: "I see." },
    ]
    expect((await postJson(sim, hello({ messages: next(failed) }), COMPACTING)).usage.input_tokens).toBeGreaterThan(
      60_000,
    )
  })

  test("a summary that fails: content null, and the answer has the whole conversation", async () => {
    const sim = await simulator({
      responder: scripted(SUMMARY, "Still here."),
      faults: [{ fault: { kind: "failed-compaction" } }],
    })
    const { content, usage } = await postJson(sim, compacting(), COMPACTING)
    expect(content).toMatchObject([
      { type: "compaction", content: null },
      { type: "text", text: "Still here." },
    ])
    expect(usage.iterations[1].input_tokens).toBeGreaterThan(60_000)
  })

  test("in a stream the summary comes in one delta", async () => {
    const sim = await simulator({ responder: scripted(SUMMARY) })
    const text = await (await post(sim, compacting({}, { stream: true }), COMPACTING)).text()
    const deltas = text.split("\n").filter((line) => line.includes("compaction_delta"))
    expect(deltas).toHaveLength(1)
    expect(JSON.parse(deltas[0]!.replace("data: ", "")).delta).toMatchObject({ content: "Many stones." })
  })
})
