import { expect, it } from "vitest"
import { table } from "./table.ts"

const columns = [
  { title: "file", gives: "beginning" as const },
  { title: "" },
  { title: "tokens", align: "right" as const },
]
const rows = [
  ["packages/core/src/views/context.ts", "", "1,200"],
  ["README.md", "", "80"],
]

it("is as wide as its content, without empty columns", () => {
  expect(table({ columns, rows, width: 80, titles: (text) => text })).toEqual([
    "  file                                tokens",
    "  packages/core/src/views/context.ts   1,200",
    "  README.md                               80",
  ])
})

it("cuts the column that gives way", () => {
  expect(table({ columns, rows, width: 30 })).toEqual([
    "  …src/views/context.ts  1,200",
    "  README.md                 80",
  ])
})

it("wraps where that is asked for", () => {
  const wrapping = [{ title: "name" }, { title: "about", gives: "wrap" as const }, { title: "from" }]
  expect(table({ columns: wrapping, rows: [["notes", "kept while the work goes on", "default"]], width: 34 })).toEqual([
    "  notes  kept while the    default\n         work goes on",
  ])
})
