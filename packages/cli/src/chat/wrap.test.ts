import fc from "fast-check"
import { expect, test } from "vitest"
import { widthOf } from "../display/text.ts"
import { wrapSpans } from "./wrap.ts"

const rows = (text: string, columns: number) =>
  wrapSpans([{ text }], columns).map((row) => row.map((span) => span.text).join(""))

test("breaks at spaces, which disappear", () => {
  expect(rows("alpha beta gamma", 10)).toEqual(["alpha beta", "gamma"])
})

test("a word wider than a row is broken where it must be", () => {
  expect(rows("abcdefgh", 3)).toEqual(["abc", "def", "gh"])
})

test("a word keeps its styles, and stays together across them", () => {
  const wrapped = wrapSpans([{ text: "see un" }, { text: "break", style: "bold" }, { text: "able" }], 12)
  expect(wrapped.map((row) => row.map(({ text, style }) => (style ? `${text}:${style}` : text)))).toEqual([
    ["see"],
    ["un", "break:bold", "able"],
  ])
})

test("no row is too wide, and no letter is lost", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "b", " ", "漢", "é") }),
      fc.integer({ min: 2, max: 20 }),
      (text, columns) => {
        const wrapped = rows(text, columns)
        for (const row of wrapped) expect(widthOf(row)).toBeLessThanOrEqual(columns)
        expect(wrapped.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""))
      },
    ),
  )
})
