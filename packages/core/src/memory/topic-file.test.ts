import fc from "fast-check"
import { expect, test } from "vitest"
import { isWhole } from "../../test/size.ts"
import { fileNameFor, isTopicFile } from "./file-names.ts"
import { MEMORY_BASES, MEMORY_SPEAKERS, MEMORY_TYPES, type Memory } from "./memory.ts"
import { claimsOtherSource, defaultBasis, parseMemory, renderMemory } from "./topic-file.ts"

const facts = { created: "2026-01-01", source: { saidBy: "user" } } as const
const parse = (text: string, file = "some-file.md") => parseMemory({ file, text, facts })

const line = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }).map(oneLine).filter(Boolean)
const body = fc
  .array(fc.oneof(line, fc.constantFrom("---", "# Title", "", "- item", "key: value", "```")), { maxLength: 8 })
  .map((lines) =>
    lines
      .join("\n")
      .replace(/^(?:[ \t]*\n)+/, "")
      .trimEnd(),
  )
const file = line.map((name) => fileNameFor(name, []))
const day = fc
  .date({ min: new Date("2000-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const memory: fc.Arbitrary<Memory> = fc
  .record(
    {
      file,
      name: line,
      description: line,
      type: fc.constantFrom(...MEMORY_TYPES),
      created: day,
      confirmed: day,
      source: fc.record(
        { saidBy: fc.constantFrom(...MEMORY_SPEAKERS), conversation: fc.uuid(), message: fc.uuid() },
        { requiredKeys: ["saidBy"] },
      ),
      basis: fc.constantFrom(...MEMORY_BASES),
      failed: fc.constant(true as const),
      supersedes: fc.array(file, { minLength: 1, maxLength: 3 }),
      supersededBy: file,
      body,
    },
    { requiredKeys: ["file", "name", "description", "type", "created", "confirmed", "source", "basis", "body"] },
  )
  .map((made) => made as Memory)

function oneLine(text: string): string {
  return text
    .replace(/\p{Cc}/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
}

test.runIf(isWhole)("L5-3 a memory survives its file: every field is read back as it was written", async () => {
  await fc.assert(
    fc.asyncProperty(memory, async (made) => {
      const text = await renderMemory(made)
      const known = { ...facts, source: made.source }
      const again = await parseMemory({ file: made.file, text, facts: known })
      const isOverclaimed = made.basis === "said" && made.source.saidBy !== "user"
      expect(again).toEqual(isOverclaimed ? { ...made, basis: defaultBasis(made.source) } : made)
      if (!isOverclaimed) expect(await renderMemory(again, { text, facts: known })).toBe(text)
    }),
  )
})

test.runIf(isWhole)("L5-3 any text is a memory, and writing it back unchanged keeps every byte", async () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 200 }),
    fc
      .tuple(fc.constantFrom("", "\uFEFF"), fc.constantFrom("\n", "\r\n"), fc.string({ maxLength: 60 }), body)
      .map(
        ([mark, end, yaml, rest]) =>
          `${mark}---${end}type: user # mine${end}x-own: ${JSON.stringify(yaml)}${end}---${end}${rest}${end}`,
      ),
  )
  await fc.assert(
    fc.asyncProperty(text, async (given) => {
      const read = await parse(given)
      expect(read.name).not.toBe("")
      expect(await renderMemory(read, { text: given, facts })).toBe(given)
      const changed = { ...read, description: "Changed" }
      expect(await parse(await renderMemory(changed, { text: given, facts }))).toEqual(changed)
    }),
  )
})

test("L5-3 a change keeps unknown keys, comments, the byte order mark and the line ends", async () => {
  const text =
    "\uFEFF---\r\n# who wrote this\r\nname: Build\r\ndescription: d\r\ntype: project\r\nteam: core # ours\r\n---\r\n\r\nUse make.\r\n"
  const memory = await parse(text)
  expect(memory).toMatchObject({ name: "Build", type: "project", body: "Use make." })
  const changed = await renderMemory({ ...memory, body: "Use just.\nOr make." }, { text, facts })
  expect(changed).toBe(text.replace("Use make.", "Use just.\r\nOr make."))
  const renamed = await renderMemory({ ...memory, name: "Build it", failed: true }, { text, facts })
  expect(renamed).toContain("# who wrote this\r\nname: Build it\r\n")
  expect(renamed).toContain("team: core # ours\r\nfailed: true\r\n---\r\n\r\nUse make.\r\n")
})

test("L5-2 files of other programs and files by hand are read as they are", async () => {
  expect(await parse("---\nname: user_role\ndescription: who\ntype: user\n---\n\nA data scientist.\n")).toMatchObject({
    name: "user_role",
    type: "user",
    created: "2026-01-01",
    basis: "said",
  })
  expect(await parse("Some text\n\n# The real title\n")).toMatchObject({
    name: "The real title",
    type: "project",
    description: "Some text",
  })
  expect(await parse("", "部署.md")).toMatchObject({ name: "部署", description: "", body: "" })
  expect(await parse("---\nname: [broken\n---\ntext")).toMatchObject({
    name: "some-file",
    body: "---\nname: [broken\n---\ntext",
  })
  expect(await parse("---\ntype: decision\nsupersedes: old.md\nbasis: seen\n---\nx")).toMatchObject({
    type: "project",
    supersedes: ["old.md"],
    basis: "seen",
  })
})

test("L5-13 what a file says about its source does not count, in whatever form, and is replaced", async () => {
  const known = { ...facts, source: { saidBy: "agent", conversation: "c" } as const }
  for (const claim of ["user", "\n  said-by: user", "{ said-by: user, confirmed-by: user }", "\n  saidBy: user"]) {
    const text = `---\nname: a\nsource: ${claim}\nbasis: said\nconfirmed-by: user\n---\nx`
    const memory = await parseMemory({ file: "a.md", text, facts: known })
    expect(memory).toMatchObject({ source: known.source, basis: "concluded" })
    expect(await claimsOtherSource(text, known.source)).toBe(true)
    const written = await renderMemory(memory, { text, facts: known })
    expect(written).toContain("said-by: agent")
    expect(await claimsOtherSource(written, known.source)).toBe(false)
  }
})

test("L5-3 file names come from the name in any script, stay inside the directory and never collide", () => {
  expect(fileNameFor("Deploy: wie & wann?", [])).toBe("deploy-wie-wann.md")
  expect(fileNameFor("部署流程", [])).toBe("部署流程.md")
  expect(fileNameFor("../../etc/passwd", [])).toBe("etc-passwd.md")
  expect(fileNameFor("Memory", [])).toBe("note.md")
  expect(fileNameFor("CON", [])).toBe("con-note.md")
  expect(fileNameFor("A", ["a.md", "A-2.md"])).toBe("a-3.md")
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.string()), (name, taken) => {
      const made = fileNameFor(name, taken)
      expect(isTopicFile(made)).toBe(true)
      expect(made).not.toMatch(/[/\\:]|^\./)
      expect(Buffer.byteLength(made)).toBeLessThan(200)
      expect(fileNameFor(name, [made])).not.toBe(made)
    }),
  )
})
