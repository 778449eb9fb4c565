import { describe, expect, test } from "vitest"
import { type Edit, edit, editorWith, insert, moveLine } from "./editor.ts"
import { historyOf, remember } from "./input-history.ts"
import { editorAfter } from "./keyboard.ts"

/** `ab|c`: the bar is the cursor. */
const at = (text: string) => ({ text: text.replace("|", ""), cursor: text.indexOf("|") })
const drawn = ({ text, cursor }: { text: string; cursor: number }) => `${text.slice(0, cursor)}|${text.slice(cursor)}`

test.each<[Edit, string, string]>([
  ["backspace", "ab|c", "a|c"],
  ["backspace", "|abc", "|abc"],
  ["backspace", "a👩‍👧|", "a|"],
  ["delete", "a|bc", "a|c"],
  ["delete-word", "one two |three", "one |three"],
  ["delete-to-start", "one\ntwo| three", "one\n| three"],
  ["delete-to-end", "one |two\nthree", "one |\nthree"],
  ["left", "é|", "|é"],
  ["word-left", "one two|", "one |two"],
  ["word-right", "one| two", "one two|"],
  ["home", "one\ntwo|", "one\n|two"],
  ["end", "o|ne\ntwo", "one|\ntwo"],
])("%s: %s", (change, before, after) => {
  expect(drawn(edit(at(before), change))).toBe(after)
})

test("what is inserted goes before the cursor", () => {
  expect(drawn(insert(at("a|d"), "bc"))).toBe("abc|d")
})

test("lines are moved between at the same column, where there is one", () => {
  expect(drawn(moveLine(at("long line\nab|"), "up")!)).toBe("lo|ng line\nab")
  expect(drawn(moveLine(at("long li|ne\nab"), "down")!)).toBe("long line\nab|")
  expect(moveLine(at("on|e"), "up")).toBeUndefined()
})

describe("earlier inputs", () => {
  const history = historyOf(["first", "second"])

  test("up goes back, down comes back to what was being typed", () => {
    const start = { editor: editorWith("draft"), history }
    const once = editorAfter(start, { type: "up" })
    const twice = editorAfter(once, { type: "up" })
    expect([once.editor.text, twice.editor.text]).toEqual(["second", "first"])
    expect(editorAfter(twice, { type: "up" })).toEqual(twice)
    const back = editorAfter(editorAfter(twice, { type: "down" }), { type: "down" })
    expect(back.editor.text).toBe("draft")
  })

  test("the same input twice is remembered once", () => {
    expect(remember(remember(history, "third"), "third").inputs).toEqual(["first", "second", "third"])
  })

  test("Tab completes a command where only one begins like it", () => {
    expect(editorAfter({ editor: editorWith("/cont"), history }, { type: "complete" }).editor.text).toBe("/context ")
    expect(editorAfter({ editor: editorWith("/con"), history }, { type: "complete" }).editor.text).toBe("/con")
  })
})

test("a line up or down, the cursor is never inside a letter", () => {
  const up = moveLine(editorWith("a😀\nab"), "up")!
  expect(up.cursor).toBe(1)
  expect(edit(up, "delete").text).toBe("a\nab")
  expect(moveLine({ text: "ab\na😀", cursor: 2 }, "down")).toEqual({ text: "ab\na😀", cursor: 4 })
})

test("LOOP-7 the label of a pasted text is one letter: keys delete it whole and never get inside it", () => {
  const label = "[Pasted text #3 +1,200 lines]"
  const text = `see ${label} now`
  const end = "see ".length + label.length
  const changed = (change: Edit, cursor: number) => edit({ text, cursor }, change)
  for (const change of ["backspace", "delete-word"] as const)
    expect(changed(change, end)).toEqual({ text: "see  now", cursor: 4 })
  expect(changed("delete", 4)).toEqual({ text: "see  now", cursor: 4 })
  expect([changed("left", end).cursor, changed("word-left", end).cursor]).toEqual([4, 4])
  expect([changed("right", 4).cursor, changed("word-right", 4).cursor]).toEqual([end, end])
  expect(moveLine({ text: `0123456789\n${text}`, cursor: 8 }, "down")!.cursor).toBe("0123456789\nsee ".length)
  expect(edit(editorWith("[Pasted text #3 +12"), "backspace").text).toBe("[Pasted text #3 +1")
})
