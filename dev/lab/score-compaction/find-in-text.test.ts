import { expect, test } from "vitest"
import { isIn } from "./find-in-text.ts"

test.each([
  ["bar.go", "see foo-bar.go", false],
  ["bar.go", "see bar.go.orig", false],
  ["bar.go", "see bar.gone", false],
  ["bar.go", "see /cmd/bar.go.", true],
  ["bar.go", "`bar.go:12`", true],
  ["/cmd/bar.go", "in /repo/cmd/bar.go", false],
  ["cmd/bar.go", "in /repo/cmd/bar.go", true],
  ["dry_run", "with --dry_run", true],
  ["", "anything", false],
])("%j in %j: %j", (piece, text, expected) => {
  expect(isIn(piece, text)).toBe(expected)
})
