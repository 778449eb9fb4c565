import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createEstimator } from "../../tokens/estimate.ts"
import { cutSections, defaultText, isBareTemplate, measureNotes, parseNotes, sizeReminder } from "./notes.ts"

const template = defaultText("template.md")
const { text: estimate } = createEstimator("claude-4")
const filled = (title: string, body: string, text = template) =>
  text.replace(new RegExp(`(# ${title}\n_.*_\n)`), (head) => `${head}${body}\n`)

describe("L3-1 the template", () => {
  test("has the ten sections, each with a line in italics", () => {
    const { opening, sections } = parseNotes(template)
    expect(opening).toBe("")
    expect(sections.map(({ title }) => title)).toEqual([
      "Session Title",
      "Current State",
      "Task specification",
      "Files and Functions",
      "Workflow",
      "Errors & Corrections",
      "Codebase and System Documentation",
      "Learnings",
      "Key results",
      "Worklog",
    ])
    for (const { head, body } of sections) {
      expect(head).toMatch(/^# .+\n_.+_\n$/)
      expect(body.trim()).toBe("")
    }
  })
})

describe("sections", () => {
  test("a comment in a code fence is no heading, and a deeper heading belongs to its section", () => {
    const text = filled("Workflow", "```sh\n# install\nnpm ci\n```\n## Details\nmore")
    const { sections } = parseNotes(text)
    expect(sections).toHaveLength(10)
    expect(sections[4]).toMatchObject({ title: "Workflow", body: expect.stringContaining("# install\nnpm ci") })
    expect(sections[4]!.body).toContain("## Details\nmore")
  })

  test("a template of one's own may head its sections otherwise", () => {
    const { opening, sections } = parseNotes("# Notes\nfor me\n\n## Goal\n*what for*\nwin\n\n## Next\nplay\n")
    expect(opening).toBe("# Notes\nfor me\n\n")
    expect(sections.map(({ title, body }) => [title, body.trim()])).toEqual([
      ["Goal", "win"],
      ["Next", "play"],
    ])
  })

  test("property: put together again the sections give the text, whatever it is", () => {
    const line = fc.oneof(
      fc.constantFrom("# A", "## B", "_italic_", "*it*", "```", "~~~~", "text", "", "# A #", "#no", "a\r"),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const text = lines.join("\n")
        const { opening, sections } = parseNotes(text)
        expect(opening + sections.map(({ head, body }) => head + body).join("")).toBe(text)
      }),
    )
  })
})

describe("whether anything was written", () => {
  test("not in the template, not in one with other white space; but in one with a word below a description", () => {
    expect(isBareTemplate(template)).toBe(true)
    expect(isBareTemplate(`\n${template.replaceAll("\n", "\n\n").replace(/\n\n_/g, "\n_")}\n\n`)).toBe(true)
    expect(isBareTemplate(filled("Worklog", "- began"))).toBe(false)
    expect(isBareTemplate(`Something of mine\n${template}`)).toBe(false)
    const own = "# Goal\n_what for_\nTo be said.\n"
    expect([isBareTemplate(own), isBareTemplate(own, own)]).toEqual([false, true])
  })
})

describe("L4-8 sections cut to size", () => {
  const cut = { limit: 2_000, estimate, path: "/notes/c.md" }

  test("a long section ends at a line end and says where the rest is; others stay as they are, and empty ones are left out", () => {
    const lines = Array.from({ length: 900 }, (_, i) => `- step ${i}: ran the tests and looked at the failures`)
    const text = filled("Current State", "At work.", filled("Worklog", lines.join("\n")))
    const [before, after] = [parseNotes(text).sections, parseNotes(cutSections(text, cut)).sections]
    expect(after.map(({ title }) => title)).toEqual(["Current State", "Worklog"])
    expect(after[0]).toEqual(before.find(({ title }) => title === "Current State"))
    const { head, body } = after[1]!
    expect(head).toBe(before.at(-1)!.head)
    expect(estimate(head + body)).toBeLessThanOrEqual(2_000)
    expect(estimate(head + body)).toBeGreaterThan(1_900)
    const kept = body.trimEnd().split("\n")
    expect(kept.pop()).toBe("[The rest of this section is in /notes/c.md]")
    expect(lines.slice(0, kept.length)).toEqual(kept)
  })

  test("a fence that the cut leaves open is closed, so that later sections stay sections", () => {
    const output = `\`\`\`\n${"a line of output\n".repeat(2_000)}\`\`\``
    const text = filled("Key results", output, filled("Worklog", "- began"))
    const after = parseNotes(cutSections(text, cut)).sections
    expect(after.map(({ title }) => title).at(-1)).toBe("Worklog")
    expect(after[0]!.body).toMatch(/output\n```\n\[The rest of this section is in \/notes\/c\.md\]\n/)
  })

  test("a line that is too long by itself is cut inside, and not within a character", () => {
    const { body } = parseNotes(cutSections(filled("Learnings", "🙂".repeat(20_000)), cut)).sections[0]!
    expect(body).toMatch(/^(?:🙂)+…\n\[The rest/u)
    expect(body.length).toBeGreaterThan(500)
  })

  test("property: every section is within the limit, and cutting again changes nothing", () => {
    const body = fc.array(fc.oneof(fc.string({ maxLength: 200 }), fc.constantFrom("```", "- a", "## x")), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(body, fc.integer({ min: 60, max: 400 }), (lines, limit) => {
        const small = { ...cut, limit }
        const once = cutSections(filled("Workflow", lines.join("\n")), small)
        for (const { head, body: kept } of parseNotes(once).sections)
          expect(estimate(head + kept)).toBeLessThanOrEqual(limit)
        expect(cutSections(once, small)).toBe(once)
      }),
      { numRuns: 50 },
    )
  })
})

describe("L3-5 reminders to condense", () => {
  const limits = { section: 2_000, total: 12_000 }
  const words = (count: number) => "some words about it ".repeat(count / 4)

  test("none while everything is small", () => {
    expect(sizeReminder(measureNotes(template, estimate), limits)).toBeUndefined()
  })

  test("a section over its limit is named with its size", () => {
    const reminder = sizeReminder(measureNotes(filled("Worklog", words(4_000)), estimate), limits)
    expect(reminder).toMatch(/^Condense these sections.*\n- "Worklog": about [\d,]+ tokens$/)
    expect(reminder).not.toContain("URGENT")
  })

  test("over the total it is urgent, also where no section is over its own", () => {
    const many = parseNotes(template)
      .sections.map(({ head }) => `${head}${words(1_200)}\n`)
      .join("\n")
    const sized = measureNotes(many, estimate)
    expect(sized.sections.every(({ tokens }) => tokens <= 2_000)).toBe(true)
    expect(sizeReminder(sized, limits)).toMatch(/^URGENT: the notes have about 1\d,\d+ tokens/)
    expect(sizeReminder({ ...sized, sections: [{ title: "Worklog", tokens: 9_000 }] }, limits)).toMatch(
      /URGENT[\s\S]*- "Worklog": about 9,000 tokens$/,
    )
  })
})
