import { describe, expect, it } from "vitest"
import { firstLine, padEnd, truncate, truncateStart, widthOf, wrapText } from "./text.ts"

describe("text for a terminal", () => {
  it("knows what takes two columns", () => {
    expect(widthOf("日本")).toBe(4)
    expect(widthOf("\u001b[31mred\u001b[39m")).toBe(3)
    expect(padEnd("日", 4)).toBe("日  ")
  })

  it("cuts a text at its end and a path at its beginning", () => {
    expect(truncate("packages/cli/src/main.ts", 12)).toBe("packages/cl…")
    expect(truncateStart("packages/cli/src/main.ts", 12)).toBe("…src/main.ts")
    expect(truncate("日本語", 4)).toBe("日…")
    expect(truncate("short", 12)).toBe("short")
  })

  it("wraps at spaces and leaves long words whole", () => {
    expect(wrapText("to be or not to be", 8)).toEqual(["to be or", "not to", "be"])
    expect(wrapText("a incomprehensible b", 5)).toEqual(["a", "incomprehensible", "b"])
    expect(wrapText("", 5)).toEqual([])
  })
})

it("cuts the first line that says something by columns, never through a letter", () => {
  expect(firstLine("\n  \n  hello  \nworld")).toBe("hello")
  expect(firstLine("数据库连接失败", 9)).toBe("数据库连…")
  expect(firstLine("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 5)).toBe("👩‍👩‍👧👩‍👩‍👧…")
  expect(firstLine("")).toBe("")
})
