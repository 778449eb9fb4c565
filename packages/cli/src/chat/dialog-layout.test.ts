import { expect, test } from "vitest"
import type { Dialog } from "./dialog.ts"
import { layoutDialog, turnPage } from "./dialog-layout.ts"

const WINDOW = { columns: 80, rows: 30 }
const command = Array.from({ length: 100 }, (_, i) => `echo ${i}`)
const dialog: Dialog = {
  id: "1",
  from: "agent",
  title: "Run this command?",
  body: { form: "text", text: command.join("\n") },
  options: [{ label: "Yes" }, { label: "No" }],
  selected: 0,
}

/** The lines on the screen. */
function shown(at: Dialog): readonly string[] {
  const rows = layoutDialog(at, WINDOW).body?.rows ?? []
  return rows.flatMap((row) => (row.form === "plain" ? [row.row.spans.map(({ text }) => text).join("")] : []))
}

test("PERM-5 page after page shows every line of a long command, and says how many are left", () => {
  const seen = new Set<string>()
  let at = dialog
  for (let page = 0; page < 20; page++) {
    const body = layoutDialog(at, WINDOW).body!
    expect(body.above + body.rows.length + body.below).toBe(command.length)
    for (const line of shown(at)) seen.add(line)
    at = turnPage(at, { direction: "down", window: WINDOW })
  }
  expect([...seen]).toEqual(command)
  expect(layoutDialog(at, WINDOW).body?.below).toBe(0)
  const back = turnPage(at, { direction: "up", window: WINDOW })
  expect(back.top).toBeLessThan(at.top!)
})

test("PERM-5 a dialog fits the window, however long its rule and its notes are", () => {
  const long: Dialog = {
    ...dialog,
    options: [{ label: "Yes" }, { label: "Always", about: "word ".repeat(60) }, { label: "No" }],
    notes: [{ text: "word ".repeat(40), tone: "warning" }],
  }
  const { title, notes, body, options } = layoutDialog(long, WINDOW)
  expect(options[1]!.about.length).toBeGreaterThan(3)
  const about = options.reduce((sum, option) => sum + option.about.length, 0)
  expect(title.length + notes.length + options.length + about + body!.rows.length).toBeLessThan(WINDOW.rows - 6)
})

test("500 options: the window shows some, says how many are above and below, and pages through all of them", () => {
  const { body: _, ...rest } = dialog
  let at: Dialog = { ...rest, options: Array.from({ length: 500 }, (_, i) => ({ label: `${i}` })) }
  for (const rows of [15, 24, 40]) {
    const window = { columns: 60, rows }
    const { options, optionsAbove, optionsBelow } = layoutDialog({ ...at, selected: 250 }, window)
    expect(optionsAbove + options.length + optionsBelow).toBe(500)
    expect(options.some(({ index }) => index === 250)).toBe(true)
    expect(options.length + 6).toBeLessThanOrEqual(rows) // with the title, two counts, the hint, the status and a spare row
  }
  for (let page = 0; page < 60; page++) at = turnPage(at, { direction: "down", window: WINDOW })
  expect(at.selected).toBe(499)
  expect(layoutDialog(at, WINDOW).optionsBelow).toBe(0)
  expect(turnPage(at, { direction: "up", window: WINDOW }).selected).toBe(489)
})
