import { expect, test } from "vitest"
import { readExportRequest } from "./export-command.ts"

test.each([
  ["", { to: "markdown" }],
  ["claude-code", { to: "claude-code" }],
  ["claude-code a b.jsonl", { to: "claude-code", file: "a b.jsonl" }],
  [" notes.md ", { to: "markdown", file: "notes.md" }],
  ["html", { to: "markdown", file: "html" }],
])("BEY-18 /export %s", (argument, expected) => {
  expect(readExportRequest(argument)).toEqual(expected)
})
