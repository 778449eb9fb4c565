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

it("leaves minor columns out where it is too wide, the last one first", () => {
  const minor = [
    { title: "name", gives: "end" as const },
    { title: "calls", align: "right" as const, isMinor: true },
    { title: "share", align: "right" as const, isMinor: true },
    { title: "cost", align: "right" as const },
  ]
  const titles = (text: string) => text
  const headOf = (width: number) => table({ columns: minor, rows: [["Read", "3", "12%", "$1"]], width, titles })[0]
  expect([30, 22, 15, 8].map(headOf)).toEqual([
    "  name  calls  share  cost",
    "  name  calls  cost",
    "  name  cost",
    "  name  cost",
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
