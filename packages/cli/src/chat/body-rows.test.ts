import fc from "fast-check"
import { expect, test } from "vitest"
import { bodyRows } from "./body-rows.ts"
import type { DialogBody } from "./dialog.ts"

const texts = (body: DialogBody, columns: number) =>
  bodyRows(body, columns).map(({ spans }) => spans.map(({ text }) => text).join(""))

test("PERM-5 a long line goes on in the next row, distinct from a real line end", () => {
  expect(texts({ form: "text", text: `echo ${"x".repeat(30)}\nnext` }, 20)).toEqual([
    "echo ",
    "↳ xxxxxxxxxxxxxxxxxx",
    "↳ xxxxxxxxxxxx",
    "next",
  ])
})

test("PERM-5 what is unusual has carets below it and a name, without colours", () => {
  const text = "npm test > ~/.bashrc"
  const highlights = [{ kind: "redirection", start: 9, end: 20 }]
  expect(texts({ form: "text", text, highlights }, 60)).toEqual([text, "         ^^^^^^^^^^^ redirection"])
  expect(bodyRows({ form: "text", text, highlights }, 60)[0]?.spans).toEqual([
    { text: "npm test " },
    { text: "> ~/.bashrc", tone: "marked" },
  ])
})

test("PERM-5 carets fit the visible form of a hidden character", () => {
  const highlights = [{ kind: "invisible character", start: 1, end: 2 }]
  expect(texts({ form: "text", text: "a\u200bb", highlights }, 60)).toEqual([
    "a<U+200B>b",
    " ^^^^^^^^ invisible character",
  ])
})

test("PERM-5 property: no row is wider than the window, and the rows hold the whole text", () => {
  const columns = fc.integer({ min: 20, max: 120 })
  const line = fc.string({ unit: fc.constantFrom("a", " ", "b", "-", "日", "$", "(") })
  fc.assert(
    fc.property(fc.array(line, { minLength: 1 }), columns, (lines, width) => {
      const rows = texts({ form: "text", text: lines.join("\n") }, width)
      const joined = rows.reduce((all, row) => (row.startsWith("↳ ") ? all + row.slice(2) : `${all}\n${row}`), "")
      expect(joined).toBe(`\n${lines.join("\n")}`)
      for (const row of rows)
        expect([...row].reduce((sum, letter) => sum + (letter === "日" ? 2 : 1), 0)).toBeLessThanOrEqual(width)
    }),
  )
})
