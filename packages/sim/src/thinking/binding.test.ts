/** Bound thinking: which changes before a thinking block are allowed, and which are not. */
import { describe, expect, test } from "vitest"
import { hello, type Json, postJson, type RawOptions, scripted, simulator } from "../../test/simulator.ts"
import { BETA } from "../api-dialect.ts"
import type { AnswerBlock } from "../responder.ts"
import type { Simulator, SimulatorOptions } from "../start.ts"

const BOUND = "claude-opus-5-5"
const CONTROLS = { betas: [BETA.thinkingBinding] }
const DROP = { thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } } }
const round = (index: number): AnswerBlock[] => [
  { type: "thinking", thinking: `thought ${index}` },
  { type: "tool_use", id: `toolu_${index}`, name: "look", input: { at: index } },
]
const TOOLS = [
  { name: "look", input_schema: { type: "object" } },
  { name: "wait", input_schema: { type: "object" } },
]
const bodyWith = (messages: Json[], more: object = {}) =>
  hello({ model: BOUND, system: "Be brief", tools: TOOLS, messages, ...more })

/** A conversation of three rounds, each with thinking the simulator has signed. */
async function threeRounds(options: Partial<SimulatorOptions> = {}): Promise<{ sim: Simulator; messages: Json[] }> {
  const sim = await simulator({ responder: scripted(round(0), round(1), round(2)), ...options })
  const messages: Json[] = [{ role: "user", content: [{ type: "text", text: "Look" }] }]
  for (let index = 0; index < 3; index++) {
    const { content } = await postJson(sim, bodyWith(messages))
    messages.push(
      { role: "assistant", content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${index}`, content: `seen ${index}` }] },
    )
  }
  return { sim, messages }
}

const edited = (messages: Json[], change: (copy: Json[]) => void): Json[] => {
  const copy = structuredClone(messages)
  change(copy)
  return copy
}
const dropThinking = (...messages: Json[]) => {
  for (const message of messages) message.content = message.content.filter(({ type }: Json) => type !== "thinking")
}
const PREFIX_ERROR = (path: string, hint: string, what: string) =>
  `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set ` +
  `\`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".${hint} ${what}.`
const NO_HEADER =
  " That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header."

describe("BEY-8 bound thinking: what keeps it valid", () => {
  test.each<{ name: string; change: (copy: Json[]) => void; more?: object }>([
    { name: "nothing changed", change: () => {} },
    { name: "marks for caching", change: (copy) => (copy[2].content[0].cache_control = { type: "ephemeral" }) },
    {
      name: "the order of keys",
      change: (copy) => (copy[1].content[1] = { name: "look", input: { at: 0 }, id: "toolu_0", type: "tool_use" }),
    },
    { name: "is_error spelled out as false", change: (copy) => (copy[2].content[0].is_error = false) },
    { name: "thinking removed from the start", change: (copy) => dropThinking(copy[1]) },
    { name: "thinking removed from the end", change: (copy) => dropThinking(copy[5]) },
    { name: "all thinking removed", change: (copy) => dropThinking(copy[1], copy[3], copy[5]) },
    {
      name: "max_tokens, effort, tool_choice",
      change: () => {},
      more: { max_tokens: 9, output_config: { effort: "low" }, tool_choice: { type: "auto" } },
    },
    { name: "tools in another order", change: () => {}, more: { tools: TOOLS.toReversed() } },
    {
      name: "a tool that is loaded later",
      change: () => {},
      more: { tools: [...TOOLS, { name: "later", defer_loading: true, input_schema: { type: "object" } }] },
    },
  ])("$name", async ({ change, more }) => {
    const { sim, messages } = await threeRounds()
    expect(await postJson(sim, bodyWith(edited(messages, change), more))).toMatchObject({ type: "message" })
  })
})

describe("BEY-8 bound thinking: what makes it invalid", () => {
  test.each<{ name: string; change: (copy: Json[]) => void; more?: object; path: string; what: string }>([
    {
      name: "an earlier tool result cleared",
      change: (copy) => (copy[2].content[0].content = "[cleared]"),
      path: "messages.3.content.0",
      what: "An earlier message differs",
    },
    {
      name: "a reminder added to an earlier turn",
      change: (copy) => copy[2].content.push({ type: "text", text: "Remember" }),
      path: "messages.3.content.0",
      what: "An earlier message differs",
    },
    {
      name: "a tool's input changed",
      change: (copy) => (copy[1].content[1].input = { at: 9 }),
      path: "messages.3.content.0",
      what: "An earlier message differs",
    },
    {
      name: "the system prompt changed",
      change: () => {},
      more: { system: "Be long" },
      path: "messages.1.content.0",
      what: "`system` differs",
    },
    {
      name: "a tool removed",
      change: () => {},
      more: { tools: TOOLS.slice(0, 1) },
      path: "messages.1.content.0",
      what: "`tools` differs",
    },
    {
      name: "thinking removed from the middle",
      change: (copy) => dropThinking(copy[3]),
      path: "messages.5.content.0",
      what: "An earlier thinking block is missing or was put back",
    },
  ])("$name", async ({ change, more, path, what }) => {
    const { sim, messages } = await threeRounds()
    const { error } = await postJson(sim, bodyWith(edited(messages, change), more))
    expect(error.message).toBe(PREFIX_ERROR(path, NO_HEADER, what))
  })

  test("with the beta header the hint about it is left out", async () => {
    const { sim, messages } = await threeRounds()
    const { error } = await postJson(sim, bodyWith(messages, { system: "Be long" }), CONTROLS)
    expect(error.message).toBe(PREFIX_ERROR("messages.1.content.0", "", "`system` differs"))
  })

  test("thinking of the latest assistant message cannot be modified", async () => {
    const { sim, messages } = await threeRounds()
    const changed = edited(messages, (copy) => {
      copy[5].content[0].thinking = "another thought"
    })
    const { error } = await postJson(sim, bodyWith(changed))
    expect(error.message).toBe(
      "messages.5.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
    )
  })

  test("a signature that is not the server's", async () => {
    const { sim, messages } = await threeRounds()
    const forged = edited(messages, (copy) => {
      copy[1].content[0].signature = "EqQBmadeup"
    })
    const { error } = await postJson(sim, bodyWith(forged))
    expect(error.message).toBe("messages.1.content.0: Invalid `signature` in `thinking` block")
  })
})

describe("BEY-8 bound thinking: controls", () => {
  const clearFirstResult = (copy: Json[]) => {
    copy[2].content[0].content = "[cleared]"
  }

  test("drop_block drops the failing block and every later one, and reports them", async () => {
    const { sim, messages } = await threeRounds()
    const changed = edited(messages, clearFirstResult)
    const message = await postJson(sim, bodyWith(changed, DROP), CONTROLS)
    expect(message.input_transformations).toEqual([
      { type: "thinking_dropped", path: "messages.3.content.0", reason: "prefix_binding_mismatch" },
      { type: "thinking_dropped", path: "messages.5.content.0", reason: "prefix_binding_mismatch" },
    ])
    // dropped blocks are not billed, as if the client had left them out
    const without = edited(changed, (copy) => dropThinking(copy[3], copy[5]))
    expect(message.usage.input_tokens).toBe((await postJson(sim, bodyWith(without, DROP), CONTROLS)).usage.input_tokens)
  })

  test("nothing to drop: an empty list", async () => {
    const { sim, messages } = await threeRounds()
    expect((await postJson(sim, bodyWith(messages, DROP), CONTROLS)).input_transformations).toEqual([])
  })

  test("another model's thinking is dropped silently, or reported with the header", async () => {
    const { sim, messages } = await threeRounds()
    expect(await postJson(sim, bodyWith(messages, { model: "claude-sonnet-5-5" }))).toMatchObject({ type: "message" })
    const { input_transformations } = await postJson(sim, bodyWith(messages, { model: "claude-sonnet-5-5" }), CONTROLS)
    expect(input_transformations).toHaveLength(3)
    expect(input_transformations[0]).toMatchObject({ reason: "model_binding_mismatch" })
  })

  test.each<{ name: string; options: Partial<SimulatorOptions>; request?: RawOptions; outcome: object }>([
    {
      name: "allow-report lets it pass and reports",
      options: { bindThinking: "allow-report" },
      request: CONTROLS,
      outcome: {
        type: "message",
        input_transformations: [{ type: "thinking_mismatch_allowed" }, { type: "thinking_mismatch_allowed" }],
      },
    },
    { name: "off looks at nothing", options: { bindThinking: "off" }, outcome: { type: "message" } },
    { name: "error is the default of a bound model", options: {}, outcome: { type: "error" } },
  ])("$name", async ({ options, request, outcome }) => {
    const { sim, messages } = await threeRounds(options)
    expect(await postJson(sim, bodyWith(edited(messages, clearFirstResult)), request)).toMatchObject(outcome)
  })

  test("a model that does not bind accepts any history, but no invented signature", async () => {
    const sim = await simulator({ responder: scripted(round(0)) })
    const first = { role: "user", content: "Look" }
    const { content } = await postJson(sim, hello({ messages: [first] }))
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_0", content: "seen" }] }
    const changed = [{ role: "user", content: "Something else" }, { role: "assistant", content }, result]
    expect(await postJson(sim, hello({ messages: changed }))).toMatchObject({ type: "message" })
    content[0].signature = "made up"
    expect(await postJson(sim, hello({ messages: changed }))).toMatchObject({ type: "error" })
  })
})

describe("BEY-8 bound thinking and compaction", () => {
  test("kept turns stay valid after a compaction block that replaces exactly what came before them", async () => {
    const { sim, messages } = await threeRounds()
    const betas = [BETA.compactOnDemand]
    const head = messages.slice(0, 3)
    const { content } = await postJson(sim, bodyWith(head, { compaction: { type: "summarize" } }), { betas })
    const block = content[0]
    const kept = [{ role: "assistant", content: [block] }, ...messages.slice(3)]
    expect(await postJson(sim, bodyWith(kept), { betas })).toMatchObject({ type: "message" })
    const wrongTail = [{ role: "assistant", content: [block] }, { role: "user", content: "Else" }, ...messages.slice(3)]
    expect(await postJson(sim, bodyWith(wrongTail), { betas })).toMatchObject({ type: "error" })
  })
})
