import { describe, expect, test, vi } from "vitest"
import type { ToolResult } from "../messages/blocks.ts"
import { cacheResultMeasures, measureBlock } from "./estimate.ts"

const result = (id: string, content: ToolResult["content"]): ToolResult => ({
  type: "tool_result",
  tool_use_id: id,
  ...(content !== undefined && { content }),
})

describe("TOK-4: a tool result is measured once for each tool_use id and content", () => {
  test("again for the same id and content: from the cache, also in another object", () => {
    const measure = vi.fn(measureBlock)
    const meter = cacheResultMeasures(measure)
    const first = meter(result("toolu_1", "some output"))
    expect(meter(result("toolu_1", "some output"))).toBe(first)
    meter(result("toolu_2", [{ type: "text", text: "some output" }]))
    meter(result("toolu_2", [{ type: "text", text: "some output" }]))
    expect(measure).toHaveBeenCalledTimes(2)
  })

  test("again when the content has changed", () => {
    const meter = cacheResultMeasures()
    const before = meter(result("toolu_1", "some output"))
    const after = meter(result("toolu_1", "some output, and much more of it"))
    expect(after.bytes.text).toBeGreaterThan(before.bytes.text)
    expect(meter(result("toolu_1", undefined)).bytes.text).toBe(0)
  })

  test("a text and a list of the same JSON are not mistaken for each other", () => {
    const meter = cacheResultMeasures()
    const list = [{ type: "text" as const, text: "x" }]
    expect(meter(result("toolu_1", list))).not.toEqual(meter(result("toolu_1", JSON.stringify(list))))
  })

  test("what is kept has a limit: the oldest goes first", () => {
    const measure = vi.fn(measureBlock)
    const meter = cacheResultMeasures(measure)
    for (let index = 0; index <= 20_000; index++) meter(result(`toolu_${index}`, "x"))
    meter(result("toolu_20000", "x"))
    expect(measure).toHaveBeenCalledTimes(20_001)
    meter(result("toolu_0", "x"))
    expect(measure).toHaveBeenCalledTimes(20_002)
  })
})
