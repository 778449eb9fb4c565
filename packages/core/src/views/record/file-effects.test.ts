import { describe, expect, test } from "vitest"
import { type FileEffect, fileEffects } from "./file-effects.ts"
import type { FinishedCall } from "./tool-calls.ts"

const effectsOf = (tool: string, input: Record<string, unknown>, more: Partial<FinishedCall> = {}) =>
  fileEffects({ id: "t", tool, input, uuid: "u", failed: false, output: "", ...more })
const shell = (command: unknown) => effectsOf("Bash", { command })
const brief = (effects: readonly FileEffect[]) => effects.map(({ path, what }) => `${what} ${path}`)

describe("L4-29 what a tool call did to files", () => {
  test.each([
    ["Read", { file_path: "/a" }, "read /a"],
    ["read_file", { path: "/a" }, "read /a"],
    ["view", { path: "/a" }, "read /a"],
    ["Write", { file_path: "/a", content: "x" }, "written /a"],
    ["write_file", { path: "/a", content: "x" }, "written /a"],
    ["Edit", { file_path: "/a" }, "changed /a"],
    ["MultiEdit", { file_path: "/a" }, "changed /a"],
    ["edit", { filePath: "/a" }, "changed /a"],
    ["NotebookEdit", { notebook_path: "/a.ipynb" }, "changed /a.ipynb"],
    ["str_replace_based_edit_tool", { command: "view", path: "/a" }, "read /a"],
    ["str_replace_based_edit_tool", { command: "create", path: "/a", file_text: "x" }, "written /a"],
    ["str_replace_based_edit_tool", { command: "str_replace", path: "/a" }, "changed /a"],
    ["str_replace_editor", { command: "insert", path: "/a" }, "changed /a"],
  ])("%s %j: %s", (tool, input, effect) => {
    expect(brief(effectsOf(tool, input))).toEqual([effect])
  })

  test("a call that failed did nothing", () => {
    for (const tool of ["Read", "Write", "Edit", "Bash", "apply_patch"]) {
      const input = { file_path: "/a", command: "rm /a", input: "*** Delete File: /a" }
      expect(effectsOf(tool, input, { failed: true })).toEqual([])
    }
  })

  test("unknown tools and calls without a path do nothing", () => {
    expect(effectsOf("mcp__files__delete", { path: "/a" })).toEqual([])
    for (const input of [{}, { file_path: "" }, { file_path: 7 }]) expect(effectsOf("Read", input)).toEqual([])
  })

  test("the whole content is known where the call shows it", () => {
    expect(effectsOf("Read", { file_path: "/a" }, { output: "all" })).toEqual([
      { path: "/a", what: "read", content: "all" },
    ])
    expect(effectsOf("Read", { file_path: "/a", offset: 5 }, { output: "part" })).toEqual([
      { path: "/a", what: "read" },
    ])
    expect(effectsOf("Read", { file_path: "/a", limit: 5 }, { output: "part" })).toEqual([{ path: "/a", what: "read" }])
    expect(effectsOf("Write", { file_path: "/a", content: "new" })).toEqual([
      { path: "/a", what: "written", content: "new" },
    ])
  })

  test("a write that says the file is new created it", () => {
    const output = "File created successfully at: /a"
    expect(brief(effectsOf("Write", { file_path: "/a", content: "x" }, { output }))).toEqual(["created /a"])
  })

  test("patches add, update, delete and move", () => {
    const patch = [
      "*** Begin Patch",
      "*** Add File: new.ts",
      "+x",
      "*** Update File: old.ts",
      "@@",
      "*** Update File: here.ts",
      "*** Move to: there.ts",
      "*** Delete File: gone.ts",
      "*** End Patch",
    ].join("\n")
    const expected = ["created new.ts", "changed old.ts", "deleted here.ts", "created there.ts", "deleted gone.ts"]
    expect(brief(effectsOf("apply_patch", { input: patch }))).toEqual(expected)
    expect(brief(effectsOf("apply_patch", { text: patch }))).toEqual(expected) // as imported from Codex
    expect(brief(effectsOf("patch", { patch }))).toEqual(expected)
    expect(brief(shell(`apply_patch <<'EOF'\n${patch}\nEOF`))).toEqual(expected)
  })

  test.each<[string, string[]]>([
    ["rm a.txt", ["deleted a.txt"]],
    ["rm -f a.txt 'b c.txt' \"d e\"", ["deleted a.txt", "deleted b c.txt", "deleted d e"]],
    ["git rm --cached a.txt", ["deleted a.txt"]],
    ["mv a.txt b.txt", ["deleted a.txt", "created b.txt"]],
    ["git mv a.txt b.txt", ["deleted a.txt", "created b.txt"]],
    ["ls && rm a.txt; echo done || rm b.txt", ["deleted a.txt", "deleted b.txt"]],
    ["mv src/a.txt docs/", ["deleted src/a.txt", "created docs/a.txt"]],
    ["mv a b dir", []], // into a directory: the names it gives are unknown
    ["rm *.txt", []],
    ['rm "$FILE"', []],
    ["echo rm a.txt", []],
    ["cat rm", []],
    ["", []],
  ])("the command %s", (command, effects) => {
    expect(brief(shell(command))).toEqual(effects)
  })

  test("a command given as a list of words", () => {
    expect(brief(effectsOf("shell", { command: ["rm", "a.txt"] }))).toEqual(["deleted a.txt"])
    expect(brief(effectsOf("exec_command", { cmd: "rm a.txt" }))).toEqual(["deleted a.txt"])
    expect(shell(7)).toEqual([])
  })
})
