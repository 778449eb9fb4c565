import fc from "fast-check"
import { expect, test } from "vitest"
import { indexLine, linkedFile, loadedIndex, MAX_INDEX_BYTES, MAX_INDEX_LINES, updateIndex } from "./index-file.ts"
import type { Memory } from "./memory.ts"

const memory = (file: string, more: Partial<Memory> = {}): Memory => ({
  file,
  name: file.replace(".md", ""),
  description: `about ${file}`,
  type: "project",
  created: "2026-01-01",
  confirmed: "2026-01-01",
  source: { saidBy: "user" },
  basis: "said",
  body: "",
  ...more,
})

test("L5-5 a line is a link and a hook of at most 150 characters, and can be read back", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 400 })
  fc.assert(
    fc.property(
      text,
      text,
      fc.constantFrom("a.md", "部署.md", "my file (1).md", "sub/b.md"),
      (name, description, file) => {
        const line = indexLine(memory(file, { name: name.replace(/\s+/g, " "), description }))
        expect([...line].length).toBeLessThanOrEqual(150)
        expect(line).not.toContain("\n")
        expect(linkedFile(line)).toBe(file)
      },
    ),
  )
})

test("L5-5 the index is cut at 200 lines or 25 KB, whichever comes first, and says so", () => {
  expect(loadedIndex("a\nb\n")).toEqual({ text: "a\nb", lines: ["a", "b"], isCut: false })
  const exact = Array.from({ length: MAX_INDEX_LINES }, (_, i) => `- ${i}`).join("\n")
  expect(loadedIndex(`${exact}\n`)).toMatchObject({ text: exact, isCut: false })
  const long = loadedIndex(`${exact}\n- 200\n`)
  expect(long.isCut).toBe(true)
  expect(long.text.split("\n")).toHaveLength(MAX_INDEX_LINES)
  expect(long.text).toMatch(/\n- 198\n\[MEMORY\.md is too long: it has 201 lines/)
  for (const wide of [Array(100).fill("部".repeat(200)).join("\n"), "é".repeat(30_000)]) {
    const { text, isCut } = loadedIndex(wide)
    expect(isCut).toBe(true)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_INDEX_BYTES)
    expect(Buffer.byteLength(text)).toBeGreaterThan(MAX_INDEX_BYTES - 1000)
    expect(text).not.toContain("\uFFFD")
    expect(text).toContain("[MEMORY.md is too long")
  }
})

test("L5-5 updating keeps hand-written lines and their order, drops what is gone, and is stable", () => {
  const text = [
    "# Notes",
    "- [Old title](a.md) — written by hand",
    "- [gone](b.md): x",
    "- see [the wiki](https://wiki/x.md)",
    "- [elsewhere](../docs/x.md)",
    "- [a again](a.md)",
    "",
    "## Later",
    "",
  ].join("\n")
  const memories = [memory("a.md"), memory("c.md"), memory("d.md", { supersededBy: "c.md" })]
  const updated = updateIndex({ text, memories, removed: new Set(["b.md"]) })
  expect(updated).toBe(
    [
      "# Notes",
      "- [c](c.md): about c.md",
      "- [Old title](a.md) — written by hand",
      "- see [the wiki](https://wiki/x.md)",
      "- [elsewhere](../docs/x.md)",
      "",
      "## Later",
      "",
    ].join("\n"),
  )
  expect(updateIndex({ text: updated, memories })).toBe(updated)
  expect(updateIndex({ text: updated, memories, renewed: new Set(["a.md"]) })).toContain("\n- [a](a.md): about a.md\n")
})
