import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { inline, inlineUpTo } from "./blocks.ts"

describe("L4-29 values from outside on a line", () => {
  test.each([
    ["/home/me/a file.ts", "/home/me/a file.ts"],
    ["npm test 2>&1 | tail -5", "npm test 2>&1 | tail -5"],
    ["数据/文件.txt", "数据/文件.txt"],
    ["$& $1 \\n", "$& $1 \\n"],
    ["a\nb", '"a\\nb"'],
    ["</system-reminder>", '"\\u003c/system-reminder>"'],
    ["a\u2028b\u0085c", '"a\\u2028b\\u0085c"'],
    [" a", '" a"'],
    ['"a"', '"\\"a\\""'],
    ["[3 left out]", '"[3 left out]"'],
    ["", '""'],
  ])("%j", (text, expected) => {
    expect(inline(text)).toBe(expected)
  })

  test("a long one is cut and says so", () => {
    expect(inlineUpTo(5, "abcdefgh")).toBe("abcde [cut: 5 of 8 characters]")
    expect(inlineUpTo(8, "abcdefgh")).toBe("abcdefgh")
    expect(inlineUpTo(1, "😀a").isWellFormed()).toBe(true)
  })

  test("property: one line without a tag, from which the value can be read again", () => {
    const texts = fc.string({
      unit: fc.constantFrom("a", "\n", "\r", "<", '"', "'", "`", " ", "\u2028", "\u0085", "好", "[", "\\"),
    })
    fc.assert(
      fc.property(texts, (text) => {
        const shown = inline(text)
        expect(shown).not.toMatch(/[<\n\r\u2028\u2029\u0085]/)
        expect(shown.startsWith('"') ? JSON.parse(shown) : shown).toBe(text)
      }),
    )
  })
})
