/** Every responder respects `tool_choice`, single calls, and structured outputs. */

import { describe, expect, test } from "vitest"
import { findProblems } from "../../../core/src/model/offline/tool-schema.ts"
import { inProcess } from "../../test/in-process.ts"
import { TEST_TOOLS } from "../../test/responder-tools.ts"
import type { ContentBlock } from "../wire.ts"
import { responderByName } from "./index.ts"

const RESPONDERS = ["worker", "helpful", "extractive", "fabricating", "playback"] as const
const tools = TEST_TOOLS.map(({ name, input_schema }) => ({ name, input_schema }))
const conversation = [
  { role: "user" as const, content: "Read a.ts" },
  {
    role: "assistant" as const,
    content: [{ type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: "a.ts" } }],
  },
]
const schema = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "integer", minimum: 10 } },
  required: ["city", "degrees"],
  additionalProperties: false,
}
const format = { type: "json_schema", schema }

const ask = (name: string, more: object, betas: readonly string[] = []) =>
  inProcess(responderByName(name, { conversation })).ask(
    {
      model: "claude-opus-5",
      max_tokens: 1000,
      messages: [{ role: "user", content: "Read a.ts and b.ts and fix the tests." }],
      ...more,
    },
    betas,
  )
const callsIn = (content: readonly ContentBlock[]) => content.filter((block) => block.type === "tool_use")
const textIn = (content: readonly ContentBlock[]) =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("")

describe("BEY-8 responders keep to what the request demands", () => {
  test.each(RESPONDERS)("BEY-8 %s: none, any, one tool, one at a time", async (name) => {
    const none = await ask(name, { tools, tool_choice: { type: "none" } })
    expect(callsIn(none.content)).toEqual([])
    expect(none.stop_reason).toBe("end_turn")

    const any = await ask(name, { tools, tool_choice: { type: "any" } })
    expect(callsIn(any.content).length).toBeGreaterThan(0)
    expect(any.stop_reason).toBe("tool_use")

    for (const tool of tools) {
      const { content } = await ask(name, {
        tools,
        tool_choice: { type: "tool", name: tool.name, disable_parallel_tool_use: true },
      })
      const calls = callsIn(content)
      expect(calls.map((call) => call.name)).toEqual([tool.name])
      expect(findProblems(tool.input_schema, calls[0]?.input)).toEqual([])
    }
    const single = await ask(name, { tools, tool_choice: { type: "auto", disable_parallel_tool_use: true } })
    expect(callsIn(single.content).length).toBeLessThanOrEqual(1)
  })

  test.each(RESPONDERS)("BEY-8 %s: a structured output, also by the deprecated field", async (name) => {
    const answers = [
      await ask(name, { output_config: { format } }),
      await ask(name, { output_format: format }, ["structured-outputs-2025-11-13"]),
    ]
    for (const { content, stop_reason } of answers) {
      expect(stop_reason).toBe("end_turn")
      expect(findProblems(schema, JSON.parse(textIn(content)))).toEqual([])
    }
  })

  test("BEY-8 with tools and a format, the responder works first and then answers in the format", async () => {
    const sim = inProcess(responderByName("helpful"))
    const messages: object[] = [{ role: "user", content: "Read a.ts" }]
    const body = { model: "claude-opus-5", max_tokens: 1000, tools, output_config: { format }, messages }
    const first = await sim.ask(body)
    expect(first.content.map(({ type }) => type)).toEqual(["tool_use"])
    const [call] = callsIn(first.content)
    messages.push({ role: "assistant", content: first.content })
    messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: call?.id, content: "14 degrees" }] })
    const last = await sim.ask(body)
    expect(JSON.parse(textIn(last.content))).toEqual({ city: "The tool says: 14 degrees", degrees: 10 })
  })
})
