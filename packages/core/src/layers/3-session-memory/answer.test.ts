import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { defaultText, parseNotes } from "./notes.ts"
import { applyChanges, readChanges } from "./write.ts"

const NOTES = `# Current State
_now_
- reading

# Learnings
_what worked_
By hand.

# Worklog
_steps_
`
const limits = { section: 100, total: 200 }
const estimate = (text: string) => text.length / 4
const between = (sections: string) => `Here they are.\n<new_notes>\n${sections}\n</new_notes>\nDone.`

function written(sections: string, current = NOTES): string {
  const answer = readChanges(between(sections), NOTES)
  if (answer.state === "refused") return `refused: ${answer.reason}`
  const applied = applyChanges({ changes: answer.changes, shown: NOTES, current, limits, estimate })
  return applied.state === "refused" ? `refused: ${applied.reason}` : applied.text
}

describe("L3-4 notes that come as text", () => {
  test("replace what is below the headings they name; the rest stays byte for byte", () => {
    expect(written("# Current State\n- testing\n\n## Detail\n- one\n\n# Worklog\n- read\n- tested")).toBe(
      NOTES.replace("- reading\n", "- testing\n\n## Detail\n- one\n").concat("- read\n- tested\n"),
    )
  })

  test("the line in italics may be repeated; another line in italics is content", () => {
    expect(written("# Current State\n_now_\n- testing")).toBe(NOTES.replace("- reading", "- testing"))
    expect(written("# Current State\n_done_")).toBe(NOTES.replace("- reading", "_done_"))
  })

  test("a section may be emptied, but not all of them", () => {
    expect(written("# Current State")).toBe(NOTES.replace("- reading\n", ""))
    expect(written("# Current State\n\n# Learnings\n")).toBe("refused: the answer leaves every section empty")
  })

  test.each([
    ["Nothing here.", /no notes between/],
    ["<new_notes>\n# Current State\n- cut off", /no notes between/],
    [between("# Price\n- 5"), /that the notes do not have: "Price"/],
    [between("# Worklog\n- a\n# Worklog\n- b"), /"Worklog" twice/],
    [between("Some text\n# Worklog\n- a"), /text before the first heading/],
    [between("only text"), /names no section/],
    [between("# Worklog\n```\nnpm test"), /code block in "Worklog" is not closed/],
  ])("%j is refused as a whole", (answer, why) => {
    expect(readChanges(answer, NOTES)).toEqual({ state: "refused", reason: expect.stringMatching(why) })
  })

  test("a hash in a code block is no heading", () => {
    expect(written("# Worklog\n```\n# build\nmake\n```")).toBe(`${NOTES}\`\`\`\n# build\nmake\n\`\`\`\n`)
  })

  test("L3-5 a little over the limit is accepted, because the next prompt asks to condense; far over it is refused", () => {
    expect(written(`# Worklog\n${"x".repeat(500)}`)).toContain("xxx")
    expect(written(`# Worklog\n${"x".repeat(900)}`)).toMatch(/^refused: the section "Worklog" is more than twice/)
    const long = NOTES.replace("By hand.", "By hand. ".repeat(200))
    expect(written("# Worklog\n- more", long)).toBe("refused: the notes are more than twice as long as they may be")
    expect(written("# Current State\n-", long)).toContain("# Current State\n_now_\n-\n")
  })

  test("L3-7 what someone changed in the meantime stays; a section that both changed is refused", () => {
    const edited = NOTES.replace("By hand.", "By another hand.")
    expect(written("# Worklog\n- read", edited)).toBe(`${edited}- read\n`)
    expect(written("# Learnings\n- x", edited)).toBe('refused: the section "Learnings" was changed in the meantime')
    expect(written("# Worklog\n- read", NOTES.replace("# Worklog", "# Steps"))).toMatch(/^refused/)
  })

  test("two sections with one title: none is meant for sure", () => {
    expect(readChanges(between("# A\n- x"), "# A\n_a_\n\n# A\n_b_\n")).toMatchObject({ state: "refused" })
  })

  test("property: whatever the answer is, no heading and no description changes", () => {
    const template = defaultText("template.md")
    const heads = parseNotes(template).sections.map(({ head }) => head)
    const line = fc.oneof(
      fc.constantFrom("# Worklog", "# Learnings", "_italics_", "```", "## Part", "- a", "", "<new_notes>"),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const answer = readChanges(between(lines.join("\n")), template)
        if (answer.state === "refused") return
        const { changes } = answer
        const applied = applyChanges({ changes, shown: template, current: template, limits, estimate: () => 1 })
        if (applied.state === "applied")
          expect(parseNotes(applied.text).sections.map(({ head }) => head)).toEqual(heads)
      }),
    )
  })
})
