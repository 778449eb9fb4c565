import { expect, test } from "vitest"
import { codeBlocks } from "./code-blocks.ts"

const fence = "```"

test("a block has its page, line, language and code; other languages are left alone", () => {
  const page = `Text\n\n${fence}ts\nconst a = 1\n${fence}\n\n${fence}\nplain\n${fence}\n\n${fence}sh\nls\n${fence}\n`
  expect(codeBlocks("a.md", page)).toMatchObject([
    { page: "a.md", line: 3, language: "ts", code: "const a = 1\n", plan: { kind: "run", prints: [], cached: false } },
    { page: "a.md", line: 11, language: "sh", code: "ls\n" },
  ])
})

test("the comment before a block says what running it must show", () => {
  const page = `<!-- run: prints /cache read [1-9]/; prints /done/i; cached; in chat -->\n${fence}ts\na\n${fence}\n`
  const [block] = codeBlocks("a.md", page)
  expect(block).toMatchObject({ line: 2, plan: { kind: "run", cached: true, around: "chat" } })
  expect(block!.plan.kind === "run" && block!.plan.prints).toEqual([/cache read [1-9]/, /done/i])
})

test("a block can be saved for later ones, or left out with a reason", () => {
  const page = `<!-- file: tool.ts -->\n${fence}ts\na\n${fence}\n\n<!-- not run: takes minutes -->\n${fence}sh\nb\n${fence}\n`
  expect(codeBlocks("a.md", page).map(({ plan }) => plan)).toEqual([
    { kind: "file", name: "tool.ts" },
    { kind: "not run", reason: "takes minutes" },
  ])
})

test("a comment that says nothing known is an error with its place", () => {
  const page = `<!-- run: shows /a/ -->\n${fence}ts\na\n${fence}\n`
  expect(() => codeBlocks("a.md", page)).toThrow('a.md:2: the comment before this block says "shows /a/"')
})

test("a comment belongs to the block that follows it, not to a later one", () => {
  const page = `<!-- not run: not installed -->\n${fence}js\na\n${fence}\n\n<!-- run: cached -->\n${fence}ts\nb\n${fence}\n`
  expect(codeBlocks("a.md", page)).toMatchObject([{ line: 7, code: "b\n", plan: { kind: "run", cached: true } }])
})

test("other comments before a block change nothing", () => {
  const page = `<!-- a remark -->\n${fence}ts\na\n${fence}\n`
  expect(codeBlocks("a.md", page)[0]!.plan).toEqual({ kind: "run", prints: [], cached: false })
})
