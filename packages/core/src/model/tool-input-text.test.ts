import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { exactInputOf, stringifyExact } from "../messages/exact-json.ts"
import { getUnusableInput, withInputText } from "./tool-input-text.ts"

const CALL = { type: "tool_use", id: "toolu_1", name: "Read", input: {} }
const read = (text: string, stopReason = "tool_use") => withInputText(CALL, { text, stopReason })

describe("MSG-5 tool inputs from a stream", () => {
  test("keep the model's spelling", () => {
    const call = read('{ "n": 1.0, "2": 1e3 }')
    expect(call.input).toEqual({ n: 1, 2: 1000 })
    expect(exactInputOf(call)).toBe('{ "n": 1.0, "2": 1e3 }')
    expect(getUnusableInput(call)).toBeUndefined()
  })

  test("no text is no arguments", () => {
    expect(read("")).toEqual(CALL)
    expect(getUnusableInput(read(" "))).toBeUndefined()
  })

  test.each([
    ['{"path": "src/ind', "max_tokens", /^it was cut off after 17 characters/],
    ['{"path": "src/ind', "tool_use", /^it is not valid JSON/],
    ["path=src/index.ts", "tool_use", /^it is not valid JSON/],
    ["[1]", "tool_use", /a list/],
    ["null", "tool_use", /it is null/],
    ['"ls"', "tool_use", /it is "ls"/],
  ])("%s (%s) cannot be used, and says why", (text, stopReason, why) => {
    const call = read(text, stopReason)
    expect(call.input).toEqual({})
    expect(getUnusableInput(call)?.text).toBe(text)
    expect(getUnusableInput(call)?.reason).toMatch(why)
  })

  test("the mark is not sent and survives a copy", () => {
    const call = { ...read("[1]") }
    expect(stringifyExact(call)).toBe(JSON.stringify(CALL))
    expect(getUnusableInput(call)).toBeDefined()
  })

  test("whatever a model writes, the call can be sent back", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), fc.boolean(), (text, cut) => {
        const sent: unknown = JSON.parse(stringifyExact(read(text, cut ? "max_tokens" : "tool_use")))
        const { input } = sent as { input: unknown }
        expect(typeof input === "object" && input !== null && !Array.isArray(input)).toBe(true)
      }),
    )
  })
})
