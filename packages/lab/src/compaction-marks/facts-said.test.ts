import fc from "fast-check"
import { expect, test } from "vitest"
import { factsIn } from "./facts-said.ts"
import { isIn, plain } from "./find-in-text.ts"

test("paths, names, identifiers and numbers are facts; words are not", () => {
  const text =
    "Look at cmd/entire/cli/hooks.go and ~/.claude/x, then run sessionId through hook_type (see PR #1556, e9f6de7). " +
    "It is and/or an idea of the user's; the 3rd of 12 costs 10MB. Read https://example.org/a?b=1, main.ts and 50,000 rows."
  expect([...factsIn(text)]).toEqual([
    "cmd/entire/cli/hooks.go",
    "~/.claude/x",
    "sessionId",
    "hook_type",
    "1556",
    "e9f6de7",
    "https://example.org/a?b=1",
    "main.ts",
    "50,000",
  ])
})

test("a uuid and a branch are one fact each", () => {
  expect([...factsIn("28c304f6-3c5f-4539-af1d-07ae450e639d on alex/ent-221-hooks.")]).toEqual([
    "28c304f6-3c5f-4539-af1d-07ae450e639d",
    "alex/ent-221-hooks",
  ])
})

test("every fact of a text is found in it", () => {
  const letters = fc.constantFrom(..."ab1_-./@~,:A é\n(`", "https://", "123", "foo_bar", "x.ts")
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 40 }), (pieces) => {
      const text = pieces.join("")
      for (const fact of factsIn(text)) expect(isIn(fact, plain(text)), fact).toBe(true)
    }),
    { numRuns: 3_000 },
  )
})

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
