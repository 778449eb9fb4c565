import { expect, test } from "vitest"
import { panelRows } from "./panel-rows.ts"

test("a bar gets shorter before a line is broken, and keeps its share", () => {
  const line = `Read results  ${"█".repeat(10)}${"░".repeat(10)}    1.2K   50%`
  expect(panelRows(line, 60)).toEqual([line])
  expect(panelRows(line, 38)).toEqual(["Read results  █████░░░░░    1.2K   50%"])
  expect(panelRows("date  █░░░░░░░░░      24", 18)).toEqual(["date  █░░░      24"])
})

test("the last column of a table goes on below itself; where it is too narrow, the line does", () => {
  expect(panelRows("Esc     close a menu; stop a command or the agent", 40)).toEqual([
    "Esc     close a menu; stop a command or",
    "        the agent",
  ])
  expect(panelRows("Alt-Enter, or \\ and Enter  new line of the input", 30)).toEqual([
    "Alt-Enter, or \\ and Enter",
    "  new line of the input",
  ])
  expect(panelRows("  a sentence of seven words is here", 20)).toEqual([
    "  a sentence of",
    "    seven words is",
    "    here",
  ])
})
