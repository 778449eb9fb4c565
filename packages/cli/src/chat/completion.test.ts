import { expect, test } from "vitest"
import { applyCompletion, completionAfter, menuFor, triggerAt, withSelected } from "./completion.ts"
import { editorWith } from "./editor.ts"

const COMMANDS = ["help", "context", "cost", "compact", "fold", "unfold"].map((name) => ({
  ...{ name, usage: `/${name}`, about: `about ${name}` },
}))
const FILES = ["README.md", "src/chat/menu.ts", "src/menu.ts", "docs/a menu.md", "test/deep/er/x.ts"]
const COMPLETION = { commands: COMMANDS, files: FILES, selected: 0 }
const labels = (text: string) => menuFor(editorWith(text), COMPLETION)?.choices.map(({ label }) => label)

test("a slash at the start opens a menu: what begins like it, then what contains it", () => {
  expect(labels("/")).toEqual(["/help", "/context", "/cost", "/compact", "/fold", "/unfold"])
  expect(labels("/co")).toEqual(["/context", "/cost", "/compact"])
  expect(labels("/fold")).toEqual(["/fold", "/unfold"])
  for (const text of ["/nothing", "/fold 100", "say /co", "/usr/bin", "//"]) expect(labels(text)).toBeUndefined()
})

test("@ at the start of a word offers files: by their name, by their path, by letters in order", () => {
  expect(labels("look at @menu")).toEqual(["src/menu.ts", "src/chat/menu.ts", "docs/a menu.md"])
  expect(labels("@src/c")).toEqual(["src/chat/menu.ts"])
  expect(labels("@tdx")).toEqual(["test/deep/er/x.ts"])
  expect(labels("@")).toHaveLength(5)
  for (const text of ["me@menu", "@src/menu.ts", "@src/menu.ts now", "@zzz"]) expect(labels(text)).toBeUndefined()
})

test("the chosen file takes the place of the whole word, in quotes if its path has blanks", () => {
  const complete = (text: string, cursor: number) => {
    const editor = { text, cursor }
    return applyCompletion(editor, menuFor(editor, COMPLETION)!)
  }
  expect(complete("see @RE and", 7)).toEqual({ text: "see @README.md and", cursor: 15 })
  expect(complete("@REAxyz", 4)).toEqual({ text: "@README.md ", cursor: 11 })
  expect(complete("@docs", 5)).toEqual({ text: '@"docs/a menu.md" ', cursor: 18 })
  expect(complete('@"docs/a m" and', 10)).toEqual({ text: '@"docs/a menu.md" and', cursor: 18 })
})

test("arrows go round, and a closed menu stays closed for its word", () => {
  const menu = menuFor(editorWith("/co"), COMPLETION)!
  expect(withSelected(COMPLETION, menu, -1).selected).toBe(2)
  const closed = { ...COMPLETION, selected: 2, closed: 0 }
  expect(menuFor(editorWith("/co"), closed)).toBeUndefined()
  expect(completionAfter(closed, editorWith("/con"))).toMatchObject({ selected: 0, closed: 0 })
  expect(completionAfter(closed, editorWith(""))).toEqual(COMPLETION)
  expect(triggerAt(editorWith("a @b"))).toMatchObject({ kind: "file", from: 2, typed: "b" })
})
