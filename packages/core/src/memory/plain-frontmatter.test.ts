import fc from "fast-check"
import { expect, test } from "vitest"
import { parseDocument } from "yaml"
import { fuzz } from "../../test/runs.ts"
import { MEMORY_BASES, MEMORY_SPEAKERS, MEMORY_TYPES } from "./memory.ts"
import { readPlainFrontmatter, renderMemory } from "./topic-file.ts"

function parsed(text: string): unknown {
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false })
  return document.errors.length > 0 ? "damaged" : document.toJS({ maxAliasCount: 20 })
}

const frontmatterOf = (text: string) => text.slice("---\n".length, text.indexOf("\n---\n"))
const words = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1 }),
  fc.constantFrom(
    "1e5",
    "0x1F",
    "true",
    "null",
    "~",
    "2026-03-01",
    "a: b",
    "a #b",
    "'",
    '"',
    "- a",
    "[a]",
    "{a}",
    "x:",
    "…",
    "ja",
    "no",
  ),
)
const file = fc.constantFrom("a.md", "b-c.md", "12.md", "über.md")

test("L5-3 what is rendered is read without a YAML parser, and both agree", async () => {
  const memory = fc.record({
    file: fc.constant("a.md"),
    name: words,
    description: words,
    type: fc.constantFrom(...MEMORY_TYPES),
    created: fc.constantFrom("2026-03-01", "2026-03-01T10:00:00.000Z"),
    confirmed: fc.constantFrom("2026-03-01", "2026-03-01T10:00:00.000Z"),
    source: fc.record(
      { saidBy: fc.constantFrom(...MEMORY_SPEAKERS), conversation: fc.uuid(), message: words },
      { requiredKeys: ["saidBy"] },
    ),
    basis: fc.constantFrom(...MEMORY_BASES),
    body: fc.constant("Text."),
  })
  const extraFields = fc.record(
    { failed: fc.constant(true as const), supersedes: fc.array(file, { minLength: 1 }), supersededBy: file },
    { requiredKeys: [] },
  )
  let read = 0
  await fc.assert(
    fc.asyncProperty(memory, extraFields, async (fields, more) => {
      const text = frontmatterOf(await renderMemory({ ...fields, ...more }))
      const quick = readPlainFrontmatter(text)
      if (quick === undefined) return
      read++
      expect(quick).toEqual(parsed(text))
    }),
    fuzz,
  )
  expect(read).toBeGreaterThan(fuzz.numRuns! / 3)
})

test("L5-3 any other frontmatter is left to the parser, or read as it reads it", () => {
  const key = fc.constantFrom(
    "name",
    "source",
    "supersedes",
    "failed",
    "said-by",
    "unknown",
    " name",
    "  message",
    "  - a",
  )
  const value = fc.oneof(
    words,
    fc.constantFrom(
      "",
      " true",
      " yes",
      " |",
      " >",
      " &a b",
      " *a",
      " !!str 1",
      " 'it''s'",
      ' "a\\tb"',
      ' "a\\x41"',
      " a ",
      " a\tb",
      " a # b",
    ),
  )
  const line = fc.oneof(
    fc.tuple(key, fc.constantFrom(":", ": ", " : ", ""), value).map((parts) => parts.join("")),
    fc.constantFrom("", "#", "# a", "...", "  more", "  - a.md", "  - 1", "source:", "supersedes:"),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
      const text = lines.join("\n")
      const quick = readPlainFrontmatter(text)
      if (quick !== undefined) expect(quick).toEqual(parsed(text) ?? {})
    }),
    { ...fuzz, numRuns: fuzz.numRuns! * 10 },
  )
})

test.each([
  [
    "what Strata writes",
    "name: Release process\ntype: project\nsource:\n  said-by: user\nsupersedes:\n  - old.md",
    true,
  ],
  ["an unknown key", "name: a\ntags: b", false],
  ["a number", "name: 12", false],
  ["a comment", "name: a # b", false],
  ["a map on one line", "source: { said-by: user }", false],
  ["a key twice", "name: a\nname: b", false],
  ["an anchor", "name: &a b", false],
  ["a text of several lines", "name: a\n  b", false],
  ["nothing in a map", "source:", false],
])("L5-3 %s", (_, text, isPlain) => {
  expect(readPlainFrontmatter(text) !== undefined).toBe(isPlain)
})
