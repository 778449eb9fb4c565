import fc from "fast-check"
import { expect, test } from "vitest"
import { widthOf } from "../display/text.ts"
import { edit, editorWith } from "./editor.ts"
import { editorRows } from "./editor-rows.ts"

const texts = (text: string, columns: number) => editorRows(editorWith(text), columns).map((row) => row.text)

test("lines are broken where they are full, and the cursor after the last letter has a place", () => {
  expect(texts("abcdefg\nhi", 4)).toEqual(["abcd", "efg", "hi"])
  expect(texts("abcd", 4)).toEqual(["abcd", ""])
  expect(texts("一二三", 5)).toEqual(["一二", "三"])
  expect(texts("", 4)).toEqual([""])
  expect(texts("one two three", 9)).toEqual(["one two ", "three"])
  expect(texts("one abcdefghij", 6)).toEqual(["one ", "abcdef", "ghij"])
})

test("the cursor is in exactly one row for any input, and nothing is lost or too wide", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.nat(40),
      fc.integer({ min: 2, max: 30 }),
      (text, steps, columns) => {
        let editor = editorWith(text)
        for (let i = 0; i < steps; i++) editor = edit(editor, "left")
        const rows = editorRows(editor, columns)
        expect(rows.filter(({ cursor }) => cursor !== undefined)).toHaveLength(1)
        for (const row of rows) expect(widthOf(row.text)).toBeLessThanOrEqual(columns)
      },
    ),
  )
})
