import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { size } from "../../test/size.ts"
import { exactInputOf, parseExact, stringifyExact, withExactInput } from "./exact-json.ts"

const line = (input: string) =>
  `{"message":{"content":[{"type":"tool_use","id":"a","name":"X","input":${input},"caller":null}]}}`

describe("MSG-5 exact inputs", () => {
  test.each([
    '{"a":1.0}',
    '{"b":1,"1":2}',
    '{ "x" : [ 1 , 2e3 ] }',
    '{"n":12345678901234567890}',
    '{"s":"\\u0041\\/"}',
    '{"a":1,"a":2}',
    '{"__proto__":1.0}',
  ])("%s is read and written as it was", (input) => {
    expect(stringifyExact(parseExact(line(input)))).toBe(line(input))
  })

  test("what JSON.stringify would write the same carries nothing along", () => {
    const block = withExactInput({ type: "tool_use", input: {} }, '{"a":1}')
    expect(exactInputOf(block)).toBeUndefined()
    expect(block.input).toEqual({ a: 1 })
  })

  test("the text is invisible to ordinary code and survives a copy", () => {
    const block = withExactInput({ type: "tool_use", input: {} }, '{"a":1.0}')
    expect(JSON.stringify(block)).toBe('{"type":"tool_use","input":{"a":1}}')
    expect(stringifyExact({ ...block })).toBe('{"type":"tool_use","input":{"a":1.0}}')
  })

  test("any JSON comes through whole", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1, 2), (value, indent) => {
        const text = line(JSON.stringify(value, null, indent))
        expect(stringifyExact(parseExact(text))).toBe(text)
      }),
      { numRuns: size(200, 1_000) },
    )
  })
})
