import { expect, test } from "vitest"
import { sourceParts } from "./source-parts.ts"

const only = (source: string, kind: string) =>
  sourceParts(source)
    .filter((part) => part.kind === kind)
    .map(({ text }) => text)

test("comments, strings and code are kept apart, with their lines", () => {
  const source = '// one\nconst a = "two // not a comment" /* three */\n'
  expect(sourceParts(source)).toMatchObject([
    { kind: "comment", text: "// one", line: 1 },
    { kind: "code", text: "\nconst a = ", line: 1 },
    { kind: "string", text: "two // not a comment", line: 2 },
    { kind: "code" },
    { kind: "comment", text: "/* three */", line: 2 },
    { kind: "code" },
  ])
})

test("a template's text is a string, what it computes is code, also inside each other", () => {
  const source = "const a = `one $" + "{b({ c: `two $" + "{d}` })} three`"
  expect(only(source, "string")).toEqual(["one ", "two ", " three"])
  expect(only(source, "code").join("")).toBe("const a = `$" + "{b({ c: `$" + "{d}` })}`")
})

test("quotes inside a regular expression open no string; a division is no regular expression", () => {
  expect(only("const a = /[\"'/]+/g.test(b)", "string")).toEqual([])
  expect(only('const a = b / c + "d" / e', "string")).toEqual(["d"])
})

test("an apostrophe in the text of an element opens no string", () => {
  expect(only("<Text>It doesn't\nmatter</Text>", "string")).toEqual([])
})
