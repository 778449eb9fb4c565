import type { TrustItem } from "@strata/core/settings"
import { expect, test } from "vitest"
import { plainStyle } from "../display/terminal.ts"
import { partLines } from "./page.ts"

test("a long command is broken on a screen, and every row keeps its bar", () => {
  const what = `echo ${"a".repeat(60)}  trust    use them`
  const part: TrustItem = { kind: "hook", name: "Stop", what, source: "/p/.claude/settings.json" }
  const look = { style: plainStyle, values: true }
  expect(partLines([part], look).slice(1)).toEqual([`    │ ${what}`])
  const rows = partLines([part], { ...look, columns: 40 }).slice(1)
  expect(rows.length).toBeGreaterThan(2)
  expect(rows.filter((row) => !row.startsWith("    │ ") || row.length > 40)).toEqual([])
  expect(rows.map((row, i) => row.slice(i === 0 ? 6 : 8)).join("")).toBe(what)
})
