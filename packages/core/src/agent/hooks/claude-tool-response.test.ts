import { expect, test } from "vitest"
import { claudeToolResponse } from "../loop/run-tools.ts"

const EDIT = { file_path: "a.ts", old_string: "x", new_string: "y" }

test.each([
  ["Bash", { command: "ls" }, "a.ts", { stdout: "a.ts", stderr: "", interrupted: false, isImage: false }],
  ["Bash", { command: "true" }, "(no output)", { stdout: "", stderr: "", interrupted: false, isImage: false }],
  ["Write", { file_path: "/b.ts", content: "y" }, "Written.", { filePath: "/b.ts", content: "y", success: true }],
  [
    "Edit",
    EDIT,
    "Edited.",
    { filePath: "/project/a.ts", oldString: "x", newString: "y", replaceAll: false, success: true },
  ],
  ["Read", { file_path: "/a.ts" }, "1 x", { type: "text", file: { filePath: "/a.ts", content: "1 x" } }],
  ["mcp__db__query", {}, [{ type: "text", text: "row" }], { content: [{ type: "text", text: "row" }] }],
] as const)("HOOK-2 scripts for Claude Code get the response of %s as an object", (tool, input, content, response) => {
  expect(claudeToolResponse({ tool, input, output: { content }, directory: "/project" })).toEqual(response)
})

test("HOOK-2 a call that failed says so", () => {
  const output = { content: "no such file", isError: true }
  expect(claudeToolResponse({ tool: "Edit", input: EDIT, output, directory: "/" })).toMatchObject({
    success: false,
    is_error: true,
  })
})

test("HOOK-2 a tool that is called like a method of every object is one of the others: a hook gets its content", () => {
  for (const tool of ["constructor", "toString", "valueOf", "__proto__"]) {
    const responded = { tool, input: { path: "a.ts" }, output: { content: "done" }, directory: "/project" }
    expect(claudeToolResponse(responded)).toEqual({ content: "done" })
  }
})
