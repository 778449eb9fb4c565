/** Errors in a script file name the entry. */
import { describe, expect, test } from "vitest"
import { inProcess } from "../../test/in-process.ts"
import { findScriptProblem, toScriptedTurn } from "./script-file.ts"
import { scriptedResponder } from "./scripted.ts"

const text = { type: "text", text: "Hello" }

describe("BEY-8 script files", () => {
  test.each([
    { entry: 7, problem: /^entry 2: must be a text, or an answer such as/ },
    { entry: {}, problem: /^entry 2: content: Field required$/ },
    { entry: { content: [{ type: "image" }] }, problem: /^entry 2: content\.0: Input tag 'image' found using 'type'/ },
    { entry: { content: [{ type: "tool_use" }] }, problem: /^entry 2: content\.0\.tool_use\.name: Field required$/ },
    { entry: { content: [text], stop_reason: "end_turn" }, problem: /^entry 2: stop_reason: Extra inputs/ },
    { entry: { content: [text], stopReason: "bored" }, problem: /^entry 2: stopReason: Input should be 'end_turn'/ },
    {
      entry: { content: [1, 2].map(() => ({ type: "tool_use", id: "a", name: "Read", input: {} })) },
      problem: /^entry 2: content: the id a occurs twice$/,
    },
  ])("BEY-8 $problem", ({ entry, problem }) => {
    expect(findScriptProblem(["Hi", entry])).toMatch(problem)
  })

  test("BEY-8 a call without an id gets one", async () => {
    const entry = { content: [text, { type: "tool_use", name: "Read" }] }
    expect(findScriptProblem([entry])).toBeUndefined()
    const sim = inProcess(scriptedResponder([toScriptedTurn(entry)]))
    const { content } = await sim.ask({
      model: "claude-opus-5",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
    })
    expect(content[1]).toMatchObject({
      type: "tool_use",
      name: "Read",
      input: {},
      id: expect.stringMatching(/^toolu_/),
    })
  })
})
