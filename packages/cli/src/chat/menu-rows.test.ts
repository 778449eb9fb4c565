import { expect, test } from "vitest"
import { widthOf } from "../display/text.ts"
import { menuFor } from "./completion.ts"
import { editorWith } from "./editor.ts"
import { menuRows } from "./menu-rows.ts"

const COMMANDS = Array.from({ length: 20 }, (_, i) => ({
  ...{ name: `command-${i}`, usage: `/command-${i} [argument]`, about: `does what command ${i} is meant to do` },
}))
const FILES = [`${"deep/".repeat(20)}file.ts`, "short.ts"]
const rowsFor = (text: string, selected: number, space: { readonly columns: number; readonly rows: number }) =>
  menuRows(menuFor(editorWith(text), { commands: COMMANDS, files: FILES, selected })!, space).map(({ text }) => text)

test("a long menu scrolls with the choice and counts what it does not show", () => {
  const low = { columns: 60, rows: 15 }
  expect(rowsFor("/", 0, low)).toEqual([
    "> /command-0 [argument]  does what command 0 is meant to do",
    "  /command-1 [argument]  does what command 1 is meant to do",
    "  /command-2 [argument]  does what command 2 is meant to do",
    "  … 17 below",
  ])
  expect(rowsFor("/", 11, low).slice(2)).toEqual([
    "> /command-11 [argument]  does what command 11 is meant to…",
    "  … 9 above, 8 below",
  ])
  expect(rowsFor("/", 19, { columns: 120, rows: 40 })).toHaveLength(8)
})

test("on a narrow screen no row is wider than the window, and a path keeps its end", () => {
  const rows = [...rowsFor("/", 3, { columns: 30, rows: 15 }), ...rowsFor("@", 1, { columns: 30, rows: 15 })]
  for (const row of rows) expect(widthOf(row)).toBeLessThan(30)
  expect(rows.at(-1)).toMatch(/^> ….*deep\/file\.ts$/)
})
