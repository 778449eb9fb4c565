import { expect, test } from "vitest"
import { ruleMeaning } from "./permission-rules.ts"

test.each([
  ["Bash(npm test:*)", 'every command that starts with "npm test"'],
  ["Bash(rm -rf build)", "exactly this command"],
  ["WebFetch(domain:example.com)", "every page of example.com"],
  ["Write(src/**)", "Write for every file below src"],
  ["Write(./**)", "Write for every file of the project"],
  ["Bash(cd a && npm test)", "exactly this command"],
  ["Edit(/etc/hosts)", "Edit for /etc/hosts only"],
  ["mcp__db", "every call of mcp__db, with any input"],
])("PERM-5 what a rule allows is said exactly: %s", (rule, meaning) => {
  expect(ruleMeaning(rule)).toBe(meaning)
})
