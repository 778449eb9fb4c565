import { expect, test } from "vitest"
import { formatFullDiff } from "./file-diff.ts"

test("PERM-5 a person sees everything that changes: no line is cut, no line is left out", () => {
  const after = Array.from({ length: 1_000 }, (_, i) => `${"x".repeat(500)} ${i}`).join("\n")
  const lines = formatFullDiff({ before: "", after: `${after}\n` }).split("\n")
  expect(lines.slice(1)).toEqual(after.split("\n").map((line) => `+${line}`))
})
